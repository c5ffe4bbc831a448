"""Comments and taking: kept once, shown to everybody who may see the subject, written by nobody who only reads."""

import re

import pytest
from django.db import DatabaseError, transaction

from desk import clock
from desk.actions.models import LONGEST_COMMENT, Comment, Taken
from desk.models import AuditEvent
from desk.notifications import messages
from desk.notifications.models import Notification
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def row(operator, payable):
    return rows.held(operator, now=clock.now())


def thread_of(row):
    return f"/action/threads/withdrawal/{row.pk}/"


def said(client, row):
    return client.get(thread_of(row), headers=HTMX).content.decode()


def test_a_comment_is_read_by_colleagues_and_stands_in_the_trail(signed_in, operator, treasury, auditor, row):
    answer = signed_in(operator).post(thread_of(row), {"text": " The invoice is attached.\nSee page 2. "})
    assert (answer.status_code, answer["Location"]) == (302, f"/withdrawals/{row.pk}/#thread")
    for reader in (treasury, auditor):
        page = said(signed_in(reader), row)
        assert "The invoice is attached.\nSee page 2." in page
        assert ("Add comment" in page) == (reader is treasury)
    event = AuditEvent.objects.get(action="thread.commented")
    assert event.subject == f"thread:withdrawal:{row.pk}"
    row.refresh_from_db()
    assert row.state == "held"


def test_who_is_named_is_notified_once_if_they_may_see_it(signed_in, operator, treasury, make_person, row):
    stranger = make_person(username="stranger")
    text = f"@{treasury.username}, please look. @{stranger.username} @nobody.here and mail@{treasury.username}"
    for _ in range(2):
        signed_in(operator).post(thread_of(row), {"text": text, "request_key": "k1"})
    mention = Notification.objects.get(kind="mentions")
    assert [each.person for each in mention.recipients.all()] == [treasury]
    assert (mention.title, mention.url) == ("operator mentioned you in a comment", f"/withdrawals/{row.pk}/")
    assert messages.headline(mention) == mention.title


def test_what_is_assigned_to_me_is_a_list_of_its_own(signed_in, treasury, row):
    client = signed_in(treasury)
    assert row.reference not in client.get("/action/?list=assigned").content.decode()
    client.post(f"{thread_of(row)}take/")
    assert row.reference in client.get("/action/?list=assigned").content.decode()


def test_the_same_form_sent_twice_says_it_once(signed_in, operator, row):
    client = signed_in(operator)
    for _ in range(2):
        assert client.post(thread_of(row), {"text": "Once.", "request_key": "k1"}, headers=HTMX).status_code == 200
    assert Comment.objects.get().text == "Once."


@pytest.mark.parametrize("text", ["", "   \n ", "x" * (LONGEST_COMMENT + 1), "y" * 10_000])
def test_what_can_not_be_kept_is_given_back_with_the_reason(signed_in, operator, row, text):
    answer = signed_in(operator).post(thread_of(row), {"text": text}, headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Enter a comment." in page or f"up to {LONGEST_COMMENT} characters; this one is {len(text)}." in page
    assert text.strip() in page, "nothing typed is lost"
    assert not Comment.objects.exists()


def test_markup_and_turned_text_are_shown_as_what_they_are(signed_in, operator, treasury, row):
    signed_in(operator).post(thread_of(row), {"text": "<script>alert(1)</script> pay \u202e0001"})
    page = said(signed_in(treasury), row)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    assert "RLO" in page


def test_one_takes_it_and_everybody_may_put_it_back(signed_in, operator, treasury, auditor, row):
    take = f"{thread_of(row)}take/"
    assert signed_in(treasury).post(take).status_code == 302
    assert Taken.objects.get().person == treasury
    late = signed_in(operator).post(take, headers=HTMX).content.decode()
    assert "Already changed by someone else" in late
    assert Taken.objects.get().person == treasury
    assert signed_in(auditor).post(take).status_code == 403
    assert signed_in(operator).post(take, {"put_back": "yes"}).status_code == 302
    assert not Taken.objects.exists()
    moves = AuditEvent.objects.filter(action__startswith="thread.").values_list("action", flat=True)
    assert sorted(moves) == ["thread.put_back", "thread.taken"]


@pytest.mark.parametrize("path", ["withdrawal/999999/", "nothing/1/", "incident/77/", "person/1/"])
def test_there_is_no_thread_of_what_is_not_there(signed_in, operator, payable, path):
    client = signed_in(operator)
    assert client.get(f"/action/threads/{path}").status_code == 404
    assert client.post(f"/action/threads/{path}", {"text": "Hello"}).status_code == 404
    assert not Comment.objects.exists()


def test_a_comment_is_never_edited_or_removed(operator, row):
    columns = {"subject": row.subject, "person": operator, "request_key": "k", "at": clock.now()}
    kept = Comment.objects.create(text="As it was.", **columns)
    for change in (lambda: Comment.objects.filter(pk=kept.pk).update(text="Other."), kept.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    kept.refresh_from_db()
    assert kept.text == "As it was."


def test_the_page_of_a_withdrawal_has_its_thread(signed_in, treasury, row):
    page = signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode()
    assert re.search(rf'id="thread"[^>]*hx-get="{thread_of(row)}"', page)
