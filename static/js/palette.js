// The palette of the search box: what the server found for the text so far, or what was opened last and what is pinned.
// Arrows move through it, Enter opens, Escape closes. What was opened last is kept on this device, for each person apart.
const box = document.getElementById("palette");
const field = document.getElementById("find");

if (box && field) begin();

function begin() {
  const MOST_RECENT = 8, MOST_PINNED = 12;
  const key = "palette:" + box.dataset.owner;
  const links = () => Array.from(box.querySelectorAll("a[data-hit]"));
  const read = () => {
    try { return { recent: [], pinned: [], ...JSON.parse(localStorage.getItem(key)) }; } catch { return { recent: [], pinned: [] }; }
  };
  const write = (kept) => { try { localStorage.setItem(key, JSON.stringify(kept)); } catch { /* a full or closed store loses a convenience */ } };

  // A link as it is kept: what it says and where it leads, on this site.
  function hitOf(link) {
    return { label: link.querySelector(".strong").textContent.trim(), words: link.querySelector(".small")?.textContent.trim() || "",
      url: link.getAttribute("href"), icon: link.querySelector("use")?.getAttribute("href") || "" };
  }
  const sane = (hit) => typeof hit?.label === "string" && typeof hit.url === "string" && hit.url.startsWith("/") && !hit.url.startsWith("//");

  function row(hit, pinned) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = hit.url;
    link.dataset.hit = "";
    const icon = field.form.querySelector("svg").cloneNode(true);
    if (hit.icon) icon.querySelector("use").setAttribute("href", hit.icon);
    const label = Object.assign(document.createElement("span"), { className: "strong", textContent: hit.label });
    const words = Object.assign(document.createElement("span"), { className: "muted small", textContent: hit.words || "" });
    link.append(icon, label, words);
    item.append(link, pinButton(hit, pinned));
    return item;
  }
  function pinButton(hit, pinned) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "btn plain square" });
    button.dataset.pin = "";
    button.setAttribute("aria-pressed", String(pinned));
    button.setAttribute("aria-label", "Pin " + hit.label);
    const icon = document.getElementById("find").form.querySelector("svg").cloneNode(true);
    const use = icon.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, "#stamp"));
    button.append(icon);
    return button;
  }
  function section(title, hits, pinned) {
    const part = document.createElement("section"), list = document.createElement("ul");
    part.append(Object.assign(document.createElement("h2"), { textContent: title }), list);
    hits.forEach((hit) => list.append(row(hit, pinned(hit))));
    return part;
  }

  function showKept() {
    const kept = read(), isPinned = (hit) => kept.pinned.some((one) => one.url === hit.url);
    const pinned = kept.pinned.filter(sane), recent = kept.recent.filter((hit) => sane(hit) && !isPinned(hit));
    box.replaceChildren();
    if (pinned.length) box.append(section("Pinned", pinned, () => true));
    if (recent.length) box.append(section("Recent", recent, () => false));
    if (!pinned.length && !recent.length) {
      const hint = "Enter a page, an ID, an address, a market or a name. Items you open are listed here.";
      box.append(Object.assign(document.createElement("p"), { className: "in muted", textContent: hint }));
    }
  }
  function markPinned() {
    const urls = new Set(read().pinned.map((hit) => hit.url));
    box.querySelectorAll("[data-pin]").forEach((button) =>
      button.setAttribute("aria-pressed", String(urls.has(button.parentElement.querySelector("a").getAttribute("href")))));
  }

  function open() {
    if (!field.value.trim()) showKept();
    box.hidden = false;
  }
  function close() { box.hidden = true; }

  field.addEventListener("focus", open);
  field.addEventListener("input", () => { if (!field.value.trim()) showKept(); box.hidden = false; });
  box.addEventListener("htmx:beforeSwap", (event) => { if (!field.value.trim()) event.detail.shouldSwap = false; });
  // Who went into what was found before more of it came stays in it: at the same page, else at the first.
  let at = null;
  box.addEventListener("htmx:beforeSwap", () => { at = box.contains(document.activeElement) ? document.activeElement.closest("li")?.querySelector("a")?.href : null; });
  box.addEventListener("htmx:afterSwap", function () {
    if (at) (links().find((link) => link.href === at) || links()[0] || field).focus();
    markPinned();
  });
  document.addEventListener("click", (event) => { if (!event.target.closest("form.find")) close(); });
  field.form.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !field.form.contains(event.relatedTarget)) close();
  });

  box.addEventListener("click", function (event) {
    const button = event.target.closest("[data-pin]"), link = event.target.closest("a[data-hit]");
    const kept = read();
    if (button) {
      const hit = hitOf(button.parentElement.querySelector("a")), was = kept.pinned.some((one) => one.url === hit.url);
      kept.pinned = was ? kept.pinned.filter((one) => one.url !== hit.url) : [hit, ...kept.pinned].slice(0, MOST_PINNED);
      write(kept);
      button.setAttribute("aria-pressed", String(!was));
    } else if (link) {
      const hit = hitOf(link);
      kept.recent = [hit, ...kept.recent.filter((one) => one.url !== hit.url)].slice(0, MOST_RECENT);
      write(kept);
    }
  });

  document.addEventListener("keydown", function (event) {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k" && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  });
  field.form.addEventListener("keydown", function (event) {
    if (box.hidden && event.key !== "ArrowDown") return;
    if (event.key === "Escape") {
      close();
      field.focus();
      close();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    if (box.hidden) open();
    const all = [field, ...links()], at = all.indexOf(document.activeElement.closest("li")?.querySelector("a") || document.activeElement);
    const next = all[Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  });
}
