// When the connection is lost the page says how old it is, decisions rest, and it reads itself: soon at first, later less
// often, and seldom in a tab that nobody looks at. Decisions come back with the first reading of everything.
import * as fragments from "./fragments.js";
import { hour, isTyped, now, showAge } from "./page.js";
import * as press from "./press.js";

const QUIET_BEFORE_BANNER_MS = 2500, FIRST_POLL_MS = 2000, LONGEST_POLL_MS = 20000, HIDDEN_TIMES = 6, ANYWAY_MS = 30000, ASLEEP_MS = 15000;
const banner = document.getElementById("offline");
const words = banner.querySelector("[data-words]"), counted = banner.querySelector("[data-counted]"), age = banner.querySelector("[data-age]"), then = banner.querySelector("[data-then]");
// `lost`: the socket is away; `offline`: it is said, and what stands on the page may be out of date until `lastRead` moves.
let lost = false, offline = false, over = false, resting = false, lastRead = now();
let bannerTimer = 0, pollTimer = 0, pollMs = FIRST_POLL_MS;
const jitter = (ms) => ms * (0.7 + Math.random() * 0.6);

// What was typed meanwhile was computed by nobody.
const computeTyped = () => document.querySelectorAll("main form[method=post]").forEach(function (form) {
  if (Array.from(form.querySelectorAll("input, textarea")).some(isTyped)) form.dispatchEvent(new Event("input", { bubbles: true }));
});
function rest(off) {
  if (resting && !off) setTimeout(computeTyped);
  resting = off;
  document.querySelectorAll("[data-decides], main form[method=post] button:not([type=button])").forEach(function (button) {
    if (off && !button.disabled) { button.disabled = true; button.dataset.rests = "yes"; }
    if (!off && button.dataset.rests) { button.disabled = false; delete button.dataset.rests; }
  });
}

function say(first, last) {
  words.textContent = first + " " + hour(lastRead);
  counted.hidden = false;
  age.dateTime = lastRead.toISOString();
  showAge(age);
  then.textContent = last;
  banner.hidden = false;
}

function goOffline() {
  if (!lost || over) return;
  offline = true;
  say("Live connection lost. Data as of", ". Nothing can be sent until the connection is back: no approval, no payout, no order. What you typed is kept.");
  rest(true);
  poll();
}

function poll() {
  clearTimeout(pollTimer);
  fragments.readAll(judge);
  pollTimer = setTimeout(poll, jitter(pollMs * (document.hidden ? HIDDEN_TIMES : 1)));
  pollMs = Math.min(pollMs * 1.5, LONGEST_POLL_MS);
}

// What came of reading everything: the moment it was asked for is the moment it is from.
function judge(well, at) {
  if (well) lastRead = at;
  if (!offline || over) return;
  if (well && !lost) goOnline();
  else if (well) {
    say("Live connection lost. Refreshed at", ". Refreshing every few seconds.");
    rest(false);
  } else if (!resting) {
    say("Live connection lost. Data as of", ". Nothing can be sent until the connection is back: no approval, no payout, no order. What you typed is kept.");
    rest(true);
  }
}

function goOnline() {
  clearTimeout(pollTimer);
  offline = false;
  banner.hidden = true;
  rest(false);
}

export const connection = {
  lost() {
    if (over || lost) return;
    lost = true;
    pollMs = FIRST_POLL_MS;
    bannerTimer = setTimeout(() => press.after(goOffline), QUIET_BEFORE_BANNER_MS);
  },
  // The socket tells again; what was told to nobody meanwhile is read before decisions are taken.
  joined() {
    lost = false;
    clearTimeout(bannerTimer);
    if (offline) pollMs = FIRST_POLL_MS;
    (offline ? poll : () => fragments.readAll(judge))();
  },
  // Nothing comes any more that could bring the page back: it says why, and stays as it is.
  end(sentence) {
    over = true;
    clearTimeout(bannerTimer);
    clearTimeout(pollTimer);
    rest(true);
    words.textContent = sentence;
    then.textContent = "";
    counted.hidden = true;
    banner.hidden = false;
  },
  read() { fragments.readAll(judge); },
};

document.addEventListener("htmx:load", () => { if (resting) rest(true); });
document.addEventListener("desk:reread", () => fragments.readAll(judge));
document.addEventListener("visibilitychange", function () {
  if (document.hidden || over) return;
  pollMs = FIRST_POLL_MS;
  if (offline) poll();
  else if (now() - lastRead > ANYWAY_MS) fragments.readAll(judge);
});
// Hints can get lost on their way, with a broker that died for one: what is looked at is read again in any case.
(function anyway() {
  setTimeout(function () {
    if (!document.hidden && !lost && !offline && !over) fragments.readAll(judge);
    anyway();
  }, jitter(ANYWAY_MS));
})();
// A device that slept wakes with a page from before, and with a socket that may be dead without knowing it.
let beat = Date.now();
setInterval(function () {
  const slept = Date.now() - beat > ASLEEP_MS;
  beat = Date.now();
  if (slept && !document.hidden && !over) fragments.readAll(judge);
}, 1000);
