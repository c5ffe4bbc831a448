// A form that is long to fill in is kept in this tab until it was sent: a session that ends loses nothing typed.

// Secrets, codes and what a second factor is given for are never kept. Of hidden fields the key of the request is, so that
// what was sent before is not sent twice; where the key is part of what is signed, the page draws both anew.
const NEVER = ["csrfmiddlewaretoken", "code", "passkey", "digest", "purpose"];
function isKept(field, form) {
  if (!field.name || NEVER.includes(field.name) || ["password", "file", "submit", "button"].includes(field.type)) return false;
  return field.type !== "hidden" || (field.name === "request_key" && !form.elements.digest);
}
const fieldsOf = (form) => Array.from(form.elements).filter((field) => isKept(field, form));
const isTick = (field) => field.matches("[type=checkbox], [type=radio]");
const state = (field) => (isTick(field) ? field.checked : field.value);

const nameOf = (form) => "kept:" + form.dataset.keep;
function store(form) {
  const entries = fieldsOf(form).filter((field) => !isTick(field) || field.checked).map((field) => [field.name, field.value]);
  sessionStorage.setItem(nameOf(form), JSON.stringify(entries));
}

// Fields of one name are told apart by their value, or by their order where they are typed.
function restore(form, entries) {
  const fields = fieldsOf(form), drawn = new Map(fields.map((field) => [field, state(field)]));
  const names = new Set(entries.map(([name]) => name)), values = new Map();
  for (const [name, value] of entries) values.set(name, [...(values.get(name) || []), value]);
  for (const field of fields) {
    if (field.type === "radio" && !names.has(field.name)) continue;
    if (isTick(field)) field.checked = (values.get(field.name) || []).includes(field.value);
    else if (values.get(field.name)?.length) field.value = values.get(field.name).shift();
  }
  return fields.filter((field) => field.type !== "hidden" && state(field) !== drawn.get(field));
}

// A form that comes with a part of the page, or is drawn anew with it, gets its draft as well.
const brought = new WeakSet();
function bring(form) {
  if (brought.has(form)) return;
  brought.add(form);
  const before = JSON.parse(sessionStorage.getItem(nameOf(form)) || "null");
  // What was refused, read from a payment request or copied from an ended one stands as it was drawn.
  if (!Array.isArray(before) || form.querySelector(".wrong:not([hidden]), [data-split], [data-copied]")) return;
  const differs = restore(form, before), note = form.querySelector("[data-restored]");
  if (note) note.hidden = !differs.length;
  if (!differs.length) return;
  // What came back is in sight, also where it is folded while nothing is set; what follows from it is read again.
  differs.forEach((field) => { for (let at = field.closest("details"); at; at = at.parentElement.closest("details")) at.open = true; });
  const tell = () => differs[0].dispatchEvent(new Event("change", { bubbles: true }));
  if (document.readyState === "complete") tell();
  else window.addEventListener("load", tell);
}
// What became of the form stands on the page that follows it.
document.querySelectorAll("[data-arrived]").forEach((mark) => sessionStorage.removeItem("kept:" + mark.dataset.arrived));
document.querySelectorAll("form[data-keep]").forEach(bring);
document.addEventListener("htmx:load", ({ detail }) => detail.elt.querySelectorAll?.("form[data-keep]").forEach(bring));

document.addEventListener("input", function (event) {
  const form = event.target.closest("form[data-keep]");
  if (form) store(form);
});
// Without the draft the page is drawn anew: with a key of its own, and with the values of the link that led here.
document.addEventListener("click", function (event) {
  const button = event.target.closest("[data-discard], [data-forget]"), form = button?.closest("form[data-keep]");
  if (!form) return;
  sessionStorage.removeItem(nameOf(form));
  if (!button.matches("[data-discard]")) return;
  form.reset();
  location.replace(location.href);
});
