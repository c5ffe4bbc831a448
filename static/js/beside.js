// The ticket beside the book: a level fills in its price, with Shift the size up to it as well; shares of what is available;
// keys for the side and for steps of price and quantity. Nothing here places anything: that is what the ticket's button does.
import { add, divide, isLess, multiply, read, subtract, toStep, typed } from "./figures.js";
import { isTyping, keysOff } from "./page.js";

const ticket = document.getElementById("ticket"), ONE = read("1"), LARGE = read("10");
const field = (name) => document.getElementById("id_" + name);
const figure = (text) => (/^\d+(\.\d+)?$/.test(text || "") ? read(text) : null);
const available = () => document.getElementById("available")?.dataset || {};
const sides = () => Array.from(ticket.elements.namedItem("side") || []);
const sideNow = () => ticket.elements.namedItem("side")?.value;

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
  const step = figure(available().step);
  fill(field("quantity"), typed(step ? toStep(read(row.dataset.total), step) : read(row.dataset.total)));
}

// The price that an order to buy is reckoned at: the typed one, or the best that is offered.
function priceNow() {
  const type = field("type")?.value || "limit";
  const best = Array.from(document.querySelectorAll("#book tr[data-side=ask][data-price]")).at(-1)?.dataset.price;
  return figure(type.toLowerCase().includes("market") ? best : field("price")?.value || best);
}
function takeShare(percent) {
  const { base, quote, step, fee } = available(), by = figure(step), part = { digits: BigInt(percent), places: 2 };
  if (!by) return;
  if (sideNow() === "sell") {
    if (figure(base)) fill(field("quantity"), typed(toStep(multiply(figure(base), part), by)));
    return;
  }
  const at = priceNow(), means = figure(quote);
  if (!at || !at.digits || !means) return;
  const each = multiply(at, add(ONE, figure(fee) || read("0")));
  fill(field("quantity"), typed(toStep(divide(multiply(means, part), each, by.places + 2), by)));
}

function stepBy(one, step, isUp, isLarge) {
  const by = isLarge ? multiply(step, LARGE) : step, before = figure(one.value) || read("0");
  if (!isUp && isLess(before, by)) return;
  fill(one, typed(isUp ? add(before, by) : subtract(before, by)));
}

if (ticket) {
  // A double click or a text that is marked is not wanted here: rows are pressed again and again.
  document.addEventListener("mousedown", (event) => { if (event.shiftKey && event.target.closest("#book tr[data-price]")) event.preventDefault(); });
  document.addEventListener("click", function (event) {
    const row = event.target.closest("#book tr[data-price]"), share = event.target.closest("#available [data-share]");
    if (row && !event.target.closest("a")) takeLevel(row, event.shiftKey);
    if (share) takeShare(share.dataset.share);
  });
  document.addEventListener("keydown", function (event) {
    if (keysOff() || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const steps = { id_price: figure(available().tick), id_stop_price: figure(available().tick), id_quantity: figure(available().step) };
    const step = steps[event.target.id], isUp = event.key === "ArrowUp";
    if (step && (isUp || event.key === "ArrowDown")) {
      event.preventDefault();
      stepBy(event.target, step, isUp, event.shiftKey);
    }
    if (isTyping(event.target)) return;
    const side = { b: "buy", s: "sell" }[event.key];
    if (!side) return;
    event.preventDefault();
    choose(side);
    (field("price")?.checkVisibility() ? field("price") : field("quantity"))?.focus();
  });
}
