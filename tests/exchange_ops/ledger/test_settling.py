"""Two records of one index: the newer one holds by itself, else two people of treasury choose, and nothing is lost."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from desk import clock
from desk.incidents import review
from desk.incidents.models import Incident
from desk.people import stepup
from desk.people.signing import signed_fields
from exchange_ops.client import Aside
from exchange_ops.ledger import quarantine, settling, sync
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, RecordChoice
from exchange_ops.shared import alarms
from exchange_ops.withdrawals.evidence import reconciliation
from tests.desk.authenticator import SoftKey
from tests.exchange_ops.ledger.test_sync import take
from tests.exchange_ops.ledger.test_sync import transaction as record
from wire.values import Secret

pytestmark = pytest.mark.django_db
TOTP = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
REASON = "The exchange's statement of today lists it."
FIRST, SECOND = RecordChoice.Record.FIRST, RecordChoice.Record.SECOND


@pytest.fixture
def people(make_person: Any) -> list[Any]:
    """Three people of treasury, each with a passkey of their own."""
    persons = [make_person("treasury", username=name) for name in ("thea", "theo", "tilda")]
    for person in persons:
        person.key = SoftKey()
        person.key.enrol(person)
    return persons


@pytest.fixture
def aside(account: Any) -> LedgerAside:
    """The stream has told of t-1 at an index that the listing gives to t-2."""
    take(account, record(), source="stream")
    take(account, record(id="t-2", amount=Decimal("1.6")))
    return LedgerAside.objects.get()


def choose(row: LedgerAside, person: Any, holds: str = SECOND, **changes: Any) -> LedgerAside:
    """What the form sends, after the passkey has signed `signed_content`: what the person saw and chose."""
    digest = changes.pop("digest", settling.digest_of(row))
    fields = changes.pop("signed_content", {"holds": holds, "comment": changes.get("reason", REASON)})
    options = stepup.challenge(
        person=person,
        purpose=settling.PURPOSE,
        digest=signed_fields.bind(digest, fields),
        session_key="a-session",
        now=clock.now(),
    )
    arguments = {
        "aside_id": row.pk,
        "person": person,
        "holds": holds,
        "reason": REASON,
        "digest": digest,
        "answer": person.key.answer(options),
        "session_key": "a-session",
        "now": clock.now(),
    }
    return settling.choose(**(arguments | changes))


class Listing:
    """The exchange as reconciliation reads it: these records, and no balances."""

    def __init__(self, *found: Any, unread: tuple[Any, ...] = ()) -> None:
        self.found, self.unread = found, unread

    def transactions_after(self, *, index: int) -> Any:
        from exchange_ops.client import Listing as Page

        yield Page(list(self.found), list(self.unread))

    def get_balances(self) -> Any:
        from exchange_ops.client import Listing as Page

        return Page([], [])


def completeness(account: Any, *found: Any) -> list[tuple[str, bool, str]]:
    """The findings of a reconciliation about transactions and records."""
    findings = reconciliation.reconcile(account=account, client=Listing(*found), now=clock.now())  # type: ignore[arg-type]
    about = {"transactions", "unread records"}
    return [(one.about, one.agrees, one.sentence) for one in findings if one.about in about]


def test_two_people_choose_the_second_record_and_reconciliation_passes(account: Any, aside: Any, people: Any) -> None:
    listed = record(id="t-2", amount=Decimal("1.6"))
    assert [agrees for _, agrees, _ in completeness(account, listed)] == [False, False]
    choose(aside, people[0])
    assert not LedgerEntry.objects.filter(exchange_id="t-2").exists(), "one person settles nothing"
    choose(aside, people[1])
    aside.refresh_from_db()
    assert (aside.settled_as, quarantine.waiting(account=account)) == ("second", 0)
    assert LedgerEntry.objects.get(exchange_id="t-2").amount == Decimal("1.6")
    assert [agrees for _, agrees, _ in completeness(account, listed)] == [True, True]
    assert LedgerVersion.objects.get(index=100).content["id"] == "t-1", "both stay readable"
    assert '"t-2"' in aside.content


def test_two_people_choose_the_first_record_and_the_other_stays_out(account: Any, aside: Any, people: Any) -> None:
    for person in people[:2]:
        choose(aside, person, FIRST)
    assert [entry.exchange_id for entry in LedgerEntry.objects.all()] == ["t-1"]
    again = take(account, record(id="t-2", amount=Decimal("1.6"), confirmations=7))
    assert (again.asides, quarantine.waiting(account=account)) == (0, 0), "a later reading opens nothing again"
    other = take(account, record(id="t-2", amount=Decimal("1.7")))
    assert other.asides == 1, "another content is another question"


def test_the_same_choice_is_needed_and_the_last_one_counts(aside: Any, people: Any) -> None:
    choose(aside, people[0], FIRST)
    choose(aside, people[1], SECOND)
    with pytest.raises(settling.CannotSettle, match="already recorded"):
        choose(aside, people[1], SECOND)
    assert choose(aside, people[0], SECOND).settled_as == "second"
    with pytest.raises(settling.CannotSettle, match="already been settled"):
        choose(aside, people[2], FIRST)


@pytest.mark.parametrize(
    "signed_content", [{"holds": FIRST, "comment": REASON}, {"holds": SECOND, "comment": "Another reason"}, {}]
)
def test_the_choice_and_its_reason_are_signed(aside: Any, people: Any, signed_content: dict[str, str]) -> None:
    with pytest.raises(stepup.CannotConfirm, match="does not match the page"):
        choose(aside, people[0], SECOND, signed_content=signed_content)
    assert not RecordChoice.objects.exists()


def test_others_and_empty_reasons_are_refused(aside: Any, people: Any, operator: Any) -> None:
    operator.key = SoftKey()
    operator.key.enrol(operator)
    with pytest.raises(settling.CannotSettle, match="only treasury"):
        choose(aside, operator)
    with pytest.raises(settling.CannotSettle, match="Enter what you checked"):
        choose(aside, people[0], reason=" ")
    with pytest.raises(settling.CannotSettle, match="Choose the valid record"):
        choose(aside, people[0], "both")
    with pytest.raises(settling.CannotSettle, match="changed after you opened"):
        choose(aside, people[0], digest="0" * 64)


def test_the_database_refuses_a_settlement_that_two_people_did_not_make(aside: Any, people: Any) -> None:
    choose(aside, people[0])
    rows = LedgerAside.objects.filter(pk=aside.pk)
    for changes in ({"settled_as": "second"}, {"settled_as": "first"}, {"content": "{}"}):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**changes)
    with pytest.raises(DatabaseError), transaction.atomic():
        RecordChoice.objects.update(holds="first")
    choose(aside, people[1])
    for changes in ({"settled_as": "first"}, {"settled_as": ""}, {"cleared_at": None}):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**changes)


def test_a_stream_ahead_of_the_listing_is_the_newer_reading(account: Any) -> None:
    """The index grows with each update (document 1, Transaction), so reconciliation agrees."""
    take(account, record(status="pending"))
    take(account, record(index=101), source="stream")
    assert [agrees for _, agrees, _ in completeness(account, record(status="pending"))] == [True, True]
    assert LedgerEntry.objects.get().status == "success"
    assert sync.highest_index(account=account) == 101


def test_the_incident_is_there_until_two_people_have_chosen(account: Any, aside: Any, people: Any) -> None:
    review.review_now(alarms.RECORDS_DIFFER, now=clock.now())
    row = Incident.objects.get(kind=alarms.RECORDS_DIFFER)
    assert row.sentence.startswith("No money moved. The exchange reported two records with index 100")
    for person in people[:2]:
        choose(aside, person)
    row.refresh_from_db()
    assert row.state == "resolved"


def test_the_page_shows_both_records_and_takes_the_choice(aside: Any, people: Any, signed_in: Any) -> None:
    client: Client = signed_in(people[0])
    address = reverse("ledger-record", args=[aside.pk])
    page = client.get(address).content.decode()
    assert all(text in page for text in ("1.5", "1.6", "t-1", "t-2", 'data-signs="holds comment"'))
    digest, session = settling.digest_of(aside), client.session.session_key
    options = client.post(
        reverse("step_up_challenge"),
        {"purpose": settling.PURPOSE, "digest": digest, "fields": {"holds": SECOND, "comment": "Line one\nline two"}},
        content_type="application/json",
    ).json()
    credential = people[0].key.answer(options)["credential"]
    import json

    sent = {"digest": digest, "passkey": json.dumps(credential), "holds": SECOND, "comment": "Line one\r\nline two"}
    answer = client.post(reverse("ledger-record-choose", args=[aside.pk]), sent)
    assert answer.status_code == 302
    assert RecordChoice.objects.get().holds == SECOND
    assert session
    page = client.get(address).content.decode()
    assert "Line one" in page
    assert "Another treasurer must choose the same record." in page
    assert "data-decides" not in page, "one person chooses once"


def totals(account: Any) -> dict[str, Decimal]:
    """What the entries of the ledger say that came in, by currency."""
    entries = LedgerEntry.objects.filter(account=account)
    return {
        code: sum(row.change for row in entries if row.currency == code) for code in {row.currency for row in entries}
    }


def test_a_difference_at_equal_times_is_settled_by_two_people_and_no_reading_undoes_it(
    account: Any, people: Any
) -> None:
    """The listing came first and the stream differs with the same time: neither of them is newer."""
    take(account, record())
    take(account, record(amount=Decimal("1.7")), source="stream")
    row = LedgerAside.objects.get()
    assert completeness(account)[1][1] is False
    for person in people[:2]:
        choose(row, person)
    for _ in range(2):
        again = take(account, record(confirmations=8))
        assert (again.asides, quarantine.waiting(account=account)) == (0, 0)
        assert LedgerEntry.objects.get().amount == Decimal("1.7"), "the exchange's listing does not undo the choice"
    assert [agrees for _, agrees, _ in completeness(account, record())] == [True, True]
    later = record(updated_at=record().updated_at + timedelta(minutes=1))
    take(account, later)
    assert LedgerEntry.objects.get().amount == Decimal("1.5"), "what the exchange changed later is newer"


def test_the_first_record_leaves_the_totals_when_the_second_holds_under_another_id(
    account: Any, aside: Any, people: Any
) -> None:
    for person in people[:2]:
        choose(aside, person)
    for _ in range(2):
        assert totals(account) == {"BTC": Decimal("1.6")}
        first = LedgerEntry.objects.get(exchange_id="t-1")
        assert (first.status, first.amount) == ("overruled", Decimal("1.5")), "still there to be read"
        take(account, record(), source="stream")
    assert quarantine.waiting(account=account) == 0


@pytest.mark.parametrize(("holds", "counted"), [(FIRST, "1.5"), (SECOND, "0")])
def test_what_only_the_stream_lists_is_put_before_two_people(
    account: Any, people: Any, signed_in: Any, holds: str, counted: str
) -> None:
    long_ago = clock.now() - 2 * sync.SETTLING
    take(account, record(), source="stream", now=long_ago)
    assert [agrees for _, agrees, _ in completeness(account)] == [False, False]
    row = LedgerAside.objects.get()
    page = signed_in(people[0]).get(reverse("ledger-record", args=[row.pk])).content.decode()
    assert "in the stream, not in the listing" in page
    review.review_now(alarms.RECORDS_DIFFER, now=clock.now())
    assert "but it is not in the exchange's ledger" in Incident.objects.get(kind=alarms.RECORDS_DIFFER).sentence
    take(account, record(), source="stream")
    assert quarantine.waiting(account=account) == 1, "the stream says it again"
    for person in people[:2]:
        choose(row, person, holds)
    for _ in range(2):
        assert [agrees for _, agrees, _ in completeness(account)] == [True, True]
        assert totals(account) == {"BTC": Decimal(counted)}


def test_what_the_stream_has_just_told_or_the_listing_has_by_now_is_put_before_nobody(account: Any) -> None:
    take(account, record(), source="stream")
    completeness(account)
    assert not LedgerAside.objects.exists(), "the listing may be late"
    others = [record(id="t-3", index=103), record(id="t-4", index=104)]
    take(account, *others, source="stream", now=clock.now() - 2 * sync.SETTLING)
    completeness(account)
    assert quarantine.waiting(account=account) == 2, "each by itself"
    completeness(account, *others)
    assert quarantine.waiting(account=account) == 0


def test_a_listing_with_a_record_that_could_not_be_read_lacks_nothing_for_certain(account: Any) -> None:
    take(account, record(), source="stream", now=clock.now() - 2 * sync.SETTLING)
    listing = Listing(unread=(Aside("{}", "its amount is no number", "t-1", 100),))
    reconciliation.reconcile(account=account, client=listing, now=clock.now())  # type: ignore[arg-type]
    assert [row.content for row in LedgerAside.objects.all()] == ["{}"]
