// Candles before those that are drawn, asked for when the left edge comes near. The desk answers from what it keeps; what it
// does not keep a worker reads first, and the part is then read again by its hint.
const NEAR = 40, PAUSE_MS = 5000;
const address = document.querySelector("[data-older]")?.dataset.older;

export function history({ first, take }) {
  let isAsking = false, restsUntil = 0, isOver = false;

  function look(left) {
    const second = first();
    if (left > NEAR || isAsking || isOver || second === null || performance.now() < restsUntil) return;
    isAsking = true;
    const part = document.getElementById("older");
    // A question whose answer is lost is asked again by the next move of the chart.
    setTimeout(() => { isAsking = false; }, 4 * PAUSE_MS);
    window.htmx.ajax("GET", address + "&before=" + second, { source: part, target: part, swap: "outerHTML" }).catch(() => { isAsking = false; });
  }
  document.addEventListener("htmx:load", function (event) {
    const part = event.detail.elt;
    if (part.id !== "older") return;
    const { state, rows } = part.dataset;
    isAsking = state === "waiting";
    isOver = state === "first";
    if (state === "problem") restsUntil = performance.now() + PAUSE_MS;
    if (rows) take(JSON.parse(rows));
  });
  return { look };
}
