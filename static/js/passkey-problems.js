// A passkey that was not used, or not taken, says so beside its button: the library only tells the console.
const SENTENCES = {
  NotAllowedError: "Passkey not used: the request was cancelled or timed out, or this device has no passkey for this desk.",
  AbortError: "Passkey not used: the request was cancelled.",
  InvalidStateError: "This device already has a passkey for your account.",
  SecurityError: "The browser does not allow passkeys at this address.",
  NotSupportedError: "This browser or device does not support the required type of passkey.",
};
const place = () => document.querySelector("[data-passkey-said]");

function say(sentence) {
  const said = place();
  said.textContent = sentence;
  said.hidden = !sentence;
}

document.addEventListener("allauth.error", function (event) {
  if (!place()) return;
  event.preventDefault();
  const known = SENTENCES[event.detail.exception && event.detail.exception.name];
  const first = !window.PublicKeyCredential ? "This browser does not support passkeys." : known || "Could not reach the desk to use the passkey. Check the connection and try again.";
  say(first + " " + place().dataset.passkeySaid);
});
// What was said of the last attempt goes away with the next.
document.addEventListener("click", function (event) {
  if (event.isTrusted && place() && event.target.closest("button")) say("");
}, true);
