// The ticket's button stands outside what is read again, and says and sends what came with the figures. Shares of the
// balance fill the quantity; arrows step price and quantity exactly, with Shift by ten steps; Ctrl-Enter presses the button.
import { add, isLess, multiply, read, subtract, typed } from "./figures.js";

const button = document.getElementById("place"), form = button?.form;
const ZERO = { digits: 0n, places: 0 }, LARGE = read("10");
const ticked = new Set();
let edits = 0, sent = 0, known = 0, wished = null;

document.addEventListener("htmx:load", function (event) {
  for (const box of form?.querySelectorAll("[name=confirmed]") || []) box.checked ||= ticked.has(box.value);
  const effect = event.detail.elt.dataset?.effect;
  if (effect === undefined || !button) return;
  button.value = effect;
  button.textContent = effect || button.dataset.without;
  known = sent;
  if (wished === null || known !== edits) return;
  take(form.querySelectorAll("[data-fill]")[wished]);
  wished = null;
});
document.addEventListener("htmx:configRequest", function (event) {
  if (event.detail.elt.id === "figures") sent = edits;
});

// A tick changes no figure, so nothing is read again for it; what is read for something else keeps it for the same size.
for (const name of ["input", "change"]) {
  form?.addEventListener(name, function (event) {
    const box = event.target;
    if (box.name !== "confirmed") return;
    event.stopPropagation();
    if (box.checked) ticked.add(box.value);
    else ticked.delete(box.value);
  }, true);
}

function fill(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function take(share) {
  const field = share && document.getElementById(share.dataset.fill);
  if (!field || share.disabled) return;
  fill(field, share.dataset.value);
  field.focus();
}

// What a share comes to is reckoned for what was typed: pressed before that is known, it is taken as soon as it is,
// unless a quantity was typed meanwhile, which stands.
form?.addEventListener("input", function (event) {
  if (event.target.name === "quantity") wished = null;
  else edits += 1;
});
form?.addEventListener("click", function (event) {
  const share = event.target.closest("[data-fill]");
  if (!share) return;
  if (form.querySelector("#figures") && known !== edits) wished = Array.from(form.querySelectorAll("[data-fill]")).indexOf(share);
  else take(share);
});

// What is wrong with a field comes beside it; the field itself says that it is.
document.addEventListener("htmx:oobAfterSwap", function ({ detail }) {
  const field = detail.target.id?.endsWith("-wrong") && document.getElementById(detail.target.id.slice(0, -"-wrong".length));
  if (!field) return;
  if (detail.target.querySelector(".wrong")) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
});

function stepped(field, key, isLarge) {
  const steps = form.querySelector("[data-tick]")?.dataset;
  const step = field.name === "quantity" ? steps?.step : steps?.tick;
  if (!step || !/^[0-9]*[.]?[0-9]*$/.test(field.value)) return null;
  const now = read(field.value || "0"), by = isLarge ? multiply(read(step), LARGE) : read(step);
  const next = key === "ArrowUp" ? add(now, by) : subtract(now, by);
  return isLess(next, ZERO) ? null : typed(next);
}

form?.addEventListener("keydown", function (event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    button.click();
  }
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!["price", "quantity", "stop_price"].includes(event.target.name)) return;
  const next = stepped(event.target, event.key, event.shiftKey);
  if (next === null) return;
  event.preventDefault();
  fill(event.target, next);
});

// What was typed before anything listened is reckoned as soon as the page is whole.
window.addEventListener("load", function () {
  const early = Array.from(form?.elements || []).find((one) => one.defaultValue !== undefined && one.type === "text" && one.value !== one.defaultValue);
  early?.dispatchEvent(new Event("input", { bubbles: true }));
});
