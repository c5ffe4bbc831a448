"""The pages of freezes that hold at every account: preview, order, the lines about them, and lifting by two."""

import pytest
from django.utils.html import strip_tags

from desk import clock
from desk.people import totp
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import SECRET, code_of_now
from tests.exchange_ops.permissions.subjects.payees import added

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]

ELSEWHERE = "bitcoincash:qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy"


def text(response):
    return " ".join(strip_tags(response.content.decode()).split())


def test_a_preview_names_what_stops_and_the_page_says_it_until_two_lift_it(signed_in, treasury, treasury2, operator):
    held, waiting = rows.held(operator, now=clock.now()), rows.submitted(operator, to="review", now=clock.now())
    client = signed_in(treasury)
    preview = text(client.get("/policy/freezes/new/", {"kind": "currency", "currency": "BCH"}))
    assert "Preview: freeze BCH Nothing is frozen yet." in preview
    assert "will release 1 hold" in preview
    assert "will stop 1 unsent request" in preview
    assert held.reference in preview
    assert waiting.reference in preview
    assert not Freeze.objects.exists()
    of_one = client.get(f"/accounts/{held.account_id}/policy/freezes/new/?kind=everything")
    assert of_one["Location"] == "/policy/freezes/new/?kind=everything", "its rows are of every account"
    assert "will release 1 hold" not in text(client.get("/policy/freezes/new/", {"kind": "currency", "currency": ""}))
    fields = {"kind": "currency", "currency": "BCH"}
    assert client.post("/policy/freezes/new/", fields).status_code == 422
    page = text(client.post("/policy/freezes/new/", {**fields, "reason": "Chain halted"}, follow=True))
    assert "BCH is frozen: no payouts or transfers of BCH" in page
    frozen = Freeze.objects.get()
    held.refresh_from_db()
    assert held.state == "rolling_back"
    for path in ("/policy/", f"/withdrawals/{waiting.pk}/", "/frame/?parts=alarm"):
        assert "BCH" in text(signed_in(treasury2).get(path)), path
    assert "BCH is frozen. Chain halted This payout is not sent until" in text(
        client.get(f"/withdrawals/{waiting.pk}/")
    )
    note = text(signed_in(operator).get("/withdrawals/new/"))
    assert "BCH is frozen. Chain halted Requests that it covers are recorded and stay pending" in note
    for person, words in ((treasury, "A second treasurer must also approve"), (treasury2, "Freeze lifted")):
        totp.enrol(person, SECRET)
        seen = {"digest": freezes.digest_of(frozen), "code": code_of_now()["code"], "comment": "Running again"}
        answer = signed_in(person).post(f"/policy/freezes/across/{frozen.pk}/lift/", seen, follow=True)
        assert words in text(answer)
    assert "is frozen" not in text(client.get(f"/withdrawals/{waiting.pk}/"))


def test_a_destination_is_a_payee_or_an_address_and_never_two(signed_in, treasury, operator):
    payee, client = added(operator), signed_in(treasury)
    named = {"kind": "destination", "payee": payee.pk, "reason": "Changed by e-mail"}
    both = client.post("/policy/freezes/new/", {**named, "address": ELSEWHERE})
    assert (both.status_code, Freeze.objects.count()) == (422, 0)
    assert "This is not the address of the chosen payee" in text(both)
    assert "Choose a payee or enter the address" in text(client.get("/policy/freezes/new/?kind=destination"))
    assert "plain letters" in text(client.get("/policy/freezes/new/", {"kind": "destination", "address": "1аb"}))
    page = text(client.post("/policy/freezes/new/", named, follow=True))
    assert f"The destination {payee.address} is frozen" in page
    assert "It is frozen already" in text(client.get("/policy/freezes/new/", named))
    everything = {"kind": "everything", "reason": "Keys lost"}
    assert "Everything is frozen" in text(client.post("/policy/freezes/new/", everything, follow=True))
    assert "Frozen: no payouts" in text(client.get("/", headers={"HX-Request": "true", "HX-Target": "accounts"}))
