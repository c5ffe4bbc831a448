// A passkey for one decision: the server's challenge is bound to the digest on this page and to the fields that the form
// names in data-signs (desk/people/signing/signed_fields.py); the signature goes in the form. An approval names its
// request in data-subject, and is signed like a selection of it alone (desk/people/signing/signed_lists.py).
function signed(form) {
  const content = new FormData(form);
  const names = (form.dataset.signs || "").split(" ").filter((name) => name);
  return Object.fromEntries(names.map((name) => [name, content.getAll(name).sort().join(" ")]));
}

function say(form, sentence) {
  const place = form.querySelector("[data-passkey-problem]");
  place.textContent = sentence;
  place.hidden = !sentence;
}

async function challenge(form, button) {
  const field = (name) => form.querySelector('input[name="' + name + '"]').value;
  // A list of decisions is signed as it is chosen at this moment: the desk makes its digest from the whole form.
  const isWhole = "wholeForm" in button.dataset;
  const answer = await fetch(button.dataset.challenge, {
    method: "POST",
    body: isWhole
      ? new URLSearchParams(new FormData(form))
      : JSON.stringify({
          purpose: field("purpose"),
          digest: field("digest"),
          fields: signed(form),
          subject: form.dataset.subject || "",
        }),
    headers: { ...(isWhole ? {} : { "Content-Type": "application/json" }), "X-CSRFToken": field("csrfmiddlewaretoken") },
  });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.problem || "Decision not recorded. The passkey request failed.");
  return content;
}

document.addEventListener("click", async function (event) {
  const button = event.target.closest("[data-passkey]");
  if (!button) return;
  event.preventDefault();
  const form = button.form;
  if (!form.reportValidity()) return;
  say(form, "");
  button.disabled = true;
  // As long as the device is asked, this form stays where it is.
  form.dataset.signing = "yes";
  try {
    const credential = await window.webauthnJSON.get(await challenge(form, button));
    form.querySelector('input[name="passkey"]').value = JSON.stringify(credential);
    form.requestSubmit();
  } catch (error) {
    const stopped = error.name === "NotAllowedError" || error.name === "AbortError";
    say(form, stopped ? "Decision not recorded. Passkey not used." : error.message);
  } finally {
    delete form.dataset.signing;
    button.disabled = false;
  }
});
