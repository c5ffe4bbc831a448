// The account's own open orders and trades of this symbol, as the part below the chart carries them: figures for drawing.
import { add, half, price, read, toStep, typed } from "./figures.js";

const SIDES = { sell: "ask", buy: "bid" };
const part = () => document.getElementById("work");
const listOf = (name) => JSON.parse(part()?.dataset[name] || "[]");

export const orders = () => listOf("own");
export const fills = () => listOf("fills");
export const entry = () => part()?.dataset.entry || "";

// What own orders offer in each row of the ladder: the row's price as it is typed, and the size as it is shown.
export function ownSizes(side, step) {
  const sizes = new Map();
  orders().filter((one) => one.listed && SIDES[one.side] === side).forEach(function (one) {
    const row = typed(toStep(read(one.price), step, { up: side === "ask" }));
    sizes.set(row, add(sizes.get(row) || read("0"), read(one.left)));
  });
  return new Map(Array.from(sizes, ([row, size]) => [row, price(typed(size))]));
}

// The multiple of the tick that is nearest to where somebody points, and at least one tick.
export function nearest(value, tick, places) {
  const at = add(read(Math.max(value, 0).toFixed(places + 1)), half(tick)), found = toStep(at, tick);
  return typed(found.digits ? found : tick);
}

document.addEventListener("htmx:load", function (event) {
  if (event.detail.elt.id === "work") document.dispatchEvent(new CustomEvent("desk:own"));
});
