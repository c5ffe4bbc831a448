// The title of the tab begins with how many entries wait for this person: seen while another tab is in front.
const words = document.title;
function show() {
  const count = document.querySelector("#count-action[data-count]");
  document.title = count ? "(" + count.dataset.count + ") " + words : words;
}
document.addEventListener("htmx:load", show);
show();
