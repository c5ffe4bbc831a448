// Countdowns run from the server's time: each carries its deadline and the moment it was drawn at, in the same clock.
import { isDown } from "./press.js";

const SPOKEN_AT = [30, 15, 10, 5];
const drawn = new WeakMap();

function secondsLeft(element) {
  const key = element.dataset.now + element.dataset.deadline;
  let start = drawn.get(element);
  if (!start || start.key !== key) {
    start = { key: key, at: performance.now(), now: Date.parse(element.dataset.now), spoken: null };
    drawn.set(element, start);
  }
  return (Date.parse(element.dataset.deadline) - start.now - (performance.now() - start.at)) / 1000;
}

function words(seconds) {
  if (seconds <= 0) return "expired";
  if (seconds < 120) return Math.floor(seconds / 60) + ":" + String(Math.floor(seconds % 60)).padStart(2, "0") + " left";
  if (seconds >= 2 * 86400) return Math.floor(seconds / 86400) + " d left";
  return seconds >= 2 * 3600 ? Math.floor(seconds / 3600) + " h left" : Math.floor(seconds / 60) + " min left";
}

function speak(element, seconds) {
  const start = drawn.get(element);
  const passed = SPOKEN_AT.filter((minutes) => seconds <= minutes * 60).pop() || null;
  if (passed !== start.spoken && start.spoken !== null && passed && element.dataset.says) {
    const voice = document.getElementById(element.dataset.says);
    if (voice) voice.textContent = passed + " minutes left. " + (element.dataset.then || "");
  }
  start.spoken = passed || 0;
}

// When the expired the part rests and is read again, once for each deadline: what then comes is drawn for it.
const closed = new Set();
function close(element) {
  const key = element.dataset.closing + " " + element.dataset.deadline;
  const part = document.querySelector('[data-closes="' + element.dataset.closing + '"]');
  if (!part || closed.has(key)) return;
  closed.add(key);
  part.querySelectorAll("[data-decides]").forEach((button) => { button.disabled = true; });
  document.dispatchEvent(new CustomEvent("desk:reread"));
}

// What ends a countdown takes buttons away, so it waits for one that is held down.
function tick() {
  if (isDown()) return;
  document.querySelectorAll("[data-deadline]").forEach(function (element) {
    const seconds = secondsLeft(element);
    element.textContent = words(seconds);
    element.classList.toggle("tone-warn", seconds < 900 && seconds >= 300);
    element.classList.toggle("tone-bad", seconds < 300);
    speak(element, seconds);
    if (seconds <= 0) close(element);
  });
}

// The line at the foot brings the exchange's clock again and again: a clock that jumped moves every countdown that is
// kept by it. Where there are several exchanges in view each countdown has its own, and the line brings none.
function setClock(root) {
  const reading = root.querySelector && (root.matches("[data-exchange-now]") ? root : root.querySelector("[data-exchange-now]"));
  if (!reading) return;
  document.querySelectorAll("[data-deadline]:not([data-own-clock])").forEach((element) => { element.dataset.now = reading.dataset.exchangeNow; });
}

setInterval(tick, 1000);
document.addEventListener("htmx:load", function (event) {
  setClock(event.detail.elt);
  tick();
});
tick();
