"""What somebody wrote for a refused decision comes back: in its form, or beside the refusal when that is gone."""

import pytest

from desk import clock
from desk.people import totp
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.withdrawals import workflow
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
GONE = "Your text was not saved."


@pytest.fixture
def approver(treasury):
    totp.enrol(treasury, SECRET)
    return treasury


def test_a_refused_comment_comes_back_marked_as_typed(signed_in, approver, operator):
    """By that mark the page knows that the text is a person's, and no reading of the page replaces it."""
    row = rows.held(operator, now=clock.now())
    seen = {"digest": row.digest, "code": "000000", "comment": "kept words"}
    client = signed_in(approver)
    page = client.post(f"/withdrawals/{row.pk}/approve/", seen).content.decode()
    field = page.split('name="comment"')[1].split(">")[0]
    assert 'value="kept words"' in field
    assert "data-typed" in field
    assert GONE not in page
    assert "data-typed" not in client.get(f"/withdrawals/{row.pk}/").content.decode()


def test_a_comment_whose_form_is_gone_stands_beside_the_refusal(signed_in, approver, operator):
    row = rows.held(operator, now=clock.now())
    workflow.cancel(withdrawal_id=row.pk, person=operator, reason="No longer needed", now=clock.now())
    seen = {"digest": row.digest, "code": "000000", "comment": "<b>As on the invoice</b>"}
    response = signed_in(approver).post(f"/withdrawals/{row.pk}/approve/", seen)
    page = response.content.decode()
    assert response.status_code == 409
    assert "Your decision was not recorded." in page
    assert GONE in page
    assert "&lt;b&gt;As on the invoice&lt;/b&gt;" in page


def test_a_refused_reason_comes_back_in_an_open_form(signed_in, treasury, operator):
    """The form of a rejection is folded away; after a refusal it is not, so that the reason is seen."""
    row, client = rows.held(operator, now=clock.now()), signed_in(treasury)
    long = client.post(f"/withdrawals/{row.pk}/reject/", {"reject-reason": "x" * 501}).content.decode()
    assert '<details class="in reason-form" open>' in long
    assert client.get(f"/withdrawals/{row.pk}/").content.decode().count('reason-form" open') == 0


def test_a_wrong_code_keeps_the_reason_of_a_thaw(signed_in, approver, operator):
    row = rows.held(operator, now=clock.now())
    freezes.freeze(person=approver, reason="Odd payout", account=row.account, now=clock.now())
    frozen = Freeze.objects.get()
    seen = {"digest": freezes.digest_of(frozen), "code": "000000", "comment": "Explained"}
    page = signed_in(approver).post(f"/policy/freezes/{frozen.pk}/thaw/", seen).content.decode()
    assert 'value="Explained"' in page or ">Explained</textarea>" in page.replace("\n", "")
    assert f'data-drawn-for="{freezes.digest_of(frozen)[:16]}"' in page, "the same after a reading: its button stays"
    assert "frozen, 0 of 2 approvals to lift it" in page


def test_a_refused_transfer_keeps_the_words_of_a_form_that_is_gone(signed_in, treasury, operator):
    row, client = rows.transfer(operator, kind="to_user", now=clock.now()), signed_in(treasury)
    assert client.post(f"/transfers/{row.pk}/reject/", {"reject-reason": "Not ours"}).status_code == 302
    late = client.post(f"/transfers/{row.pk}/reject/", {"reject-reason": "Somebody else's, I think"})
    assert late.status_code == 409
    assert GONE in late.content.decode()
    assert "Somebody else&#x27;s, I think" in late.content.decode()
