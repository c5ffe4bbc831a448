"""What a browser may follow about the chain: hints only, for everybody with a role."""

from typing import TYPE_CHECKING

from desk import rooms
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def _may_see(person: "Person") -> bool:
    return person.has_role(*roles.ALL)


TOPICS: dict[str, rooms.MayFollow] = {
    "chain": lambda person, key: key == "tip" and _may_see(person),
    "chain-broadcast": lambda person, key: key.isascii() and key.isdigit() and _may_see(person),
    "chain-broadcasts": lambda person, key: not key and _may_see(person),
    "watched-address": lambda person, key: key.isascii() and key.isdigit() and _may_see(person),
    "watched-addresses": lambda person, key: not key and _may_see(person),
    "chain-answer": lambda person, key: bool(key) and _may_see(person),
}
