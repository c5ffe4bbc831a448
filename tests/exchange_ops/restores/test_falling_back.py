"""A desk whose rows fell back notices it, sends nothing, and goes on once two people have settled what waits."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings as house
from django.contrib.auth.models import Group

from desk import audit_check, clock, database_mark
from desk.audit import heads, trail, witness_chain
from desk.incidents import review
from desk.incidents.models import Incident
from desk.models import RowWitness
from desk.restores import settling, signs, states, waiting
from desk.restores.models import Restore
from desk.restores.waiting import CANCEL, GO_ON
from exchange_ops.orders import client_order_ids
from exchange_ops.positions import states as margin_states
from exchange_ops.shared import heartbeats
from tests.exchange_ops.earlier_signatures import earlier_version
from tests.exchange_ops.withdrawals.walks import SESSION

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: never sent twice after a restore")]


def fall_back(by: int = 3) -> None:
    """The file of heads knows entries that the database has not, as after a backup was put back by hand."""
    newest = RowWitness.objects.order_by("-seq").values_list("seq", flat=True)[0]
    for seq in range(newest + 1, newest + 1 + by):
        heads.append(witness_chain.heads_path(), seq=seq, hash="ab" * 32, at=clock.now())


def read_again(walk) -> None:
    heartbeats.succeeded(heartbeats.ledger_of(walk.account), now=clock.now(), account=walk.account)


def say(walk, person, verdict, **changes):
    row = settling.current()
    items = settling.items(row)
    verdicts = {item.subject: verdict for item in items} | changes.pop("verdicts", {})
    arguments = {
        "restore_id": row.pk,
        "person": person,
        "verdicts": verdicts,
        "comment": "Compared with the exchange's own page",
        "digest": settling.digest_of(row, items, verdicts),
        "answer": walk.answer(person),
        "session_key": SESSION,
        "now": clock.now(),
    }
    return settling.give_word(**(arguments | changes))


def test_a_transfer_waits_for_two_people_and_is_sent_once(moving):
    row, other = moving.approved(), moving.approved(amount=Decimal("0.7"))
    fall_back()
    for _ in range(2):
        row = moving.step(row)
        assert (row.state, row.attempt) == ("approved", 0)
        assert "database was restored to an earlier state" in row.last_problem
    assert moving.calls(row) == []
    restore = settling.current()
    assert (restore.sign, [item.reference for item in settling.items(restore)]) == (
        states.HEADS,
        [row.reference, other.reference],
    )
    review.review(now=clock.now())
    assert Incident.objects.get(kind="fell_back").severity == "critical"
    assert audit_check.verify(replay=True) != [], "what was lost is a finding until two people have settled it"

    first, second = moving.walk.approvers[:2]
    with pytest.raises(settling.CannotSettle, match="not been fully synced"):
        say(moving.walk, first, GO_ON)
    read_again(moving.walk)
    answers = {other.subject: CANCEL}
    assert say(moving.walk, first, GO_ON, verdicts=answers).state == "open"
    assert say(moving.walk, first, GO_ON, verdicts=answers).state == "open", "one person twice is one person"
    assert say(moving.walk, second, CANCEL).state == "open", "they disagree"
    assert moving.step(row).attempt == 0
    assert say(moving.walk, second, GO_ON, verdicts=answers).state == "settled"

    assert moving.until(row, "done").attempt == 1
    assert moving.fresh(other).state == "cancelled"
    assert len(moving.calls(row, executed=True)) == 1
    review.review(now=clock.now())
    assert Incident.objects.get(kind="fell_back").gone_at is not None
    assert audit_check.verify(replay=True) == [], "what was lost is given up"
    assert signs.check(now=clock.now()) == ""


def test_it_waits_whatever_the_clock_said_where_it_was_requested(moving, monkeypatch):
    """The machine that took the request may have been minutes ahead of the one that notices."""
    real = clock.now
    with monkeypatch.context() as ahead:
        ahead.setattr(clock, "now", lambda: real() + timedelta(minutes=9))
        row = moving.approved()
    fall_back()
    signs.check(now=clock.now())
    restore = settling.current()
    assert row.created_at > restore.created_at
    assert [item.reference for item in settling.items(restore)] == [row.reference]


def test_what_was_requested_between_two_falls_waits_too(moving):
    """The first may have been settled in what the second one lost, and the request sent."""
    fall_back()
    signs.check(now=clock.now())
    row = moving.approved()
    assert settling.items(settling.current()) == [], "requested by people who know of the restore"
    fall_back()
    signs.check(now=clock.now())
    assert [item.reference for item in settling.items(settling.current())] == [row.reference]


def test_no_request_ends_by_itself_before_people_have_judged_it(moving):
    """What the database lost may have sent it, so no worker says meanwhile that nothing was sent."""
    row = moving.approved()
    fall_back()
    signs.check(now=clock.now())
    moving.ahead += timedelta(hours=2)
    assert moving.step(row).state == "approved"
    assert "database was restored to an earlier state" in moving.fresh(row).last_problem
    read_again(moving.walk)
    for person in moving.walk.approvers[:2]:
        say(moving.walk, person, GO_ON)
    assert moving.step(row).state == "lapsed"


def test_orders_and_margin_actions_wait_for_people_too(margin_desk):
    action = margin_desk.ask(margin_states.OPEN, amount=Decimal(1))
    order = margin_desk.dealing.place()
    fall_back()
    signs.check(now=clock.now())
    later = timedelta(minutes=2)
    assert margin_desk.step(action, later=later).state == "requested"
    assert margin_desk.dealing.step(order, later=later).state == "requested"
    restore = settling.current()
    assert {item.subject for item in settling.items(restore)} == {action.subject, order.subject}
    unread = waiting.not_read_yet(restore.notice.at)
    assert sum("orders for Main desk" in sentence for sentence in unread) == 1
    margin_desk.has_account("1")
    assert not any("orders for Main desk" in sentence for sentence in waiting.not_read_yet(restore.notice.at))
    evidence = {item.subject: item.evidence for item in settling.items(restore)}
    assert evidence == {action.subject: ("The exchange shows this collateral already: 1.",), order.subject: ()}
    margin_desk.has_account("2")  # what made it may have been followed by another change
    evidence = {item.subject: item.evidence for item in settling.items(restore)}
    assert evidence[action.subject] == ("The margin account changed after the request: collateral now 2.",)


@pytest.mark.parametrize("state", ["requested", "not_sent"])
def test_an_order_that_was_never_sent_from_here_is_at_the_exchange(dealing, settings, state):
    settings.DEMO = False
    database_mark.prepare(now=clock.now() - timedelta(minutes=1))
    row = dealing.place()
    if state == "not_sent":
        row = dealing.step(row, later=timedelta(minutes=2))
    assert row.state == state
    dealing.elsewhere(client_order_id=row.client_order_id, quantity=row.quantity)
    dealing.read()
    row = dealing.fresh(row)
    assert (row.state, row.active, row.last_problem) == ("found", True, "")
    assert settling.current().sign == states.EXCHANGE
    assert dealing.step(row).state == "found"
    assert dealing.sent() == 1


def test_a_decision_of_an_earlier_version_is_one_of_two(moving):
    row = moving.approved()
    fall_back()
    signs.check(now=clock.now())
    read_again(moving.walk)
    first, second = moving.walk.approvers[:2]
    with earlier_version():
        assert say(moving.walk, first, GO_ON).state == "open"
    assert say(moving.walk, second, GO_ON, comment="Called the exchange").state == "settled"
    assert moving.until(row, "done").attempt == 1


def test_a_second_fall_is_noticed_while_the_first_is_open(moving):
    fall_back()
    assert signs.check(now=clock.now()) != ""
    assert signs.check(now=clock.now()) != ""
    assert Restore.objects.get().events.count() == 1, "its own head is the newest now"
    fall_back()
    signs.check(now=clock.now())
    assert [event.event for event in Restore.objects.get().events.all()] == ["noticed", "noticed_again"]


def test_what_the_broker_was_told_outlives_the_folder(moving):
    moving.until(moving.approved(), "done")
    newest = RowWitness.objects.order_by("-seq")[0].seq
    signs._broker(house.REDIS_URL).set(signs._identity(), f"{newest + 40} {'ab' * 32}")
    for name in (trail.HEADS_FILE, witness_chain.HEADS_FILE):
        Path(house.DATA_DIR, name).unlink()
    assert signs.check(now=clock.now()) != ""
    assert settling.current().sign == states.BROKER
    assert Restore.objects.get().events.count() == 1, "the broker was told of where the desk stands now"


def test_nobody_lets_their_own_request_go_on(moving):
    asker = moving.walk.operator
    asker.groups.add(Group.objects.get(name="treasury"))
    asker = type(asker).objects.get(pk=asker.pk)
    moving.request()
    fall_back()
    signs.check(now=clock.now())
    read_again(moving.walk)
    with pytest.raises(settling.CannotSettle, match="You requested"):
        say(moving.walk, asker, GO_ON, answer={})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"comment": " "}, "Enter what you checked"),
        ({"digest": "0" * 64}, "changed after you opened"),
        ({"verdicts": {"transfer:1": "perhaps"}}, "still undecided"),
    ],
)
def test_what_is_no_word_changes_nothing(moving, changes, sentence):
    row = moving.approved()
    fall_back()
    signs.check(now=clock.now())
    read_again(moving.walk)
    if "verdicts" in changes:
        changes = {"verdicts": {row.subject: "perhaps"}}
    with pytest.raises(settling.CannotSettle, match=sentence):
        say(moving.walk, moving.walk.approvers[0], GO_ON, **changes)
    assert settling.current().version == 1


def test_only_treasury_of_the_whole_desk_settles(moving):
    fall_back()
    signs.check(now=clock.now())
    with pytest.raises(settling.CannotSettle, match="Only treasurers"):
        say(moving.walk, moving.walk.operator, GO_ON)


def test_a_hold_waits_and_a_release_does_not(moving):
    walk = moving.walk
    held = walk.until(walk.request(), "held")
    waiting = walk.request(amount=Decimal("0.031"))
    fall_back()
    waiting = walk.step(waiting)
    assert (waiting.state, waiting.attempt) == ("queued", 0)
    walk.reject(held)
    assert walk.until(held, "rolled_back").state == "rolled_back"


def test_an_id_says_whose_it_is():
    own = client_order_ids.fresh_id()
    assert len(own) == 31
    assert client_order_ids.is_ours(own)
    assert not client_order_ids.is_ours(own[:-1] + ("0" if own[-1] != "0" else "1"))
    assert not client_order_ids.is_ours("cs-" + "0" * 28)
    assert not client_order_ids.is_ours("")
