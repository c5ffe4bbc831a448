// The order book as it changes: a fixed number of rows, so that only the text of cells changes and nothing moves.
import { add, brief, divide, forDrawing, half, isLess, multiply, price, read, subtract, toStep, typed, write as text } from "./figures.js";
import { ownSizes } from "./own_orders.js";
import { drawers, isOlder, mark, piece, readAgain, write } from "./ticks.js";

const WIDTH = 640, HEIGHT = 170, HEADROOM = 6, REACH = read("4"), HUNDRED = read("100");

// Each level with everything between it and the best one.
function steps(levels) {
  let total = read("0"), worth = read("0");
  return levels.map(function ([at, size]) {
    const [one, much] = [read(at), read(size)];
    total = add(total, much);
    worth = add(worth, multiply(one, much));
    return { price: one, size: much, total, worth };
  });
}
// Levels put together to multiples of some ticks, away from the middle, as the server puts them together.
function grouped(all, side, step) {
  const rows = [];
  all.forEach(function (one) {
    const at = toStep(one.price, step, { up: side === "ask" }), last = rows.at(-1);
    if (last && !isLess(last.price, at) && !isLess(at, last.price)) Object.assign(last, { size: add(last.size, one.size), total: one.total, worth: one.worth });
    else rows.push({ ...one, price: at });
  });
  return rows;
}
const largest = (figures) => figures.reduce((one, other) => (isLess(one, other) ? other : one));

function fill(row, step, deepest, part, own) {
  const { places, steps: sizes, quote } = part.dataset;
  const [sideCell, priceCell, sizeCell, totalCell] = row.cells;
  const mine = (step && own.get(typed(step.price))) || "";
  row.classList.toggle("spare", !step);
  if (sideCell.lastElementChild.textContent !== mine) sideCell.lastElementChild.textContent = mine;
  // A row without a level keeps its place and its height.
  if (!step) {
    [priceCell, sizeCell, totalCell].forEach((cell) => { cell.firstElementChild.textContent = "\u00a0"; });
    totalCell.removeAttribute("title");
    delete row.dataset.price;
    return;
  }
  const wasAt = priceCell.firstElementChild.textContent, hadSize = sizeCell.firstElementChild.textContent;
  priceCell.firstElementChild.textContent = price(text(step.price), places);
  sizeCell.firstElementChild.textContent = price(text(step.size), sizes);
  totalCell.firstElementChild.textContent = price(text(step.total), sizes);
  // Levels that only made room for others are not marked: that would be the whole ladder, many times a second.
  const isSameLevel = wasAt === priceCell.firstElementChild.textContent;
  if (isSameLevel && hadSize !== sizeCell.firstElementChild.textContent) mark(sizeCell.firstElementChild);
  row.dataset.price = typed(step.price);
  row.dataset.total = typed(step.total);
  totalCell.title = price(text(step.worth)) + " " + quote;
  totalCell.querySelector("rect").setAttribute("width", Math.min(100, share(step.total, deepest) * 100).toFixed(1) + "%");
}

function fillGap(cell, ask, bid, part) {
  if (!ask.length || !bid.length) {
    cell.textContent = "One side is empty";
    return;
  }
  if (!cell.firstElementChild) cell.replaceChildren("Spread ", piece("span", "figure"), " " + part.dataset.quote);
  write(cell.firstElementChild, price(text(subtract(ask[0].price, bid[0].price)), part.dataset.places));
}

// The picture: numbers that round are good enough for places on a drawing.
const number = (figure) => forDrawing(text(figure));
const share = (one, whole) => (whole.digits ? number(one) / number(whole) : 0);
const place = (value) => String(Math.round(value * 10) / 10);
function outline(side, middle, reach, deepest, edge) {
  const points = [];
  let height = HEIGHT;
  side.forEach(function (step) {
    const across = (number(subtract(step.price, middle)) / number(reach)) * (WIDTH / 2) + WIDTH / 2;
    points.push([across, height]);
    height = HEIGHT - share(step.total, deepest) * (HEIGHT - HEADROOM);
    points.push([across, height]);
  });
  points.push([edge, height], [edge, HEIGHT]);
  return "M" + points.map(([x, y]) => place(x) + " " + place(y)).join("L") + "Z";
}
// To the farthest level, but at most four times as far as half of all levels lie, as the server draws it: one order far
// out would leave nothing to see of the near ones.
function reachOf(distances) {
  const sorted = distances.sort((one, other) => (isLess(one, other) ? -1 : isLess(other, one) ? 1 : 0));
  const bound = multiply(REACH, sorted[Math.floor(sorted.length / 2)]), farthest = sorted.at(-1);
  return isLess(bound, farthest) ? bound : farthest;
}
function drawDepth(figure, asks, bids) {
  const middle = half(add(asks[0].price, bids[0].price));
  const away = { ask: (one) => subtract(one.price, middle), bid: (one) => subtract(middle, one.price) };
  const reach = reachOf([...asks.map(away.ask), ...bids.map(away.bid)]);
  const ask = asks.filter((one) => !isLess(reach, away.ask(one))), bid = bids.filter((one) => !isLess(reach, away.bid(one)));
  const deepest = largest([ask.at(-1).total, bid.at(-1).total]);
  const beyond = asks.length + bids.length - ask.length - bid.length;
  figure.querySelector("path.bid").setAttribute("d", outline(bid, middle, reach, deepest, 0));
  figure.querySelector("path.ask").setAttribute("d", outline(ask, middle, reach, deepest, WIDTH));
  const marks = { left: subtract(middle, reach), middle, right: add(middle, reach), top: deepest };
  marks.percent = divide(multiply(reach, HUNDRED), middle, 2, { up: true });
  figure.querySelector("[data-beyond]").textContent = beyond ? `, ${beyond} level${beyond === 1 ? "" : "s"} further out` : "";
  figure.querySelectorAll("[data-depth]").forEach((cell) => { cell.textContent = brief(text(marks[cell.dataset.depth])); });
}

let last = null;
function drawLadder(part, tick) {
  const table = part.querySelector("table.ladder");
  if (!table) {
    readAgain(part);
    return;
  }
  const whole = { ask: steps(tick.ask), bid: steps(tick.bid) }, step = multiply(read(part.dataset.tick), read(part.dataset.group));
  const rows = { ask: Array.from(table.querySelectorAll("[data-side=ask]")).reverse(), bid: Array.from(table.querySelectorAll("[data-side=bid]")) };
  const shown = { ask: [], bid: [] };
  ["ask", "bid"].forEach((side) => { shown[side] = grouped(whole[side], side, step).slice(0, rows[side].length); });
  const deepest = largest([...shown.ask.slice(-1), ...shown.bid.slice(-1)].map((one) => one.total).concat(read("0")));
  ["ask", "bid"].forEach(function (side) {
    const own = ownSizes(side, step);
    rows[side].forEach((row, number) => fill(row, shown[side][number], deepest, part, own));
  });
  fillGap(table.querySelector(".gap td"), whole.ask, whole.bid, part);
  part.dataset.asOf = tick.at;
}
drawers.book = function (tick, topic) {
  const part = document.getElementById("book"), depth = document.getElementById("depth");
  if (!part || part.dataset.ticks !== topic || isOlder(part, tick)) return;
  const picture = depth.querySelector(".depth"), hasBoth = tick.ask.length > 0 && tick.bid.length > 0;
  // A picture that appears or goes moves what is below it: that is left to the reading of both parts.
  if (hasBoth !== Boolean(picture)) {
    [part, depth].forEach(readAgain);
    return;
  }
  last = tick;
  drawLadder(part, tick);
  if (picture) drawDepth(picture, steps(tick.ask), steps(tick.bid));
  depth.dataset.asOf = tick.at;
};
// Own orders that changed are marked where they stand, with the next figures at the latest.
document.addEventListener("desk:own", function () {
  const part = document.getElementById("book");
  if (part && last && last.at >= (part.dataset.asOf || "")) drawLadder(part, last);
});

// Another grouping is drawn by the server and kept for the next symbol, in the address and on this device.
document.addEventListener("click", function (event) {
  const link = event.target.closest(".groups a[data-group]"), part = document.getElementById("book");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest(".groups").querySelectorAll("a").forEach((one) => one.removeAttribute("aria-current"));
  link.setAttribute("aria-current", "true");
  const here = new URL(location.href);
  here.searchParams.set("group", link.dataset.group);
  history.replaceState(history.state, "", here);
  window.htmx.ajax("GET", here.pathname + here.search, { source: part, target: part, swap: "outerHTML" });
});
