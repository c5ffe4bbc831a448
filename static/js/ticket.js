// The ticket's button stands outside what is read again, and says and sends what came with the figures. Shares of the
// balance fill the quantity; arrows step price and quantity exactly; Ctrl-Enter presses the button.
import { add, isLess, read, subtract, write } from "./figures.js";

const button = document.getElementById("place"), form = button?.form;
const ZERO = { digits: 0n, places: 0 };

document.addEventListener("htmx:load", function (event) {
  const effect = event.detail.elt.dataset?.effect;
  if (effect === undefined || !button) return;
  button.value = effect;
  button.textContent = effect || button.dataset.without;
});

function fill(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

form?.addEventListener("click", function (event) {
  const share = event.target.closest("[data-fill]"), field = share && document.getElementById(share.dataset.fill);
  if (!field) return;
  fill(field, share.dataset.value);
  field.focus();
});

function stepped(field, key) {
  const steps = form.querySelector("[data-tick]")?.dataset;
  const step = field.name === "quantity" ? steps?.step : steps?.tick;
  if (!step || !/^[0-9]*[.]?[0-9]*$/.test(field.value)) return null;
  const now = read(field.value || "0"), by = read(step);
  const next = key === "ArrowUp" ? add(now, by) : subtract(now, by);
  return isLess(next, ZERO) ? null : write(next);
}

form?.addEventListener("keydown", function (event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    button.click();
  }
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!["price", "quantity", "stop_price"].includes(event.target.name)) return;
  const next = stepped(event.target, event.key);
  if (next === null) return;
  event.preventDefault();
  fill(event.target, next);
});
