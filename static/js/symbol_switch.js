// Another symbol, found while typing: arrows choose, Enter goes there with the same period, Escape closes.
const form = document.querySelector("[data-symbol-switch]");
if (form) {
  const input = form.querySelector("input"), list = document.getElementById("symbols-found");
  const options = () => Array.from(list.querySelectorAll("[data-href]"));
  const chosen = () => options().find((one) => one.getAttribute("aria-selected") === "true");

  function open(isOpen) {
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) input.removeAttribute("aria-activedescendant");
  }
  function choose(one) {
    options().forEach((other) => other.setAttribute("aria-selected", String(other === one)));
    if (!one) return;
    input.setAttribute("aria-activedescendant", one.id);
    one.scrollIntoView({ block: "nearest" });
  }
  function go(one) {
    const here = new URL(location.href), there = new URL(one.dataset.href, here);
    const group = here.searchParams.get("group");
    if (group) there.searchParams.set("group", group);
    location.assign(there);
  }
  list.addEventListener("htmx:afterSwap", function () {
    open(document.activeElement === input);
    choose(input.value.trim() ? options()[0] : null);
  });
  input.addEventListener("keydown", function (event) {
    const all = options(), at = all.indexOf(chosen());
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(all[(at + (event.key === "ArrowDown" ? 1 : all.length - 1 + (at < 0 ? 1 : 0))) % all.length]);
    }
    if (event.key === "Enter" && chosen()) {
      event.preventDefault();
      go(chosen());
    }
    if (event.key === "Escape") {
      input.value = "";
      open(false);
      input.blur();
    }
  });
  input.addEventListener("blur", () => setTimeout(() => open(false), 200));
  // The field keeps the cursor while an option is pressed.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", function (event) {
    const one = event.target.closest("[data-href]");
    if (one) go(one);
  });
}
// A period leads on with the grouping that is chosen by now.
document.addEventListener("click", function (event) {
  const link = event.target.closest(".periods a"), group = new URL(location.href).searchParams.get("group");
  if (!link || !group) return;
  const there = new URL(link.href);
  there.searchParams.set("group", group);
  link.href = there.pathname + there.search;
}, true);
