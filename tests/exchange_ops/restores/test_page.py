"""The page of a restore: what it asks, what it refuses, and who may answer."""

import pytest
from django.urls import reverse

from desk import clock
from desk.restores import settling, signs
from desk.restores.states import HEADS
from exchange_ops.shared import heartbeats

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def opened(moving):
    """A transfer that waits, and a restore that is open; the ledger was read since."""
    row = moving.approved()
    restore = signs.notice(signs.Sign(HEADS), now=clock.now())
    heartbeats.succeeded(heartbeats.ledger_of(row.account), now=clock.now(), account=row.account)
    return row, restore


def test_answers_are_reviewed_and_then_confirmed(opened, moving, signed_in):
    row, restore = opened
    client, address = signed_in(moving.walk.approvers[0]), reverse("restore", args=[restore.pk])
    page = client.get(address).content.decode()
    assert row.reference in page
    assert "Review decisions" in page
    assert client.post(address, {}).status_code == 422, "every item needs an answer"
    answers = {f"verdict:{row.subject}": "cancel"}
    review = client.post(address, answers)
    assert "Confirm decisions" in review.content.decode()
    digest = settling.digest_of(restore, settling.items(restore), {row.subject: "cancel"})
    assert digest in review.content.decode()
    code = moving.walk.answer(moving.walk.approvers[0])["code"]
    word = {"digest": digest, "comment": "Compared", "code": code}
    assert client.post(address, answers | word | {"code": "12"}).status_code == 422
    assert client.post(address, answers | word).status_code == 302
    page = client.get(address).content.decode()
    assert "Compared" in page
    assert f"{restore.reference}: decisions recorded." in page
    assert restore.words.count() == 1


def test_others_read_it_and_answer_nothing(opened, moving, signed_in):
    _, restore = opened
    client, address = signed_in(moving.walk.operator), reverse("restore", args=[restore.pk])
    assert "Review decisions" not in client.get(address).content.decode()
    assert client.post(address, {}).status_code == 403
    assert client.get(reverse("restore", args=[987_654])).status_code == 404
