"""The boxes that a person ticks on a ticket: one for each overstep that has to be confirmed by name."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from exchange_ops.policy.modes import APPROVE, CONFIRM
from exchange_ops.policy.oversteps import Overstep


@dataclass(frozen=True, slots=True)
class Tick:
    """One line of the ticket. `token` is sent when the box is ticked; `is_ticked`: it was, for at least this size.

    `approval`: there is no box, because somebody else has to agree.
    """

    label: str
    sentence: str
    token: str
    is_ticked: bool = False
    approval: bool = False


def ticks(oversteps: Iterable[Overstep], confirmed: Collection[str]) -> list[Tick]:
    """The lines, without what is refused. A tick that covers the present size keeps the token it was ticked with."""
    lines = []
    for each in oversteps:
        if each.beyond not in {CONFIRM, APPROVE}:
            continue
        earlier = each.confirmed_by(confirmed)
        lines.append(Tick(each.label, each.sentence, earlier or each.token, bool(earlier), each.beyond == APPROVE))
    return lines
