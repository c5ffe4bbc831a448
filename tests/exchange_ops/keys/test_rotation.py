"""A key is rotated while a payout is on its way: the payout is decided all the same, once, with a key that works."""

import threading

import pytest
from django.db import connection

from desk import clock
from desk.people import totp
from exchange_ops.keys import changes
from exchange_ops.keys.models import ApiKey
from exchange_ops.wire.catalogue import Right
from tests.exchange_ops.keys.test_changes import CODES, TOTP, by, decide, pair, probed, succeed
from wire.errors import Refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: the walk while a key changes")]
WITHDRAWING = [Right.PAYMENTS, Right.WITHDRAW]


@pytest.fixture
def rotated(walk, admin):
    """`rotated()`: the key that pays is handed over to its successor; gives the old one."""
    totp.enrol(admin, TOTP)
    CODES.step = 0

    def rotate():
        old = ApiKey.objects.get(login="demo-withdraw")
        probed(succeed(old, admin, pair("next-withdraw", rights=WITHDRAWING)))
        decide("switch", old, admin)
        return old

    return rotate


def keys_of(walk, operation):
    return [call["key"] for call in walk.calls(operation)]


@pytest.mark.parametrize("moment", ["queued", "held", "committing"])
def test_c36_a_payout_goes_on_with_the_new_key(walk, rotated, moment):
    row = {"queued": walk.request, "held": walk.held, "committing": walk.committing}[moment]()
    rotated()
    row = walk.until(row, "held") if moment == "queued" else walk.fresh(row)
    if row.state == "held":
        if row.echo_ok is None:
            row = walk.step(row)
        walk.approve(row)
    walk.until(row, "committed")
    assert keys_of(walk, "commit_withdrawal") == ["next-withdraw"]
    assert keys_of(walk, "create_withdrawal") == ["next-withdraw" if moment == "queued" else "demo-withdraw"]
    assert len(walk.payouts()) == 1


@pytest.mark.parametrize("code", [1002, 1003])
def test_c36_a_new_key_that_is_turned_down_leaves_the_order_to_the_old_one(walk, rotated, code):
    row = walk.committing()
    rotated()
    walk.sandbox.control(
        "faults", {"operation": "*", "kind": "refuse", "code": code, "key": "next-withdraw", "times": 99}
    )
    row = walk.until(row, "committed")
    assert keys_of(walk, "commit_withdrawal")[-1] == "demo-withdraw"
    assert walk.calls("commit_withdrawal", executed=True) == walk.calls("commit_withdrawal")[-1:]
    assert len(walk.payouts()) == 1


def test_c36_a_release_falls_back_on_the_old_key_in_time(walk, rotated):
    row = walk.held()
    rotated()
    fault = {"operation": "*", "kind": "refuse", "code": 1002, "key": "next-withdraw", "times": 99}
    walk.sandbox.control("faults", fault)
    with pytest.raises(Refused):  # the read that tells the desk the time meets the bad key first
        walk.later(minutes=55, seconds=5)
    row = walk.until(row, "rolled_back")
    assert keys_of(walk, "rollback_withdrawal")[-1] == "demo-withdraw"
    assert walk.balanced()


def test_two_admins_at_once_end_a_rotation_one_way(walk, admin, make_person):
    """One switches over while the other wipes the successor: one of them is told that it is too late."""
    other = make_person("admin", username="admin2")
    for person in (admin, other):
        totp.enrol(person, TOTP)
    CODES.step = 0
    old = ApiKey.objects.get(login="demo-withdraw")
    successor = probed(succeed(old, admin, pair("next-withdraw", rights=WITHDRAWING)))
    seen = by(admin, changes.digest_of(changes.SWITCH, old))
    start, ended = threading.Barrier(2), []

    def attempt(act):
        start.wait()
        try:
            act()
            ended.append("done")
        except changes.CannotChangeKey:
            ended.append("refused")
        finally:
            connection.close()

    acts = [
        lambda: changes.switch(key_id=old.pk, by=seen),
        lambda: changes.go_back(key_id=old.pk, person=other, session_key="", now=clock.now()),
    ]
    threads = [threading.Thread(target=attempt, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    old.refresh_from_db()
    successor.refresh_from_db()
    # Going back is possible after the switch too, so the old key is in use in any case, and never both or none.
    assert "done" in ended
    assert (old.active, old.kept_at, successor.active, successor.sealed_secret) == (True, None, False, "")


def test_the_same_form_from_two_tabs_at_once_adds_one_key(walk, admin):
    totp.enrol(admin, TOTP)
    CODES.step = 0
    typed = pair()
    confirmed = [by(admin, changes.new_digest(typed.request_key)) for _ in range(2)]
    start, added = threading.Barrier(2), []

    def attempt(one):
        start.wait()
        try:
            added.append(changes.add(account=walk.account, pair=typed, by=one).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=attempt, args=(one,)) for one in confirmed]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert added == [ApiKey.objects.get(login="next-read").pk] * 2
