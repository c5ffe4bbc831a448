"""A real browser signs a decision with a passkey: what it sends is what the desk reads."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings as django_settings
from django.db import transaction
from django.test import Client
from playwright.sync_api import expect

from desk import audit_check, clock
from desk.models import FactorChange, Person
from desk.people import stepup, totp
from tests.bounds import stretched
from wire.values import Secret

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
DECISION = {"purpose": "approve-withdrawal", "digest": "ab" * 32}

ENROL = """async () => {
  const made = await navigator.credentials.create({publicKey: {
    challenge: crypto.getRandomValues(new Uint8Array(32)), rp: {id: "localhost", name: "Countersign"},
    user: {id: new Uint8Array([1]), name: "treasury", displayName: "treasury"},
    pubKeyCredParams: [{type: "public-key", alg: -7}],
    authenticatorSelection: {userVerification: "required"},
  }});
  return made.toJSON();
}"""
SIGN = """async (asked) => {
  const token = document.cookie.match(/csrftoken=([^;]+)/)?.[1]
    ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value
    ?? JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"];
  const answer = await fetch("/step-up/challenge", {
    method: "POST", body: JSON.stringify(asked), headers: {"X-CSRFToken": token, "Content-Type": "application/json"},
  });
  const options = await answer.json();
  const parsed = PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey);
  return (await navigator.credentials.get({publicKey: parsed})).toJSON();
}"""


@pytest.fixture
def page(live_desk: Any, new_page: Callable[..., Any], treasury: Person) -> Any:
    """A signed-in page with a device that verifies its user."""
    opened = new_page()
    client = Client()
    client.force_login(treasury)
    opened.session_key = client.session.session_key
    name = django_settings.SESSION_COOKIE_NAME
    opened.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_desk.url}])
    device = opened.context.new_cdp_session(opened)
    device.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasUserVerification": True, "isUserVerified": True}
    device.send("WebAuthn.addVirtualAuthenticator", {"options": {**options, "hasResidentKey": True}})
    opened.goto(f"{live_desk.url}/account/second-factor/")
    return opened


def test_a_browser_confirms_one_decision(page: Any, treasury: Person) -> None:
    enrolled = page.evaluate(ENROL)
    data = {"name": "laptop", "credential": enrolled}
    Authenticator.objects.create(user=treasury, type=Authenticator.Type.WEBAUTHN, data=data)
    answer = {"kind": "passkey", "credential": page.evaluate(SIGN, DECISION)}
    arguments: dict[str, Any] = {"person": treasury, "answer": answer, "session_key": page.session_key}
    with pytest.raises(stepup.CannotConfirm), transaction.atomic():
        stepup.verify(purpose="approve-withdrawal", digest="cd" * 32, now=clock.now(), **arguments)
    with transaction.atomic():
        row = stepup.verify(**DECISION, now=clock.now(), **arguments)
    assert row.kind == "passkey"
    assert audit_check.verify() == []
    with pytest.raises(stepup.CannotConfirm, match="already been used"), transaction.atomic():
        stepup.verify(**DECISION, now=clock.now(), **arguments)


def key_of(page: Any) -> str:
    (cookie,) = [one for one in page.context.cookies() if one["name"] == django_settings.SESSION_COOKIE_NAME]
    return str(cookie["value"])


@pytest.mark.thorough("the rules of factors are proven by views; the confirmation in a browser runs always")
def test_a_passkey_is_added_with_the_app_and_removed_with_itself_while_another_tab_goes_on(
    page: Any, live_desk: Any, treasury: Person
) -> None:
    """Each factor given makes a new key of the session: the other tab's socket comes again, and its page stays."""
    totp.enrol(treasury, SECRET)
    other = page.context.new_page()
    sockets: list[Any] = []
    other.on("websocket", lambda opened: sockets.append(opened))  # noqa: PLW0108  a builtin takes no wrapper
    other.goto(f"{live_desk.url}/", wait_until="networkidle")
    before, joined = key_of(page), len(sockets)
    page.bring_to_front()  # a device answers the tab in front alone

    page.get_by_role("link", name="Add passkey").click()
    page.get_by_label("Code from your authenticator app").fill(totp.code_at(SECRET, totp.step_at(clock.now())))
    page.get_by_role("button", name="Confirm", exact=True).click()
    page.get_by_label("Name").fill("This device")
    page.get_by_role("button", name="Add passkey").click()
    page.wait_for_url(re.compile("/recovery-codes/$"))
    assert Authenticator.objects.filter(user=treasury, type="webauthn").count() == 1
    assert key_of(page) != before
    deadline = time.monotonic() + stretched(30)
    while len(sockets) == joined and time.monotonic() < deadline:
        other.wait_for_timeout(100)
    assert len(sockets) > joined, "the socket of the other tab came again"
    expect(other.locator("#frozen")).to_be_hidden(timeout=stretched(30_000))
    assert other.url == f"{live_desk.url}/"

    page.goto(f"{live_desk.url}/account/second-factor/passkeys/")
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Confirm with a passkey").click()
    page.get_by_role("button", name="Remove passkey").click()
    page.wait_for_url(re.compile("/passkeys/$"))
    assert not Authenticator.objects.filter(user=treasury, type="webauthn").exists()
    rows = [str(change) for change in FactorChange.objects.order_by("pk")]
    assert rows == ["recovery codes added", "passkey added", "passkey removed"]
