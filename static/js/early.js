// A button that only a script answers stands on the page before its script has come: pressed so early, it answers as soon
// as it can. Loaded at once and not with the others. Links and buttons that send a form do what they do by themselves.
(function () {
  "use strict";
  const ANSWERED_BY_SCRIPT = "button[type=button]:not([popovertarget])";
  let pressed = null;

  function hold(event) {
    const button = event.target.closest(ANSWERED_BY_SCRIPT);
    if (!button) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    pressed = button;
  }
  window.addEventListener("click", hold, true);
  // The scripts have run by then, and what they do at this very event is done with the task.
  document.addEventListener("DOMContentLoaded", () => setTimeout(function () {
    window.removeEventListener("click", hold, true);
    if (pressed) pressed.click();
  }));
})();
