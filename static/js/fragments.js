// The parts of the page that follow something: each is read again when it is told that it changed, at its own address, or
// together with others at that of the frame.
// A part that is in use (an error not yet answered, cursor, typed text, a form opened, a passkey asked for) is never
// replaced: when what it was drawn for has changed, it says so, and its buttons rest until it is read again.
import { isTyped, now } from "./page.js";
import * as press from "./press.js";

const SOONEST_MS = 120, LATEST_MS = 2000, PROBLEMS = "[role=alert], .wrong, form .note.tone-bad";

let drawnFor = document.querySelector("[data-drawn-for]")?.dataset.drawnFor;
export const all = () => Array.from(document.querySelectorAll("[data-follow]"));
export const topicsOf = (part) => part.dataset.follow.split(" ").filter(Boolean);
export const following = (topics) => all().filter((part) => topicsOf(part).some((topic) => topics.has(topic)));

// What is typed, or signed at this moment, is nobody's to take away.
function holdsInput(part) {
  const focused = document.activeElement;
  if (focused && part.contains(focused) && focused.matches("input:not([data-pick]), textarea, select")) return true;
  if (part.querySelector("form[data-signing]")) return true;
  return Array.from(part.querySelectorAll("input, textarea, select")).some(isTyped);
}

// An error stands until something is typed in its form: until then it may not have been read.
const answered = new WeakSet();
const problems = (part) => Array.from(part.querySelectorAll(PROBLEMS)).filter((one) => !one.closest("[hidden]") && !answered.has(one));
document.addEventListener("input", function (event) {
  const part = event.target.closest("[data-follow]"), form = event.target.form;
  if (part) problems(part).filter((one) => !one.closest("form") || one.closest("form") === form).forEach((one) => answered.add(one));
});
const isInUse = (part) => holdsInput(part) || part.querySelector("details[open] form") !== null || problems(part).length > 0;

// Of what stands there, nothing can be decided any more: something newer is known.
export function outdate(part) {
  part.querySelectorAll("[data-decides]").forEach((button) => { button.disabled = true; delete button.dataset.rests; });
}

// A part that has no note of its own is told of at the foot of the page. The words are those of what came.
function markStale(part, fresh) {
  outdate(part);
  const note = part.querySelector("[data-stale-note]"), words = fresh.querySelector("[data-stale-note]");
  if (!note) {
    part.dispatchEvent(new CustomEvent("desk:held", { bubbles: true, detail: { fresh } }));
    return;
  }
  if (words && words.textContent !== note.textContent) note.replaceChildren(...words.childNodes);
  note.hidden = false;
}

function compare(fresh) {
  if (!fresh.dataset || !fresh.dataset.drawnFor) return;
  if (fresh.dataset.drawnFor !== drawnFor) {
    // What was told when the page was opened is about an earlier moment.
    document.getElementById("messages").replaceChildren();
    drawnFor = fresh.dataset.drawnFor;
  }
  all().filter((part) => part.dataset.drawnFor && part.dataset.drawnFor !== fresh.dataset.drawnFor && isInUse(part)).forEach(function (part) {
    outdate(part);
    rereadSoon(part);
  });
}

// Of what came, that which takes the part's place.
export function arrived(part, html) {
  const drawn = document.createElement("template");
  drawn.innerHTML = html;
  return (part.id && drawn.content.querySelector("#" + CSS.escape(part.id))) || drawn.content.firstElementChild;
}

// A form that was taken out of the page while its answer is on its way could not be answered: until then its part stays.
// It is read again with the answer (answers.js).
const awaitsAnswer = (part, asker) => Array.from(part.querySelectorAll("form.htmx-request")).some((form) => form !== asker);

// What comes for a part that is in use is only compared, and the part stays: whoever asks to see what is new gets it,
// unless something is typed there.
const wanted = new Set();
const plain = (part) => part.textContent.replace(/\s+/g, " ");
function keepUsed(event) {
  const part = event.detail.target;
  if (!event.detail.shouldSwap || !part.dataset || !("follow" in part.dataset)) return;
  if (awaitsAnswer(part, askedBy(event))) {
    event.detail.shouldSwap = false;
    return;
  }
  const isWanted = wanted.delete(nameOf(part));
  if (!isInUse(part) || (isWanted && !holdsInput(part))) return;
  event.detail.shouldSwap = false;
  const fresh = arrived(part, event.detail.serverResponse);
  const isSame = part.dataset.drawnFor ? fresh?.dataset.drawnFor === part.dataset.drawnFor : !fresh || plain(fresh) === plain(part);
  if (fresh && !isSame) markStale(part, fresh);
}
export function show(part) {
  wanted.add(nameOf(part));
  rereadSoon(part);
}

// What stands around every page is read in one go: its parts don't ask, the frame asks for those of them that are due.
const frame = document.getElementById("frame"), dueInFrame = new Set();
const readerOf = (part) => ("frame" in part.dataset ? frame : part);
document.addEventListener("htmx:configRequest", function (event) {
  if (event.detail.elt !== frame) return;
  event.detail.parameters.parts = Array.from(dueInFrame).join(" ");
  dueInFrame.clear();
});

// A part is known by its id: what is being read now, or waits to be, is replaced before a later hint is obeyed. A part
// that takes long to read is asked for less often. The frame is read first: some of it the page has left empty.
const due = new Map(), begun = new Map(), took = new Map(), again = new Set();
const nameOf = (part) => part.id || part;
const named = (name) => (typeof name === "string" ? document.getElementById(name) : name);
const pauseOf = (name) => (name === "frame" && !took.has(name) ? 0 : Math.min(Math.max(SOONEST_MS, 2 * (took.get(name) || 0)), LATEST_MS));
export function rereadSoon(part) {
  const reader = readerOf(part), name = nameOf(reader);
  if (reader !== part) dueInFrame.add(part.id);
  if (due.has(name)) return;
  due.set(name, setTimeout(function () {
    due.delete(name);
    const now = named(name);
    if (!now || !now.isConnected) settle(name, true);
    else if (begun.get(name)?.elt.isConnected) again.add(name);
    else window.htmx.trigger(now, "hint");
  }, pauseOf(name)));
}

// A round is over when each part was asked for after its beginning; it succeeded when each was answered as well.
let round = null;
export function readAll(done) {
  const waiting = new Set(all().map(readerOf).filter((reader) => reader.hasAttribute("hx-get")).map(nameOf));
  round = { waiting, done, well: true, begunAt: performance.now(), at: now() };
  all().forEach(rereadSoon);
  if (!waiting.size) finish();
}
function settle(name, well, askedAt) {
  if (!round || askedAt < round.begunAt || !round.waiting.delete(name)) return;
  round.well = round.well && well;
  if (!round.waiting.size) finish();
}
function finish() {
  const over = round;
  round = null;
  // What is done with it lets decisions rest or go on: not between a press and its click.
  press.after(() => over.done?.(over.well, over.at));
}

// The element that asked is in the configuration: once replaced, it is no longer where the event arrives from.
export const askedBy = (event) => event.detail.requestConfig.elt;
// One that another answer took out of the page meanwhile never tells that its own has come: it is not waited for.
document.addEventListener("htmx:beforeRequest", (event) => begun.set(nameOf(askedBy(event)), { elt: askedBy(event), at: performance.now() }));
document.addEventListener("htmx:afterRequest", function (event) {
  const name = nameOf(askedBy(event)), askedAt = begun.get(name)?.at;
  begun.delete(name);
  took.set(name, performance.now() - askedAt);
  const now = again.delete(name) && named(name);
  if (now) rereadSoon(now);
  settle(name, event.detail.successful, askedAt);
});

// What somebody opened to read stays open when the part around it is read again; such a part has an id for each.
const opened = new Set();
function noteOpened(event) {
  event.detail.target.querySelectorAll?.("details[id]").forEach((one) => (one.open ? opened.add(one.id) : opened.delete(one.id)));
}
export function openAgain(fresh) {
  fresh.querySelectorAll?.("details[id]").forEach((one) => { if (opened.has(one.id)) one.open = true; });
}

document.addEventListener("htmx:beforeSwap", keepUsed);
document.addEventListener("htmx:beforeSwap", noteOpened);
document.addEventListener("htmx:load", function (event) {
  compare(event.detail.elt);
  openAgain(event.detail.elt);
});
