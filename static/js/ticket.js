// The ticket's button stands outside what is read again, and says and sends what came with the figures.
const button = document.getElementById("place");
document.addEventListener("htmx:load", function (event) {
  const effect = event.detail.elt.dataset?.effect;
  if (effect === undefined) return;
  button.value = effect;
  button.textContent = effect || button.dataset.without;
});
