// Own orders as lines on the chart, own trades as marks on the candles, the entry of a position. The line of an order can be
// taken with the mouse and put elsewhere: that opens the panel in which the change is confirmed, and changes nothing by itself.
// A line that is let go outside the chart, given up, or whose order changes meanwhile, changes nothing and says so.
import { refuse, remark } from "./answers.js";
import { openChange } from "./change.js";
import { add, forDrawing, price, read, typed } from "./figures.js";
import { entry, fills, nearest, orders } from "./own_orders.js";

const NEAR_PX = 6;
const WORDS = { buy: "Buy", sell: "Sell" };

export function ownLines(chart, series, { box, places, colour, bars }) {
  const { createSeriesMarkers, LineStyle } = window.LightweightCharts;
  const marks = createSeriesMarkers(series, []);
  let lines = [], taken = null;

  function addLine(options, order) {
    lines.push({ line: series.createPriceLine({ lineWidth: 1, axisLabelVisible: true, ...options }), order });
  }
  const titleOf = (one) => WORDS[one.side] + " " + price(one.left) + (one.stop ? " stop" : "");
  function draw() {
    if (taken) return;
    lines.forEach(({ line }) => series.removePriceLine(line));
    lines = [];
    orders().forEach((one) => addLine({ price: forDrawing(one.price), color: colour(one.side === "buy" ? "good" : "bad"), lineStyle: LineStyle.Dashed, title: titleOf(one) }, one));
    if (entry()) addLine({ price: forDrawing(entry()), color: colour("muted"), lineStyle: LineStyle.Dotted, title: "Entry" }, null);
    mark();
  }

  // All trades of a side within one candle are one mark.
  function mark() {
    const drawn = bars(), found = new Map();
    fills().forEach(function ([second, side, quantity]) {
      const at = drawn.findLast((row) => row[0] <= second);
      if (!at) return;
      const name = at[0] + side, one = found.get(name) || { time: at[0], side, sum: read("0") };
      one.sum = add(one.sum, read(quantity));
      found.set(name, one);
    });
    marks.setMarkers(Array.from(found.values()).sort((one, other) => one.time - other.time).map(({ time, side, sum }) => ({
      time, text: price(typed(sum)), color: colour(side === "buy" ? "good" : "bad"),
      ...(side === "buy" ? { position: "belowBar", shape: "arrowUp" } : { position: "aboveBar", shape: "arrowDown" }),
    })));
  }

  const offset = (event) => event.clientY - box.getBoundingClientRect().top;
  function under(event) {
    const y = offset(event);
    return lines.find(({ line, order }) => order?.replace && Math.abs(series.priceToCoordinate(line.options().price) - y) <= NEAR_PX);
  }
  // Over a line the chart itself is held, so that the line is what is moved.
  const hold = (isHeld) => chart.applyOptions({ handleScroll: { pressedMouseMove: !isHeld }, handleScale: { axisPressedMouseMove: !isHeld } });
  function isInside({ clientX: x, clientY: y }) {
    const edges = box.getBoundingClientRect();
    return x >= edges.left && x <= edges.right && y >= edges.top && y <= edges.bottom;
  }
  function put(event) {
    const { line, order, tick } = taken;
    const at = isInside(event) ? nearest(series.coordinateToPrice(offset(event)) || 0, tick, places) : order.price;
    Object.assign(taken, { at, isMoved: true });
    line.applyOptions({ price: forDrawing(at), title: titleOf(order) + (isInside(event) ? ": move to " + price(at, places) : ": unchanged") });
  }
  function drop() {
    taken = null;
    hold(false);
    draw();
  }
  function giveUp(why, say = remark) {
    const { order, isMoved } = taken;
    drop();
    if (isMoved) say(order.name + " was not changed" + why);
  }
  const isPrice = (one, other) => typed(read(one)) === typed(read(other));
  // The part of the page was read again: what is being moved has to be the order that was taken.
  function follow() {
    const now = taken && orders().find((one) => one.name === taken.order.name);
    if (!taken) draw();
    else if (!now?.replace) giveUp(": it can no longer be changed.", refuse);
    else if (!isPrice(now.price, taken.order.price)) giveUp(": its price became " + price(now.price, places) + " while you moved it.", refuse);
    else taken.order = now;
  }
  box.addEventListener("pointermove", function (event) {
    if (event.pointerType !== "mouse") return;
    if (taken) put(event);
    else if (!event.buttons) {
      const found = Boolean(under(event));
      if (found !== box.classList.contains("on-line")) hold(found);
      box.classList.toggle("on-line", found);
    }
  });
  box.addEventListener("pointerdown", function (event) {
    const found = event.pointerType === "mouse" && event.button === 0 && under(event);
    if (!found) return;
    taken = { ...found, at: found.order.price, tick: read(document.getElementById("book").dataset.tick) };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointerup", function (event) {
    if (!taken) return;
    const { order, at } = taken;
    if (!isInside(event)) giveUp(": it was dropped outside the chart.");
    else if (isPrice(at, order.price)) giveUp(": it was dropped at its own price.");
    else {
      drop();
      openChange(order.replace + "?price=" + encodeURIComponent(at));
    }
  });
  box.addEventListener("pointercancel", () => { if (taken) giveUp("."); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && taken) giveUp("."); });
  document.addEventListener("desk:own", follow);
  return { draw, mark };
}
