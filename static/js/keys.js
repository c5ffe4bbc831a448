// Keys: they go to places, they never decide anything, and they can be switched off (kept on this device).
export const keysOff = () => localStorage.getItem("keys") === "off";
export function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}
const STOPS = 'a[href], button:not([disabled]), input:not([type="hidden"]), select, textarea, summary';
const seen = (root) => Array.from(root.querySelectorAll(STOPS)).filter((one) => one.checkVisibility());
let awaitingPlace = 0;

// Of each row the link that opens it; of a row that opens nothing its first link.
function rowLinks() {
  const bare = Array.from(document.querySelectorAll("main tbody tr:not(:has([data-row-link]))"), (row) => row.querySelector("a[href]"));
  const all = [...document.querySelectorAll("[data-row-link]"), ...bare.filter(Boolean)].filter((one) => one.checkVisibility());
  return all.sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
}
function moveRow(step) {
  const links = rowLinks(), row = document.activeElement.closest("tr");
  const at = links.findIndex((one) => one === document.activeElement || (row && row.contains(one)));
  const next = links[at + step];
  if (next) next.focus();
}
// Within a row to what else it holds: its other links, what can be done with it, its tick.
function moveInRow(step) {
  const row = document.activeElement.closest("main tbody tr");
  const stops = row ? seen(row) : [], next = stops[stops.indexOf(document.activeElement) + step];
  if (next) next.focus();
  return Boolean(next);
}

// A link is followed and a menu unfolds; of a part or a field that only waits for words, the first place to type is
// reached. Buttons are never pressed, and a link in a closed menu is shown first.
function reach(place) {
  const menu = place.closest("details:not([open])");
  if (place.matches("summary")) {
    place.click();
    if (place.parentElement.open) (seen(place.parentElement).find((one) => one !== place) || place).focus();
  } else if (!menu && place.matches("a[href]")) place.click();
  else {
    if (menu) menu.open = true;
    (place.matches(STOPS) ? place : seen(place)[0])?.focus();
  }
}

document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (keysOff()) return;
  const place = document.querySelector('[data-go="' + CSS.escape(event.key) + '"]');
  if (awaitingPlace > performance.now() && place) {
    location.assign(place.href);
    return;
  }
  awaitingPlace = event.key === "g" ? performance.now() + 1200 : 0;
  const named = document.querySelector('[data-shortcut="' + CSS.escape(event.key) + '"]');
  if (named) {
    event.preventDefault();
    reach(named);
  }
  if (event.key === "?") document.getElementById("shortcuts")?.showModal();
  if (event.key === "j") moveRow(1);
  if (event.key === "k") moveRow(-1);
  if ((event.key === "ArrowRight" && moveInRow(1)) || (event.key === "ArrowLeft" && moveInRow(-1))) event.preventDefault();
});
// Words for other people are sent from where they are typed; they move nothing.
document.addEventListener("keydown", function (event) {
  const form = event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.closest("form[data-words]");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit();
});

const keysSwitch = document.querySelector("[data-keys-switch]");
if (keysSwitch) {
  keysSwitch.checked = !keysOff();
  keysSwitch.addEventListener("change", () => localStorage.setItem("keys", keysSwitch.checked ? "on" : "off"));
}
