// The ticket beside the book: a level fills in its price, with Shift the size up to it as well; keys choose the side.
// Nothing here places anything: that is what the ticket's button does.
import { read, toStep, typed } from "./figures.js";
import { isTyping, keysOff } from "./keys.js";

const ticket = () => document.getElementById("ticket");
const field = (name) => document.getElementById("id_" + name);
const figure = (text) => (/^\d+(\.\d+)?$/.test(text || "") ? read(text) : null);
const smallest = () => figure(ticket().querySelector("[data-step]")?.dataset.step);
const sides = () => Array.from(ticket().elements.namedItem("side") || []);

function fill(one, text) {
  if (!one || one.value === text) return;
  one.value = text;
  one.dispatchEvent(new Event("input", { bubbles: true }));
  one.dispatchEvent(new Event("change", { bubbles: true }));
}
function choose(name) {
  const one = sides().find((radio) => radio.value === name);
  if (!one || one.checked) return;
  one.checked = true;
  one.dispatchEvent(new Event("input", { bubbles: true }));
  one.dispatchEvent(new Event("change", { bubbles: true }));
}

// Who takes from the asks buys. A plain click only sets the price, and leaves the side as it is chosen.
function takeLevel(row, withSize) {
  fill(field("price"), row.dataset.price);
  if (!withSize) return;
  choose(row.dataset.side === "ask" ? "buy" : "sell");
  const step = smallest();
  fill(field("quantity"), typed(step ? toStep(read(row.dataset.total), step) : read(row.dataset.total)));
}

if (ticket()) {
  // A double click or a text that is marked is not wanted here: rows are pressed again and again.
  document.addEventListener("mousedown", (event) => { if (event.shiftKey && event.target.closest("#book tr[data-price]")) event.preventDefault(); });
  document.addEventListener("click", function (event) {
    const row = event.target.closest("#book tr[data-price]");
    if (row && !event.target.closest("a")) takeLevel(row, event.shiftKey);
  });
  document.addEventListener("keydown", function (event) {
    if (keysOff() || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) return;
    const side = { b: "buy", s: "sell" }[event.key];
    if (!side) return;
    event.preventDefault();
    choose(side);
    (field("price")?.checkVisibility() ? field("price") : field("quantity"))?.focus();
  });
}
