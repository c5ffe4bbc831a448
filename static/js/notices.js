// What is told while a tab is open, as a notification of the browser: once for each, however many tabs there are. Nothing
// is decided by one; a click opens the page it is about in a tab of its own, so that nothing typed here is lost.
const KEY = "shown-notices", KEPT = 100;
export const canShow = "Notification" in window && window.isSecureContext;

function shown() {
  try { return [].concat(JSON.parse(localStorage.getItem(KEY) || "[]")); } catch (error) { return []; }
}

export function show(notice, uid = notice.dataset.notice, tag = uid) {
  const known = shown();
  if (known.includes(uid)) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([uid, ...known].slice(0, KEPT)));
    const made = new Notification("Countersign", { body: notice.textContent, tag });
    made.addEventListener("click", function () {
      window.open(notice.href, "_blank", "noopener");
      made.close();
    });
  } catch (error) {
    // Some phones show notifications of installed pages alone, and a full store can't be written: the list has it.
  }
}

// One tab at a time looks and writes, so that two never show the same.
function showAll() {
  const notices = Array.from(document.querySelectorAll("[data-notice]"));
  if (!canShow || Notification.permission !== "granted" || !notices.length) return;
  alone(() => notices.forEach((notice) => show(notice)));
}
export function alone(work) {
  if (navigator.locks) navigator.locks.request("notices", work);
  else work();
}
document.addEventListener("htmx:load", showAll);

// The page of what somebody is told asks for the browser's permission, and says what the browser answered.
const SAYS = {
  granted: "Notifications appear in this browser while a tab of the desk is open.",
  denied: "Notifications are blocked. Allow them for this address in the browser's settings.",
  default: "Notifications are not allowed in this browser yet.",
};
function say() {
  const state = document.querySelector("[data-notices-state]"), ask = document.querySelector("[data-notices-ask]");
  if (!state || !ask) return;
  state.textContent = canShow ? SAYS[Notification.permission] : "This browser can't show notifications from this address.";
  ask.hidden = !canShow || Notification.permission !== "default";
}
document.addEventListener("click", async function (event) {
  if (!event.target.closest("[data-notices-ask]")) return;
  await Notification.requestPermission();
  say();
});
say();
