// Own orders as lines on the chart, own trades as marks on the candles, the entry of a position. The line of an order can be
// taken with the mouse and put elsewhere: that opens the panel in which the change is confirmed, and changes nothing by itself.
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
  function put(event) {
    const { line, order, tick } = taken, at = nearest(series.coordinateToPrice(offset(event)) || 0, tick, places);
    taken.at = at;
    line.applyOptions({ price: forDrawing(at), title: titleOf(order) + ": move to " + price(at, places) });
  }
  function drop() {
    taken = null;
    hold(false);
    draw();
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
    const isMoved = typed(read(at)) !== typed(read(order.price));
    drop();
    if (isMoved) openChange(order.replace + "?price=" + encodeURIComponent(at));
  });
  box.addEventListener("pointercancel", () => { if (taken) drop(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && taken) drop(); });
  document.addEventListener("desk:own", draw);
  return { draw, mark };
}
