"""Every route that acts on a row, by everybody, in every state the row can be in; and who is shown the row at all.

The states are those that the machines declare, and the routes those that the desk has: one that no subject names fails.
"""

import pytest
from django.contrib.auth.models import Group

from desk.people import roles
from exchange_ops.orders.states import TABLE as ORDERS_TABLE
from tests.desk.machines.test_tables import ADDRESS_REQUESTS, BROADCASTS, MACHINES
from tests.exchange_ops.pages.test_routes import ADDRESSES, MATRIX
from tests.exchange_ops.permissions.shared_form import (
    NEWCOMER,
    Cast,
    got_through,
    looking,
    steps,
    tried,
    viewers_of,
    who_reads,
)
from tests.exchange_ops.permissions.subjects.incident_rows import INCIDENTS
from tests.exchange_ops.permissions.subjects.members import CHANGES_OF_MEMBERS, MEMBERS, ONESELF
from tests.exchange_ops.permissions.subjects.payees import PAYEES
from tests.exchange_ops.permissions.subjects.payouts import PAYOUTS
from tests.exchange_ops.permissions.subjects.restores import RESTORES
from tests.exchange_ops.permissions.subjects.rule_changes import RULE_CHANGES
from tests.exchange_ops.permissions.subjects.sub_accounts import SUB_ACCOUNT_ACTIONS, SUB_ACCOUNTS
from tests.exchange_ops.permissions.subjects.trading import BRACKETS, MARGIN_ACTIONS, ORDERS
from tests.exchange_ops.permissions.subjects.transfers import TRANSFERS
from tests.exchange_ops.permissions.subjects.watching import MOVEMENTS, WATCHED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SUBJECTS = (
    PAYOUTS,
    TRANSFERS,
    RULE_CHANGES,
    PAYEES,
    MEMBERS,
    ONESELF,
    CHANGES_OF_MEMBERS,
    *INCIDENTS,
    SUB_ACCOUNTS,
    SUB_ACCOUNT_ACTIONS,
    ORDERS,
    BRACKETS,
    MARGIN_ACTIONS,
    WATCHED,
    MOVEMENTS,
    RESTORES,
)


def runs_every_time(subject, state):
    """Which states run in every `make test`: all those of payouts and transfers, and any in which a role may act."""
    acted_on = {each for (each, _), who in subject.goes_through.items() if who}
    return subject in (PAYOUTS, TRANSFERS) or state in acted_on


CASES = [
    pytest.param(
        subject,
        state,
        id=f"{subject.name}, {state}",
        marks=()
        if runs_every_time(subject, state)
        else pytest.mark.thorough("nobody gets through in this state, and no money moves by these routes"),
    )
    for subject in SUBJECTS
    for state in subject.states
]


def in_some_states(subject):
    """Its first, its last and one between: who is shown a row hangs on what it is, and seldom on its state."""
    states = list(subject.states)
    return {states[0], states[len(states) // 2], states[-1]}


SEEN_ROWS = [
    pytest.param(
        subject,
        state,
        id=f"{subject.name}, {state}",
        marks=() if state in in_some_states(subject) else pytest.mark.thorough("the subject is shown in other states"),
    )
    for subject in SUBJECTS
    for state in subject.states
]
# Routes about a row that has no states, or whose only state is that it is there: who gets in is said in `MATRIX`.
WITHOUT_STATES = {
    "channel-end": "a channel is there or not",
    "channel-turn": "a channel is there or not",
    "delivery-again": "a message: an administrator's, whatever came of it",
    "key-disable": "keys are an administrator's; their rotation has tests of its own (keys/test_rotation.py)",
    "key-finish": "as key-disable",
    "key-go-back": "as key-disable",
    "key-probe": "as key-disable",
    "key-rotate": "as key-disable",
    "key-switch": "as key-disable",
    "ledger-record-choose": "waits or is settled; who chooses, and how many, is in ledger/test_settling.py",
    "list-saved-change": "a saved filter: one's own",
    "payout-schedule-new": "as payout-template-save: of a template; it requests nothing yet",
    "payout-schedule-skip": "goes on or has ended; who skips is in withdrawals/schedules/test_schedules.py",
    "payout-schedule-end": "as payout-schedule-skip",
    "payout-template-remove": "a template is there or not",
    "payout-template-save": "copies the content of a payout in whatever state; it requests nothing",
    "person-colleague": "confirmed or not; who confirms is in desk/staff/test_colleagues.py",
    "person-session-end": "a session is there or not",
    "person-token-revoke": "a token is there or not",
    "subaccount-address": "asks for a reading, whatever it stands at",
    "thaw": "a freeze in force; who ends it is in policy/test_freezes.py",
    "wide-freeze-lift": "as thaw; who lifts it is in policy/test_freeze_scopes.py",
    "thread": "a comment decides nothing",
    "thread-files": "a file decides nothing",
    "thread-take": "taking something decides nothing",
    "token-revoke": "one's own",
}
# Machines whose rows nobody acts on by a route.
NOT_ACTED_ON = {ADDRESS_REQUESTS.model.name, BROADCASTS.model.name}


@pytest.fixture
def cast(make_person, settings):
    """A desk that is no demo: two administrators change a person. Factors count at once."""
    settings.DEMO = False
    for role in roles.ALL:
        Group.objects.get_or_create(name=role)
    return Cast(make_person)


@pytest.mark.every(3, "a product of states, roles and actions; the rules have their own tests")
@pytest.mark.parametrize(("subject", "state"), CASES)
def test_who_gets_through_in_which_state(subject, state, cast):
    expected = {route: set(subject.goes_through.get((state, route), ())) for route in subject.routes}
    expected = {route: who & tried(subject, state, route) for route, who in expected.items()}
    assert got_through(subject, cast, state) == expected


@pytest.mark.parametrize(("subject", "state"), SEEN_ROWS)
def test_who_is_shown_it_in_which_state(subject, state, cast):
    expected = {read: who & looking(subject, state, read) for read, who in viewers_of(subject).items()}
    assert who_reads(subject, cast, state) == expected


def acting():
    """Every address that takes a POST about one row."""
    of_rows = {name for name, path in ADDRESSES.items() if "{key}" in path}
    return {name for name in of_rows if name in MATRIX and MATRIX[name][1]}


def test_every_route_that_acts_on_a_row_is_named_here():
    named = {route.partition(":")[0] for subject in SUBJECTS for route in subject.routes}
    by_ids = {"subaccount-freeze", "subaccount-activate"}  # several at once: their ids are in the form
    assert named - by_ids == acting() - set(WITHOUT_STATES)
    assert set(WITHOUT_STATES) <= acting(), "what is no route any more"
    assert not named & set(WITHOUT_STATES)


def test_every_machine_has_a_subject_with_all_its_states():
    machines = {id(machine.table.states): name for name, machine in MACHINES.items()}
    named = {machines.get(id(subject.states)) for subject in SUBJECTS} - {None}
    assert named == set(MACHINES) - NOT_ACTED_ON


def test_what_a_subject_says_is_about_its_own_states_routes_and_people():
    for subject in SUBJECTS:
        for (state, route), people in subject.goes_through.items():
            assert state in subject.states, (subject.name, state)
            assert route in subject.routes, (subject.name, route)
            assert set(people) <= set(subject.people) - {NEWCOMER}, (subject.name, state, route)


def test_a_state_that_nobody_brought_rows_into_fails():
    """The walk follows declared moves alone."""
    with pytest.raises(AssertionError, match="no way leads"):
        steps(ORDERS_TABLE, "placed", "requested")
