// Lists: how many rows are chosen, menus that close, addresses without what is empty, and rows that stay where they are
// read while new ones come above them. Without it all of this works, only less conveniently.
const PICK = "input[name=row]", BAR_PX = 46;

function count(part) {
  const boxes = Array.from(part.querySelectorAll(PICK)), chosen = boxes.filter((box) => box.checked).length;
  const words = part.querySelector("[data-picked]"), every = part.querySelector("[data-pick-all]");
  if (words) words.textContent = chosen + " selected";
  if (!every) return;
  every.hidden = false;
  every.checked = chosen > 0 && chosen === boxes.length;
  every.indeterminate = chosen > 0 && chosen < boxes.length;
}
const partOf = (element) => element.closest("[data-follow]") || document;
document.addEventListener("change", function (event) {
  if (event.target.matches("[data-pick-all]")) partOf(event.target).querySelectorAll(PICK).forEach((box) => { box.checked = event.target.checked; });
  if (event.target.matches("[data-pick-all], " + PICK)) count(partOf(event.target));
});
// A reset is done after the event of its name.
document.addEventListener("reset", (event) => setTimeout(() => count(partOf(event.target)), 0));

// A menu closes when something else is pressed or by Escape, which gives the focus back to what opened it.
const open = () => Array.from(document.querySelectorAll("details[data-menu][open]"));
document.addEventListener("click", (event) => open().filter((menu) => !menu.contains(event.target)).forEach((menu) => { menu.open = false; }));
document.addEventListener("keydown", function (event) {
  if (event.key !== "Escape") return;
  open().forEach(function (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  });
});

document.addEventListener("formdata", function (event) {
  if (!event.target.matches("form[data-tidy]")) return;
  Array.from(event.formData.entries()).forEach(([name, value]) => { if (value === "") event.formData.delete(name); });
});

// The first row that is in sight stays where it is when the rows are read again: in their frame, on a telephone on the page.
const rowsIn = (part) => Array.from(part.querySelectorAll("tr[data-key]"));
const headEnd = (frame) => Math.max(BAR_PX, frame.querySelector("thead").getBoundingClientRect().bottom);
let anchor = null;
document.addEventListener("htmx:beforeSwap", function (event) {
  const part = event.detail.target, frame = part.querySelector?.(".scroll.list");
  anchor = null;
  if (!event.detail.shouldSwap || !frame || (!frame.scrollTop && frame.getBoundingClientRect().top >= BAR_PX)) return;
  const row = rowsIn(part).find((one) => one.getBoundingClientRect().top >= headEnd(frame) - 1);
  if (row) anchor = { part: part.id, key: row.dataset.key, top: row.getBoundingClientRect().top };
});
document.addEventListener("htmx:afterSwap", function (event) {
  if (!anchor || event.target.id !== anchor.part) return;
  const row = rowsIn(event.target).find((one) => one.dataset.key === anchor.key), frame = event.target.querySelector(".scroll.list");
  const moved = row ? row.getBoundingClientRect().top - anchor.top : 0;
  if (frame && frame.scrollHeight > frame.clientHeight) frame.scrollTop += moved;
  else window.scrollBy(0, moved);
  anchor = null;
});
document.addEventListener("htmx:load", (event) => { if (event.detail.elt.querySelector?.("[data-pick-all]")) count(event.detail.elt); });
count(document);
