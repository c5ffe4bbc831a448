"""The words for the events of watched addresses in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words, short


def _address(facts: Facts) -> str:
    return f"{facts.get('title', '')} {short(str(facts.get('address', '')))}".strip()


ADDRESSES: Final = Words(
    name="watched-address",
    title="Watched addresses",
    noun="watched address",
    mark="A-",
    first=("began",),
    content=_address,
    sentences={"began": "{who} added {it}.", "stopped": "{who} stopped watching {it}."},
)
MOVEMENTS: Final = Words(
    name="chain-movement",
    title="Movements on watched addresses",
    noun="movement",
    mark="CM-",
    first=("seen",),
    content=lambda facts: f"{facts.get('change_sat', '')} sat",
    sentences={"seen": "{who} recorded {it}.", "reviewed": "{who} reviewed {it}."},
)
WORDS: Final = (ADDRESSES, MOVEMENTS)
