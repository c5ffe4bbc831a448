// Requests ticked in the list: they stay ticked when the list is read again and on its other pages, until they are reviewed.
// On the review: how many decisions are ticked. Nothing is decided here.
const KEY = "selection";
const bar = document.querySelector("form[data-selection]"), decisions = document.querySelector("form[data-decisions]");
const picks = () => Array.from(document.querySelectorAll("[data-pick]"));
const stored = () => JSON.parse(sessionStorage.getItem(KEY) || "[]");

// A tick is kept here and not in the list: the list can be replaced while it is set.
function draw() {
  const chosen = new Set(stored()), most = parseInt(bar.dataset.selection, 10);
  picks().forEach(function (box) {
    box.checked = box.defaultChecked = chosen.has(box.value);
    box.disabled = !box.checked && chosen.size >= most;
  });
  bar.hidden = chosen.size === 0;
  bar.querySelector("[data-picked]").textContent = chosen.size < most ? "" : "Up to " + most + " at a time";
  bar.querySelector("button.main").textContent = "Review " + chosen.size + " selected";
}
function keep(subjects) {
  sessionStorage.setItem(KEY, JSON.stringify(subjects));
  draw();
}

if (bar) {
  draw();
  document.addEventListener("change", function ({ target }) {
    if (!target.matches("[data-pick]")) return;
    const others = stored().filter((one) => one !== target.value);
    keep(target.checked ? [...others, target.value] : others);
  });
  bar.addEventListener("reset", () => keep([]));
  // Ticks on other pages of the list are reviewed as well, in the order in which they were set.
  bar.addEventListener("formdata", function ({ formData }) {
    formData.delete("of");
    stored().forEach((one) => formData.append("of", one));
  });
  document.addEventListener("htmx:load", draw);
}
if (document.querySelector("[data-selection-done]")) sessionStorage.removeItem(KEY);

function count() {
  const items = Array.from(decisions.querySelectorAll(".decide-item")).filter((one) => one.querySelector("[data-tick]:checked"));
  const rejected = items.filter((one) => one.querySelector("[type=radio][value=reject]:checked")).length, words = [];
  if (items.length - rejected) words.push("approve " + (items.length - rejected));
  if (rejected) words.push("reject " + rejected);
  decisions.querySelector("[data-ticked]").textContent = words.length ? "Ticked: " + words.join(", ") + "." : "Only ticked requests will be decided.";
}
if (decisions) {
  decisions.addEventListener("change", count);
  count();
}
