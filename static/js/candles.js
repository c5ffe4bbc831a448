// Draws the candles that a part of the page carries. It only draws: every figure stands exact in the table beside it.
// A rising candle is hollow and a falling one filled, so that nobody needs the colours.
import { averages } from "./averages.js";
import { forDrawing, price } from "./figures.js";
import { history } from "./older.js";
import { ownLines } from "./own_lines.js";
import * as personal from "./personal.js";
import { drawers, readAgain, write } from "./ticks.js";

const box = document.getElementById("chart");
const legend = document.getElementById("legend");

if (box && window.LightweightCharts) begin();

function begin() {
  const SHOWN = 110, ROOM = 4, MOST_BARS = 20000, DAYS = ["D1", "D7", "1M"];
  const { createChart, CandlestickSeries, HistogramSeries, CrosshairMode, TickMarkType } = window.LightweightCharts;
  const part = () => document.getElementById("candles");
  const [places, steps] = ["places", "steps"].map((name) => parseInt(part().dataset[name], 10));
  let bars = [], pointedAt = null;

  // A colour of the theme as the canvas takes it: the browser resolves it for an element that nobody sees.
  const probe = document.createElement("span");
  probe.hidden = true;
  box.append(probe);
  function colour(name) {
    probe.style.color = "var(--" + name + ")";
    return getComputedStyle(probe).color;
  }

  const chart = createChart(box, {
    autoSize: true,
    layout: { attributionLogo: false, fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 11 },
    localization: { locale: "en", timeFormatter: begins, priceFormatter: (drawn) => price(drawn.toFixed(places), places) },
    crosshair: { mode: CrosshairMode.Normal },
    handleScroll: { mouseWheel: true, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
    rightPriceScale: { borderVisible: false, entireTextOnly: true },
    timeScale: { borderVisible: false, timeVisible: !isOfDays(), rightOffset: ROOM, tickMarkFormatter: axisMark },
  });
  // When a candle begins, as the person reads hours. A day of the exchange is one of UTC, and is called so everywhere.
  function isOfDays() { return DAYS.includes(part().dataset.period); }
  function begins(second) {
    const when = new Date(second * 1000);
    return isOfDays() ? when.toISOString().slice(0, 10) : personal.minute(when);
  }
  function axisMark(second, kind) {
    const when = new Date(second * 1000), { Year, Month, DayOfMonth } = TickMarkType;
    const day = isOfDays() ? when.toISOString().slice(0, 10) : personal.day(when);
    if (kind === Year) return day.slice(0, 4);
    if (kind === Month) return day.slice(0, 7);
    return kind === DayOfMonth ? day.slice(5) : personal.minuteOfDay(when);
  }

  const candles = chart.addSeries(CandlestickSeries, { priceFormat: { type: "price", precision: places, minMove: 10 ** -places } });
  const volumes = chart.addSeries(HistogramSeries, { priceScaleId: "", priceFormat: { type: "volume" }, lastValueVisible: false, priceLineVisible: false });
  candles.priceScale().applyOptions({ scaleMargins: { top: 0.12, bottom: 0.24 } });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  const lines = averages(chart, { places, told: () => tell(pointed()) });
  const own = ownLines(chart, candles, { box, places, colour, bars: () => bars });

  function dress() {
    const [surface, text, line, edge, good, bad] = ["surface", "muted", "line", "edge", "good", "bad"].map(colour);
    chart.applyOptions({
      layout: { background: { type: "solid", color: surface }, textColor: text },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
    });
    candles.applyOptions({
      upColor: surface, borderUpColor: good, wickUpColor: good,
      downColor: bad, borderDownColor: bad, wickDownColor: bad, priceLineColor: text,
    });
    volumes.applyOptions({ color: edge });
    lines.dress([colour("accent"), colour("warn")]);
    own.draw();
  }

  // A drawing has numbers that round; the figures themselves stay texts.
  function bar([time, ...figures]) {
    const [open, high, low, close] = figures.map(forDrawing);
    return { time, open, high, low, close };
  }
  const volume = (row) => ({ time: row[0], value: forDrawing(row[5]) });

  function grow(row) {
    candles.update(bar(row));
    volumes.update(volume(row));
  }
  // The view is kept from the newest candle on, so what comes before moves nothing.
  function drawAll() {
    candles.setData(bars.map(bar));
    volumes.setData(bars.map(volume));
    lines.draw(bars);
    own.mark();
  }
  const show = (from, to) => chart.timeScale().setVisibleLogicalRange({ from, to });

  // What was drawn stays where it is: only the last candle grows, and new ones come behind it.
  function draw() {
    const rows = JSON.parse(part().dataset.candles), last = bars.at(-1);
    box.parentElement.classList.toggle("bare", !rows.length);
    if (last && rows.some((row) => row[0] === last[0])) {
      rows.filter((row) => row[0] >= last[0]).forEach(grow);
      bars = bars.filter((row) => row[0] < rows[0][0]).concat(rows);
      lines.grow(bars, last[0]);
    } else {
      bars = rows;
      drawAll();
      show(rows.length - SHOWN, rows.length + ROOM);
    }
    tell(pointed());
  }

  // The last candles as they are told: the last one grows, and one that begins comes behind it.
  drawers.candles = function (tick, topic) {
    const current = part(), last = bars.at(-1);
    if (current.dataset.ticks !== topic || !tick.rows.length) return;
    if (!last || tick.rows[0][0] > last[0]) {
      // The drawing ends before what was told begins: there may be others between.
      readAgain(current);
      return;
    }
    const fresh = tick.rows.filter((row) => row[0] >= last[0]);
    fresh.forEach(grow);
    bars = bars.slice(0, -1).concat(fresh.length ? fresh : [last]);
    lines.grow(bars, last[0]);
    tell(pointed());
    fillTable(current, tick.rows);
  };

  // The table has the newest candle on top; one that it does not have yet comes with the next reading.
  function fillTable(current, rows) {
    const top = current.querySelector("tbody tr");
    if (!top) return;
    const newest = rows.find((row) => String(row[0]) === top.dataset.second);
    const digits = [places, places, places, places, steps, 0];
    if (newest) newest.slice(1).forEach((figure, number) => write(top.cells[number + 1], price(figure, digits[number])));
    if (rows.at(-1)[0] > parseInt(top.dataset.second, 10)) readAgain(current);
  }

  const pointed = () => bars.find((row) => row[0] === pointedAt) || bars.at(-1);
  function tell(row) {
    if (!row) return;
    const [open, high, low, close] = row.slice(1, 5).map((figure) => price(figure, places));
    const when = begins(row[0]);
    const words = when + "  open " + open + "  high " + high + "  low " + low + "  close " + close + "  volume " + price(row[5], steps);
    write(legend, words + lines.words(row[0]));
    legend.classList.remove("fresh");
  }
  chart.subscribeCrosshairMove(function (moved) {
    pointedAt = moved.time;
    tell(pointed());
  });

  // Older candles come before those that are drawn: what is taken over ends where the drawing begins.
  const past = history({
    first: () => (bars.length && bars.length < MOST_BARS ? bars[0][0] : null),
    take(rows) {
      bars = rows.filter((row) => row[0] < bars[0][0]).concat(bars);
      drawAll();
    },
  });
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => { if (range) past.look(range.from); });

  const MOVES = {
    older: ({ from, to }) => [from - (to - from) / 2, to - (to - from) / 2],
    newer: ({ from, to }) => [from + (to - from) / 2, to + (to - from) / 2],
    out: ({ from, to }) => [from - (to - from), to],
    in: ({ from, to }) => [from + (to - from) / 2, to],
    now: ({ from, to }) => [bars.length + ROOM - (to - from), bars.length + ROOM],
  };
  document.querySelectorAll("[data-chart]").forEach((button) => button.addEventListener("click", function () {
    const range = chart.timeScale().getVisibleLogicalRange();
    if (range) show(...MOVES[button.dataset.chart](range));
  }));

  document.addEventListener("htmx:load", (event) => { if (event.detail.elt.id === "candles") draw(); });
  new MutationObserver(dress).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  dress();
  draw();
}
