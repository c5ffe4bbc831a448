// What every page does by itself: theme, copying, local hours, one submit per form, keys. Nothing here decides anything.
import { besides, instant, secondOfDay } from "./personal.js";
import { isDown } from "./press.js";

// Theme: a cookie, so that the server draws the right one at once and nothing flashes.
document.addEventListener("click", function (event) {
  if (!event.target.closest("[data-theme-toggle]")) return;
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = "theme=" + root.dataset.theme + "; path=/; max-age=31536000; samesite=lax";
});

// Copy buttons carry the full value; they appear only where copying can work.
function showCopy(root) {
  if (navigator.clipboard) root.querySelectorAll("[data-copy][data-unready]").forEach((button) => { delete button.dataset.unready; });
}
document.addEventListener("click", async function (event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const picture = button.querySelector("svg");
  const use = button.querySelector("use");
  const before = use.getAttribute("href");
  const label = picture.getAttribute("aria-label");
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    use.setAttribute("href", before.replace(/#.*/, "#check"));
    picture.setAttribute("aria-label", "Copied");
  } catch (error) {
    use.setAttribute("href", before.replace(/#.*/, "#x"));
    picture.setAttribute("aria-label", "Copy failed");
  }
  setTimeout(function () {
    use.setAttribute("href", before);
    picture.setAttribute("aria-label", label);
  }, 1600);
});

// An hour is shown as the person reads hours; the other one comes on hover.
function localHours(root) {
  root.querySelectorAll("time[data-local]:not([title])").forEach(function (time) {
    const when = new Date(time.dateTime);
    if (!isNaN(when)) time.title = besides(when);
  });
}

// The clock of the server, carried on by this device's steady clock.
const clock = document.querySelector("[data-clock]");
let base = Date.parse(document.body.dataset.now || "") || Date.now();
let seen = performance.now();
export const now = () => new Date(base + performance.now() - seen);
export const hour = secondOfDay;
function tick() {
  const moment = now();
  clock.dateTime = moment.toISOString();
  clock.textContent = instant(moment);
}
if (clock) setInterval(tick, 1000);

// An age goes on counting after it was drawn, in the words that the server uses.
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
export function showAge(element) {
  const passed = (now() - Date.parse(element.dateTime)) / 1000;
  // What a stream told a moment ago may be ahead of the page's clock; only what was drawn as ahead counts down.
  const ahead = passed < 0 && element.textContent.startsWith("in ");
  const whole = Math.max(0, Math.floor(ahead ? -passed : passed));
  const [length, unit] = UNITS.find(([seconds]) => whole >= 2 * seconds) || [1, "s"];
  const span = Math.floor(whole / length) + " " + unit;
  const text = ahead ? "in " + span : span + " ago";
  if (element.textContent !== text) element.textContent = text;
}
setInterval(function () {
  if (!isDown()) document.querySelectorAll("time[data-age][datetime]").forEach(showAge);
}, 1000);

// One submit per form: the second click of a double click finds the button resting.
document.addEventListener("submit", function (event) {
  const form = event.target.closest("form[data-once]");
  if (!form || event.defaultPrevented) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  form.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", function () {
  document.querySelectorAll("form[data-sent]").forEach(function (form) {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
  });
});

document.addEventListener("click", function (event) {
  const person = event.target.closest("[data-fill-login]");
  if (!person) return;
  const login = document.querySelector('input[name="login"]');
  login.value = person.dataset.fillLogin;
  document.querySelector('input[name="password"]').value = person.closest("[data-password]").dataset.password;
  login.form.querySelector("button").focus();
});

document.addEventListener("click", function (event) {
  const opener = event.target.closest("[data-open]");
  if (opener) document.getElementById(opener.dataset.open).showModal();
});

// Whether a person put this there: it is not what the desk drew, or the desk gave back what it had refused.
export function isTyped(field) {
  if (field.type === "hidden") return false;
  if ("typed" in field.dataset && field.value) return true;
  if (field.matches("select")) return field.selectedIndex !== Math.max(0, Array.from(field.options).findIndex((one) => one.defaultSelected));
  return field.matches("[type=checkbox], [type=radio]") ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}
// Whether something was typed on this page that is not sent yet.
export function typed() {
  return Array.from(document.querySelectorAll("main form[method=post] :is(input, textarea)")).some(isTyped);
}

// A part that answers with the way to the sign-in page means that the session is over. What was typed stays.
document.addEventListener("htmx:beforeOnLoad", function (event) {
  if (!event.detail.xhr.getResponseHeader("HX-Redirect") || !typed()) return;
  event.preventDefault();
  document.dispatchEvent(new CustomEvent("desk:signed-out"));
});
document.addEventListener("htmx:configRequest", function (event) {
  if (event.detail.elt.closest("[data-background]")) event.detail.headers["X-Background"] = "1";
});
document.addEventListener("htmx:load", function (event) {
  const root = event.detail.elt;
  showCopy(root);
  localHours(root);
  if (root.dataset && root.dataset.now) {
    base = Date.parse(root.dataset.now);
    seen = performance.now();
  }
});
// A request that large is not read by the server, which so could not answer with the form.
document.addEventListener("change", function ({ target }) {
  if (!target.matches("[data-most-bytes]")) return;
  target.setCustomValidity(target.files[0]?.size > target.dataset.mostBytes ? target.dataset.tooLarge : "");
  target.reportValidity();
});
document.addEventListener("submit", function (event) {
  const file = event.target.querySelector("[data-most-bytes]:invalid");
  if (!file) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  file.reportValidity();
}, true);
showCopy(document);
localHours(document);
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
document.querySelector("[data-focus-now]")?.focus();
