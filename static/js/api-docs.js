// The description of the interface, drawn by the local Swagger UI.
(function () {
  "use strict";
  const place = document.getElementById("api-docs");
  window.SwaggerUIBundle({
    url: place.dataset.schema,
    domNode: place,
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: false,
    defaultModelsExpandDepth: -1,
    requestInterceptor: function (request) {
      if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = place.dataset.token;
      return request;
    },
  });
})();
