// Fills of one's own orders, on whatever page is open: one line for each burst of fills of an order, once in this browser.
// It is a notification of the browser where the person chose it and allowed it on the page of notifications, else a note
// at the foot. Nothing is read anew for it, and nothing moves: what is typed and what is pressed stay as they are.
import { alone, canShow, show } from "./notices.js";
import * as press from "./press.js";

const PAUSE_MS = 1500, LONGEST_MS = 8000, NOTE_MS = 15000, MOST = 3, KEPT = 100, KEY = "shown-fills";
const words = document.querySelector("#fill-notes [data-words]"), blank = document.getElementById("fill-note");
const bursts = new Map(), here = new Set();
let hiding = 0;

function shown() {
  try { return [].concat(JSON.parse(localStorage.getItem(KEY) || "[]")); } catch (error) { return []; }
}
// Without a store each tab knows only what it has shown itself.
function remember(uid) {
  here.add(uid);
  try { localStorage.setItem(KEY, JSON.stringify([uid, ...shown()].slice(0, KEPT))); } catch (error) { /* see above */ }
}
const isShown = (uid) => here.has(uid) || shown().includes(uid);
const inBrowser = (line) => "inBrowser" in line.dataset && canShow && Notification.permission === "granted";

function note(line) {
  const made = blank.content.cloneNode(true), link = made.querySelector("a");
  made.querySelector("span").textContent = line.textContent;
  link.href = line.href;
  made.firstElementChild.dataset.order = line.dataset.order;
  words.querySelector(`[data-order="${line.dataset.order}"]`)?.remove();
  words.append(made);
  while (words.children.length > MOST) words.firstElementChild.remove();
  clearTimeout(hiding);
  hiding = setTimeout(hide, NOTE_MS);
}
const hide = () => words.replaceChildren();

function tell(order) {
  const line = document.querySelector(`#notices [data-filled][data-order="${order}"]`);
  bursts.delete(order);
  // A tab that is not looked at leaves the note to one that is, or to the moment when somebody comes back to it.
  if (!line || isShown(line.dataset.filled) || (document.hidden && !inBrowser(line))) return;
  press.after(() => alone(function () {
    if (isShown(line.dataset.filled)) return;
    remember(line.dataset.filled);
    if (inBrowser(line)) show(line, line.dataset.filled, "order-" + order);
    else note(line);
  }), "fill-" + order);
}

// Each further fill of a burst waits for the next pause, but not for ever.
function look() {
  for (const line of document.querySelectorAll("#notices [data-filled]")) {
    const { filled, order } = line.dataset, burst = bursts.get(order);
    if (isShown(filled) || burst?.uid === filled) continue;
    const begun = burst?.begun ?? performance.now();
    clearTimeout(burst?.timer);
    const pause = Math.max(0, Math.min(PAUSE_MS, begun + LONGEST_MS - performance.now()));
    bursts.set(order, { uid: filled, begun, timer: setTimeout(tell, pause, order) });
  }
}

if (words) {
  document.addEventListener("htmx:load", look);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  document.querySelector("#fill-notes [data-dismiss]").addEventListener("click", hide);
}
