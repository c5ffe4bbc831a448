"""What is asked for sub-accounts: one call each, and done only when the exchange's own list shows it."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction

from desk import audit_check
from desk.models import AuditEvent
from desk.people import stepup, totp
from exchange_ops.keys import store as keys
from exchange_ops.subaccounts import account_status, machine, readings, states, workflow
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountCall, SubAccountEvent
from tests.exchange_ops.earlier_signatures import earlier_version
from tests.exchange_ops.subaccounts.subaccount_desk import opened
from tests.exchange_ops.withdrawals.walks import TOTP_SECRET


@pytest.fixture
def desk(transactional_db, account, demo_keys, sandbox, make_person):
    return opened(account, sandbox, make_person("admin"))


# Reading --------------------------------------------------------------------------------------------------------------


def test_the_list_settings_and_balances_are_read(desk):
    statuses = {sub.exchange_id: account_status.status_of(sub).name for sub in SubAccount.objects.all()}
    assert statuses == {7001: "active", 7002: "active", 7003: "new", 7004: "closed"}
    first, second = desk.sub(7001), desk.sub(7002)
    assert (first.payout_enabled, first.description) == (True, "Trading")
    assert (second.payout_enabled, second.description) == (False, "Settlement")
    assert desk.sub(7004).settings_shown is False
    held = {(row.wallet, row.currency): row.available for row in first.balances.all()}
    assert held["main", "BTC"] == Decimal(2)
    assert held["trading", "USD"] == Decimal(5000)
    assert not second.balances.filter(wallet="trading").exists()


def test_an_earlier_reading_never_overwrites_a_later_one(desk):
    desk.ahead = timedelta()
    sub, later = desk.sub(), desk.now + timedelta(seconds=30)
    assert readings.observe(sub=sub, client_for=keys.client_for, now=later) == ""
    SubAccount.objects.filter(pk=sub.pk).update(status="disable", settings_shown=False)
    readings.observe(sub=sub, client_for=keys.client_for, now=later - timedelta(seconds=1))
    assert (sub.status, sub.settings_shown) == ("disable", False)


def test_one_that_is_not_listed_any_more_is_said_to_be_missing(desk):
    desk.sandbox.inside(lambda: desk.sandbox.world.exchange.accounts.find("desk@demo.test").sub_accounts.pop(0))
    desk.read()
    assert account_status.status_of(desk.sub(7001)).name == "gone"
    assert account_status.status_of(desk.sub(7002)).name == "active"
    assert "no longer in the exchange's list" in account_status.obstacle("freeze", desk.sub(7001))


def test_a_list_that_can_not_be_read_is_said_and_nothing_is_forgotten(desk):
    desk.fault("get_subaccounts", "status", times=9, status=503)
    desk.read()
    reading = desk.account.subaccount_reading
    assert "could not be loaded" in reading.problem
    assert reading.read_at < reading.tried_at
    assert account_status.status_of(desk.sub()).name == "active"


def test_asking_for_a_reading_makes_it_due_at_once(desk):
    before = desk.account.subaccount_reading.read_at
    readings.sync(now=desk.now, client_for=keys.client_for)
    desk.account.subaccount_reading.refresh_from_db()
    assert desk.account.subaccount_reading.read_at == before
    desk.ahead += timedelta(seconds=1)
    readings.ask(account=desk.account, person=desk.admin, now=desk.now)
    desk.account.subaccount_reading.refresh_from_db()
    assert desk.account.subaccount_reading.is_awaited
    desk.ahead += timedelta(seconds=1)
    readings.sync(now=desk.now, client_for=keys.client_for)
    desk.account.subaccount_reading.refresh_from_db()
    assert desk.account.subaccount_reading.read_at > before
    assert not desk.account.subaccount_reading.is_awaited


def test_the_deposit_address_is_asked_for_by_a_row(desk):
    row = readings.ask_address(sub=desk.sub(), currency="BTC", person=desk.admin, now=desk.now)
    readings.fill_address(address_id=row.pk, client_for=keys.client_for, now=desk.now)
    row.refresh_from_db()
    theirs = desk.sandbox.world.exchange.addresses.deposit_addresses("desk+1@demo.test", "BTC")[-1].address
    assert (row.address, row.problem) == (theirs, "")
    none = readings.ask_address(sub=desk.sub(), currency="USD", person=desk.admin, now=desk.now)
    readings.fill_address(address_id=none.pk, client_for=keys.client_for, now=desk.now)
    none.refresh_from_db()
    assert none.address == ""
    assert "600" in none.problem


# Freezing and activating ----------------------------------------------------------------------------------------------


def test_a_freeze_is_done_when_it_is_seen(desk):
    (action,) = desk.ask("freeze")
    assert desk.calls() == []
    assert desk.sub().wanted == "frozen"
    row = desk.step(action)
    assert row.state == "accepted"
    assert account_status.difference(desk.sub(), [row]).label == "Freezing"
    row = desk.step(row)
    assert (row.state, row.sub_account.closed_as) == ("done", "frozen")
    assert account_status.status_of(desk.sub()).name == "frozen"
    assert account_status.difference(desk.sub()).label == "As requested"
    assert desk.calls() == [("freeze_subaccounts", True)]
    events = [(event.event, event.to_state) for event in row.events.all()]
    assert events == [("created", "requested"), ("claimed", "sending"), ("accepted", "accepted"), ("seen", "done")]
    held = row.events.get(event="created").evidence["trading"]
    assert held["USD"] == ["5000", "0"]
    assert desk.sub().balances.filter(wallet="trading").exists()
    desk.ahead += timedelta(seconds=1)
    readings.sync(now=desk.now, client_for=keys.client_for)
    assert not desk.sub().balances.filter(wallet="trading").exists()


def test_a_freeze_that_an_earlier_version_confirmed_without_its_reason_is_sent(desk):
    with earlier_version():
        (row,) = desk.ask("freeze")
    assert row.confirmation.digest == row.digest
    assert desk.until(row, "done").answer == "yes"


def test_a_frozen_one_comes_back(desk):
    desk.until(desk.ask("freeze")[0], "done")
    row = desk.until(desk.ask("activate")[0], "done")
    assert (desk.sub().status, desk.sub().closed_as, desk.sub().wanted) == ("active", "", "active")
    assert row.calls.get().outcome == "accepted"
    assert desk.status_at_exchange() == "active"


def test_a_disabled_one_is_found_out_and_never_asked_again(desk):
    row = desk.until(desk.ask("activate", 7004)[0], "refused")
    assert "false" in row.last_problem
    assert account_status.status_of(desk.sub(7004)).name == "disabled"
    assert desk.sub(7004).wanted == ""
    with pytest.raises(workflow.CannotAsk, match="permanent"):
        desk.ask("activate", 7004)
    assert len(desk.calls()) == 1


@pytest.mark.parametrize("kind", ["drop_after", "cut_body", "html"])
def test_an_answer_that_is_lost_is_made_good_by_looking(desk, kind):
    desk.fault("freeze_subaccounts", kind, **({"executes": True} if kind in {"cut_body", "html"} else {}))
    row = desk.step(desk.ask("freeze")[0])
    assert (row.state, row.answer) == ("unknown", "lost")
    assert desk.sub().closed_as == ""
    row = desk.step(row)
    assert (row.state, desk.sub().closed_as) == ("done", "frozen")
    assert len(desk.calls()) == 1


def test_a_freeze_that_did_not_arrive_is_sent_again_and_already_frozen_counts_with_the_sight(desk):
    """The answer is lost and the list lags behind: the freeze is sent again, is told "already", and is then seen."""
    desk.fault("freeze_subaccounts", "drop_after")
    row = desk.step(desk.ask("freeze")[0])
    assert row.state == "unknown"
    real = desk.client_for

    class Lagging:
        """A client whose list is older than what happened."""

        def __init__(self, client):
            self._client = client

        def __getattr__(self, name):
            return getattr(self._client, name)

        def get_subaccounts(self):
            from exchange_ops.wire import records

            return [records.SubAccount(7001, "desk+1@demo.test", "active")]

        def get_subaccount_settings(self, *, ids):
            from exchange_ops.wire import records

            return [records.WithdrawalSetting(True, 7001, None, "Trading")]

    desk.client_for = lambda account, right: Lagging(real(account, right))
    while row.state == "unknown":
        row = desk.step(row)
    assert row.state == "requested"
    row = desk.step(row)
    assert (row.state, row.answer, row.attempt) == ("unknown", "already", 2)
    call = row.calls.last()
    assert (call.outcome, call.http_status, call.error_code) == ("unknown", 500, 500)
    row = desk.step(row)
    assert row.state == "unknown"
    desk.client_for = real
    row = desk.step(row)
    assert (row.state, desk.sub().closed_as) == ("done", "frozen")
    assert desk.calls() == [("freeze_subaccounts", True), ("freeze_subaccounts", False)]


def test_one_that_somebody_else_closed_first_is_not_called_frozen_by_us(desk):
    (action,) = desk.ask("freeze")
    desk.disable(7001)
    row = desk.step(action)
    assert (row.state, row.answer) == ("unknown", "already")
    row = desk.step(row)
    assert (row.state, desk.sub().closed_as) == ("done", "")
    assert account_status.status_of(desk.sub()).name == "closed"


def test_a_freeze_that_never_happens_is_tried_three_times_and_stays_wanted(desk):
    desk.fault("freeze_subaccounts", "drop_before", times=20)
    row = desk.ask("freeze")[0]
    for _ in range(30):
        row = desk.step(row)
        if row.state == "not_done":
            break
    assert (row.state, row.attempt) == ("not_done", 3)
    assert desk.status_at_exchange() == "active"
    assert desk.sub().wanted == "frozen"
    assert account_status.difference(desk.sub()).label == "Differs: freeze requested, not frozen"
    assert SubAccountCall.objects.filter(action=row).count() == 3
    desk.until(desk.ask("activate")[0], "done")
    assert account_status.difference(desk.sub()).label == "As requested"


def test_an_activation_of_unknown_outcome_is_never_sent_again(desk):
    desk.until(desk.ask("freeze")[0], "done")
    desk.fault("activate_subaccounts", "drop_before", times=9)
    row = desk.ask("activate")[0]
    for _ in range(20):
        row = desk.step(row)
        if row.state == "not_done":
            break
    assert (row.state, row.attempt) == ("not_done", 1)
    assert desk.sub().wanted == "frozen"
    assert [name for name, _ in desk.calls("activate_subaccounts")] == ["activate_subaccounts"]


def test_a_worker_that_dies_leaves_an_unknown_outcome_that_is_looked_for(desk):
    class Dead(BaseException):
        """A worker killed after the exchange acted."""

    real = desk.client_for

    class Dying:
        def __init__(self, client):
            self._client = client

        def __getattr__(self, name):
            return getattr(self._client, name)

        def freeze_subaccounts(self, **arguments):
            self._client.freeze_subaccounts(**arguments)
            raise Dead

    desk.client_for = lambda account, right: Dying(real(account, right))
    (action,) = desk.ask("freeze")
    with pytest.raises(Dead):
        desk.step(action)
    desk.client_for = real
    row = desk.step(action)
    assert row.state == "sending"
    row = desk.step(row, give_up=True)
    assert (row.state, row.calls.get().outcome) == ("unknown", "sent")
    assert desk.step(row).state == "done"
    assert len(desk.calls()) == 1


def test_without_a_connection_nothing_is_sent_and_it_is_tried_again(desk, settings):
    address, settings.EXCHANGE_URL = settings.EXCHANGE_URL, "http://127.0.0.1:9"
    row = desk.step(desk.ask("freeze")[0])
    assert (row.state, row.calls.get().outcome) == ("requested", "not_sent")
    settings.EXCHANGE_URL = address
    assert desk.until(row, "done").attempt == 2


def test_without_the_right_to_read_settings_the_list_will_do_after_a_plain_yes_alone(desk, demo_keys):
    for login in ("demo-read", "demo-withdraw"):
        keys.disable(key=demo_keys[login], actor=None, now=desk.now)
    assert desk.until(desk.ask("freeze")[0], "done").answer == "yes"
    desk.fault("activate_subaccounts", "drop_after")
    row = desk.step(desk.ask("activate")[0])
    for _ in range(4):
        row = desk.step(row)
    assert (row.state, desk.sub().status) == ("unknown", "active")
    assert "Payment information" in row.last_problem


def test_a_list_and_settings_that_disagree_prove_nothing(desk):
    """Listed as active without any settings is neither frozen nor active: a freeze is neither done nor repeated."""
    desk.fault("freeze_subaccounts", "drop_before", times=3)
    row = desk.step(desk.ask("freeze")[0])
    real = desk.client_for

    class Torn:
        def __init__(self, client):
            self._client = client

        def __getattr__(self, name):
            return getattr(self._client, name)

        def get_subaccount_settings(self, *, ids):
            return []

    desk.client_for = lambda account, right: Torn(real(account, right))
    for _ in range(6):
        row = desk.step(row)
    assert (row.state, row.attempt) == ("unknown", 1)
    assert "unclear" in row.last_problem
    row = desk.step(row, later=timedelta(minutes=10))
    assert (row.state, row.attempt) == ("not_done", 1)


def test_a_known_refusal_ends_it(desk):
    desk.fault("freeze_subaccounts", "refuse", code=1003)
    row = desk.step(desk.ask("freeze")[0])
    assert (row.state, row.calls.get().error_code) == ("refused", 1003)
    assert desk.sub().wanted == "frozen"
    assert account_status.difference(desk.sub()).tone == "bad"


def test_several_have_an_outcome_each(desk):
    desk.disable(7002)
    rows = desk.ask("freeze", 7003, 7001, 7002)
    assert [row.sub_account.exchange_id for row in rows] == [7001, 7002, 7003]
    assert len({row.confirmation_id for row in rows}) == 1
    workflow.sweep(now=desk.now + timedelta(seconds=1), client_for=keys.client_for)
    ended = [desk.until(row, "done") for row in rows]
    assert [row.answer for row in ended] == ["yes", "already", "yes"]
    assert [desk.sub(number).closed_as for number in (7001, 7002, 7003)] == ["frozen", "", "frozen"]


# Settings -------------------------------------------------------------------------------------------------------------


def test_only_what_differs_of_the_settings_is_sent_and_then_seen(desk):
    row = desk.ask_settings(description="Trading")
    assert (row.wanted_payout, row.wanted_description) == (False, None)
    assert account_status.difference(desk.sub(), [row]).label == "Changing settings"
    row = desk.until(row, "done")
    assert (desk.sub().payout_enabled, desk.sub().description) == (False, "Trading")
    theirs = desk.theirs()
    assert (theirs.is_payout_enabled, theirs.description) == (False, "Trading")
    assert account_status.difference(desk.sub()).tone == "quiet"


def test_settings_changed_elsewhere_differ_until_they_are_asked_for_again_or_wanted_so(desk):
    desk.until(desk.ask_settings(description="Ours"), "done")
    desk.sandbox.inside(lambda: setattr(desk.theirs(), "description", "Theirs"))
    desk.read()
    assert account_status.difference(desk.sub()).label == "Settings differ"
    row = desk.ask_settings(description="Theirs")
    assert (row.wanted_payout, row.wanted_description) == (None, "Theirs")
    desk.until(row, "done")
    assert account_status.difference(desk.sub()).tone == "quiet"


def test_a_used_key_with_other_settings_is_refused(desk):
    first = desk.ask_settings(request_key="one")
    assert desk.ask_settings(request_key="one").pk == first.pk
    for changes in ({"payout_enabled": True}, {"description": "Other words"}, {"reason": "Another"}):
        with pytest.raises(workflow.CannotAsk, match="already submitted with different content"):
            desk.ask_settings(request_key="one", **changes)
    assert SubAccountAction.objects.count() == 1


def test_settings_that_a_freeze_overtakes_are_refused_and_given_up(desk):
    row = desk.ask_settings(description="Nobody's")
    frozen = desk.until(desk.ask("freeze")[0], "done")
    assert frozen.state == "done"
    row = desk.step(row)
    assert (row.state, row.calls.get().error_code) == ("refused", 10021)
    assert (desk.sub().wanted_payout, desk.sub().wanted_description) == (None, None)


@pytest.mark.parametrize("description", ["x" * 256, "two\nlines", "\0", "a\u202eb"])
def test_a_description_out_of_bounds_is_refused(desk, description):
    with pytest.raises(workflow.CannotAsk) as refused:
        desk.ask_settings(description=description)
    assert "255" in refused.value.problems["description"]
    assert not SubAccountAction.objects.exists()


def test_settings_that_are_so_already_are_refused(desk):
    with pytest.raises(workflow.CannotAsk, match="current settings"):
        desk.ask_settings(payout_enabled=True)


# What is refused here first -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "number", "words"),
    [
        ("freeze", 7004, "already frozen or disabled"),
        ("activate", 7001, "already active"),
        ("activate", 7003, "never been frozen"),
        ("freeze", 9999, "Sub-account not found: 9999"),
    ],
)
def test_what_the_exchange_would_refuse_is_refused_here(desk, kind, number, words):
    with pytest.raises(workflow.CannotAsk, match=words):
        desk.ask(kind, number)
    assert not SubAccountAction.objects.exists()
    assert desk.calls() == []


def test_one_of_several_that_can_not_be_frozen_stops_them_all(desk):
    with pytest.raises(workflow.CannotAsk, match="7004"):
        desk.ask("freeze", 7001, 7004)
    assert not SubAccountAction.objects.exists()


def test_settings_of_a_closed_one_are_refused_here(desk):
    with pytest.raises(workflow.CannotAsk, match="7004 is frozen or disabled"):
        desk.ask_settings(7004)


def test_what_changed_since_the_page_was_drawn_is_not_decided(desk):
    seen = account_status.digest_of("freeze", [desk.sub()])
    desk.until(desk.ask_settings(description="Other words"), "done")
    with pytest.raises(workflow.CannotAsk, match="changed after"):
        desk.ask("freeze", digest=seen)


@pytest.mark.parametrize("role", ["operator", "treasury", "auditor"])
def test_only_admins_act(desk, make_person, role):
    person = make_person(role)
    totp.enrol(person, TOTP_SECRET)
    for ask in (desk.ask, desk.ask_settings):
        with pytest.raises(workflow.CannotAsk, match="Only administrators"):
            ask(person=person)
    assert not SubAccountAction.objects.exists()


@pytest.mark.parametrize("answer", [{"kind": "totp", "code": "000000"}, {"kind": "totp", "code": "x"}, {}, None])
def test_without_a_second_factor_nothing_is_recorded(desk, answer):
    with pytest.raises(stepup.CannotConfirm):
        desk.ask("freeze", answer=answer)
    assert not SubAccountAction.objects.exists()
    assert desk.sub().wanted == ""


@pytest.mark.parametrize(("changes", "field"), [({"reason": " "}, "reason"), ({"reason": "x" * 501}, "reason")])
def test_a_reason_is_needed(desk, changes, field):
    with pytest.raises(workflow.CannotAsk) as refused:
        desk.ask("freeze", **changes)
    assert list(refused.value.problems) == [field]


def test_nothing_chosen_and_too_many_are_refused(desk):
    with pytest.raises(workflow.CannotAsk, match="at least one"):
        desk.ask("freeze", exchange_ids=[])
    with pytest.raises(workflow.CannotAsk, match="at most 50"):
        desk.ask("freeze", exchange_ids=range(1, 52))


def test_the_same_form_twice_is_one_request(desk):
    first = desk.ask("freeze", request_key="one")
    second = desk.ask("freeze", request_key="one", answer={"kind": "totp", "code": "000000"})
    assert [row.pk for row in first] == [row.pk for row in second]
    for numbers, changes in (((7002,), {}), ((7001,), {"reason": "Another"})):
        with pytest.raises(workflow.CannotAsk, match="already submitted with different content"):
            desk.ask("freeze", *numbers, request_key="one", **changes)
    with pytest.raises(workflow.CannotAsk, match="in progress"):
        desk.ask("freeze")
    assert SubAccountAction.objects.count() == 1


def test_an_activation_does_not_overtake_a_freeze_but_a_freeze_may_wait_behind_an_activation(desk):
    frozen = desk.ask("freeze")[0]
    with pytest.raises(workflow.CannotAsk, match="being frozen"):
        desk.ask("activate")
    desk.until(frozen, "done")
    desk.fault("activate_subaccounts", "drop_after")
    back = desk.step(desk.ask("activate")[0])
    assert back.state == "unknown"
    again = desk.step(desk.ask("freeze")[0])
    assert (again.state, again.attempt) == ("requested", 0)
    assert "Waiting for another request" in again.last_problem
    assert desk.step(back).state == "done"
    assert desk.until(again, "done").attempt == 1
    assert desk.status_at_exchange() == "frozen"


def test_a_request_is_taken_back_before_it_is_sent_and_never_after(desk, make_person):
    (action,) = desk.ask("freeze")
    with pytest.raises(workflow.CannotAsk, match="Only administrators"):
        workflow.take_back(action_id=action.pk, person=make_person("auditor"), now=desk.now)
    row = workflow.take_back(action_id=action.pk, person=desk.admin, now=desk.now)
    assert (row.state, desk.sub().wanted) == ("cancelled", "")
    sent = desk.step(desk.ask("freeze")[0])
    with pytest.raises(workflow.CannotAsk, match="Too late to withdraw"):
        workflow.take_back(action_id=sent.pk, person=desk.admin, now=desk.now)
    assert len(desk.calls()) == 1


# The machine ----------------------------------------------------------------------------------------------------------


def test_of_two_workers_one_sends(desk):
    (action,) = desk.ask("freeze")
    first, second = (SubAccountAction.objects.select_related("sub_account__account").get(pk=action.pk) for _ in "ab")
    workflow._STEPS["requested"](first, now=desk.now, client_for=keys.client_for)
    with pytest.raises(machine.CannotMove):
        workflow._STEPS["requested"](second, now=desk.now, client_for=keys.client_for)
    assert len(desk.calls()) == 1


def test_the_table_is_whole():
    from desk.machines.table import Turn

    moves = {(move.source, move.event, move.target) for move in states.TRANSITIONS}
    assert len(moves) == len(states.TRANSITIONS)
    for name, state in states.STATES.items():
        leaves = [move for move in states.TRANSITIONS if move.source == name]
        assert bool(leaves) != state.terminal, name
        assert state.terminal == (state.turn == Turn.NOBODY), name
        assert state.terminal == (name not in states.OPEN_STATES), name
    assert {move.target for move in states.TRANSITIONS} == set(states.STATES)


def test_a_move_that_is_not_in_the_table_is_refused(desk):
    (action,) = desk.ask("freeze")
    with pytest.raises(machine.CannotMove):
        machine.move(action, event="seen", to="done", now=desk.now)
    assert action.state == "requested"


def test_the_database_refuses_what_goes_past_the_mover(desk):
    (action,) = desk.ask("freeze")
    row = SubAccountAction.objects.filter(pk=action.pk)
    for change in ({"state": "done"}, {"version": 2}, {"reason": "Another"}, {"wanted_payout": True}):
        with pytest.raises(DatabaseError), transaction.atomic():
            row.update(**change)
    for delete in (row.delete, action.events.all().delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            delete()
    with pytest.raises(DatabaseError), transaction.atomic():
        action.events.update(event="seen")


def test_every_move_is_in_the_trail(desk):
    row = desk.until(desk.ask("freeze")[0], "done")
    trail = AuditEvent.objects.filter(subject="subaccount:7001").order_by("seq")
    names = [event.action for event in trail]
    assert names == [f"subaccount.freeze_{name}" for name in ("created", "claimed", "accepted", "seen")]
    assert trail[0].actor_id == desk.admin.pk
    assert [event.audit_number for event in row.events.all()] == [event.seq for event in trail]
    assert not audit_check.verify(replay=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": "refused"}, "state is 'refused' in the table but 'done' in the trail"),
        ({"reason": "Another"}, "reason is 'Another' in the table"),
        ({"answer": "lost"}, "answer is 'lost' in the table but 'yes' in the trail"),
    ],
)
def test_a_change_behind_the_movers_back_shows_in_the_replay(desk, change, words):
    row = desk.until(desk.ask("freeze")[0], "done")
    desk.ask_settings(7002, payout_enabled=True)
    machine.GUARDS.remove(connection)
    try:
        SubAccountAction.objects.filter(pk=row.pk).update(**change)
        SubAccountEvent.objects.filter(action=row.pk, version=2).delete()
    finally:
        machine.GUARDS.install(connection)
    found = audit_check.verify(replay=True)
    assert len(found) == 2
    assert words in found[0]
    assert "version 2: its event does not match the trail" in found[1]
