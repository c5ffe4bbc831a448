"""This machine's clock an hour back: pauses, claims and limits from before hold nothing up, nothing is sent late."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest

from chaindata import tip_follower
from chaindata.cache import answers
from chaindata.cache.models import ChainAnswer
from chaindata.headers.models import ChainTip
from chaindata.watching import kinds, reading
from chaindata.watching.models import WatchedAddress
from desk import clock
from desk.machines import calls
from desk.models import FactorChange, StepUpFailure
from desk.notifications import outgoing
from desk.notifications.models import Delivery, Medium, Notification, Stage
from desk.people import code_limits, factors, sign_in_limits
from desk.people.sign_in_limits import Budget
from desk.web import idempotency
from exchange_ops.keys import probing
from exchange_ops.keys.models import ApiKey
from exchange_ops.margin import danger
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import reading as order_reading
from exchange_ops.orders import sending
from exchange_ops.orders.brackets import chains, plan, states
from exchange_ops.orders.brackets.plan import Do
from exchange_ops.orders.models import Order
from exchange_ops.pages.trading import own
from exchange_ops.portfolio import profits
from exchange_ops.portfolio.models import Progress
from exchange_ops.withdrawals.models import PayoutProof
from exchange_ops.withdrawals.proofs import payouts
from tests.exchange_ops import rows
from tests.exchange_ops.incidents import provoked
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets.test_plan import NOW, TAKE, leg, situation

pytestmark = pytest.mark.django_db
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


@pytest.mark.parametrize(("age", "does"), [(9, Do.PLACE_STOP), (10, Do.BEGIN_TO_TAKE), (-3600, Do.BEGIN_TO_TAKE)])
def test_a_take_profit_is_tried_again_after_its_pause(age, does):
    take = replace(leg(1, TAKE, settled=True), at=NOW - age * SECOND)
    assert plan.next_step(situation(state=states.GUARDED, legs=[take], reached=True)).do == does


def test_ten_stops_from_before_delay_no_further_one_and_one_on_its_way_guards_nothing():
    legs = [replace(leg(number, filled="0.05"), at=NOW + HOUR) for number in range(1, 11)]
    at = situation(state=states.GUARDED, legs=legs)
    assert not plan.is_paced(at)
    legs[-1] = replace(legs[-1], at=NOW)
    assert plan.is_paced(situation(state=states.GUARDED, legs=legs))
    assert not chains.Chain(1, Decimal(1), Decimal(0), open=True, since=NOW).is_overdue(NOW)
    assert chains.Chain(1, Decimal(1), Decimal(0), open=True, since=NOW + HOUR).is_overdue(NOW)


@pytest.mark.parametrize(("age", "is_late"), [(59, False), (-59, False), (61, True), (-3600, True)])
def test_an_order_from_before_is_not_sent_an_hour_late(operator, age, is_late):
    now = clock.now()
    order_rows.market(now=now)
    row = order_rows.requested(operator, now=now)
    row.created_at = now - age * SECOND
    assert ("the price may have moved" in sending._obstacle(row, now)) == is_late


def test_an_order_that_is_listed_nowhere_is_waited_for_anew(operator):
    now = clock.now()
    order_rows.market(now=now)
    row = order_rows.placed(operator, now=now)
    Order.objects.filter(pk=row.pk).update(missing_since=now + HOUR)
    row.refresh_from_db()
    order_reading._note_missing(row, now)
    row.refresh_from_db()
    assert (row.missing_since, row.active) == (now, True)


@pytest.mark.parametrize("offset", [-HOUR, HOUR])
def test_a_key_that_was_probed_before_is_probed_once_more(account, offset, monkeypatch):
    now = clock.now()
    key = provoked.key(probed_at=now + HOUR, probe_asked_at=now + offset, sealed_secret="sealed")
    assert probing.wake_due(now=now) == 1
    monkeypatch.setattr(probing, "_answers", lambda key, open_client: probing.Answers())
    probing._fill(key.pk, None, now)
    assert ApiKey.objects.get().probed_at == now
    assert probing.wake_due(now=now) == 0


def test_an_answer_of_the_chain_from_before_is_stale_and_due_once():
    now = clock.now()
    answers.read("get_block_count", now=now)
    found = {"standing": "found", "body": "7", "read_at": now + HOUR, "due_at": now + HOUR + MINUTE}
    ChainAnswer.objects.update(**found, claimed_by="dead", claimed_until=now + HOUR)
    assert answers.read("get_block_count", now=now).freshness == "stale"
    assert answers.due(now=now).count() == 1
    ChainAnswer.objects.update(problem="Busy.", problem_at=now, due_at=now + MINUTE)
    assert not answers.due(now=now).exists(), "a failure since then has a pause of its own"


def test_claims_from_before_are_over():
    now = clock.now()
    ChainTip.objects.create(pk=1, world=tip_follower._world(), claimed_by="dead", claimed_until=now + HOUR)
    assert tip_follower._claim(now) is not None
    assert tip_follower._claim(now) is None
    machine = SimpleNamespace(touch=lambda row, **columns: True)
    assert calls.is_leased(machine, SimpleNamespace(lease_until=calls.lease(now)), now)
    assert not calls.is_leased(machine, SimpleNamespace(lease_until=calls.lease(now + HOUR)), now)


def test_a_watched_address_from_before_is_read_and_said_to_be_unread(operator):
    now, row = clock.now(), provoked.watched(operator)
    WatchedAddress.objects.update(next_action_at=now + HOUR, read_at=now + HOUR)
    assert len(list(kinds._unread(now, ""))) == 1
    assert [each.pk for each in reading._claim(now, None)] == [row.pk]
    WatchedAddress.objects.update(read_at=now)
    assert (reading._claim(now, None), list(kinds._unread(now, ""))) == ([], [])


@pytest.mark.parametrize(("priced", "position", "mark"), [(0, 0, "98"), (1, 0, "95"), (0, 3600, "95"), (3600, 0, "98")])
def test_the_mark_is_what_was_read_last_whatever_the_clock_showed(account, priced, position, mark):
    now = clock.now()
    row = rows.margin_position(now=now)
    row.quantity, row.price_entry, row.pnl = Decimal(2), Decimal(100), Decimal(-4)
    row.read_at = now + position * SECOND
    ticker = Ticker(last=Decimal(95), read_at=now + priced * SECOND)
    assert danger.exposure(position=row, ticker=ticker, now=now).mark == Decimal(mark)


@pytest.mark.parametrize(("at", "is_due"), [(MINUTE, False), (-MINUTE, False), (-2 * HOUR, True), (HOUR, True)])
def test_profits_from_before_are_computed_anew(at, is_due):
    now = clock.now()
    progress = Progress(profits_at=now + at, profits_version=1, profits_trade=1)
    assert profits._is_due(progress, 1, 1, now) == is_due


def test_a_proof_from_before_is_looked_for_again(operator, payable):
    now = clock.now()
    provoked.unproven(operator)
    row = payouts.due(now=now).get()
    tried = {"tried_at": now + HOUR, "next_look_at": now + HOUR + MINUTE, "problem": "No answer."}
    PayoutProof.objects.create(withdrawal=row, txid=row.hash, wanted_sat=1, **tried)
    assert payouts.due(now=now).exists()
    PayoutProof.objects.update(tried_at=now)
    assert not payouts.due(now=now).exists()


def test_wrong_tries_from_before_delay_none(operator):
    now, budget = clock.now(), [Budget("one", grows=True)]
    for _ in range(5):
        StepUpFailure.objects.create(person=operator, session_digest="s", at=now + HOUR)
        sign_in_limits.spend_try(budget, now=now + HOUR)
    assert code_limits.seconds_to_wait(person=operator, session_digest="s", now=now) == 0
    assert code_limits.seconds_to_wait(person=operator, session_digest="s", now=now + HOUR) > 0
    assert sign_in_limits.spend_try(budget, now=now) == 0
    waits = [sign_in_limits.spend_try(budget, now=now) for _ in range(5)]
    assert max(waits) > 0, "those since then count"


def test_a_mail_from_before_keeps_no_other_one_back(operator):
    now = clock.now()
    common = {"reference": "W-1", "title": "Payout", "sentence": "It waits.", "url": "/", "created_at": now}
    row = Notification.objects.create(stage=Stage.OPENED, subject="payout:1", kind="approvals", **common)
    at = {"created_at": now + HOUR, "updated_at": now, "next_action_at": now}
    Delivery.objects.create(notification=row, medium=Medium.EMAIL, person=operator, state="queued", **at)
    assert outgoing._later(row, [operator.pk], now=now) == {}
    assert outgoing._later(row, [operator.pk], now=now + HOUR) != {}


def test_a_request_whose_answer_never_came_is_taken_over(operator):
    now, request = clock.now(), {"person": operator, "key": "a-key-of-mine", "fingerprint": "f"}
    idempotency.begin(**request, now=now + HOUR)
    with pytest.raises(idempotency.StillAnswering):
        idempotency.begin(**request, now=now + HOUR)
    assert isinstance(idempotency.begin(**request, now=now), idempotency.Claim)


def test_a_new_factor_from_before_still_rests(operator):
    now = clock.now()
    change = {"person": operator, "action": "added", "factor": "totp", "at": now + HOUR}
    FactorChange.objects.create(**change, rests_until=now + 25 * HOUR)
    assert factors.cooling_off_until(operator, now=now) == now + 25 * HOUR


def test_an_order_that_ended_before_is_no_news(operator):
    now = clock.now()
    order_rows.market(now=now)
    row = order_rows.placed(operator, now=now)
    symbol = Symbol.objects.get()
    Order.objects.filter(pk=row.pk).update(active=False, status="filled", updated_at=now)
    assert [each.pk for each in own._just_ended(row.account, symbol, now)] == [row.pk]
    Order.objects.filter(pk=row.pk).update(updated_at=now + HOUR)
    assert own._just_ended(row.account, symbol, now) == []
