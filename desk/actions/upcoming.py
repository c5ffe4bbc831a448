"""The next request that a person can decide on, offered after a decision."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from desk import rooms

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A request that waits for the person: its row, and the address of its page."""

    row: Any
    url: str


def upcoming(person: "Person", scope: str) -> Upcoming | None:
    """The next request that waits for this person: of the first machine that has any, the one that closes first.

    With a `scope` it is of that account, so that its address is one of the pages that the person is on.
    """
    at_account = {"account": int(scope)} if scope else {}
    for each in rooms.approvals():
        if row := each.waiting().for_person(person).filter(**at_account).first():
            return Upcoming(row, reverse(each.page, args=[row.pk]))
    return None


def after(person: "Person", row: Any, words: Iterable[Any]) -> Upcoming | None:
    """The next request of the same account, on the page of one with these votes: for those who gave one of them."""
    return upcoming(person, row.scope) if any(word.person_id == person.pk for word in words) else None
