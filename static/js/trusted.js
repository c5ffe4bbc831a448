// What may become a part of a page (Trusted Types): text from our own server without anything that runs. Loaded first.
// The browser asks here before any text is taken for HTML; addresses of scripts and code in texts it never gets.
(function () {
  "use strict";
  if (!window.trustedTypes) return;

  const inert = window.trustedTypes.createPolicy("desk-inert", { createHTML: (html) => html });
  const RUNS = "script:not([src^='/static/']):not([type='application/json']), iframe, frame, object, embed, base, "
    + "meta[http-equiv], [srcdoc], [href*='javascript:' i], [action*='javascript:' i], [formaction*='javascript:' i]";
  const HANDLERS = "//@*[starts-with(translate(name(), 'ON', 'on'), 'on')]";

  // In a document of its own nothing runs and nothing is loaded.
  function runs(html) {
    const read = new DOMParser().parseFromString(inert.createHTML(html), "text/html");
    const parts = [read, ...Array.from(read.querySelectorAll("template"), (template) => template.content)];
    return parts.some((part) => part.querySelector(RUNS))
      || read.evaluate(HANDLERS, read, null, XPathResult.ANY_UNORDERED_NODE_TYPE, null).singleNodeValue !== null;
  }

  window.trustedTypes.createPolicy("default", { createHTML: (html) => (runs(html) ? null : html) });
})();
