// The button of a ticket stands outside what is read again, and says and sends what came with the figures. Shares of the
// balance fill the quantity; arrows step price and quantity exactly, with Shift by ten steps; Ctrl-Enter presses the button.
// A ticket that was sent from the trading desk is drawn anew in its place, so nothing here is bound to one form.
import { add, isLess, multiply, read, subtract, typed } from "./figures.js";

const ZERO = { digits: 0n, places: 0 }, LARGE = read("10");
const buttonOf = (form) => form?.querySelector("button[name=effect]") || null;
const formOf = (element) => {
  const form = element.closest?.("form");
  return buttonOf(form) ? form : null;
};
// Of each form: how often it was edited, which edit was sent last and which is answered, a share that is wanted, ticks.
const states = new WeakMap();
function stateOf(form) {
  if (!states.has(form)) states.set(form, { edits: 0, sent: 0, answered: 0, share: null, ticked: new Set() });
  return states.get(form);
}

document.addEventListener("htmx:load", function (event) {
  const part = event.detail.elt, form = formOf(part);
  if (part.id === "ticket") part.querySelector("[data-focus-now], #id_quantity")?.focus({ preventScroll: true });
  if (!form) return;
  const state = stateOf(form), button = buttonOf(form), effect = part.dataset?.effect;
  for (const box of form.querySelectorAll("[name=confirmed]")) box.checked ||= state.ticked.has(box.value);
  if (effect === undefined) return;
  button.value = effect;
  button.textContent = effect || button.dataset.without;
  state.answered = state.sent;
  if (state.share === null || state.answered !== state.edits) return;
  take(form.querySelectorAll("[data-fill]")[state.share]);
  state.share = null;
});
document.addEventListener("htmx:configRequest", function (event) {
  const form = event.detail.elt.id.endsWith("figures") && formOf(event.detail.elt);
  if (form) stateOf(form).sent = stateOf(form).edits;
});

// Figures that are on their way for a ticket that was sent are not those of the next one.
document.addEventListener("htmx:beforeSwap", function ({ detail }) {
  if (detail.target.id === "ticket") window.htmx.trigger(detail.target.querySelector("#figures"), "htmx:abort");
});

// A tick changes no figure, so nothing is read again for it; what is read for something else keeps it for the same size.
for (const name of ["input", "change"]) {
  document.addEventListener(name, function (event) {
    const box = event.target, form = box.name === "confirmed" && formOf(box);
    if (!form) return;
    event.stopPropagation();
    if (box.checked) stateOf(form).ticked.add(box.value);
    else stateOf(form).ticked.delete(box.value);
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
// An order has a quantity or an amount: who types one of them empties the other.
const OTHER = { quantity: "amount", amount: "quantity" };
document.addEventListener("input", function (event) {
  const form = formOf(event.target);
  if (!form) return;
  const other = event.target.value && form.elements[OTHER[event.target.name]];
  if (other) other.value = "";
  if (event.target.name === "quantity") stateOf(form).share = null;
  else stateOf(form).edits += 1;
});
document.addEventListener("click", function (event) {
  const share = event.target.closest("[data-fill]"), form = share && formOf(share);
  if (!form) return;
  const state = stateOf(form);
  if (form.querySelector("#figures") && state.answered !== state.edits) state.share = Array.from(form.querySelectorAll("[data-fill]")).indexOf(share);
  else take(share);
});

// What is wrong with a field comes beside it; the field itself says that it is.
document.addEventListener("htmx:oobAfterSwap", function ({ detail }) {
  const field = detail.target.id?.endsWith("-wrong") && document.getElementById(detail.target.id.slice(0, -"-wrong".length));
  if (!field) return;
  if (detail.target.querySelector(".wrong")) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
});

function stepped(form, field, key, isLarge) {
  const steps = form.querySelector("[data-tick]")?.dataset;
  const step = field.name === "quantity" ? steps?.step : steps?.tick;
  if (!step || !/^[0-9]*[.]?[0-9]*$/.test(field.value)) return null;
  const now = read(field.value || "0"), by = isLarge ? multiply(read(step), LARGE) : read(step);
  const next = key === "ArrowUp" ? add(now, by) : subtract(now, by);
  return isLess(next, ZERO) ? null : typed(next);
}

document.addEventListener("keydown", function (event) {
  const form = formOf(event.target);
  if (!form) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    buttonOf(form).click();
  }
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!["price", "quantity", "stop_price"].includes(event.target.name)) return;
  const next = stepped(form, event.target, event.key, event.shiftKey);
  if (next === null) return;
  event.preventDefault();
  fill(event.target, next);
});

// What was typed before anything listened is reckoned as soon as the page is whole.
window.addEventListener("load", function () {
  const form = Array.from(document.forms).find(buttonOf);
  const early = Array.from(form?.elements || []).find((one) => one.defaultValue !== undefined && one.type === "text" && one.value !== one.defaultValue);
  early?.dispatchEvent(new Event("input", { bubbles: true }));
});
