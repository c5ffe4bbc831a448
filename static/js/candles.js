// Draws the candles that a part of the page carries. It only draws: every figure stands exact in the table beside it.
// A rising candle is hollow and a falling one filled, so that nobody needs the colours.
(function () {
  "use strict";
  const box = document.getElementById("chart");
  const legend = document.getElementById("legend");
  if (!box || !window.LightweightCharts) return;

  const SHOWN = 110, ROOM = 4, DAYS = ["D1", "D7", "1M"];
  const { createChart, CandlestickSeries, HistogramSeries, CrosshairMode } = window.LightweightCharts;
  const part = () => document.getElementById("candles");
  const places = JSON.parse(part().dataset.places);
  let bars = [];

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
    localization: { locale: "en", dateFormat: "yyyy-MM-dd" },
    crosshair: { mode: CrosshairMode.Normal },
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
    rightPriceScale: { borderVisible: false },
    timeScale: { borderVisible: false, timeVisible: !DAYS.includes(part().dataset.period), rightOffset: ROOM },
  });
  const candles = chart.addSeries(CandlestickSeries, { priceFormat: { type: "price", precision: places, minMove: 10 ** -places } });
  const volumes = chart.addSeries(HistogramSeries, { priceScaleId: "", priceFormat: { type: "volume" }, lastValueVisible: false, priceLineVisible: false });
  candles.priceScale().applyOptions({ scaleMargins: { top: 0.06, bottom: 0.24 } });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });

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
  }

  const bar = ([time, open, high, low, close]) => ({ time, open, high, low, close });
  const volume = (row) => ({ time: row[0], value: row[5] });

  // What was drawn stays where it is: only the last candle grows, and new ones come behind it.
  function draw() {
    const rows = JSON.parse(part().dataset.candles);
    const last = bars.at(-1);
    box.hidden = legend.hidden = !rows.length;
    if (last && rows.some((row) => row[0] === last[0])) {
      rows.filter((row) => row[0] >= last[0]).forEach(function (row) {
        candles.update(bar(row));
        volumes.update(volume(row));
      });
      bars = rows;
    } else {
      bars = rows;
      candles.setData(rows.map(bar));
      volumes.setData(rows.map(volume));
      chart.timeScale().setVisibleLogicalRange({ from: rows.length - SHOWN, to: rows.length + ROOM });
    }
    tell(bars.at(-1));
  }

  function tell(row) {
    if (!row) return;
    const [open, high, low, close] = row.slice(1, 5).map((figure) => figure.toFixed(places));
    const when = new Date(row[0] * 1000).toISOString().slice(0, 16).replace("T", " ");
    legend.textContent = when + "  open " + open + "  high " + high + "  low " + low + "  close " + close + "  volume " + row[5];
  }

  chart.subscribeCrosshairMove(function (moved) {
    tell(bars.find((row) => row[0] === moved.time) || bars.at(-1));
  });

  // A table that is read again stays where it was scrolled to.
  const scrolled = new Map();
  const boxes = (part) => Array.from(part.querySelectorAll(".scroll"));
  document.addEventListener("htmx:beforeSwap", function (event) {
    const part = event.detail.target;
    scrolled.set(part.id, boxes(part).map((one) => [one.scrollTop, one.scrollLeft]));
  });
  document.addEventListener("htmx:load", function (event) {
    const part = event.detail.elt, was = scrolled.get(part.id) || [];
    boxes(part).forEach(function (one, number) {
      [one.scrollTop, one.scrollLeft] = was[number] || [0, 0];
    });
    if (part.id === "candles") draw();
  });

  new MutationObserver(dress).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  dress();
  draw();
})();
