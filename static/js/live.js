// One socket for the page. A hint says only that something changed; the part is then read again at its own address.
// A tick is the newest value of a public market: whoever draws it listens for `desk:tick`, and nothing is read for it.
import * as fragments from "./fragments.js";
import { connection } from "./offline.js";
import * as press from "./press.js";

const address = document.body.dataset.socket;

if (address && document.querySelector("[data-follow], [data-ticks]")) begin();

function begin() {
  const FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 20000, EMPTY_MS = 2000, SIGNED_OUT = 4401, NOT_UNDERSTOOD = 4400;
  let socket = null, followed = new Set(), wait = FIRST_WAIT_MS, opening = 0, leaving = false;

  const ticksOf = (part) => part.dataset.ticks.split(" ").filter(Boolean);
  function wanted() {
    const drawn = Array.from(document.querySelectorAll("[data-ticks]")).flatMap(ticksOf);
    return new Set([...fragments.all().flatMap(fragments.topicsOf), ...drawn]);
  }

  // Tell the socket what the page shows now: parts that were swapped in bring their topics, those that went take theirs.
  function follow() {
    if (!socket || socket.readyState !== WebSocket.OPEN) return;
    const now = wanted();
    const frame = { follow: [...now].filter((topic) => !followed.has(topic)), unfollow: [...followed].filter((topic) => !now.has(topic)) };
    followed = now;
    if (frame.follow.length || frame.unfollow.length) socket.send(JSON.stringify(frame));
  }

  // What is drawn is the last value of each topic, once in a picture: a hidden tab keeps one value and draws none. While a
  // button is held down nothing is drawn, and then what is the last one by then.
  const ticks = new Map();
  let drawing = 0;
  function drawTicks() {
    drawing = 0;
    const newest = Array.from(ticks);
    ticks.clear();
    newest.forEach(([topic, tick]) => document.dispatchEvent(new CustomEvent("desk:tick", { detail: { topic, tick } })));
  }
  function keepTick(frame) {
    ticks.set(frame.topic, frame.tick);
    drawing = drawing || requestAnimationFrame(() => press.after(drawTicks));
  }

  // A frame is one object, or several in an array; what is not understood is left alone.
  function framesOf(text) {
    let read = null;
    try { read = JSON.parse(text); } catch (error) { return []; }
    return [].concat(read).filter((frame) => frame && typeof frame === "object");
  }

  // What the page leaves empty comes with the reading at the joining. Where nothing is joined soon it is read without.
  const readEmpty = () => document.querySelectorAll("[data-empty]").forEach(fragments.rereadSoon);

  function lost() {
    if (leaving) return;
    connection.lost();
    readEmpty();
    clearTimeout(opening);
    opening = setTimeout(open, wait * (0.7 + Math.random() * 0.6));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }

  function open() {
    clearTimeout(opening);
    if (leaving) return;
    const mine = new WebSocket(new URL(address, location.href.replace(/^http/, "ws")));
    let joined = false;
    socket = mine;
    mine.addEventListener("open", function () {
      followed = new Set();
      follow();
      if (followed.size) return;
      joined = true;
      connection.joined();
    });
    mine.addEventListener("message", function (event) {
      if (mine !== socket) return;
      const frames = framesOf(event.data);
      // What changed between the drawing of the page and this answer was told to nobody here.
      if (!joined && frames.some((frame) => frame.followed)) {
        joined = true;
        wait = FIRST_WAIT_MS;
        connection.joined();
      }
      frames.filter((frame) => "tick" in frame).forEach(keepTick);
      const changed = new Set(frames.filter((frame) => "hint" in frame).map((frame) => frame.topic));
      fragments.following(changed).forEach(fragments.rereadSoon);
    });
    mine.addEventListener("close", function (event) {
      if (mine !== socket) return;
      // The next read leads to the sign-in page; until then there is no use in knocking.
      if (event.code === SIGNED_OUT) connection.read();
      if (event.code === SIGNED_OUT || event.code === NOT_UNDERSTOOD) wait = LONGEST_WAIT_MS;
      lost();
    });
  }

  // A network that is gone leaves the socket open for minutes: what the rest of the page notices counts as well.
  function drop() {
    const old = socket;
    if (!old || old.readyState !== WebSocket.OPEN || leaving) return;
    socket = null;
    old.close();
    lost();
  }

  // Somebody who comes back to the tab, or to the network, does not wait for the rest of a long pause.
  function hurry() {
    if (leaving || document.hidden || (socket && socket.readyState <= WebSocket.OPEN)) return;
    wait = FIRST_WAIT_MS;
    open();
  }

  document.addEventListener("htmx:load", follow);
  document.addEventListener("htmx:sendError", drop);
  document.addEventListener("htmx:timeout", drop);
  document.addEventListener("visibilitychange", hurry);
  document.addEventListener("desk:signed-out", function () {
    leaving = true;
    connection.end("You were signed out. Nothing was sent, and what you typed is still here: sign in again in another tab, then reload.");
  });
  window.addEventListener("offline", drop);
  window.addEventListener("online", hurry);
  window.addEventListener("pagehide", () => { leaving = true; });
  window.addEventListener("pageshow", (event) => { if (event.persisted) { leaving = false; open(); } });
  open();
  setTimeout(readEmpty, EMPTY_MS);
}
