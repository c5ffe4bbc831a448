"""Adding, rotating and disabling keys: a second factor each, two steps for a rotation, and nothing lost on the way."""

import uuid
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection

from desk import clock
from desk.models import AuditEvent, StepUp
from desk.people import stepup, totp
from desk.people.signing import signed_fields
from desk.people.stepup import CannotConfirm
from exchange_ops.keys import changes as key_changes
from exchange_ops.keys import probing, store, uses
from exchange_ops.keys.changes import CannotChangeKey, Confirmation, Pair
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import refresh as copies
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from tests.desk.authenticator import SoftKey
from tests.exchange_ops import rows
from wire.errors import Refused
from wire.values import Secret

TOTP = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
CANARY = "a-canary-that-must-not-sing-0123"
pytestmark = pytest.mark.django_db


@pytest.fixture
def keeper(admin):
    totp.enrol(admin, TOTP)
    return admin


class Codes:
    """One-time codes that were not used yet. Three are good at any moment: the fourth is given half a minute later."""

    def __init__(self):
        self.step = 0

    def fresh(self, now):
        newest = totp.step_at(now) + 1
        self.step = max(self.step + 1, newest - 2)
        later = now + timedelta(seconds=30 * max(0, self.step - newest))
        return {"kind": "totp", "code": totp.code_at(TOTP, self.step)}, later


CODES = Codes()


@pytest.fixture(autouse=True)
def unused_codes():
    CODES.step = 0


def by(person, digest, *, now=None, answer=None):
    code, later = CODES.fresh(now or clock.now())
    return Confirmation(person=person, digest=digest, answer=answer or code, session_key="a-session", now=later)


def pair(login="next-read", *, secret=None, rights=(Right.HISTORY, Right.PAYMENTS), request_key=None, label="New"):
    return Pair(
        label=label,
        login=login,
        secret=Secret(secret or f"{login}-secret"),
        rights=list(rights),
        request_key=request_key or str(uuid.uuid4()),
    )


def add(account, person, typed=None, **changes):
    typed = typed or pair()
    return key_changes.add(
        account=account, pair=typed, by=by(person, key_changes.new_digest(typed.request_key), **changes)
    )


def succeed(key, person, typed=None, **changes):
    typed = typed or pair()
    confirmed = by(person, key_changes.new_digest(typed.request_key, replaces=key), **changes)
    return key_changes.succeed(key_id=key.pk, pair=typed, by=confirmed)


def decide(verb, key, person, **changes):
    purpose = {"switch": key_changes.SWITCH, "finish": key_changes.FINISH, "disable": key_changes.DISABLE}[verb]
    key = ApiKey.objects.get(pk=key.pk)
    confirmed = by(person, key_changes.digest_of(purpose, key), **changes)
    return getattr(key_changes, verb)(key_id=key.pk, by=confirmed)


def probed(key):
    probing.fill(key_id=key.pk, open_client=store.client_of, now=clock.now())
    key.refresh_from_db()
    return key


def picture():
    return list(ApiKey.objects.order_by("pk").values("pk", "login", "active", "kept_at", "retired_at", "sealed_secret"))


# Adding --------------------------------------------------------------------------------------------------------------


def test_a_key_is_added_with_a_second_factor_and_told_without_its_secret(account, keeper):
    key = add(account, keeper, pair(secret=CANARY))
    assert store.credentials_of(key).secret == Secret(CANARY)
    assert key.is_being_probed
    event = AuditEvent.objects.get(subject=key.subject)
    assert (event.action, event.actor_id) == ("apikey.added", keeper.pk)
    assert event.after["login"] == "next-read"
    assert event.after["step_up"] == StepUp.objects.get().pk
    assert CANARY not in event.after_text
    assert StepUp.objects.get().purpose == "key-add"


def test_the_same_form_sent_twice_adds_one_key(account, keeper):
    typed = pair()
    first = add(account, keeper, typed)
    assert add(account, keeper, typed) == first
    assert ApiKey.objects.count() == 1
    assert StepUp.objects.count() == 1


@pytest.mark.parametrize("role", ["operator", "treasury", "auditor"])
def test_nobody_else_changes_a_key(account, demo_keys, make_person, role):
    person = make_person(role, username="somebody")
    totp.enrol(person, TOTP)
    key, before = demo_keys["demo-read"], picture()
    tries = [
        lambda: add(account, person),
        lambda: succeed(key, person),
        lambda: decide("switch", key, person),
        lambda: decide("finish", key, person),
        lambda: decide("disable", key, person),
        lambda: key_changes.go_back(key_id=key.pk, person=person, session_key="", now=clock.now()),
    ]
    for attempt in tries:
        with pytest.raises(CannotChangeKey, match="Only administrators"):
            attempt()
    assert picture() == before
    assert not StepUp.objects.exists()


@pytest.mark.parametrize(
    "answer",
    [{}, {"kind": "totp", "code": "000000"}, {"kind": "totp", "code": ""}, {"kind": "passkey", "credential": "{}"}],
)
def test_without_the_second_factor_nothing_is_changed(*, account, demo_keys, keeper, sandbox, answer):
    key = demo_keys["demo-read"]
    waiting = probed(succeed(key, keeper))
    before = picture()
    arguments = {"answer": answer or {"kind": "none"}}
    for attempt in (
        lambda: add(account, keeper, pair("next-trade"), **arguments),
        lambda: succeed(demo_keys["demo-trade"], keeper, pair("next-trade"), **arguments),
        lambda: decide("switch", key, keeper, **arguments),
        lambda: decide("disable", demo_keys["demo-trade"], keeper, **arguments),
    ):
        with pytest.raises(CannotConfirm):
            attempt()
    assert picture() == before
    assert waiting.is_waiting


def test_a_digest_of_something_else_confirms_nothing(account, demo_keys, keeper):
    before = picture()
    for attempt in (
        lambda: key_changes.add(account=account, pair=pair(), by=by(keeper, "0" * 64)),
        lambda: key_changes.disable(key_id=demo_keys["demo-read"].pk, by=by(keeper, "0" * 64)),
    ):
        with pytest.raises(CannotChangeKey, match="after you opened the page"):
            attempt()
    assert picture() == before


def test_a_login_that_is_there_is_refused_beside_its_field(account, demo_keys, keeper):
    with pytest.raises(store.CannotAddKey, match="already has the API key") as problem:
        add(account, keeper, pair("demo-read"))
    assert problem.value.field == "login"
    assert not StepUp.objects.exists()  # the code is not spent either


def test_a_key_that_was_disabled_can_be_added_again(account, demo_keys, keeper):
    decide("disable", demo_keys["demo-read"], keeper)
    again = add(account, keeper, pair("demo-read"))
    assert again.pk != demo_keys["demo-read"].pk
    assert again.active


# Rotating ------------------------------------------------------------------------------------------------------------


def test_a_rotation_from_the_first_step_to_the_last(account, demo_keys, keeper, sandbox):
    key = demo_keys["demo-read"]
    successor = succeed(key, keeper)
    assert successor.is_waiting
    assert store._choose(account, Right.HISTORY, clock.now()).login in {"demo-read", "demo-trade"}
    probed(successor)
    decide("switch", key, keeper)
    successor.refresh_from_db()
    key.refresh_from_db()
    assert (successor.active, key.active, key.kept_at is not None) == (True, False, True)
    assert store.credentials_of(key).secret.reveal() == "demo-read-secret"
    later = clock.now() + key_changes.KEPT_AT_LEAST
    with pytest.raises(CannotChangeKey, match="still be in progress"):
        decide("finish", key, keeper)
    decide("finish", key, keeper, now=later)
    key.refresh_from_db()
    assert (key.sealed_secret, key.retired_at is not None, key.kept_at) == ("", True, None)
    actions = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    assert actions[-5:] == [
        "apikey.successor_added",
        "apikey.probed",
        "apikey.handed_over",
        "apikey.took_over",
        "apikey.disabled",
    ]


def test_a_waiting_successor_is_used_for_nothing(account, keeper, sandbox):
    key = add(account, keeper, pair("demo-full", rights=list(Right)))
    probed(succeed(key, keeper))  # of fewer rights, so it would be taken first
    assert store._choose(account, Right.PAYMENTS, clock.now()) == key


def test_going_back_before_the_switch_wipes_the_successor(demo_keys, keeper, sandbox):
    key = demo_keys["demo-read"]
    successor = succeed(key, keeper)
    key_changes.go_back(key_id=key.pk, person=keeper, session_key="s", now=clock.now())
    successor.refresh_from_db()
    key.refresh_from_db()
    assert (successor.sealed_secret, successor.retired_at is not None) == ("", True)
    assert (key.active, key_changes.successor_of(key)) == (True, None)
    assert succeed(key, keeper).is_waiting  # and another try is possible


def test_going_back_after_the_switch_takes_the_old_key_again(account, demo_keys, keeper, sandbox):
    key = demo_keys["demo-withdraw"]
    successor = probed(succeed(key, keeper, pair("next-withdraw", rights=[Right.PAYMENTS, Right.WITHDRAW])))
    decide("switch", key, keeper)
    assert store._choose(account, Right.WITHDRAW, clock.now()) == successor
    key_changes.go_back(key_id=key.pk, person=keeper, session_key="s", now=clock.now())
    key.refresh_from_db()
    assert (key.active, key.kept_at) == (True, None)
    assert store._choose(account, Right.WITHDRAW, clock.now()) == key
    with pytest.raises(CannotChangeKey, match="not being rotated"):
        key_changes.go_back(key_id=key.pk, person=keeper, session_key="s", now=clock.now())


def test_a_successor_that_is_not_good_enough_does_not_take_over(demo_keys, keeper, sandbox):
    key = demo_keys["demo-withdraw"]
    successor = succeed(key, keeper, pair("next-read", rights=[Right.PAYMENTS, Right.WITHDRAW]))
    with pytest.raises(CannotChangeKey, match="new key is still being verified"):
        decide("switch", key, keeper)
    probed(successor)
    with pytest.raises(CannotChangeKey, match="lacks permissions that the old key has: Withdraw"):
        decide("switch", key, keeper)


def test_a_successor_with_a_wrong_secret_does_not_take_over(demo_keys, keeper, sandbox):
    key = demo_keys["demo-read"]
    probed(succeed(key, keeper, pair(secret="this is not its secret")))
    with pytest.raises(CannotChangeKey, match="rejected the new key: 1002"):
        decide("switch", key, keeper)
    key.refresh_from_db()
    assert key.active


def test_a_successor_of_another_account_does_not_take_over(account, demo_keys, keeper, sandbox):
    copies.sync_ledgers(now=clock.now(), client_for=store.client_for)
    probed(succeed(demo_keys["demo-read"], keeper, pair("other-full")))
    with pytest.raises(CannotChangeKey, match="a different exchange account"):
        decide("switch", demo_keys["demo-read"], keeper)


def test_one_successor_at_a_time_and_none_for_what_is_out_of_use(demo_keys, keeper, sandbox):
    key = demo_keys["demo-read"]
    succeed(key, keeper)
    with pytest.raises(CannotChangeKey, match="already has a replacement"):
        succeed(key, keeper, pair("next-trade"))
    with pytest.raises(CannotChangeKey, match="being rotated"):
        decide("disable", key, keeper)
    decide("disable", demo_keys["demo-trade"], keeper)
    with pytest.raises(CannotChangeKey, match="in use"):
        succeed(demo_keys["demo-trade"], keeper, pair("next-trade"))
    with pytest.raises(CannotChangeKey, match="already disabled"):
        decide("disable", demo_keys["demo-trade"], keeper)


def test_two_switches_at_once_are_one(demo_keys, keeper, sandbox):
    key = demo_keys["demo-read"]
    probed(succeed(key, keeper))
    seen = key_changes.digest_of(key_changes.SWITCH, key)
    key_changes.switch(key_id=key.pk, by=by(keeper, seen))
    with pytest.raises(CannotChangeKey, match="has no replacement"):
        key_changes.switch(key_id=key.pk, by=by(keeper, seen))


def test_a_money_call_falls_back_on_the_old_key_when_the_new_one_is_turned_down(account, demo_keys, keeper, sandbox):
    """The key was rotated between a hold and its commit, and the new one turns out bad: the hold is still decided."""
    key = demo_keys["demo-withdraw"]
    with_old = store.client_for(account, Right.WITHDRAW)
    held = with_old.create_withdrawal(currency="BTC", amount=Decimal("0.05"), address=ADDRESS)
    successor = probed(succeed(key, keeper, pair("next-withdraw", rights=[Right.PAYMENTS, Right.WITHDRAW])))
    decide("switch", key, keeper)
    # A call that began before the switch ends with the key it began with.
    assert with_old.commit_withdrawal(exchange_id=held)
    with_old.close()
    another = open_hold(account)
    sandbox.control("faults", {"operation": "*", "kind": "refuse", "code": 1002, "key": "next-withdraw", "times": 9})
    with pytest.raises(Refused):
        released(account, another)
    assert released(account, another)  # the next try goes out with the key that is kept
    key.refresh_from_db()
    successor.refresh_from_db()
    assert successor.is_turned_down
    with pytest.raises(CannotChangeKey, match="rejected the new key after the switch"):
        decide("finish", key, keeper, now=clock.now() + key_changes.KEPT_AT_LEAST)


ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"


def open_hold(account):
    client = store.client_for(account, Right.WITHDRAW)
    try:
        return client.create_withdrawal(currency="BTC", amount=Decimal("0.06"), address=ADDRESS)
    finally:
        client.close()


def released(account, held):
    client = store.client_for(account, Right.WITHDRAW)
    try:
        return client.rollback_withdrawal(exchange_id=held)
    finally:
        client.close()


# Disabling -----------------------------------------------------------------------------------------------------------


def test_what_stops_is_said_before_and_written_down_after(account, demo_keys, keeper, operator):
    stops = uses.losses(demo_keys["demo-withdraw"])
    assert [loss.right for loss in stops] == ["Withdraw cryptocurrencies"]
    assert "Payouts can't be reserved, paid or released" in stops[0].sentence
    assert "POST /account/crypto/withdraw" in stops[0].operations
    assert "GET /account/balance" not in stops[0].operations
    decide("disable", demo_keys["demo-withdraw"], keeper)
    event = AuditEvent.objects.get(action="apikey.disabled")
    assert event.after["stops"] == ["Withdraw cryptocurrencies"]


def test_payouts_under_way_are_counted(keeper, operator):
    account = rows.account(now=clock.now())
    rows.currency(now=clock.now())
    rows.price(now=clock.now())
    key = add(account, keeper, pair("only", rights=list(Right)))
    for number in range(2):
        rows.held(operator, now=clock.now(), request_key=str(number))
    lost = {loss.right: loss.sentence for loss in uses.losses(key)}
    assert "2 payouts are in progress" in lost["Withdraw cryptocurrencies"]
    assert "any key" in lost
    assert len(lost) == 5


def test_a_key_whose_rights_others_carry_stops_nothing(account, demo_keys, keeper):
    assert uses.losses(add(account, keeper)) == []
    assert [loss.right for loss in uses.losses(demo_keys["demo-trade"])] == ["Place/cancel orders"]


def test_what_stops_is_part_of_what_is_confirmed(account, demo_keys, keeper):
    key = demo_keys["demo-trade"]
    seen = key_changes.digest_of(key_changes.DISABLE, key)
    full = add(account, keeper, pair("demo-full", rights=list(Right)))
    with pytest.raises(CannotChangeKey, match="after you opened the page"):
        key_changes.disable(key_id=key.pk, by=by(keeper, seen))
    decide("disable", full, keeper)
    key_changes.disable(key_id=key.pk, by=by(keeper, seen))


def test_the_secret_is_nowhere_but_in_its_column(account, keeper, sandbox, capfd):
    first = add(account, keeper, pair("demo-full", secret=CANARY, rights=list(Right)))
    probed(first)
    probed(succeed(first, keeper, pair("next-read", secret=f"{CANARY}-2", rights=list(Right))))
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert CANARY not in str(cursor.fetchall()), table
    output = capfd.readouterr()
    assert CANARY not in output.out + output.err
    assert CANARY not in repr(pair(secret=CANARY))
    assert not ApiKey.objects.filter(sealed_secret="").exists()


def test_a_day_later_the_rotation_is_still_there(demo_keys, keeper, sandbox):
    """Nothing ends by itself: neither the successor nor the key that is kept."""
    key = demo_keys["demo-read"]
    successor = probed(succeed(key, keeper))
    later = clock.now() + timedelta(days=2)
    assert probing.wake_due(now=later) >= 1
    probing.fill(key_id=successor.pk, open_client=store.client_of, now=later)
    decide("switch", key, keeper)
    key.refresh_from_db()
    assert key_changes.why_not_finish(key, clock.now() + timedelta(days=30)) == ""


@pytest.mark.parametrize(
    "changes", [{"label": "Other"}, {"login": "other"}, {"rights": (Right.WITHDRAW,)}, {"account": True}]
)
def test_account_name_login_and_rights_of_a_new_key_are_signed(account, keeper, changes):
    """A field that is changed after the device was asked fits no signature."""
    key, now, request_key = SoftKey(), clock.now(), str(uuid.uuid4())
    key.enrol(keeper)
    digest = key_changes.new_digest(request_key)
    fields = {"account": str(account.pk), "label": "New", "login": "next-read"}
    fields["rights"] = signed_fields.as_text([Right.PAYMENTS.value, Right.HISTORY.value])
    terms = {"purpose": key_changes.ADD, "digest": signed_fields.bind(digest, fields), "session_key": "a-session"}
    answer = key.answer(stepup.challenge(person=keeper, now=now, **terms))
    confirmed = by(keeper, digest, answer=answer, now=now)
    confirmed = replace(confirmed, now=now)
    place = (
        Account.objects.create(name="Other desk", quote_currency="USD") if changes.pop("account", False) else account
    )
    mutated = pair(request_key=request_key, **changes)
    with pytest.raises(CannotConfirm, match="does not match the page"):
        key_changes.add(account=place, pair=mutated, by=confirmed)
    assert key_changes.add(account=account, pair=pair(request_key=request_key), by=confirmed).login == "next-read"


def test_the_exchanges_address_and_the_key_that_is_replaced_are_signed(account, keeper, settings):
    before = key_changes.new_digest("a")
    replaces = add(account, keeper)
    assert key_changes.new_digest("a", replaces=replaces) != before
    settings.EXCHANGE_URL = "https://elsewhere.example"
    assert key_changes.new_digest("a") != before
