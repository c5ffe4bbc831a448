// What the desk answers to a form that stays on its page: a sentence at the foot, where it moves nothing. A refusal stands
// until it is dismissed or another answer comes. A refusal by any other page is read from that page.
import { rereadSoon } from "./fragments.js";

const DONE_MS = 20000, LONGEST = 400, NO_ANSWER = "No response from Countersign. Check whether your request was recorded before you submit it again.";
const words = document.querySelector("#own-answer [data-words]"), blank = document.getElementById("refusal");
let hiding = 0;

const hide = () => words.replaceChildren();
function awaitReading() {
  clearTimeout(hiding);
  if (!words.querySelector(".tone-bad, .tone-warn")) hiding = setTimeout(hide, DONE_MS);
}
function show(sentence, template) {
  const note = template.content.cloneNode(true);
  note.querySelector("p").textContent = sentence;
  words.replaceChildren(note);
  awaitReading();
}
export const refuse = (sentence) => show(sentence, blank);
// What a person gave up by themselves is no refusal.
export const remark = (sentence) => show(sentence, document.getElementById("remark"));

// The server names the place of its answer itself, whatever the status is.
document.addEventListener("htmx:beforeSwap", function ({ detail }) {
  if (!detail.xhr.getResponseHeader("HX-Retarget")) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"]) document.addEventListener(name, (event) => { if (event.detail.target === words) awaitReading(); });

const isSent = (event) => event.detail.requestConfig.verb === "post" && event.detail.elt.matches("form");
function sentenceOf(xhr) {
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  const found = page.querySelector("[role=alert]") || page.querySelector("h1 + p");
  const sentence = (found?.textContent || "").replace(/\s+/g, " ").trim().slice(0, LONGEST);
  return sentence || "Request rejected (" + xhr.status + "). Reload the page and try again.";
}
document.addEventListener("htmx:responseError", (event) => { if (isSent(event)) refuse(sentenceOf(event.detail.xhr)); });
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => { if (isSent(event)) refuse(event.detail.elt.dataset.unanswered || NO_ANSWER); });
}
// What was sent has changed the part in which the form is, and those that it names.
document.addEventListener("htmx:afterRequest", function (event) {
  if (!isSent(event)) return;
  const form = event.detail.elt, named = (form.dataset.changes || "").split(" ").filter(Boolean);
  [form.closest("[data-follow]"), ...named.map((name) => document.getElementById(name))].filter((part) => part?.isConnected).forEach(rereadSoon);
});
document.querySelector("#own-answer [data-dismiss]").addEventListener("click", hide);
