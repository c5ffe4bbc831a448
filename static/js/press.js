// Between press and click nothing is swapped. A click reaches only what stood there when the button, the finger or the key
// went down: what comes in meanwhile waits, and is done in its order right after the click, the newest of a kind alone.
// A finger's click follows the lifting by a moment. A release that nobody tells of (a menu of the system, a list that
// opens) ends the press by the next movement, or at the latest by itself.
const TAP_MS = 350, LONGEST_MS = 10000, KEYS = ["Enter", " "];
const down = new Map(), lifted = new Set(), waiting = new Map();

function begin(name) {
  lifted.delete(name);
  clearTimeout(down.get(name));
  down.set(name, setTimeout(end, LONGEST_MS, name));
}
// The click comes with the release, in the same task or a moment later: only then it is over.
function lift(name, ms) {
  if (!down.has(name)) return;
  lifted.add(name);
  clearTimeout(down.get(name));
  down.set(name, setTimeout(end, ms, name));
}
function end(name) {
  clearTimeout(down.get(name));
  lifted.delete(name);
  if (down.delete(name)) catchUp();
}
function endAll() {
  Array.from(down.keys()).forEach(end);
}

// One that fails must not take the others with it.
function catchUp() {
  while (!down.size && waiting.size) {
    const [key, run] = waiting.entries().next().value;
    waiting.delete(key);
    try { run(); } catch (error) { reportError(error); }
  }
}
export function after(run, key = run) {
  if (down.size) waiting.set(key, run);
  else run();
}

const first = { capture: true, passive: true };
window.addEventListener("pointerdown", (event) => begin(event.pointerId), first);
window.addEventListener("pointerup", (event) => lift(event.pointerId, event.pointerType === "touch" ? TAP_MS : 0), first);
window.addEventListener("pointercancel", (event) => end(event.pointerId), first);
window.addEventListener("click", () => lifted.forEach((name) => lift(name, 0)), first);
// Let go outside the window: the pointer comes back with no button down.
window.addEventListener("pointermove", function (event) {
  if (event.pointerType !== "touch" && !event.buttons && !lifted.has(event.pointerId)) end(event.pointerId);
}, first);
window.addEventListener("keydown", (event) => { if (KEYS.includes(event.key) && !event.repeat) begin(event.key); }, first);
window.addEventListener("keyup", (event) => lift(event.key, 0), first);
window.addEventListener("contextmenu", endAll, first);
window.addEventListener("dragstart", endAll, first);
window.addEventListener("blur", endAll);
window.addEventListener("pagehide", endAll);
document.addEventListener("visibilitychange", () => { if (document.hidden) endAll(); });

// Whatever is read over the network: an answer that waits here is judged, and put in its place, after the click.
document.addEventListener("htmx:beforeSend", function (event) {
  const { xhr } = event.detail, arrived = xhr.onload;
  xhr.onload = (loaded) => after(() => arrived.call(xhr, loaded), xhr);
});

export const isDown = () => down.size > 0;
