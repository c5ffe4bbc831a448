"""The rules in force and the freezes, as the desk knows them."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db.models import QuerySet
from django.urls import reverse

from desk import rooms
from desk.audit.words import SYSTEM
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.guards import NO_EDIT, NOT_PROVEN, Guards, Rule, edited
from desk.rooms import OpenWord
from desk.rows.witnessed import Table
from exchange_ops.policy import quorum, vote_replay
from exchange_ops.policy.models import Freeze, PolicyPayoutRule, PolicyVersion, QuorumTier, ThawVote, ValueLimit
from exchange_ops.policy.trail_words import WORDS
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import causes, topics

if TYPE_CHECKING:
    from desk.models import Person


def _frozen(now: datetime, only: str) -> Iterator[Cause]:
    return _causes(Freeze.objects.filter(account__isnull=False), only)


def _frozen_across(now: datetime, only: str) -> Iterator[Cause]:
    return _causes(Freeze.objects.filter(account__isnull=True), only)


def _causes(freezes: QuerySet[Freeze], only: str) -> Iterator[Cause]:
    for freeze in rows_of(freezes.filter(thawed_at=None).select_related("account", "frozen_by"), only):
        who = str(freeze.frozen_by) if freeze.frozen_by_id else SYSTEM
        reason = freeze.reason.rstrip(". ")
        name = f"{freeze.covered[:1].upper()}{freeze.covered[1:]}" if freeze.account is None else freeze.account.name
        sentence = (
            f"{name} was frozen by {who}; {freeze.stops} until the freeze is lifted. {reason}. "
            "Two treasurers must lift it."
        )
        yield Cause(f"freeze:{freeze.pk}", sentence, "policy", scope=freeze.scope)


def _votes(keys: Collection[str]) -> Iterable[tuple[str, int, datetime]]:
    """Who voted to end which freeze."""
    numbers = [int(key.rpartition(":")[2]) for key in keys]
    rows = ThawVote.objects.filter(freeze__in=numbers).values_list("freeze_id", "person_id", "at")
    return [(f"freeze:{number}", person, at) for number, person, at in rows]


def _open_words(person: "Person") -> Iterator[OpenWord]:
    """Agreements to a thaw that still needs somebody else's."""
    for vote in ThawVote.objects.filter(person=person, freeze__thawed_at=None).select_related("freeze"):
        yield OpenWord(f"Freeze {vote.freeze_id}", reverse("policy"), "Approved lifting the freeze", "freezes")


GUARDS: Final = Guards(
    history=(ThawVote, PolicyVersion, QuorumTier, ValueLimit, PolicyPayoutRule),
    records=(Freeze,),
    own=(
        Rule(
            "exchange_ops_freeze",
            "scope_kept",
            "UPDATE",
            edited(["kind", "account_id", "currency", "address", "destination"]),
            NO_EDIT,
        ),
        Rule(
            "exchange_ops_thawvote",
            "second_factor",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
            "AND s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'thaw-freeze')",
            NOT_PROVEN,
        ),
    ),
)

ROOM: Final = rooms.Room(
    paths={"freeze_id": (Freeze, "pk", "account_id")},
    topics={"freezes": topics.desk_wide},
    incidents=(
        Kind(
            alarms.FROZEN,
            "Account frozen",
            Severity.CRITICAL,
            causes.DECIDERS,
            _frozen,
            closable=False,
            ends="Resolves once two treasurers lift the freeze on the Policy page.",
            votes=_votes,
        ),
        Kind(
            alarms.FROZEN_ACROSS,
            "Freeze across accounts",
            Severity.CRITICAL,
            causes.DECIDERS,
            _frozen_across,
            closable=False,
            ends="Resolves once two treasurers lift the freeze on the Policy page.",
            votes=_votes,
        ),
    ),
    trail=(WORDS,),
    replays={"freeze": vote_replay.check_freezes},
    guards={"policy": GUARDS.statements},
    tables=(
        Table(PolicyVersion, rules=True),
        Table(QuorumTier, rules=True),
        Table(ValueLimit, rules=True),
        Table(PolicyPayoutRule, rules=True),
        Table(Freeze),
        Table(ThawVote),
    ),
    open_words=_open_words,
    quorums=quorum.highest,
)
