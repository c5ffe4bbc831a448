"""Settles a restore: two people judge everything that waits to be sent, and the desk goes on when they agree.

Each person says of every item whether it goes on or is cancelled, and confirms exactly that with a second factor. When
the latest verdicts of two people agree on every item, the cancelled items end, the others go on, and calls leave again.
Whoever asked for something can't be one of the two people who let it go on.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk.machines import decisions, votes
from desk.machines.decisions import Acts
from desk.people import roles
from desk.people.signing import signed_fields
from desk.restores import machine, states, waiting
from desk.restores.models import LONGEST_COMMENT, Restore, RestoreWord
from desk.restores.waiting import CANCEL, GO_ON, VERDICTS, Act, Item

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "settle-restore"
PEOPLE: Final = 2
_ONLY_TREASURY: Final = "Only treasurers with access to all accounts can decide on requests after a restore."


class CannotSettle(Exception):
    """Nothing was recorded, and nothing is sent; the text is the sentence for the person."""


WORDS: Final = Acts(PURPOSE, CannotSettle)


def may_settle(person: "Person") -> bool:
    """Whether this person's verdicts count."""
    return person.has_role(roles.TREASURY, scope="")


def current() -> Restore | None:
    """The restore that is open, if there is one."""
    return Restore.objects.filter(state=states.OPEN).first()


def items(row: Restore) -> list[Item]:
    """What waited when the restore was noticed, and still does."""
    return waiting.items(row.notice)


def digest_of(row: Restore, waiting_items: list[Item], verdicts: Mapping[str, str]) -> str:
    """What a person signs, with their comment: this restore, and a verdict on each item in the state on the screen."""
    lines = sorted(f"{item.subject}|{item.state}|{verdicts.get(item.subject, '')}" for item in waiting_items)
    text = "\n".join([f"countersign-restore-1|{row.pk}|{row.created_at.isoformat()}", *lines])
    return hashlib.sha256(text.encode()).hexdigest()


def problem(row: Restore, waiting_items: list[Item], verdicts: Mapping[str, str], person: "Person") -> str:
    """Why this person can't give these verdicts now, before they confirm; an empty text where they can."""
    if row.state != states.OPEN:
        return "This restore is already completed."
    if not may_settle(person):
        return _ONLY_TREASURY
    if unread := waiting.not_read_yet(row.notice.at):
        return f"Please wait: {unread[0]}"
    if missing := [item.reference for item in waiting_items if verdicts.get(item.subject) not in VERDICTS]:
        return f"Make a decision for each item; still undecided: {', '.join(missing[:5])}."
    own = [item.reference for item in waiting_items if verdicts[item.subject] == GO_ON and item.asked_by == person.pk]
    if own:
        return f"You requested {', '.join(own[:5])} yourself. Choose Cancel, or have two other treasurers decide."
    return ""


def give_word(
    *,
    restore_id: int,
    person: "Person",
    verdicts: Mapping[str, str],
    comment: str,
    digest: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> Restore:
    """One person's verdicts on everything that waits. Raises CannotSettle, or `stepup.CannotConfirm`."""
    decision = decisions.Act(person, now, session_key, digest=digest, answer=answer)
    WORDS.refuse_while_cooling_off(decision)
    asks = "Enter what you checked: the exchange's website, statements, colleagues you asked."
    comment = WORDS.reason(comment, asks=asks, longest=LONGEST_COMMENT)
    with transaction.atomic():
        row = _locked(restore_id)
        waiting_items = _locked_items(row)
        if refusal := problem(row, waiting_items, verdicts, person):
            raise CannotSettle(refusal)
        if digest != digest_of(row, waiting_items, verdicts):
            raise CannotSettle(
                "Decision not recorded: something changed after you opened the page. Refresh it, then decide."
            )
        confirmation = WORDS.confirm(replace(decision, digest=signed_fields.bind(digest, _fields(comment))))
        answers = {item.subject: verdicts[item.subject] for item in waiting_items}
        word = RestoreWord(restore=row, person=person, verdicts=answers, comment=comment, at=now)
        word.digest, word.confirmation = confirmation.digest, confirmation
        word.save(force_insert=True)
        agreed = _people_for(row, answers, digest)
        facts = {"verdicts": answers, "comment": comment, "people": agreed, **confirmation.evidence()}
        if agreed >= PEOPLE:
            _settle(
                row, waiting_items, answers, Act(row.reference, person, session_key, now, {"restore": row.reference})
            )
        done = agreed >= PEOPLE
        return machine.move(
            row,
            event="settled" if done else "words_given",
            to=states.SETTLED if done else states.OPEN,
            evidence=facts,
            **decision.moved,
        )


def words(row: Restore) -> list[RestoreWord]:
    """The latest verdicts of each person, the oldest first."""
    last = {word.person_id: word for word in row.words.select_related("person").order_by("id")}
    return sorted(last.values(), key=lambda word: word.pk)


def _people_for(row: Restore, verdicts: Mapping[str, str], digest: str) -> int:
    """How many people's latest proven verdicts are exactly these, which `digest` is of."""
    proven = votes.among(RestoreWord.objects.filter(restore=row), purpose=PURPOSE)
    counted = votes.of_those_who_may(proven, role=roles.TREASURY, scope="").order_by("id")
    last = {word.person_id: word for word in counted}
    return sum(
        word.digest in signed_fields.countable(digest, _fields(word.comment)) and word.verdicts == verdicts
        for word in last.values()
    )


def _fields(comment: str) -> dict[str, str]:
    """What is typed beside the verdicts and signed with them."""
    return {signed_fields.COMMENT: comment}


def _settle(row: Restore, waiting_items: list[Item], verdicts: Mapping[str, str], act: Act) -> None:
    sources = {source.name: source for source in waiting.sources()}
    for item in waiting_items:
        name, _, number = item.subject.partition(":")
        source = sources[name]
        (source.cancel if verdicts[item.subject] == CANCEL else source.go_on)(int(number), act)


def _locked(restore_id: int) -> Restore:
    try:
        return machine.lock(restore_id)
    except Restore.DoesNotExist:
        raise CannotSettle("Restore not found.") from None


def _locked_items(row: Restore) -> list[Item]:
    """What waits, with its rows locked against workers. They are locked before the trail's turn and then read again."""
    names: dict[str, list[int]] = {}
    for item in items(row):
        name, _, number = item.subject.partition(":")
        names.setdefault(name, []).append(int(number))
    for source in waiting.sources():
        source.lock(sorted(names.get(source.name, ())))
    return items(row)
