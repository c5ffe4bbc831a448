"""What about the chain a person has to look at."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from chaindata import health
from chaindata.watching import kinds as watching
from desk.incidents.kinds import Cause, Kind, Severity
from desk.people import roles

CHAIN_LATE: Final = "chain-late"


def _late(now: datetime, key: str) -> Iterator[Cause]:
    found = health.chain()
    if not found.ok:
        yield Cause("chain", found.sentence, "system")


KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        CHAIN_LATE,
        "Chain out of date",
        Severity.MEDIUM,
        (roles.OPERATOR, roles.TREASURY, roles.ADMIN),
        _late,
        settles=timedelta(seconds=45),  # the slowest reading of the tip has come round twice
    ),
    *watching.KINDS,
)
