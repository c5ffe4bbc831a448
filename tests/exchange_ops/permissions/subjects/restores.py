"""Who settles a restore: treasury of the whole desk."""

from typing import Any

from desk.people import roles
from desk.restores import states
from desk.restores.models import Restore
from tests.exchange_ops.permissions.shared_form import Subject, signed
from tests.exchange_ops.restores import restore_rows


def restore(state: str, person: Any) -> Restore:
    """A restore in the state, with nothing that waits."""
    row = restore_rows.opened()
    return row if state == states.OPEN else restore_rows.settled(row)


RESTORES = Subject(
    name="restore",
    states=states.STATES,
    reach=restore,
    routes={"restore": lambda row: signed(row, digest=restore_rows.word(row)["digest"])},
    goes_through={(states.OPEN, "restore"): {roles.TREASURY}},
    reads={"restore": roles.ALL},
    topic=lambda row: f"restore:{row.pk}",
)
