"""What the exchange says of a key: asked with reads alone, kept with its time, and put to use in the choice of keys."""

import time
from datetime import timedelta

import pytest

from desk import clock, outbox
from desk.models import AuditEvent
from exchange_ops.keys import probing, store
from exchange_ops.keys import rights as key_rights
from exchange_ops.keys.models import ApiKey
from exchange_ops.keys.probing import CannotProbeKey
from exchange_ops.ledger import refresh as copies
from exchange_ops.wire import catalogue
from exchange_ops.wire.catalogue import Right
from tests.bounds import stretched
from wire.values import Secret

pytestmark = pytest.mark.django_db
ALL = list(Right)


def add(account, login, rights=ALL, *, secret=None):
    return store.add(
        account=account,
        label=login,
        login=login,
        secret=Secret(secret or f"{login}-secret"),
        rights=list(rights),
        actor=None,
        now=clock.now(),
    )


def probed(key, *, now=None):
    probing.fill(key_id=key.pk, open_client=store.client_of, now=now or clock.now())
    key.refresh_from_db()
    return key


def answers(key):
    return {right.name: key.observed.get(right.value) for right in Right}


def calls(sandbox, since=0):
    return [call for call in sandbox.control(f"calls?since={since}")["calls"] if "operation" in call]


def test_every_right_is_probed_by_a_read_that_needs_exactly_this_right():
    assert set(probing.READS) == set(Right)
    for right, operation in probing.READS.items():
        row = catalogue.by_name[operation]
        assert (row.method, row.right, row.repeatable) == ("GET", right, True)


@pytest.mark.parametrize(
    ("login", "granted"),
    [
        ("demo-read", {"HISTORY", "PAYMENTS"}),
        ("demo-trade", {"ORDERS", "HISTORY"}),
        ("demo-withdraw", {"PAYMENTS", "WITHDRAW"}),
        ("demo-full", {"ORDERS", "HISTORY", "PAYMENTS", "WITHDRAW"}),
    ],
)
def test_the_rights_that_the_exchange_grants_are_found_out(account, sandbox, login, granted):
    key = add(account, login, [Right.PAYMENTS])
    now = clock.now()
    probed(key, now=now)
    assert {name for name, seen in answers(key).items() if seen == "granted"} == granted
    assert {name for name, seen in answers(key).items() if seen == "missing"} == {r.name for r in Right} - granted
    assert (key.probed_at, key.probe_problem, key.last_problem_at, key.is_being_probed) == (now, "", None, False)
    assert {right.name for right in key_rights.excess(key)} == granted - {"PAYMENTS"}
    event = AuditEvent.objects.get(subject=key.subject, action="apikey.probed")
    assert event.after["observed"] == key.observed


def test_probing_changes_nothing_at_the_exchange(account, sandbox):
    before, since = sandbox.control("ledger"), len(calls(sandbox))
    probed(add(account, "demo-full"))
    made = [call for call in calls(sandbox) if call.get("key") == "demo-full"]
    assert made
    assert {call["operation"] for call in made} <= {*probing.READS.values(), "get_currencies", "get_transaction"}
    assert sandbox.control("ledger") == before
    assert len(calls(sandbox)) > since


def test_a_right_that_is_missing_is_not_held_against_the_key(account, sandbox):
    key = probed(add(account, "demo-read"))
    assert [right.name for right in key_rights.lacking(key)] == ["ORDERS", "WITHDRAW"]
    assert not key_rights.was_turned_down(key, clock.now())
    with pytest.raises(store.NoUsableKey, match="Withdraw"):
        store.client_for(account, Right.WITHDRAW)


def test_another_refusal_says_nothing_about_a_right(account, sandbox):
    sandbox.control("faults", {"operation": "estimate_withdrawal", "kind": "refuse", "code": 600, "times": 1})
    sandbox.control("faults", {"operation": "get_orders", "kind": "html", "times": 1})
    key = probed(add(account, "demo-full"))
    assert answers(key) == {"ORDERS": "unknown", "HISTORY": "granted", "PAYMENTS": "granted", "WITHDRAW": "unknown"}
    assert key_rights.carries(key, Right.WITHDRAW)  # what was said of it counts as long as nobody knows better


@pytest.mark.parametrize("code", [403, 1001, 1002, 1004])
def test_a_key_that_is_turned_down_is_said_so_and_taken_last(account, sandbox, code):
    sandbox.control("faults", {"operation": "*", "kind": "refuse", "code": code, "key": "demo-full", "times": 99})
    key = probed(add(account, "demo-full"))
    assert set(answers(key).values()) == {"unknown"}
    assert str(code) in key.probe_problem
    assert str(code) in key.last_problem
    assert key.is_turned_down
    other = probed(add(account, "demo-withdraw", [Right.PAYMENTS, Right.WITHDRAW]))
    assert store._choose(account, Right.WITHDRAW, clock.now()) == other


def test_a_wrong_secret_is_found_out_and_a_repaired_key_is_used_again(account, sandbox):
    fault = {"operation": "*", "kind": "refuse", "code": 1002, "key": "demo-full", "times": 1}
    sandbox.control("faults", fault)
    key = probed(add(account, "demo-full"))
    assert key_rights.was_turned_down(key, clock.now())
    probing.ask(key_id=key.pk, person=None, now=clock.now())
    probed(key)
    assert (key.is_turned_down, key.probe_problem) == (False, "")
    assert key.last_problem.startswith("1002")  # what it was, and when, stays to be read


def test_an_exchange_that_is_away_leaves_everything_unknown_and_is_asked_again(account, sandbox):
    key = add(account, "demo-read")
    sandbox.stop()
    now = clock.now()
    probed(key, now=now)
    assert key.probe_problem
    assert not key.last_problem
    assert probing.wake_due(now=now + timedelta(seconds=30)) == 0
    assert probing.wake_due(now=now + timedelta(seconds=70)) == 1


def test_a_key_of_another_account_is_recognized_by_what_it_does_not_know(account, demo_keys, sandbox):
    copies.sync_ledgers(now=clock.now(), client_for=store.client_for)
    stranger = probed(add(account, "other-full"))
    assert stranger.same_account is False
    assert probed(demo_keys["demo-read"]).same_account is True
    assert store._choose(account, Right.PAYMENTS, clock.now()).login == "demo-read"
    assert store._choose(account, Right.WITHDRAW, clock.now()).login == "demo-withdraw"


def test_without_a_transaction_nobody_knows_whose_account_it_is(account, sandbox):
    assert probed(add(account, "demo-read")).same_account is None


def test_the_choice_goes_by_what_was_observed(account, sandbox):
    said_narrow = add(account, "demo-full", [Right.PAYMENTS])
    said_wide = add(account, "demo-read", [Right.PAYMENTS, Right.HISTORY])
    assert store._choose(account, Right.PAYMENTS, clock.now()) == said_narrow
    probed(said_narrow)
    probed(said_wide)
    assert store._choose(account, Right.PAYMENTS, clock.now()) == said_wide


def test_a_key_is_never_used_for_what_it_was_not_meant_for(account, sandbox):
    probed(add(account, "demo-full", [Right.PAYMENTS]))
    with pytest.raises(store.NoUsableKey, match="Withdraw"):
        store._choose(account, Right.WITHDRAW, clock.now())


def test_a_proven_key_is_taken_before_one_that_nobody_tried(account, sandbox):
    proven = probed(add(account, "demo-read", [Right.PAYMENTS, Right.HISTORY]))
    add(account, "fresh", [Right.PAYMENTS])
    assert store._choose(account, Right.PAYMENTS, clock.now()) == proven


def test_asking_wakes_a_worker_and_asking_twice_asks_once(account, admin, sandbox, monkeypatch):
    woken = []
    monkeypatch.setattr(outbox, "wake", lambda *call: woken.append(call))
    key = probed(add(account, "demo-read"))
    for _ in range(2):
        probing.ask(key_id=key.pk, person=admin, now=clock.now())
    key.refresh_from_db()
    assert key.is_being_probed
    assert AuditEvent.objects.filter(action="apikey.probe_asked", actor_id=admin.pk).count() == 1
    assert set(woken) == {("exchange_ops.probe_key", key.pk)}


def test_a_disabled_key_is_not_asked_about(account, sandbox):
    key = add(account, "demo-read")
    store.disable(key=key, actor=None, now=clock.now())
    with pytest.raises(CannotProbeKey, match="disabled"):
        probing.ask(key_id=key.pk, person=None, now=clock.now())
    assert probed(key).probed_at is None


def test_what_was_disabled_while_it_was_asked_about_keeps_what_it_had(account, sandbox):
    key = add(account, "demo-read")

    def open_and_disable(row):
        store.disable(key=row, actor=None, now=clock.now())
        return store._client(key, rejected=None)

    probing.fill(key_id=key.pk, open_client=open_and_disable, now=clock.now())
    key.refresh_from_db()
    assert (key.probed_at, key.observed) == (None, {})


def test_workers_are_woken_for_what_nobody_asked_and_again_after_a_day(account, demo_keys, sandbox):
    now = clock.now() + timedelta(seconds=6)
    assert probing.wake_due(now=now) == 3
    for key in demo_keys.values():
        probed(key, now=now)
    assert probing.wake_due(now=now + timedelta(hours=23)) == 0
    # Keys of a desk that was there before anybody asked.
    ApiKey.objects.filter(login="demo-read").update(probe_asked_at=None, probed_at=None)
    assert probing.wake_due(now=now) == 1
    probed(demo_keys["demo-read"], now=now)
    number_of = AuditEvent.objects.filter(action="apikey.probed").count()
    assert probing.wake_due(now=now + timedelta(hours=25)) == 3
    for key in demo_keys.values():
        probed(key, now=now + timedelta(hours=25))
    assert AuditEvent.objects.filter(action="apikey.probed").count() == number_of  # the same answers are no news


def test_without_a_worker_one_key_after_the_other_is_asked_about_after_a_minute(account, demo_keys, sandbox):
    now = clock.now()
    assert not probing.probe_due(now=now + timedelta(seconds=30), open_client=store.client_of)
    later = now + timedelta(seconds=61)
    assert [probing.probe_due(now=later, open_client=store.client_of) for _ in range(4)] == [True, True, True, False]
    assert not ApiKey.objects.filter(probed_at=None).exists()


def test_a_probe_of_a_silent_exchange_ends_soon(account, sandbox, settings):
    settings.CALL_DEADLINE_SECONDS = 25
    key = add(account, "demo-read")
    sandbox.control("faults", {"operation": "*", "kind": "delay_then_execute", "ms": 20_000, "times": 9})
    began = time.monotonic()
    assert probed(key).probe_problem
    assert time.monotonic() - began < stretched(20), "before the first answer comes"


def test_a_secret_that_does_not_open_is_said(account, sandbox):
    key = add(account, "demo-read")
    ApiKey.objects.filter(pk=key.pk).update(sealed_secret="v1:nothing")
    assert "can't be decrypted" in probed(key).probe_problem
