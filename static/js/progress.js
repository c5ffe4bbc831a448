// Whatever takes longer than a moment says so: a page that is opened, a form that was sent, a part that somebody had read
// again, a file that is being made. What workers are waited for says so in its own place (components/progress.html).
const AFTER_MS = 600, LONGEST_MS = 120000, LOOK_MS = 250;
const said = document.getElementById("progress");
const waiting = new Map();
let looking = 0;

function begin(what, words) {
  end(what);
  waiting.set(what, [setTimeout(() => say(words), AFTER_MS), setTimeout(() => end(what), LONGEST_MS)]);
}
function end(what) {
  waiting.get(what)?.forEach(clearTimeout);
  waiting.delete(what);
  if (!waiting.size) said.hidden = true;
}
function say(words) {
  said.querySelector("span").textContent = words;
  said.hidden = false;
}

const isFile = (address) => /\/export[.]\w+$/.test(new URL(address, location.href).pathname);

if (said) {
  // A page, until it is there or its opening was stopped. A link to a place on this page opens nothing.
  document.addEventListener("click", function (event) {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.target || "isSmallFile" in link.dataset || link.origin !== location.origin || (link.hash && link.pathname === location.pathname && link.search === location.search)) return;
    if (link.matches("[download]") || isFile(link.href)) awaitFile();
    else begin("page", "Loading page");
  });
  document.addEventListener("submit", function (event) {
    if (event.defaultPrevented || event.target.matches("[hx-post], [hx-get], dialog form, [method=dialog]")) return;
    // By attribute: a field named "action" hides the form's own.
    const form = event.target, action = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
    if (isFile(action || location.href)) awaitFile();
    else begin("page", form.getAttribute("method") === "post" ? "Sending" : "Searching");
  });
  window.addEventListener("pageshow", () => end("page"));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") end("page"); });

  // A part that is read again because of what somebody did. What follows the desk by itself stays silent.
  document.addEventListener("htmx:beforeRequest", function (event) {
    const { verb, triggeringEvent } = event.detail.requestConfig;
    if (triggeringEvent?.isTrusted) begin(event.detail.elt, verb === "get" ? "Loading" : "Sending");
  });
  for (const name of ["htmx:afterRequest", "htmx:beforeCleanupElement"]) document.addEventListener(name, (event) => end(event.detail.elt));
}

// The answer that brings the file takes this cookie away (desk/lists/exports.py).
function awaitFile() {
  document.cookie = "file=awaited; path=/; max-age=" + LONGEST_MS / 1000 + "; samesite=lax";
  begin("file", "Preparing file");
  clearInterval(looking);
  looking = setInterval(function () {
    if (/(^|; )file=awaited/.test(document.cookie)) return;
    clearInterval(looking);
    end("file");
  }, LOOK_MS);
}
