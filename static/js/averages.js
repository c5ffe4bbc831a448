// Two moving averages of the closing prices, over as many candles as is typed above the chart; kept on this device.
// They are only drawn, so they are reckoned with numbers that round.
import { forDrawing, price } from "./figures.js";

const KEPT = "averages", LONGEST = 400;

export function averages(chart, { places, told }) {
  const { LineSeries } = window.LightweightCharts;
  const fields = Array.from(document.querySelectorAll("#averages input"));
  const series = fields.map(() => chart.addSeries(LineSeries, { lineWidth: 1, priceLineVisible: false, lastValueVisible: false, crosshairMarkerVisible: false }));
  const values = fields.map(() => new Map());
  let drawn = [];

  const before = (localStorage.getItem(KEPT) || "").split(",");
  if (before.length === fields.length) fields.forEach((field, number) => { field.value = before[number]; });

  const lengthOf = (field) => (/^\d+$/.test(field.value) && field.value >= 2 && field.value <= LONGEST ? parseInt(field.value, 10) : 0);
  const meanAt = (bars, at, length) => bars.slice(at - length + 1, at + 1).reduce((sum, row) => sum + forDrawing(row[4]), 0) / length;

  function drawOne(number) {
    const length = lengthOf(fields[number]), points = [];
    let sum = 0;
    if (length) drawn.forEach(function (row, at) {
      sum += forDrawing(row[4]) - (at >= length ? forDrawing(drawn[at - length][4]) : 0);
      if (at >= length - 1) points.push({ time: row[0], value: sum / length });
    });
    values[number] = new Map(points.map((point) => [point.time, point.value]));
    series[number].setData(points);
  }
  fields.forEach((field, number) => field.addEventListener("input", function () {
    localStorage.setItem(KEPT, fields.map((one) => one.value).join(","));
    drawOne(number);
    told();
  }));
  document.getElementById("averages").addEventListener("submit", (event) => event.preventDefault());

  return {
    dress(colours) {
      series.forEach((one, number) => one.applyOptions({ color: colours[number] }));
    },
    draw(bars) {
      drawn = bars;
      fields.forEach((field, number) => drawOne(number));
    },
    // From the candle that began at this second on.
    grow(bars, since) {
      drawn = bars;
      fields.forEach(function (field, number) {
        const length = lengthOf(field);
        for (let at = bars.findLastIndex((row) => row[0] <= since); length && at >= length - 1 && at < bars.length; at += 1) {
          const value = meanAt(bars, at, length);
          values[number].set(bars[at][0], value);
          series[number].update({ time: bars[at][0], value });
        }
      });
    },
    words(second) {
      const told = fields.map((field, number) => [lengthOf(field), values[number].get(second)]);
      return told.filter(([length, value]) => length && value !== undefined).map(([length, value]) => "  MA " + length + " " + price(value.toFixed(places), places)).join("");
    },
  };
}
