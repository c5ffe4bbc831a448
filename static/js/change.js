// An order is changed in a panel over its market's page: opened by its row or by its line on the chart, closed by the answer.
const panel = document.getElementById("change");
const FORM = "change-form";

export function openChange(address) {
  if (panel) window.htmx.ajax("GET", address, { target: "#" + FORM, swap: "innerHTML" });
  else location.assign(address);
}
document.addEventListener("htmx:afterSwap", function (event) {
  if (event.detail.target.id !== FORM) return;
  if (!panel.open) panel.show();
  (panel.querySelector("[data-focus-now]") || panel.querySelector("[name=price], [name=quantity]"))?.focus();
});
document.addEventListener("htmx:afterRequest", function ({ detail }) {
  const place = detail.xhr.getResponseHeader("HX-Retarget");
  if (detail.successful && place && place !== "#" + FORM && panel?.contains(detail.elt)) panel.close();
});
panel?.addEventListener("click", (event) => { if (event.target.closest("[data-keep-order]")) panel.close(); });
panel?.addEventListener("keydown", (event) => { if (event.key === "Escape") panel.close(); });
