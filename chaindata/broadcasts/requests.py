"""Sending a raw transaction: asked for by treasury with a second factor for exactly its bytes, sent once by a worker.

What the transaction does is worked out again at the moment of asking, and kept with the row: whoever looks later sees
what was decided on. The same bytes are never under way twice.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import QuerySet

from chaindata import rules
from chaindata.broadcasts import explanation, machine, mover
from chaindata.broadcasts.explanation import Explained
from chaindata.broadcasts.models import LONGEST_REASON, MOST_BYTES, ChainBroadcast
from chaindata.tools import tools
from desk.machines.decisions import Act, Acts
from desk.machines.requests import Once

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person

PURPOSE = "broadcast-transaction"
SEND_TASK = mover.SEND_TASK
ONLY_TREASURY = "Only treasury sends transactions to the network."
LISTED = 50
TOPIC = mover.TOPIC
_MOST_SHOWN = 200  # outputs that are kept with the row


class CannotBroadcast(Exception):
    """Nothing was recorded and nothing sent; `problems` maps a field of the form to the sentence about it."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


WHOLE = "__all__"
REQUESTS: Final = Acts(PURPOSE, lambda sentence: CannotBroadcast({WHOLE: sentence}))


def digest_of(raw: bytes) -> str:
    """What the second factor is bound to: SHA-256 of the bytes, which any tool computes."""
    return hashlib.sha256(raw).hexdigest()


def obstacles(explained: Explained) -> list[str]:
    """Why these bytes can't be sent from here; empty when they can."""
    found = list(explained.obstacles)
    size = explained.decoded.transaction.size
    if size > MOST_BYTES:
        found.append(f"It has {size:,} bytes; the service is given at most {MOST_BYTES:,}.")
    if explained.fee_sat is None and not found:
        found.append("What it spends is not known yet; it is being read.")
    return found


def ask(
    *,
    text: str,
    digest: str,
    reason: str,
    person: "Person",
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> ChainBroadcast:
    """Take the transaction of a hexadecimal text to be sent. Asked for twice by one person it is one row.

    Raises CannotBroadcast, `tools.CannotRead`, or `stepup.CannotConfirm` when the second factor was not accepted.
    """
    if not rules.may_broadcast(person):
        raise CannotBroadcast({WHOLE: ONLY_TREASURY})
    act = Act(person, now, session_key, reason.strip(), digest, answer)
    REQUESTS.refuse_while_cooling_off(act)
    explained = explanation.of_text(text=text, now=now)
    raw, txid = explained.decoded.transaction.raw, explained.decoded.txid
    once = Once(_under_way_or_sent(txid), lambda row: row.requested_by_id == person.pk, _already_asked)
    if (earlier := once.earlier()) is not None:
        return earlier
    _check(explained, digest, act.comment)

    def store() -> ChainBroadcast:
        with transaction.atomic():
            confirmation = REQUESTS.confirm(act)
            row = ChainBroadcast(
                txid=txid,
                raw=raw.hex(),
                size=len(raw),
                digest=digest,
                explained=_kept(explained),
                reason=act.comment,
                requested_by=person,
                confirmation=confirmation,
            )
            mover.create(row, event="asked", evidence=confirmation.evidence(), **act.moved)
        return row

    return once.store(store)


def listed() -> QuerySet[ChainBroadcast]:
    """The newest first."""
    return ChainBroadcast.objects.select_related("requested_by").order_by("-pk")


def in_effect_for(*, txid: str) -> ChainBroadcast | None:
    """The row of a transaction that is under way or was sent, so that a page leads to it instead of asking anew."""
    return _under_way_or_sent(txid).first()


def story(*, row: ChainBroadcast) -> "list[AuditEvent]":
    """What happened to it, from the audit trail, oldest first."""
    from desk.models import AuditEvent

    return list(AuditEvent.objects.filter(subject=row.subject).order_by("seq"))


def _under_way_or_sent(txid: str) -> QuerySet[ChainBroadcast]:
    return ChainBroadcast.objects.filter(txid=txid, state__in=machine.IN_EFFECT)


def _already_asked(earlier: ChainBroadcast) -> CannotBroadcast:
    return CannotBroadcast({WHOLE: f"These bytes were asked for already, as {earlier.reference}."})


def _check(explained: Explained, digest: str, reason: str) -> None:
    if digest != digest_of(explained.decoded.transaction.raw):
        raise CannotBroadcast({WHOLE: "These are not the bytes that were shown: read what they do, then decide."})
    if not reason or len(reason) > LONGEST_REASON:
        raise CannotBroadcast({"reason": f"Say why, in at most {LONGEST_REASON} characters; it goes into the trail."})
    if explained.already:
        raise CannotBroadcast({WHOLE: f"{explained.already} Nothing is left to send."})
    if found := obstacles(explained):
        raise CannotBroadcast({WHOLE: " ".join(found[:5])})


def _kept(explained: Explained) -> dict[str, Any]:
    """What was shown, in plain values, so that it reads the same in a year."""
    return {
        "network": str(tools.network()),
        "in_sat": explained.in_sat,
        "out_sat": explained.out_sat,
        "fee_sat": explained.fee_sat,
        "rate": str(explained.rate),
        "spends_ours": explained.spends_ours,
        "warnings": list(explained.warnings),
        "sources": [
            {
                "txid": each.txid,
                "vout": each.vout,
                "value_sat": each.value_sat,
                "address": each.address,
                "owner": each.owner,
            }
            for each in explained.sources
        ],
        "payments": [
            {"n": each.n, "value_sat": each.value_sat, "address": each.address, "kind": each.kind, "owner": each.owner}
            for each in explained.payments[:_MOST_SHOWN]
        ],
        "says": [f"{said.layer}: {said.what}" for said in explained.decoded.said],
    }
