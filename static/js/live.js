// One socket for the page. A hint says only that something changed; the part is then read again at its own address.
// A tick is the newest value of a public market: whoever draws it listens for `desk:tick`, and nothing is read for it.
// A part that is in use (cursor, typed text, a form opened, a passkey asked for) is never replaced: it is marked, and its
// buttons rest until it is read again.
(function () {
  "use strict";
  const address = document.body.dataset.socket;
  if (!address || !document.querySelector("[data-follow], [data-ticks]")) return;

  const FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 20000, QUIET_BEFORE_BANNER_MS = 2500, POLL_MS = 10000, ANYWAY_MS = 30000, SIGNED_OUT = 4401;
  const banner = document.getElementById("frozen");
  let socket = null, followed = new Set(), wait = FIRST_WAIT_MS, lostAt = 0, lastRead = window.countersign.now(), bannerTimer = 0, pollTimer = 0, leaving = false;

  let drawnFor = document.querySelector("[data-drawn-for]")?.dataset.drawnFor;
  const parts = () => Array.from(document.querySelectorAll("[data-follow]"));
  const topicsOf = (part) => part.dataset.follow.split(" ").filter(Boolean);
  const drawers = () => Array.from(document.querySelectorAll("[data-ticks]"));
  const ticksOf = (part) => part.dataset.ticks.split(" ").filter(Boolean);
  const wanted = () => Array.from(new Set([...parts().flatMap(topicsOf), ...drawers().flatMap(ticksOf)]));

  function holdsInput(part) {
    const focused = document.activeElement;
    if (focused && part.contains(focused) && focused.matches("input, textarea, select")) return true;
    if (part.querySelector("form[data-signing], details[open] form")) return true;
    return Array.from(part.querySelectorAll("input, textarea")).some(function (field) {
      if (field.type === "hidden") return false;
      return field.matches("[type=checkbox], [type=radio]") ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
    });
  }

  function markStale(part) {
    part.querySelectorAll("[data-stale-note]").forEach((note) => { note.hidden = false; });
    part.querySelectorAll("[data-decides]").forEach((button) => { button.disabled = true; delete button.dataset.rests; });
  }

  // A held part that says what it was drawn for is judged when the part beside it comes back with another state.
  function reread(part) {
    if (!holdsInput(part)) window.htmx.trigger(part, "hint");
    else if (!part.dataset.drawnFor) markStale(part);
  }

  function compare(fresh) {
    if (!fresh.dataset || !fresh.dataset.drawnFor) return;
    if (fresh.dataset.drawnFor !== drawnFor) {
      // What was told when the page was opened is about an earlier moment.
      document.getElementById("messages").replaceChildren();
      drawnFor = fresh.dataset.drawnFor;
    }
    parts().filter((part) => part.dataset.drawnFor && part.dataset.drawnFor !== fresh.dataset.drawnFor && holdsInput(part)).forEach(markStale);
  }

  // Somebody began to type while the part was being read: what came is only compared, and the part stays.
  function keepTyped(event) {
    const part = event.detail.target;
    if (event.detail.requestConfig.triggeringEvent?.type !== "hint" || !part.dataset.follow || !holdsInput(part)) return;
    event.detail.shouldSwap = false;
    const drawn = /data-drawn-for="([^"]*)"/.exec(event.detail.serverResponse);
    if (!drawn || drawn[1] !== part.dataset.drawnFor) markStale(part);
  }

  // A part is known by its id: what is being read now, or waits to be, is replaced before a later hint is obeyed.
  const due = new Map(), busy = new Set(), again = new Set();
  const nameOf = (part) => part.id || part;
  const named = (name) => (typeof name === "string" ? document.getElementById(name) : name);
  function rereadSoon(part) {
    const name = nameOf(part);
    if (due.has(name)) return;
    due.set(name, setTimeout(function () {
      due.delete(name);
      const now = named(name);
      if (!now || !now.isConnected) return;
      if (busy.has(name)) again.add(name);
      else reread(now);
    }, 120));
  }
  // The element that asked is in the configuration: once replaced, it is no longer where the event arrives from.
  const askedBy = (event) => event.detail.requestConfig.elt;
  document.addEventListener("htmx:beforeRequest", (event) => busy.add(nameOf(askedBy(event))));
  document.addEventListener("htmx:afterRequest", function (event) {
    const name = nameOf(askedBy(event));
    busy.delete(name);
    const now = again.delete(name) && named(name);
    if (now) rereadSoon(now);
  });

  function rest(off) {
    document.querySelectorAll("[data-decides]").forEach(function (button) {
      if (off && !button.disabled) { button.disabled = true; button.dataset.rests = "yes"; }
      if (!off && button.dataset.rests) { button.disabled = false; delete button.dataset.rests; }
    });
  }

  function freeze() {
    banner.hidden = false;
    banner.className = "frozen note tone-warn";
    banner.textContent = "Live connection lost. Data frozen at " + window.countersign.hour(lastRead) + " UTC; decisions rest until it is read again.";
    rest(true);
    clearInterval(pollTimer);
    pollTimer = setInterval(poll, POLL_MS);
    poll();
  }

  function poll() {
    parts().forEach(rereadSoon);
  }

  function thaw() {
    clearTimeout(bannerTimer);
    clearInterval(pollTimer);
    bannerTimer = 0;
    banner.hidden = true;
    if (lostAt) poll();
    rest(false);
    lostAt = 0;
  }

  function lost() {
    if (leaving) return;
    lostAt = lostAt || performance.now();
    if (!bannerTimer) bannerTimer = setTimeout(freeze, QUIET_BEFORE_BANNER_MS);
    setTimeout(open, wait * (0.7 + Math.random() * 0.6));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }

  // Tell the socket what the page shows now: parts that were swapped in bring their topics, those that went take theirs.
  function follow() {
    if (!socket || socket.readyState !== WebSocket.OPEN) return;
    const now = new Set(wanted());
    const frame = { follow: [...now].filter((topic) => !followed.has(topic)), unfollow: [...followed].filter((topic) => !now.has(topic)) };
    followed = now;
    if (frame.follow.length || frame.unfollow.length) socket.send(JSON.stringify(frame));
  }

  // What is drawn is the last value of each topic, once in a picture: a hidden tab keeps one value and draws none.
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
    drawing = drawing || requestAnimationFrame(drawTicks);
  }

  // A frame is one object, or several in an array; what is not understood is left alone.
  function framesOf(text) {
    let told = null;
    try { told = JSON.parse(text); } catch (error) { return []; }
    return [].concat(told).filter((frame) => frame && typeof frame === "object");
  }

  function open() {
    if (leaving) return;
    const mine = new WebSocket(new URL(address, location.href.replace(/^http/, "ws")));
    socket = mine;
    mine.addEventListener("open", function () {
      wait = FIRST_WAIT_MS;
      followed = new Set();
      follow();
      thaw();
    });
    let joined = false;
    mine.addEventListener("message", function (event) {
      const frames = framesOf(event.data);
      // What changed between the drawing of the page and this answer was told to nobody here.
      if (!joined && frames.some((frame) => frame.followed)) { joined = true; poll(); }
      frames.filter((frame) => "tick" in frame).forEach(keepTick);
      const changed = new Set(frames.filter((frame) => "hint" in frame).map((frame) => frame.topic));
      if (changed.size) parts().filter((part) => topicsOf(part).some((topic) => changed.has(topic))).forEach(rereadSoon);
    });
    mine.addEventListener("close", function (event) {
      if (mine !== socket) return;
      if (event.code === SIGNED_OUT) {
        // The next read leads to the sign-in page; until then there is no use in knocking.
        wait = LONGEST_WAIT_MS;
        poll();
      }
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

  // What somebody opened to read stays open when the part around it is read again; such a part has an id for each.
  const opened = new Set();
  function noteOpened(event) {
    event.detail.target.querySelectorAll?.("details[id]").forEach((one) => (one.open ? opened.add(one.id) : opened.delete(one.id)));
  }
  function openAgain(fresh) {
    fresh.querySelectorAll?.("details[id]").forEach((one) => { if (opened.has(one.id)) one.open = true; });
  }

  document.addEventListener("htmx:beforeSwap", keepTyped);
  document.addEventListener("htmx:beforeSwap", noteOpened);
  document.addEventListener("htmx:afterRequest", function (event) {
    if (!event.detail.successful || !askedBy(event).closest("[data-background]")) return;
    lastRead = window.countersign.now();
    if (lostAt && !banner.hidden) {
      banner.textContent = "Live connection lost. Read again at " + window.countersign.hour(lastRead) + " UTC, and every ten seconds.";
      rest(false);
    }
  });
  document.addEventListener("htmx:load", function (event) {
    compare(event.detail.elt);
    openAgain(event.detail.elt);
    follow();
  });
  document.addEventListener("desk:reread", poll);
  window.addEventListener("offline", drop);
  document.addEventListener("htmx:sendError", drop);
  document.addEventListener("htmx:timeout", drop);
  document.addEventListener("desk:signed-out", function () {
    leaving = true;
    clearInterval(pollTimer);
    rest(true);
    banner.hidden = false;
    banner.className = "frozen note tone-warn";
    banner.textContent = "You were signed out. Nothing was sent, and what you typed is still here: sign in in another tab, then reload.";
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden && lostAt) poll(); });
  // Hints can get lost on their way, with a broker that died for one: what is looked at is read again in any case.
  setInterval(() => { if (!document.hidden && !lostAt && !leaving) poll(); }, ANYWAY_MS);
  window.addEventListener("pagehide", () => { leaving = true; });
  window.addEventListener("pageshow", (event) => { if (event.persisted) { leaving = false; open(); } });
  open();
})();
