// A passkey that was not used, or not taken, says so beside its button: the library only tells the console.
const SENTENCES = {
  NotAllowedError: "The passkey was not used: it was cancelled, took too long, or this device has none for this desk.",
  AbortError: "The passkey was not used: the request was stopped.",
  InvalidStateError: "This device has a passkey for your account already.",
  SecurityError: "The browser takes no passkey at this address.",
  NotSupportedError: "This browser or device cannot use the kind of passkey that is needed.",
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
  const first = !window.PublicKeyCredential ? "This browser cannot use passkeys." : known || "The desk could not be asked for the passkey. Check the connection and try again.";
  say(first + " " + place().dataset.passkeySaid);
});
// What was said of the last attempt goes away with the next.
document.addEventListener("click", function (event) {
  if (event.isTrusted && place() && event.target.closest("button")) say("");
}, true);
