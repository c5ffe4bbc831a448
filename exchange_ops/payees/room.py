"""Payees, as the desk knows them."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse

from desk import rooms
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.replay import Replay
from desk.people import roles
from desk.rooms import OpenWord
from desk.rows.witnessed import Table
from desk.web.search import MOST_OF_A_KIND, SHORTEST_PIECE, Command, Hit, Scope, Search
from exchange_ops.payees import machine, rules, source, states
from exchange_ops.payees.models import Payee, PayeeApproval, PayeeEvent
from exchange_ops.payees.trail_words import WORDS
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import topics

if TYPE_CHECKING:
    from desk.models import Person


def _votes() -> Votes:
    return Votes("PY", PayeeApproval, "payee_id", dict.fromkeys((*COUNTED, PayeeApproval.REVIEW), machine.PURPOSE))


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference, or by a part of the name, the owner, the address, the group or the company's reference."""
    named = Q()
    mark = Payee.mark.lower()
    if text.lower().startswith(mark) and text[len(mark) :].isdecimal() and len(text) < 20:
        named = Q(pk=int(text[len(mark) :]))
    elif len(text) >= SHORTEST_PIECE:
        for name in ("title", "owner", "address", "group", "supplier"):
            named |= Q(**{f"{name}__icontains": text})
    if not named:
        return
    for row in Payee.objects.filter(named, account__in=scope.accounts).order_by("-pk")[:MOST_OF_A_KIND]:
        url = reverse("payee", args=[row.pk])
        yield Hit(
            "Payees", row.reference, f"{row.title}, {row.currency}, {row.label.lower()}", url, "circle-user-round"
        )


def _open_words(person: "Person") -> Iterator[OpenWord]:
    """Approvals of payees that still need others."""
    votes = PayeeApproval.objects.filter(person=person, verdict=PayeeApproval.APPROVE, digest=F("payee__digest"))
    for vote in votes.filter(payee__state=states.REVIEW).select_related("payee").order_by("payee_id"):
        row = vote.payee
        yield OpenWord(row.reference, reverse("payee", args=[row.pk]), f"Approved the payee {row.title}", row.subject)


def _expiring(now: datetime, only: str) -> Iterator[Cause]:
    """Approved payees in their last two weeks that nobody has asked to renew."""
    named = {name: OuterRef(name) for name in ("account", "currency", "address", "payment_id")}
    renewals = Payee.objects.filter(**named, pk__gt=OuterRef("pk"), state__in=(states.REVIEW, states.COOLING_OFF))
    rows = Payee.objects.filter(~Exists(renewals), state=states.ACTIVE, expires_at__lte=now + states.REPORTED)
    for row in rows_of(rows.filter(expires_at__gt=now), only):
        sentence = (
            f"{row.title} ({row.reference}) counts as an approved payee until {row.expires_at:%Y-%m-%d %H:%M} UTC. "
            "Renew it, or close this if it is no longer needed."
        )
        yield Cause(f"payee:{row.pk}", sentence, "payee", str(row.pk), str(row.account_id))


EXPIRES: Final = Kind(
    alarms.PAYEE_EXPIRES, "Payee expires soon", Severity.MEDIUM, (roles.OPERATOR, roles.TREASURY), _expiring
)
REPLAY: Final = Replay(machine.MACHINE, votes=_votes)

ROOM: Final = rooms.Room(
    paths={"payee_id": (Payee, "pk", "account_id")},
    topics={"payee": topics.row(Payee), machine.TOPIC: topics.desk_wide},
    actions=(source.SOURCE,),
    incidents=(EXPIRES,),
    open_words=_open_words,
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"payees": machine.GUARDS.statements},
    tables=(Table(Payee, Payee.table.loose), Table(PayeeEvent), Table(PayeeApproval)),
    searches=(Search(_search, 105),),
    commands=(Command("Add a payee", "payee-new", "circle-user-round", rules.may_add, 25),),
    tasks="exchange_ops.payees.tasks",
    urls="exchange_ops.payees.urls",
)
