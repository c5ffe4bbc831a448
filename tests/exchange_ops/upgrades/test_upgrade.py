"""An upgrade, of a database that an earlier version made by itself: rows in every state of every machine.

What people had decided stands, nothing is frozen, released, paid or reported for the upgrade alone, the audit trail is
intact, every page opens, and what was under way goes on: nothing is paid twice, or without approvals that count here.
The recordings, and how one is made, are described in `recording.py` and in docs/recipes.md.
"""

import pytest
from django.apps import apps

from desk import audit_check
from desk.incidents import kinds
from desk.incidents.models import Incident
from desk.models import Person
from desk.people import roles
from exchange_ops.policy.models import Freeze
from exchange_ops.subaccounts.models import SubAccount
from tests.desk.machines.test_tables import MACHINES
from tests.exchange_ops.pages.test_routes import ADDRESSES, MATRIX
from tests.exchange_ops.permissions.test_object_states import SUBJECTS
from tests.exchange_ops.upgrades import company

# States that a recording can't have, with the reason.
NOT_RECORDED = {
    ("desk.restore", "open"): "while one is open nothing is sent, and the recording is about what is sent",
}


def active_freezes():
    return set(Freeze.objects.filter(thawed_at=None).values_list("pk", flat=True))


def states_of(machine):
    return dict(machine.model._base_manager.values_list("pk", "state"))


@pytest.mark.every(3, "all migrations from the recorded version on")
def test_rows_stay_as_they_were_and_every_state_is_known(upgraded):
    for machine in MACHINES.values():
        label = machine.model._meta.label_lower
        if label not in upgraded.tables:  # a machine that the recorded version did not have
            assert not states_of(machine), label
            continue
        recorded = upgraded.states(label)
        assert states_of(machine) == recorded, label
        known = set(machine.table.states)
        assert set(recorded.values()) <= known, label
        missing = {(label, state) for state in known - set(recorded.values())}
        assert missing <= set(NOT_RECORDED), missing
    for label, table in upgraded.tables.items():
        assert apps.get_model(label)._base_manager.count() >= len(table.rows), label
    assert audit_check.verify(replay=True) == []


@pytest.mark.thorough("all migrations from the recorded version on, with the row test beside it in every third commit")
def test_nothing_is_frozen_released_or_reported_for_the_upgrade_alone(upgraded):
    frozen, states = active_freezes(), {name: states_of(machine) for name, machine in MACHINES.items()}
    company.run("exchange_ops.review_incidents")
    known = {row[0] for row in upgraded.tables["desk.incident"].rows}
    late = {name for name, kind in kinds.every().items() if kind.grace_period}  # no process runs here
    new = Incident.objects.exclude(pk__in=known).exclude(kind__in=late)
    assert [row.last_problem for row in new] == []
    assert active_freezes() == frozen
    del states["incident"]  # what was only late in the recorded version is over
    assert {name: states_of(MACHINES[name]) for name in states} == states


def pages_of_rows():
    """The page of every row that has one, with the roles that open it."""
    machines = {id(machine.table.states): machine.model for machine in MACHINES.values()}
    others = {"person": Person, "sub-account": SubAccount}
    for subject in SUBJECTS:
        model = machines.get(id(subject.states)) or others.get(subject.name)
        for row in model._base_manager.order_by("pk") if model else ():
            for name, who in subject.reads.items():
                if not name.startswith("api-"):
                    yield subject.path(row, name), who


def lists():
    """Every page that is about no single row, with the roles that open it."""
    for name, path in ADDRESSES.items():
        if "{key}" not in path and name in MATRIX and not name.startswith("api-") and name != "market-older":
            yield path, MATRIX[name][0]


@pytest.mark.thorough("a page for every row that was recorded")
@pytest.mark.parametrize("role", [roles.ADMIN, roles.TREASURY])
def test_every_page_opens(upgraded, exchange, signed_in, role):
    client = signed_in(Person.objects.get(username={roles.ADMIN: "second-admin"}.get(role, "treasury")))
    paths = {path for path, who in (*pages_of_rows(), *lists()) if role in who}
    answers = {path: client.get(path, follow=True).status_code for path in sorted(paths)}
    assert {path: status for path, status in answers.items() if status != 200} == {}
    assert len(paths) > 100
