"""Needs action: each kind of incident from its rows, who is shown what, the bar, and what an approval tells before."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.incidents import kinds, review
from desk.incidents.models import Incident
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger.models import LedgerAside
from exchange_ops.policy import freezes
from exchange_ops.shared import alarms, heartbeats
from exchange_ops.shared.models import CheckRun, ClockReading, FollowerState
from exchange_ops.withdrawals import mover
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.rows]
CRITICAL = {alarms.FROZEN, alarms.PAYOUT_DISPUTED, alarms.PAYOUT_ELSEWHERE, alarms.TRANSFER_UNCLEAR, alarms.AUDIT}
SECRET_KINDS = {alarms.KEY_REFUSED, alarms.KEY_RIGHTS}


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """As in a process that has been at work for long: everything is judged."""
    monkeypatch.setattr(review, "_began", -10_000.0)


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def key(**changes):
    columns = {"account": rows.account(), "label": "Reader", "login": "reader", "created_at": clock.now()}
    return ApiKey.objects.create(**{**columns, "rights": ["Payment information"], **changes})


def disputed(operator):
    row = rows.held(operator, now=clock.now())
    mover.move(row, event="executed_without_us", to="investigate", now=clock.now())


def overdue(operator):
    row = rows.held(operator, now=clock.now())
    decision = {"decision": "commit", "decided_at": clock.now()}
    mover.move(row, event="quorum_reached", to="committing", now=clock.now(), **decision)
    mover.move(row, event="commit_confirmed", to="committed", now=clock.now())
    row.__class__.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(hours=3))


def hold_left(operator):
    row = rows.held(operator, now=clock.now())
    mover.move(row, event="executed_without_us", to="investigate", now=clock.now())
    mover.move(row, event="resolved", to="resolved_paid", now=clock.now())
    line = {"type": "payout", "status": "created", "withdrawal": row, "exchange_id": row.exchange_id}
    rows.entry(9, now=clock.now(), **line)


def aside(operator):
    columns = {"exchange_id": "x", "reason": "A transaction was kept aside: no amount.", "content": "{}"}
    times = {"first_seen_at": clock.now(), "seen_at": clock.now(), "after_index": 0}
    LedgerAside.objects.create(account=rows.account(), fingerprint="f", source="walk", **columns, **times)


def check(name, finding):
    now = clock.now()
    CheckRun.objects.create(name=name, tried_at=now, ran_at=now, held=False, findings=[finding])


def beat(name, *, ago):
    moment = clock.now() - timedelta(seconds=ago)
    FollowerState.objects.update_or_create(name=name, defaults={"beat_at": moment, "heard_at": moment})


# How each kind comes about, by its name, and what of it is read.
PROVOKED = {
    alarms.FROZEN: (
        lambda person: freezes.freeze(person=None, reason="A drill.", account=rows.account(), now=clock.now()),
        "Nothing is reserved, sent or paid from Main desk: The desk froze it. A drill.",
    ),
    alarms.PAYOUT_DISPUTED: (disputed, "1.2500 BCH: Unknown: the exchange"),
    alarms.PAYOUT_ELSEWHERE: (
        lambda person: rows.entry(3, now=clock.now(), type="payout", status="pending", foreign=True),
        "0.5000 BCH is on its way out of the account, and nobody here asked for it.",
    ),
    alarms.TRANSFER_UNCLEAR: (
        lambda person: rows.transfer_sent(person, to="investigate", now=clock.now()),
        "the exchange's ledger does not say clearly",
    ),
    alarms.TRANSFER_NOT_SEEN: (
        lambda person: rows.transfer_sent(person, to="not_seen", now=clock.now()),
        "The money seems not to have moved",
    ),
    alarms.HOLD_LEFT: (hold_left, "its money still stands reserved at the exchange"),
    alarms.PAYOUT_OVERDUE: (overdue, "the exchange took the order to pay 3 h ago"),
    alarms.RECONCILIATION: (
        lambda person: check(f"reconciliation:{rows.account().pk}", "BCH: 1 is missing."),
        "The desk's figures of Main desk differ from the exchange's. BCH: 1 is missing.",
    ),
    alarms.AUDIT: (
        lambda person: check("audit trail", "W-1: amount is '2'."),
        "Rows differ from what the audit trail says of them. W-1: amount is",
    ),
    alarms.RECORDS_ASIDE: (aside, "1 records of the exchange's ledger of Main desk could not be read"),
    alarms.KEY_REFUSED: (
        lambda person: key(last_problem="Authorisation failed.", last_problem_at=clock.now()),
        "The exchange turned down the key Reader: Authorisation failed.",
    ),
    alarms.KEY_RIGHTS: (
        lambda person: key(observed={"Withdraw cryptocurrencies": "granted"}),
        "This key has more permissions than it needs: Withdraw cryptocurrencies.",
    ),
    alarms.CLOCK: (
        lambda person: ClockReading.objects.create(account=rows.account(), skew_ms=10**9, read_at=clock.now()),
        "carry a date that is 11 days from ours",
    ),
    alarms.WORK_STALLED: (lambda person: beat(heartbeats.WORKER, ago=300), "Worker last active 5 min ago."),
    alarms.LEDGER_LATE: (
        lambda person: beat(heartbeats.ledger_of(rows.account()), ago=900),
        "ledger of Main desk was last read 15 min ago",
    ),
    alarms.STREAM_DOWN: (lambda person: None, "The stream of Main desk is not live"),
    alarms.PRICES_OLD: (lambda person: None, "values are unknown, and the strictest rules hold"),
}

# A process that never showed is an incident beside the one that went away.
ONE_OF_SEVERAL = {alarms.WORK_STALLED: {"cause": heartbeats.WORKER}}


@pytest.mark.parametrize("name", PROVOKED)
def test_each_kind_is_opened_from_its_rows_shown_to_its_roles_and_over_with_its_cause(
    name, operator, treasury, make_person, signed_in
):
    rows.account(now=clock.now())
    rows.currency(now=clock.now(), transfer_enabled=True)
    provoke, words = PROVOKED[name]
    provoke(operator)
    review.review(now=clock.now())
    row = Incident.objects.filter(kind=name).order_by("pk").get(**ONE_OF_SEVERAL.get(name, {}))
    assert words in row.sentence
    assert (row.severity == "critical") == (name in CRITICAL)
    for role in ("operator", "treasury", "admin", "auditor"):
        client, kind = signed_in(make_person(role, username=f"one-{role}")), kinds.of(name)
        is_seen = name not in SECRET_KINDS or role in {"admin", "auditor"}
        group = "mine" if role in kind.acts else "others"
        assert (row.reference in text(client.get(f"/action/?list={group}"))) == is_seen, role
        assert client.get(f"/action/incidents/{row.pk}/").status_code == (200 if is_seen else 404), role
        assert (row.title in text(client.get("/action/bar/"))) == (name in CRITICAL), role
        assert ("All well" in text(client.get("/system/strip/"))) is False
    assert row.cause in {cause.key for cause in kinds.of(name).causes(clock.now(), "")}


def test_every_declared_kind_of_the_account_is_provoked_here():
    declared = {value for name, value in vars(alarms).items() if name.isupper()}
    assert declared - set(PROVOKED) == {alarms.BROKER_AWAY, alarms.PROOFS_LATE}
    assert declared <= set(kinds.every())


def test_a_freeze_is_an_incident_in_its_own_transaction_and_over_with_the_thaw(treasury, operator):
    account = rows.account(now=clock.now())
    frozen = freezes.freeze(person=treasury, reason="Odd payout", account=account, now=clock.now())
    row = Incident.objects.get(kind=alarms.FROZEN)
    assert (row.state, row.cause, row.scope) == ("open", f"freeze:{frozen.pk}", str(account.pk))
    frozen.__class__.objects.filter(pk=frozen.pk).update(thawed_at=clock.now())
    review.note(alarms.FROZEN, now=clock.now(), key=row.cause)
    row.refresh_from_db()
    assert row.state == "resolved"


def test_a_disputed_payout_is_an_incident_in_the_transaction_of_the_move(operator):
    disputed(operator)
    assert Incident.objects.get().kind == alarms.PAYOUT_DISPUTED


def test_an_incident_is_taken_on_and_closed_on_its_page(signed_in, treasury, operator):
    rows.account(now=clock.now())
    rows.entry(3, now=clock.now(), type="payout", status="success", foreign=True)
    review.review(now=clock.now())
    row = Incident.objects.get(kind=alarms.PAYOUT_ELSEWHERE)
    page, client = f"/action/incidents/{row.pk}/", signed_in(treasury)
    assert client.post(f"{page}acknowledge/").status_code == 302
    assert "Taken on by treasury" in text(client.get(page))
    refused = client.post(f"{page}close/", {"reason": " "})
    assert refused.status_code == 422
    assert "Say why it can be closed" in text(refused)
    assert client.post(f"{page}close/", {"reason": "The founder paid a bill by hand."}).status_code == 302
    assert "Closed: The founder paid a bill by hand." in text(client.get(page))
    assert row.reference in text(client.get("/action/?list=done"))
    assert signed_in(operator).post(f"{page}close/", {"reason": "No"}).status_code == 422
    row.refresh_from_db()
    assert row.state == "resolved"


def test_an_approval_tells_what_is_worth_knowing_before_it_is_opened(signed_in, treasury, operator, payable):
    now = clock.now()
    first = rows.held(operator, now=now)
    page = text(signed_in(treasury).get("/action/"))
    assert "First payment to this address" in page
    assert "BCH, Bitcoin Cash" in page or "BCH, " in page
    assert "Of the balance 0.3 %" in page or "Of the balance 0.2 %" in page
    assert "Possible duplicate" not in page
    twin = rows.held(operator, now=now)
    page = text(signed_in(treasury).get("/action/"))
    assert f"within a day, {first.reference} (reserved, waiting for approvals)" in page
    assert f"within a day, {twin.reference} (reserved, waiting for approvals)" in page


def test_sixty_entries_take_as_many_queries_as_two(signed_in, treasury, operator, payable):
    client = signed_in(treasury)

    def queries():
        with CaptureQueriesContext(connection) as caught:
            assert client.get("/action/").status_code == 200
        return len(caught)

    for number in range(2):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 1))
    rows.entry(1, now=clock.now(), type="payout", foreign=True)
    review.review(now=clock.now())
    few = queries()
    for number in range(30):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 5))
        rows.entry(number + 10, now=clock.now(), type="payout", foreign=True)
    review.review(now=clock.now())
    assert queries() == few


@pytest.mark.parametrize(
    "query",
    [
        "list=nothing",
        "list=mine&severity=huge",
        "source=nobody",
        "sort=odd",
        "q=" + "x" * 500,
        "q=%00%E2%80%AE",
        "list=&q=",
    ],
)
def test_an_odd_wish_is_answered_all_the_same(signed_in, treasury, operator, payable, query):
    rows.held(operator, now=clock.now())
    assert signed_in(treasury).get(f"/action/?{query}").status_code == 200


def test_the_list_is_searched_narrowed_and_sorted(signed_in, treasury, operator, payable):
    now, client = clock.now(), signed_in(treasury)
    old = rows.held(operator, now=now - timedelta(minutes=30), amount=Decimal(1), reason="Rent")
    new = rows.held(operator, now=now, amount=Decimal(2), reason="Hosting bill")
    freezes.active(old.account)
    assert new.reference not in text(client.get("/action/?q=rent"))
    assert old.reference in text(client.get("/action/?q=RENT"))
    for order, first in (("urgency", old), ("newest", new), ("oldest", old)):
        page = text(client.get(f"/action/?sort={order}"))
        other = new if first is old else old
        assert page.index(first.reference) < page.index(other.reference), order
    assert "Nothing on this list fits" in text(client.get("/action/?severity=critical"))
    assert "No incident waits for you." in text(client.get("/action/?source=incidents"))


@pytest.mark.parametrize("path", ["/withdrawals/new/", "/transfers/new/to-user/"])
def test_a_form_says_before_it_is_filled_in_that_nothing_is_sent_in_a_freeze(
    signed_in, treasury, operator, payable, path
):
    client, words = signed_in(operator), "The account is frozen. Odd payout What you request is recorded and waits"
    assert words not in text(client.get(path))
    account = rows.account(now=clock.now())
    freezes.freeze(person=treasury, reason="Odd payout", account=account, now=clock.now())
    assert words in text(client.get(path))
    assert words in text(client.get("/policy/frozen/"))
