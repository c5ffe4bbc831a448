// The description of the interface, drawn by the local Swagger UI.
const place = document.getElementById("api-docs");
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
// Swagger UI has a dark look of its own, switched by a class of the whole page.
function follow() {
  root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
}
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
dark.addEventListener("change", follow);
follow();
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: false,
  displayOperationId: true,
  defaultModelsExpandDepth: -1,
  requestInterceptor: function (request) {
    if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = place.dataset.token;
    return request;
  },
});
