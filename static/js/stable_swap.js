// Nothing moves under the pointer. Before a part is replaced it is tried, unseen, whether the pointer would then stand on
// something else that can be clicked; if so the part waits until the pointer has left, or somebody asks for it. Figures
// that change in their place are never held back. What has the keyboard's focus keeps it.
import * as fragments from "./fragments.js";

const CLICKABLE = "a[href], button, summary, input:not([type=hidden]), select, textarea", LEFT_MS = 200, TOUCH_MS = 300;
const OWN_MS = 30000, OWN_PX = 8, REST_MS = 1000;
const notice = document.getElementById("waiting");
const held = new Map();
let at = null, leaving = 0;

// Where the pointer was put by a hand on this page; a finger is there only as long as it touches.
function moved(event) {
  at = { x: event.clientX, y: event.clientY };
  if (held.size && !leaving) leaving = setTimeout(showIfLeft, LEFT_MS);
}
function left() {
  at = null;
  if (held.size && !leaving) leaving = setTimeout(showIfLeft, LEFT_MS);
}
document.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") moved(event); }, { passive: true });
document.addEventListener("pointerdown", moved, { passive: true });
document.addEventListener("pointerup", (event) => { if (event.pointerType === "touch") setTimeout(left, TOUCH_MS); }, { passive: true });
document.addEventListener("pointercancel", left);
document.documentElement.addEventListener("pointerleave", left);

// What a click would reach; in a row, what the row leads to.
function target() {
  const found = at && document.elementFromPoint(at.x, at.y);
  return found && (found.closest(CLICKABLE) || found.closest("tr, li")?.querySelector(CLICKABLE) || null);
}
function keyOf(element) {
  const form = element.form ? element.form.getAttribute("action") || "here" : "";
  const words = element.matches("button, summary") ? element.textContent.trim().replace(/\s+/g, " ") : "";
  const names = ["href", "name", "value", "data-copy", "formaction", "aria-label"].map((name) => element.getAttribute(name) || "");
  // A row's own link, and not another row's mention of it.
  const row = element.hasAttribute("data-row-link") ? "row" : "";
  return [element.tagName, element.id, form, words, row, ...names].join("\n");
}
const alike = (root, key) => Array.from(root.querySelectorAll(CLICKABLE)).filter((one) => keyOf(one) === key);

// What is taken out of the picture, if only to measure, forgets how far it was scrolled, both ways.
const boxes = (part) => Array.from(part.querySelectorAll(".scroll"));
const offsetsOf = (part) => boxes(part).map((one) => [one.scrollLeft, one.scrollTop]);
function scrollAlike(fresh, offsets) {
  boxes(fresh).forEach((one, number) => { [one.scrollLeft, one.scrollTop] = offsets[number] || [0, 0]; });
}

// What answers a person's own press is never held back while the pointer rests where it pressed: it is what they look at.
// That is the part in which the form is, and those that it names.
// If the swap puts something else that can be clicked there, the pointer's next click on it is dropped for a moment: it is
// the second half of a double press.
let own = null, stood = "", restsUntil = 0;
const isNear = (one, other) => Math.hypot(one.x - other.x, one.y - other.y) <= OWN_PX;
const isOwn = (part) => own !== null && at !== null && own.parts.includes(part.id) && performance.now() - own.at < OWN_MS && isNear(at, own);
document.addEventListener("htmx:beforeRequest", function ({ detail }) {
  const parts = [homeOf(detail.elt), ...(detail.elt.dataset.changes || "").split(" ")].filter(Boolean), pressed = target();
  if (!detail.requestConfig.triggeringEvent?.isTrusted || !parts.length || !pressed || pressed.form !== detail.elt) return;
  own = { parts, at: performance.now(), ...at };
});
function restIfOther() {
  const found = document.elementFromPoint(at.x, at.y)?.closest(CLICKABLE);
  if (found && keyOf(found) !== stood) restsUntil = performance.now() + REST_MS;
}
window.addEventListener("click", function (event) {
  if (performance.now() >= restsUntil || !event.detail || !own || !isNear({ x: event.clientX, y: event.clientY }, own)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });

// Put what came in the part's place for as long as it takes to measure. Nothing is painted meanwhile.
function wouldMove(part, fresh, before) {
  const key = keyOf(before), offsets = offsetsOf(part), scroll = [window.scrollX, window.scrollY];
  fragments.openAgain(fresh);
  // Two of a group can't be chosen at a time: what is only tried must not take the choice away from what stands there.
  fresh.querySelectorAll("[type=radio]").forEach((one) => { one.checked = false; });
  fresh.querySelectorAll("[data-copy][data-unready]").forEach((button) => { if (navigator.clipboard) delete button.dataset.unready; });
  part.after(fresh);
  part.style.setProperty("display", "none", "important");
  scrollAlike(fresh, offsets);
  const after = target();
  const moves = after ? keyOf(after) !== key : alike(part.contains(before) ? fresh : document, key).length > 0;
  fresh.remove();
  part.style.removeProperty("display");
  scrollAlike(part, offsets);
  window.scrollTo(...scroll);
  return moves;
}

// Where the pointer was when something had to wait for it: as long as it stays there, trying again is of no use.
const homeOf = (element) => element.closest("[data-follow]")?.id || "";
const rowsOf = (part) => new Set(Array.from(part.querySelectorAll("[data-row-link]")).map((link) => link.getAttribute("href")));
// One that waits because it is in use has no such place: it waits until it is asked for.
function hold(part, fresh, home = null) {
  const known = rowsOf(part);
  held.set(part.id, { home, rows: Array.from(rowsOf(fresh)).filter((href) => !known.has(href)) });
  fragments.outdate(part);
  tell();
}
function tell() {
  // One that several parts name is one.
  const rows = new Set(Array.from(held.values()).flatMap((one) => one.rows)).size;
  notice.hidden = !held.size;
  notice.lastElementChild.textContent = rows ? rows + " new · show" : "New updates · show";
}
function show(read) {
  held.forEach((one, name) => {
    const part = document.getElementById(name);
    if (part) read(part, one);
    else held.delete(name);
  });
  tell();
}
function showIfLeft() {
  leaving = 0;
  const now = target();
  const isLeft = (one) => one.home !== null && (!now || one.home !== homeOf(now));
  if (Array.from(held.values()).some(isLeft)) show((part, one) => { if (one.home !== null) fragments.rereadSoon(part); });
}

let focused = null;
function noteFocus(part) {
  const element = document.activeElement;
  focused = null;
  if (!part.contains(element) || element === part || element.id) return;
  const key = keyOf(element);
  focused = { element, key, seen: element.matches(":focus-visible"), number: alike(part, key).indexOf(element) };
}
function focusAgain(fresh) {
  if (!focused || focused.element.isConnected) return;
  const found = alike(fresh, focused.key);
  let next = found[focused.number] || found[0];
  // What had the focus is gone: the keyboard goes on from the part where it was.
  if (!next && focused.seen) {
    fresh.tabIndex = -1;
    next = fresh;
  }
  next?.focus({ preventScroll: true });
  if (focused.seen) next?.scrollIntoView({ block: "nearest" });
  focused = null;
}

let offsets = [], swapped = "";
const follows = ({ detail }) => detail.shouldSwap && detail.target.id && "follow" in detail.target.dataset;
function swapOrHold({ detail }, fresh) {
  const part = detail.target, before = target();
  if (fresh && before && !isOwn(part) && wouldMove(part, fresh, before)) {
    detail.shouldSwap = false;
    hold(part, fresh, homeOf(before));
    return;
  }
  if (held.delete(part.id)) tell();
  stood = before ? keyOf(before) : "";
  offsets = offsetsOf(part);
  swapped = part.id;
  noteFocus(part);
}
function swapDone(event) {
  if (!swapped || event.target.id !== swapped) return;
  swapped = "";
  scrollAlike(event.target, offsets);
  focusAgain(event.target);
  if (isOwn(event.target)) restIfOther();
}
document.addEventListener("htmx:beforeSwap", function (event) {
  const part = event.detail.target;
  if (follows(event) && part === fragments.askedBy(event)) swapOrHold(event, fragments.arrived(part, event.detail.serverResponse));
});
document.addEventListener("htmx:afterSwap", swapDone);
// Parts of the frame come several at a time: each is tried, and put in its place, before the next one.
document.addEventListener("htmx:oobBeforeSwap", function (event) {
  if (follows(event)) swapOrHold(event, event.detail.fragment.firstElementChild.cloneNode(true));
});
document.addEventListener("htmx:oobAfterSwap", swapDone);
notice.addEventListener("click", function () {
  at = null;
  show(fragments.show);
});
// What is in use, or has no note of its own, waits like what the pointer is on.
document.addEventListener("desk:held", (event) => hold(event.target, event.detail.fresh));
