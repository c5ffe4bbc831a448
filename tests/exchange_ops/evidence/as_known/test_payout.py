"""A payout as known at a moment is what its page showed at that moment: compared after each step of whole walks."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from desk import clock
from desk.actions import attachments, threads
from desk.as_known.moments import Moment
from exchange_ops.evidence.as_known import later, payout
from exchange_ops.policy import freezes
from exchange_ops.withdrawals.models import Withdrawal

pytestmark = pytest.mark.django_db(transaction=True)

# Changed without an event, and so without a past: when to look again, whose worker it is, and sentences about attempts.
NO_PAST = {"next_action_at", "lease_until", "last_problem", "exchange_status", "exchange_index", "confirmations"}


def columns(row: Withdrawal) -> dict[str, Any]:
    """Every column of the row that has a past."""
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields} | dict.fromkeys(NO_PAST)


def of_call(call: Any) -> tuple[Any, ...]:
    return call.kind, call.attempt, call.outcome, call.sent_at, call.answered_at, call.detail, call.http_status


def of_entry(entry: Any) -> tuple[Any, ...]:
    return entry.exchange_id, entry.index, entry.status, entry.amount, entry.fee, entry.hash, entry.address


def page_of(context: Any, *, calls: Any, entries: Any, frozen: Any) -> dict[str, Any]:
    """What a page of the payout says, from what its template was given."""
    row = context["row"]
    return {
        "columns": columns(row),
        "label": row.label,
        "leaves": row.leaves,
        "words": [(word.person_id, word.verdict, word.digest == row.digest) for word in context["words"]],
        "files": [file.name for file in context["files"]],
        "calls": [of_call(call) for call in calls],
        "entries": [of_entry(entry) for entry in entries],
        "frozen": frozen,
    }


class Watch:
    """Looks at the page of a payout as time passes, and afterwards at each of these moments once more."""

    def __init__(self, walk: Any) -> None:
        self.walk = walk
        self.client = Client()
        self.client.force_login(walk.approvers[0])
        self.seen: list[tuple[Any, dict[str, Any], str]] = []

    def look(self, row: Withdrawal) -> Withdrawal:
        """Record what the page shows now."""
        context = self.client.get(reverse("withdrawal", args=[row.pk])).context
        frozen = [context["frozen"].pk] if context["frozen"] else []
        now = page_of(context, calls=context["calls"], entries=context["entries"], frozen=frozen)
        self.seen.append((clock.now(), now, context["choices"].progress))
        return self.walk.fresh(row)

    def until(self, row: Withdrawal, *states: str) -> Withdrawal:
        """Steps until the row is in one of the states, with a look after each."""
        for _ in range(12):
            if self.walk.fresh(row).state in states:
                break
            row = self.look(self.walk.step(row))
        assert row.state in states, row.last_problem
        return row

    def compare(self, row: Withdrawal) -> None:
        """Every moment again, now that everything later is known."""
        assert len(self.seen) >= 3
        for at, then, progress in self.seen:
            url = reverse("withdrawal-as-known", args=[row.pk]) + f"?{Moment(at).query}"
            context = self.client.get(url).context
            known = context["known"]
            frozen = [each.pk for each in known.freezes]
            assert page_of(context, calls=known.calls, entries=known.entries, frozen=frozen) == then
            assert progress in {"", context["progress"]}


@pytest.fixture
def watch(walk: Any) -> Watch:
    """A reader of treasury in front of the desk."""
    return Watch(walk)


def attach(row: Withdrawal, person: Any) -> None:
    file = attachments.check("bill.txt", b"Bill 7")
    attachments.attach(subject=row.subject, person=person, file=file, request_key="bill", now=clock.now())


def test_a_paid_payout_at_each_of_its_moments(watch):
    walk = watch.walk
    row = watch.look(walk.request(amount=Decimal("0.3")))  # for two people
    row = watch.until(row, "held")
    row = watch.look(walk.step(row)) if row.echo_ok is None else row
    assert row.quorum_required == 2
    attach(row, walk.operator)
    watch.look(row)
    for person in walk.approvers[:2]:
        row = watch.look(walk.approve(row, person))
    row = watch.until(row, "committed")
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    watch.compare(watch.until(row, "settled"))


def test_a_hold_whose_answer_was_lost_and_a_freeze(watch):
    walk = watch.walk
    walk.fault("create_withdrawal", "drop_after")
    row = watch.until(watch.look(walk.request()), "hold_unknown")
    row = watch.until(row, "held")
    freezes.freeze(person=walk.approvers[2], reason="Odd", account=walk.account, now=clock.now())
    watch.compare(watch.until(watch.look(row), "rolled_back"))


def test_a_request_that_the_exchange_rejects(watch):
    walk = watch.walk
    walk.fault("create_withdrawal", "refuse", code=2010)
    row = watch.look(walk.request())
    watch.compare(watch.until(row, "refused"))


def test_what_came_later_is_listed_in_its_order(watch):
    walk = watch.walk
    row = walk.held()
    moment = Moment(clock.now())
    threads.comment(subject=row.subject, person=walk.operator, text="Urgent", request_key="c", now=clock.now())
    walk.approve(row)
    row = walk.until(row, "committed")
    known = payout.of(row, moment, reader=walk.approvers[0])
    kinds = [each.kind for each in later.of(known)]
    assert kinds.index("comment") < kinds.index("vote") < kinds.index("call")
    assert known.row.decision == "none"
    with CaptureQueriesContext(connection) as few:
        payout.of(row, moment, reader=walk.approvers[0])
    for number in range(5):
        threads.comment(
            subject=row.subject, person=walk.approvers[1], text="?", request_key=f"c{number}", now=clock.now()
        )
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    row = walk.until(row, "settled")
    with CaptureQueriesContext(connection) as many:
        payout.of(row, moment, reader=walk.approvers[0])
    assert len(few) == len(many) <= 30


def test_a_call_that_was_under_way(walk):
    row = walk.held()
    call = row.calls.get()
    for at, outcome in (
        (Moment.just_before(call.sent_at), "prepared"),
        (Moment.just_before(call.answered_at), "sent"),
        (Moment(call.answered_at), "accepted"),
    ):
        known = payout.of(row, at, reader=walk.approvers[0])
        assert [(one.outcome, one.answered_at is None) for one in known.calls] == [(outcome, outcome != "accepted")]


def test_bounds_of_the_form(walk, client):
    row = walk.request()
    client.force_login(walk.operator)
    url = reverse("withdrawal-as-known", args=[row.pk])
    assert client.get(url).status_code == 200
    before = client.get(url, {"at": "2020-01-31 14:02"})
    assert before.status_code == 200
    assert f"{row.reference} did not exist at that moment" in before.content.decode()
    for text, sentence in (
        ("2020-02-31T14:02:05", "Enter a date and time in UTC"),
        ("yesterday", "Enter a date and time in UTC"),
        ("9999-01-01T00:00", "That moment is yet to come"),
    ):
        page = client.get(url, {"at": text})
        assert page.status_code == 422
        assert sentence in page.content.decode()
    this_second = client.get(url, {"at": f"{clock.now():%Y-%m-%dT%H:%M:%S}"})
    assert this_second.context["known"].row.state == "draft"
