// The title of the tab begins with how many entries wait for this person: seen while another tab is in front.
const words = document.title;
function show() {
  const count = document.querySelector("#count-action[data-count]");
  document.title = count ? "(" + count.dataset.count + ") " + words : words;
}
document.addEventListener("htmx:load", show);
show();

// What the bar says anew is spoken too: the bar itself is put in place of the former one, which no reader hears.
const said = (bar) => (bar?.querySelector("p")?.textContent || "").replace(/\s+/g, " ").trim();
let spoken = said(document.getElementById("alarm"));
document.addEventListener("htmx:load", function (event) {
  if (event.detail.elt.id !== "alarm" || said(event.detail.elt) === spoken) return;
  spoken = said(event.detail.elt);
  document.getElementById("alarm-voice").textContent = spoken;
});
