"""Another ledger that a stream brings, and the two treasurers who accept one."""

from datetime import timedelta

import pytest

from desk import clock
from desk.models import AuditEvent
from desk.people import stepup
from desk.people.signing import signed_fields
from exchange_ops.ledger import continuity, stream, sync
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, Watermark
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.shared import heartbeats
from exchange_ops.wire import session
from tests.desk.authenticator import SoftKey
from tests.exchange_ops.ledger.test_continuity import KNOWN, Exchange, breaks, copy, read, rows  # noqa: F401  # a fixture
from tests.exchange_ops.ledger.test_sync import transaction

pytestmark = pytest.mark.django_db


@pytest.fixture
def treasurers(make_person):
    """Two people of treasury, each with a passkey."""
    people = [make_person("treasury", username=name) for name in ("thea", "theo")]
    for person in people:
        person.key = SoftKey()
        person.key.enrol(person)
    return people


def stream_brings(account, *transactions):
    stream.store(
        account=account, event=session.Transactions(session.Origin.NOTIFICATION, transactions), now=clock.now()
    )


@pytest.mark.parametrize(
    "other",
    [
        {"id": "t-1", "index": 900, "currency": "ETH"},
        {"id": "t-1", "index": 900, "created_at": KNOWN[0].created_at + timedelta(days=2)},
        {"id": "x-1", "index": 101},
    ],
    ids=["another currency", "another day", "another id at a known index"],
)
def test_a_stream_of_another_ledger_changes_nothing_of_the_copy_and_waits_in_sight(copy, other):  # noqa: F811
    before = rows()
    stream_brings(copy, transaction(**other))
    assert rows() == before
    aside = LedgerAside.objects.get(account=copy, cleared_at=None)
    assert "This is not the same ledger as in earlier syncs." in aside.reason
    assert "not the same ledger" in heartbeats.state_of(heartbeats.ledger_of(copy)).problem
    assert freezes.active(copy) is None, "the next reading finds out what is true"


def test_a_stream_of_the_same_ledger_is_stored_late_versions_too(copy):  # noqa: F811
    stream_brings(copy, transaction(id="t-1", index=900, status="failed"), transaction(id="n-1", index=901))
    stream_brings(copy, transaction(id="t-1", index=899))
    assert LedgerEntry.objects.get(exchange_id="t-1").status == "failed"
    assert LedgerEntry.objects.filter(exchange_id="n-1").exists()
    assert not LedgerAside.objects.exists()


def lift(account, treasurers):
    frozen, reason = freezes.active(account), "Confirmed by the exchange"
    for person in treasurers:
        options = stepup.challenge(
            person=person,
            purpose=freezes.PURPOSE,
            digest=signed_fields.bind(freezes.digest_of(frozen), {signed_fields.COMMENT: reason}),
            session_key="a-session",
            now=clock.now(),
        )
        freezes.thaw(
            freeze_id=frozen.pk,
            person=person,
            answer=person.key.answer(options),
            reason=reason,
            session_key="a-session",
            now=clock.now(),
        )
    return Freeze.objects.get(pk=frozen.pk)


def test_two_treasurers_accept_the_new_ledger_by_lifting_and_the_freeze_does_not_return(copy, treasurers):  # noqa: F811
    Watermark.put(account=copy, name=sync.WATERMARK, index=104, now=clock.now())
    other = Exchange(transaction(id="x-1", index=1), transaction(id="x-2", index=2))
    breaks(copy, other)
    assert continuity.ACCEPTS in freezes.active(copy).reason
    lift(copy, treasurers[:1])
    breaks(copy, other)
    assert freezes.active(copy) is not None, "one treasurer accepts nothing"
    frozen = lift(copy, treasurers[1:])
    assert frozen.thawed_at is not None
    for _ in range(2):
        read(copy, other)
    assert freezes.active(copy) is None
    assert sync.watermark(account=copy) == 0, "all of it is read"
    event = AuditEvent.objects.get(action="freeze.ledger_accepted")
    assert event.subject == f"freeze:{frozen.pk}"
    sync.apply(account=copy, transactions=[*other.found.values()], source=sync.REST, now=clock.now())
    read(copy, other)
    breaks(copy, Exchange(transaction(id="z-1", index=7)))
    assert freezes.active(copy) is not None, "a third ledger is noticed as well"


def test_lifting_a_freeze_of_people_accepts_no_other_ledger(copy, treasurers):  # noqa: F811
    freezes.freeze(person=treasurers[0], reason="The exchange's ledger looks odd", account=copy, now=clock.now())
    lift(copy, treasurers)
    breaks(copy, Exchange(transaction(id="x-1", index=1)))
    assert freezes.active(copy) is not None
