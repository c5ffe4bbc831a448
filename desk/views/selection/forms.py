"""What the review of a selection sends: a list of requests in the order shown, each ticked or not, with a verdict."""

from dataclasses import dataclass
from typing import Any, Final

from django import forms

from desk.actions import selection
from desk.actions.selection import Card
from desk.forms import SecondFactorForm
from desk.machines.votes import LONGEST_COMMENT
from desk.models import Person
from desk.people.signing.signed_lists import APPROVE, REJECT, Decision

_MOST_LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class Item:
    """One request on the page: its card, and what was chosen for it so far."""

    card: Card
    is_ticked: bool
    verdict: str
    comment: str


class SelectionForm(SecondFactorForm):
    """The decisions of a review with one second factor. `mark` says what the page showed."""

    mark = forms.CharField(widget=forms.HiddenInput)

    @property
    def subjects(self) -> list[str]:
        """The requests of the page, in its order."""
        subjects: list[str] = self._data.getlist("subject")[:_MOST_LISTED]
        return subjects

    def decisions(self, person: Person) -> list[Decision]:
        """This person's decisions on the ticked requests, in the order of the page."""
        purposes = selection.purposes(person, self._data.get("mark", ""))
        return [self._decision(each, purposes.get(each, "")) for each in self.subjects if self.is_ticked(each)]

    def is_ticked(self, subject: str) -> bool:
        """Whether the person decides on it."""
        return f"tick-{subject}" in self._data

    def item(self, card: Card) -> Item:
        """The card with what was chosen for it."""
        subject = card.row.subject
        return Item(card, self.is_ticked(subject), self._text("verdict", subject), self._text("reason", subject))

    def _decision(self, subject: str, purpose: str) -> Decision:
        verdict = self._text("verdict", subject)
        digest = self._text("digest", subject)[:64]
        return Decision(subject, purpose, digest, verdict, self._text("reason", subject).strip()[:LONGEST_COMMENT])

    def _text(self, name: str, subject: str) -> str:
        return str(self._data.get(f"{name}-{subject}", ""))

    @property
    def _data(self) -> Any:
        return self.data


def untouched(card: Card) -> Item:
    """The card before anything was chosen: not ticked, so that each decision is made on purpose."""
    return Item(card, False, APPROVE if not card.why_not else REJECT, "")
