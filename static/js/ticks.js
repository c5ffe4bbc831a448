// What the exchange tells of public markets, drawn where it stands: only the text of cells changes, so nothing moves. A
// part that is read again meanwhile comes from the rows, which may be a second older: the last tick is drawn over it.
import { MINUS, NOTHING, brief, percent, price } from "./figures.js";
import { rereadSoon } from "./fragments.js";
import { showAge } from "./page.js";
import { besides, secondOfDay } from "./personal.js";

const READ_AGAIN_MS = 1500;
const WAYS = { up: ["good", "\u2191", "+"], down: ["bad", "\u2193", MINUS], still: ["quiet", "\u2192", ""] };
const last = new Map(), drawers = {};

function mark(cell) {
  if (!cell.classList.contains("fresh")) cell.classList.add("fresh");
}
document.addEventListener("animationend", (event) => event.target.classList.remove("fresh"));

function write(cell, text) {
  if (cell.textContent === text) return;
  cell.textContent = text;
  mark(cell);
}

function piece(name, css, text) {
  const made = document.createElement(name);
  if (css) made.className = css;
  if (text !== undefined) made.textContent = text;
  return made;
}
function signed(css, arrow, text) {
  const made = piece("span", css), sign = piece("span", "", arrow + " ");
  sign.setAttribute("aria-hidden", "true");
  made.append(sign, text);
  return made;
}

// A change in percent as the server draws it: with its sign and an arrow, so that nobody needs the colour.
function change(share) {
  if (share === null || share === undefined) return piece("span", "muted", NOTHING);
  const way = !/[1-9]/.test(share) ? "still" : share.startsWith("-") ? "down" : "up";
  const [tone, arrow, sign] = WAYS[way];
  return signed("figure tone-" + tone, arrow, sign + price(share.replace("-", ""), 2) + " %");
}

function writeFigure(cell, value, places) {
  if (cell.dataset.as === "change") {
    const fresh = change(value);
    if (cell.textContent.trim() === fresh.textContent) return;
    cell.replaceChildren(fresh);
    mark(cell);
  } else write(cell, { price, brief, percent }[cell.dataset.as](value, places));
}

function setAge(time, moment) {
  if (!time) return;
  time.dateTime = moment;
  time.title = besides(new Date(moment));
  showAge(time);
}

// A ticker: the head of a market's page, or a row of the list.
function drawTicker(root, tick) {
  root.querySelectorAll("[data-value]").forEach((cell) => writeFigure(cell, tick[cell.dataset.value], root.dataset.places));
  root.dataset.asOf = tick.at;
  const at = root.querySelector("time[data-at]");
  if (at) {
    at.dateTime = tick.at;
    at.textContent = secondOfDay(new Date(tick.at));
  }
}
const isOlder = (root, tick) => Boolean(root.dataset.asOf) && tick.at < root.dataset.asOf;

drawers.symbol = function (tick, topic) {
  const head = document.getElementById("now");
  if (head && head.dataset.ticks === topic && !isOlder(head, tick)) {
    if (head.querySelector("[data-value]")) drawTicker(head, tick);
    else readAgain(head);
  }
  const row = document.querySelector('tr[data-topic="' + CSS.escape(topic) + '"]');
  if (!row || isOlder(row, tick)) return;
  drawTicker(row, tick);
  setAge(row.querySelector("time[data-age]"), tick.read_at);
};

// What can't be drawn into what stands there is read again, a moment later: by then it is written.
const due = new Set();
function readAgain(part) {
  if (due.has(part.id)) return;
  due.add(part.id);
  setTimeout(function () {
    due.delete(part.id);
    const now = document.getElementById(part.id);
    if (now) rereadSoon(now);
  }, READ_AGAIN_MS);
}

function draw(topic, tick) {
  const kind = topic.split(":")[0];
  if (!drawers[kind]) return;
  drawers[kind](tick, topic);
  const head = document.getElementById("now");
  if (head) setAge(head.querySelector('time[data-age="' + kind + '"]'), tick.read_at);
}
document.addEventListener("desk:tick", function (event) {
  const { topic, tick } = event.detail;
  if (!tick || typeof tick !== "object") return;
  last.set(topic, tick);
  draw(topic, tick);
});

// A part that was read again says as of when; what was told later is drawn over it.
document.addEventListener("htmx:load", function (event) {
  const part = event.detail.elt;
  if (!part.dataset || !part.dataset.ticks) return;
  part.dataset.ticks.split(" ").filter((topic) => last.has(topic)).forEach(function (topic) {
    const tick = last.get(topic);
    if (part.dataset.asOf ? tick.at > part.dataset.asOf : part.id === "rows") draw(topic, tick);
  });
});

export { drawers, mark, write, change, piece, signed, readAgain, isOlder };
