// How the person who reads writes hours and figures: the page carries it, and the words are those of the server
// (desk/personal/formats.py), so that what a script draws stands beside what the server drew.
const MINUS = "\u2212", UTC = "UTC";
const zone = document.documentElement.dataset.zone || UTC;
export const mark = document.documentElement.dataset.mark ?? ",";

const PARTS = {
  calendar: "gregory", numberingSystem: "latn", hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "longOffset",
};
// A zone that this browser does not know is read in UTC, and says so.
function partsIn(name) {
  try { return new Intl.DateTimeFormat("en-US", { ...PARTS, timeZone: name }); }
  catch (error) { return new Intl.DateTimeFormat("en-US", { ...PARTS, timeZone: UTC }); }
}
const here = partsIn(zone), there = partsIn(UTC);
// Made once: to make one for each row of a market that ticks held up the next key by a tenth of a second.
const device = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

function offset(name) {
  const found = /([+-])(\d{1,2}):?(\d{2})?/.exec(name);
  if (!found || (found[2] === "00" && (found[3] || "00") === "00")) return UTC;
  const rest = found[3] && found[3] !== "00" ? ":" + found[3] : "";
  return UTC + (found[1] === "-" ? MINUS : "+") + found[2].replace(/^0(?=\d)/, "") + rest;
}
function read(when, by) {
  const parts = Object.fromEntries(by.formatToParts(when).map((part) => [part.type, part.value]));
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  return { day: [year.padStart(4, "0"), month, day].join("-"), minute: hour + ":" + minute, second, zone: offset(timeZoneName) };
}

// "2026-11-20 15:23:05 UTC+1", its time of day alone, with and without the zone, and to the minute with the day.
export function instant(when) {
  const at = read(when, here);
  return at.day + " " + at.minute + ":" + at.second + " " + at.zone;
}
export function secondOfDay(when) {
  const at = read(when, here);
  return at.minute + ":" + at.second + " " + at.zone;
}
export function second(when) {
  const at = read(when, here);
  return at.minute + ":" + at.second;
}
export function minuteOfDay(when) {
  return read(when, here).minute;
}
export function day(when) {
  return read(when, here).day;
}
export function minute(when) {
  const at = read(when, here);
  return at.day + " " + at.minute;
}
// What comes on hover: where the page is in UTC the hour of this device, else the hour in UTC. Of what is no time nothing.
export function besides(when) {
  if (isNaN(when)) return "";
  if (zone === UTC) return device.format(when);
  const at = read(when, there);
  return at.day + " " + at.minute + ":" + at.second + " " + UTC;
}

// The page of one's settings: the zone of this device, for the field to take.
document.addEventListener("click", function (event) {
  const button = event.target.closest("[data-device-zone]");
  if (!button) return;
  const field = document.getElementById(button.dataset.deviceZone), name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (Array.from(field.options).some((option) => option.value === name)) field.value = name;
  field.focus();
});
document.querySelectorAll("[data-device]").forEach((line) => { line.hidden = false; });
