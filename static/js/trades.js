// Public trades as they happen. They come on top, so the list rests while the pointer is on it, and one that was scrolled
// stays where it is.
import { price } from "./figures.js";
import { rereadSoon } from "./fragments.js";
import { besides, second } from "./personal.js";
import * as press from "./press.js";
import { drawers, mark, piece, readAgain, signed } from "./ticks.js";

const SHOWN = 30, SIDES = { buy: ["good", "\u2191", "Buy"], sell: ["bad", "\u2193", "Sell"] };
let isPointedAt = false, held = null;

function timeOf(moment) {
  const time = piece("time", "nowrap", second(new Date(moment)));
  time.dateTime = moment;
  time.title = besides(new Date(moment));
  return time;
}
function sideOf(name) {
  const [tone, arrow, word] = SIDES[name] || ["quiet", "", name];
  return signed("nowrap tone-" + tone, arrow, word);
}
function rowOf([id, at, quantity, side, moment], part) {
  const row = document.createElement("tr");
  row.dataset.id = id;
  row.title = "Trade " + id;
  const cells = [piece("td", ""), piece("td", ""), piece("td", "end figure"), piece("td", "end figure")];
  cells[0].append(timeOf(moment));
  cells[1].append(sideOf(side));
  cells[2].textContent = price(at, part.dataset.places);
  cells[3].textContent = price(quantity, part.dataset.steps);
  row.append(...cells);
  return row;
}

const newer = (one, other) => (BigInt(one) > BigInt(other) ? -1 : 1);
function place(part, body, tick) {
  const known = new Map(Array.from(body.rows).map((row) => [row.dataset.id, row]));
  const newest = new Map(tick.rows.map((row) => [row[0], row]));
  const order = Array.from(new Set([...newest.keys(), ...known.keys()])).sort(newer).slice(0, SHOWN);
  const box = body.closest(".scroll"), anchor = body.rows[0], before = anchor ? anchor.offsetTop : 0;
  order.forEach(function (id, number) {
    let row = known.get(id);
    if (!row) {
      row = rowOf(newest.get(id), part);
      mark(row);
    }
    if (body.rows[number] !== row) body.insertBefore(row, body.rows[number] || null);
  });
  if (box.scrollTop > 0 && anchor) box.scrollTop += anchor.offsetTop - before;
  while (body.rows.length > SHOWN) body.lastElementChild.remove();
}

function tellHeld(part) {
  const note = part.querySelector("[data-held]");
  if (!note) return;
  const ids = new Set(Array.from(part.querySelectorAll("tbody tr")).map((row) => row.dataset.id));
  const count = held ? held.rows.filter(([id]) => !ids.has(id)).length : 0;
  note.textContent = count ? count + " newer trades, shown when the pointer leaves" : "";
}

drawers.trades = function (tick, topic) {
  const part = document.getElementById("trades");
  if (!part || part.dataset.ticks !== topic) return;
  const body = part.querySelector("tbody");
  if (!body) {
    if (tick.rows.length) readAgain(part);
    return;
  }
  held = isPointedAt ? tick : null;
  if (!held) place(part, body, tick);
  tellHeld(part);
};

// A mouse rests on rows; a finger that scrolled has left again.
const isMouse = (event) => event.pointerType === "mouse";
const inList = (target) => target instanceof Element && Boolean(target.closest("#trades .scroll"));
document.addEventListener("pointerover", function (event) {
  if (!isMouse(event)) return;
  const was = isPointedAt;
  isPointedAt = inList(event.target);
  if (was && !isPointedAt) press.after(release);
});
document.documentElement.addEventListener("pointerleave", function () {
  isPointedAt = false;
  press.after(release);
});
let isLate = false;
function release() {
  const part = document.getElementById("trades"), tick = held;
  held = null;
  if (!part) return;
  if (isLate) rereadSoon(part);
  isLate = false;
  if (tick) drawers.trades(tick, part.dataset.ticks);
}
// A list that is read again while the pointer is on it stays as it is, and is read when the pointer has left.
document.addEventListener("htmx:beforeSwap", function (event) {
  if (event.detail.target.id !== "trades" || !isPointedAt || !event.detail.target.querySelector("tbody")) return;
  event.detail.shouldSwap = false;
  isLate = true;
});
