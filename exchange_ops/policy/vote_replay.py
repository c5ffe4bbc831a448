"""Counting approvals again from the audit trail: every quorum that was reached, and every stored vote.

The event of an approval names its second factor. The second factor has to be genuine and belong to the person who
acted, for this purpose and content. As many different people have to have approved as were needed, of every approval
group as many as the trail says the row needed, and the stored votes and the events have to name the same second
factors. Second factors older than their own authentication codes are vouched for by the first row entry
(`witness_chain.confirmations_before`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from desk import sealing
from desk.audit import witness_chain
from desk.models import StepUp
from desk.people import stepup
from desk.people.signing import signed_lists
from exchange_ops.policy import freezes
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.policy.models import Freeze, ThawVote

if TYPE_CHECKING:
    from desk.models import AuditEvent

COUNTED = frozenset({"approval_recorded", "quorum_reached"})


@dataclass
class Confirmations:
    """The stored second factors, read once."""

    @cached_property
    def _rows(self) -> dict[int, StepUp]:
        return StepUp.objects.select_related("signed_with").in_bulk()

    @cached_property
    def _old(self) -> int:
        return witness_chain.confirmations_before()

    @cached_property
    def _check(self) -> sealing.Check:
        return sealing.checker(context=stepup.MAC_CONTEXT)

    @cached_property
    def _genuine(self) -> dict[int, bool]:
        return {}

    def prove(
        self,
        number: Any,
        *,
        person_id: int | None,
        purpose: str | tuple[str, ...],
        digest: str | None = None,
        comment: str | None = None,
    ) -> bool:
        """Whether this second factor is genuine, and that person's, for that purpose (or one of those) and digest.

        Without a digest for any. With a `comment` only where no other one was signed.
        """
        row, purposes = self._rows.get(number), (purpose,) if isinstance(purpose, str) else purpose
        if row is None or row.person_id != person_id or row.purpose not in purposes:
            return False
        if digest not in {None, row.digest} or (comment is not None and not signed_lists.has_comment(row, comment)):
            return False
        if number not in self._genuine:
            is_old = row.mac is None and row.pk <= self._old
            self._genuine[number] = is_old or stepup.is_genuine(row, check=self._check)
        return self._genuine[number]


@dataclass
class Votes:
    """One machine's votes, in its events and its table; `owner` is the column with the key of the row voted on."""

    mark: str
    words: type[Any]
    owner: str
    purposes: Mapping[str, str | tuple[str, ...]]
    """The purpose, or one of the purposes, that the second factor of each event and each stage needs."""
    confirmations: Confirmations = field(default_factory=Confirmations)
    _event_names: dict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    _people: dict[tuple[int, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    _needs: dict[int, group_needs.Stored] = field(default_factory=dict)

    def note(self, event: "AuditEvent", name: str, number: int, after: Mapping[str, Any]) -> Iterator[str]:
        """Add one event; a sentence for each approval that it counts wrongly."""
        evidence = after.get("evidence") or {}
        if "group_needs" in after:
            self._needs[number] = after["group_needs"]
        confirmation = evidence.get("step_up")
        if confirmation is None or name not in self.purposes:
            if name in COUNTED:
                yield f"Event {event.seq}: {self.mark}-{number} counts an approval without a second factor."
            return
        digest = evidence.get("digest") if name in COUNTED else None
        self._event_names[number][confirmation] = name
        if not self.confirmations.prove(
            confirmation, person_id=event.actor_id, purpose=self.purposes[name], digest=digest
        ):
            yield (
                f"Event {event.seq}: {self.mark}-{number} relies on second-factor confirmation {confirmation}, "
                "which does not cover this action."
            )
        elif name in COUNTED:
            self._people[number, str(digest)].add(event.actor_id or 0)
        if name == "quorum_reached":
            yield from self._counted(event.seq, number, str(digest), max(int(evidence["needed"]), 1))

    def _counted(self, seq: int, number: int, digest: str, needed: int) -> Iterator[str]:
        people = self._people[number, digest]
        tally = Tally(group_needs.from_json(self._needs.get(number)), needed, frozenset(people))
        if len(people) < needed:
            yield f"Event {seq}: {self.mark}-{number} needed {needed} approvals but has {len(people)}."
        elif tally.missing:
            yield f"Event {seq}: {self.mark}-{number} was approved without {tally.missing}."

    def compare(self) -> Iterator[str]:
        """A sentence for every stored vote without an event or without proof, and for every vote that is missing."""
        stored: dict[int, set[int]] = defaultdict(set)
        for word in self.words.objects.exclude(confirmation=None).order_by("pk").iterator(chunk_size=1000):
            number = getattr(word, self.owner)
            stored[number].add(word.confirmation_id)
            which = f"{self.words._meta.verbose_name.capitalize()} {word.pk} of {self.mark}-{number}"
            digest, comment = (word.digest, word.comment) if word.stage != "resolution" else (None, None)
            purpose = self.purposes.get(word.stage, "")
            if word.confirmation_id not in self._event_names[number]:
                yield f"{which} is in the database but not in the audit trail."
            elif not self.confirmations.prove(
                word.confirmation_id, person_id=word.person_id, purpose=purpose, digest=digest, comment=comment
            ):
                yield (
                    f"{which} relies on second-factor confirmation {word.confirmation_id}, which does not "
                    "cover this action."
                )
        for number, by_events in self._event_names.items():
            for confirmation in sorted(by_events.keys() - stored[number]):
                if by_events[confirmation] not in {"closed", "issued_anew"}:  # these store no vote beside the event
                    yield (
                        f"{self.mark}-{number}: the decision with second-factor confirmation {confirmation} is missing."
                    )


def check_freezes(events: Iterator["AuditEvent"]) -> Iterator[str]:
    """Check that every freeze that ended has the votes of two people, and that its row agrees with its events."""
    confirmations, agreed, ended = Confirmations(), defaultdict(set), set()
    for event in events:
        number, name = int(event.subject.split(":", 1)[1]), event.action.removeprefix("freeze.")
        if name not in {"thaw_agreed", "thawed"}:
            continue
        confirmation = event.after.get("step_up")
        if confirmations.prove(confirmation, person_id=event.actor_id, purpose=freezes.PURPOSE):
            agreed[number].add(event.actor_id)
        else:
            yield (
                f"Event {event.seq}: freeze {number} relies on second-factor confirmation {confirmation}, "
                "which does not cover this action."
            )
        if name == "thawed":
            ended.add(number)
            if len(agreed[number]) < freezes.VOTES_TO_THAW:
                yield f"Event {event.seq}: freeze {number} was lifted with too few votes: {len(agreed[number])}."
    for row in Freeze.objects.order_by("pk"):
        if (row.thawed_at is not None) != (row.pk in ended):
            here, there = ("lifted", "open") if row.thawed_at else ("open", "lifted")
            yield f"Freeze {row.pk} is {here} in the database but {there} in the audit trail."
    for vote in ThawVote.objects.order_by("pk"):
        if vote.person_id not in agreed[vote.freeze_id]:
            yield f"Vote {vote.pk} on lifting a freeze is in the database but not in the audit trail."
