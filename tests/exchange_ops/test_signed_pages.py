"""What is typed on a page is signed with what it shows: a form with another text than the device signed is refused.

The ceremony is the one of static/js/passkey.js: the fields that the form names go to the desk for a challenge, and the
form follows with the signature. Which forms there are is asked in tests/architecture/test_signed_forms.py.
"""

import json
import re
from dataclasses import dataclass
from html import unescape

import pytest
from django.urls import reverse

from desk import audit_check, clock
from desk.models import StepUp
from desk.people import roles
from exchange_ops.policy import freezes
from exchange_ops.subaccounts import account_status
from tests.desk.authenticator import SoftKey
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.subjects import payouts, sub_accounts, trading, transfers
from tests.exchange_ops.restores import restore_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]

READ, OTHER = "Read on the exchange's own page", "As agreed by phone"


@dataclass
class SignedForm:
    """A page with a form: `role` decides, the form goes to `action`, and `field` is its text."""

    page: str
    action: str
    role: str = roles.TREASURY
    field: str = "comment"
    by_post: bool = False


def payout(operator):
    row = rows.held(operator, now=clock.now())
    return SignedForm(reverse("withdrawal", args=[row.pk]), reverse("withdrawal-approve", args=[row.pk]))


def payout_before_the_hold(operator):
    row = payouts.PAYOUTS.reach("review", operator)
    return SignedForm(reverse("withdrawal", args=[row.pk]), reverse("withdrawal-approve", args=[row.pk]))


def transfer(operator):
    row = transfers.reach("review", operator)
    return SignedForm(reverse("transfer", args=[row.pk]), reverse("transfer-approve", args=[row.pk]))


def order(operator):
    row = trading.order("waiting", operator)
    return SignedForm(reverse("order", args=[row.pk]), reverse("order-approve", args=[row.pk]))


def freezing(operator):
    row = sub_accounts.sub_account(account_status.OPEN, operator)
    path = reverse("subaccount-freeze")
    return SignedForm(f"{path}?ids={row.exchange_id}", path, roles.ADMIN)


def activating(operator):
    row = sub_accounts.sub_account(account_status.FROZEN, operator)
    path = reverse("subaccount-activate")
    return SignedForm(f"{path}?ids={row.exchange_id}", path, roles.ADMIN)


def restore(operator):
    path = reverse("restore", args=[restore_rows.opened().pk])
    return SignedForm(path, path, by_post=True)


def thaw(operator):
    row = freezes.freeze(person=None, reason="A drill", account=rows.account(now=clock.now()), now=clock.now())
    return SignedForm(reverse("policy"), reverse("thaw", args=[row.pk]))


OPTIONAL = (payout, payout_before_the_hold, transfer, order)
REQUIRED = (freezing, activating, restore, thaw)
TEXTS = [(kind, *texts) for kind in (*OPTIONAL, *REQUIRED) for texts in ((READ, OTHER), ("", OTHER))]
TEXTS += [(kind, READ, "") for kind in OPTIONAL]


class Page:
    """The form of a page, and somebody with a passkey in front of it."""

    def __init__(self, target, person, client):
        self.target, self.client, self.key = target, client, SoftKey()
        self.key.enrol(person)
        answer = client.post(target.page, {}) if target.by_post else client.get(target.page)
        text = answer.content.decode()
        forms = re.findall(rf'<form[^>]*action="{re.escape(target.action)}".*?</form>', text, re.DOTALL)
        (self.form,) = [form for form in forms if 'name="passkey"' in form]
        inputs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', self.form)
        self.hidden = {name: unescape(value) for name, value in inputs}

    def sign(self, text, signs=None):
        """The device's answer for the form with this text."""
        content = self.hidden | {self.target.field: text}
        signs = self._attribute("signs").split() if signs is None else signs
        question = {"purpose": content["purpose"], "digest": content["digest"], "subject": self._attribute("subject")}
        question["fields"] = {name: content.get(name, "") for name in signs}
        options = self.client.post(reverse("step_up_challenge"), question, content_type="application/json")
        assert options.status_code == 200, options.content
        return json.dumps(self.key.answer(options.json())["credential"])

    def send(self, text, passkey):
        return self.client.post(self.target.action, self.hidden | {self.target.field: text, "passkey": passkey})

    def _attribute(self, name):
        found = re.search(rf'data-{name}="([^"]*)"', self.form)
        return found[1] if found else ""


@pytest.fixture
def opened(operator, make_person, signed_in):
    def open_page(kind):
        target = kind(operator)
        person = make_person(target.role, username="decides")
        return Page(target, person, signed_in(person))

    return open_page


@pytest.mark.parametrize(("kind", "signed", "sent"), TEXTS, ids=lambda each: getattr(each, "__name__", each or "none"))
def test_a_text_that_is_changed_after_the_signature_is_refused(opened, kind, signed, sent):
    page = opened(kind)
    before = StepUp.objects.count()
    refused = page.send(sent, page.sign(signed))
    assert (refused.status_code, StepUp.objects.count()) == (409, before)
    assert "does not match the page" in refused.content.decode()


@pytest.mark.parametrize("kind", [*OPTIONAL, *REQUIRED], ids=lambda kind: kind.__name__)
def test_the_text_that_was_signed_is_taken_and_the_trail_bears_it_out(opened, kind):
    page = opened(kind)
    assert page.send(READ, page.sign(READ)).status_code == 302
    # No transaction of this test is committed, so no head of it is in the file.
    assert [finding for finding in audit_check.verify() if "heads file" not in finding] == []


@pytest.mark.parametrize("kind", OPTIONAL, ids=lambda kind: kind.__name__)
def test_an_approval_without_a_comment_is_signed_by_its_digest(opened, kind):
    page = opened(kind)
    before = StepUp.objects.count()
    assert page.send("", page.sign("")).status_code == 302
    assert StepUp.objects.count() == before + 1


@pytest.mark.parametrize("kind", [*OPTIONAL, *REQUIRED], ids=lambda kind: kind.__name__)
def test_a_signature_of_an_earlier_version_without_the_text_is_not_taken_any_more(opened, kind):
    page = opened(kind)
    assert page.send(READ, page.sign(READ, signs=())).status_code == 409
