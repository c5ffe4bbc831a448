"""Requests to send a raw transaction: treasury confirms exactly its bytes with a second factor, a worker sends it once.

What the transaction does is worked out again at the moment of the request and stored with the row, so that everybody
later sees what was decided on. The same bytes are never under way twice.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import QuerySet

from chaindata import rules
from chaindata.broadcasts import explanation, machine, states
from chaindata.broadcasts.explanation import Explanation
from chaindata.broadcasts.models import LONGEST_REASON, MOST_BYTES, ChainBroadcast
from chaindata.tools import tools
from desk.machines.decisions import Act, Acts
from desk.machines.requests import Once
from desk.people.signing import signed_fields

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person

PURPOSE = "broadcast-transaction"
SEND_TASK = machine.SEND_TASK
ONLY_TREASURY = "Only treasury can broadcast transactions."
MOST_LISTED = 50
TOPIC = machine.TOPIC
_MOST_SHOWN = 200  # outputs that are stored with the row


class CannotBroadcast(Exception):
    """Nothing was recorded and nothing sent; `problems` maps a field of the form to the sentence about it."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


NON_FIELD = "__all__"
REQUESTS: Final = Acts(PURPOSE, lambda sentence: CannotBroadcast({NON_FIELD: sentence}))


def digest_of(raw: bytes) -> str:
    """What the second factor is bound to, with the reason: SHA-256 of the bytes, which any tool computes."""
    return hashlib.sha256(raw).hexdigest()


def fields_of(reason: str) -> dict[str, str]:
    """What is typed beside the bytes and signed with them."""
    return {signed_fields.REASON: reason}


def obstacles(explained: Explanation) -> list[str]:
    """Why these bytes can't be sent from here; empty if they can."""
    sentences = list(explained.obstacles)
    size = explained.decoded.transaction.size
    if size > MOST_BYTES:
        sentences.append(f"The transaction is {size:,} bytes; the limit is {MOST_BYTES:,}.")
    if explained.fee_sat is None and not sentences:
        sentences.append("The inputs are still loading. Try again in a moment.")
    return sentences


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
    """Record the transaction in a hexadecimal text to be sent. Two requests of one person make one row.

    Raises CannotBroadcast, `tools.CannotRead`, or `stepup.CannotConfirm` when the second factor was not accepted.
    """
    if not rules.may_broadcast(person):
        raise CannotBroadcast({NON_FIELD: ONLY_TREASURY})
    act = Act(person, now, session_key, reason.strip(), digest, answer)
    REQUESTS.refuse_while_cooling_off(act)
    explained = explanation.explain_text(text=text, now=now)
    raw, txid = explained.decoded.transaction.raw, explained.decoded.txid
    once = Once(_under_way_or_sent(txid), lambda row: row.requested_by_id == person.pk, _already_asked)
    if (earlier := once.earlier()) is not None:
        return earlier
    _check(explained, digest, act.comment)

    def store() -> ChainBroadcast:
        with transaction.atomic():
            confirmation = REQUESTS.confirm(replace(act, digest=signed_fields.bind(digest, fields_of(act.comment))))
            row = ChainBroadcast(
                txid=txid,
                raw=raw.hex(),
                size=len(raw),
                digest=digest,
                explained=_explanation(explained),
                reason=act.comment,
                requested_by=person,
                confirmation=confirmation,
            )
            machine.create(row, event="asked", evidence=confirmation.evidence(), **act.moved)
        return row

    return once.store(store)


def listing() -> QuerySet[ChainBroadcast]:
    """The newest first."""
    return ChainBroadcast.objects.select_related("requested_by").order_by("-pk")


def in_effect_for(*, txid: str) -> ChainBroadcast | None:
    """The row of a transaction that is under way or was sent, which a page links to instead."""
    return _under_way_or_sent(txid).first()


def story(*, row: ChainBroadcast) -> "list[AuditEvent]":
    """What happened to it, from the audit trail, oldest first."""
    from desk.models import AuditEvent

    return list(AuditEvent.objects.filter(subject=row.subject).order_by("seq"))


def _under_way_or_sent(txid: str) -> QuerySet[ChainBroadcast]:
    return ChainBroadcast.objects.filter(txid=txid, state__in=states.IN_EFFECT)


def _already_asked(earlier: ChainBroadcast) -> CannotBroadcast:
    return CannotBroadcast({NON_FIELD: f"This transaction was already requested as {earlier.reference}."})


def _check(explained: Explanation, digest: str, reason: str) -> None:
    if digest != digest_of(explained.decoded.transaction.raw):
        raise CannotBroadcast({NON_FIELD: "The transaction changed after it was shown. Review it again, then decide."})
    if not reason or len(reason) > LONGEST_REASON:
        raise CannotBroadcast(
            {"reason": f"Enter a reason of up to {LONGEST_REASON} characters. It is recorded in the audit trail."}
        )
    if explained.already:
        raise CannotBroadcast({NON_FIELD: f"{explained.already} No need to send it again."})
    if sentences := obstacles(explained):
        raise CannotBroadcast({NON_FIELD: " ".join(sentences[:5])})


def _explanation(explained: Explanation) -> dict[str, Any]:
    """What the page showed, as plain values that still read the same in a year."""
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
        "says": [f"{message.layer}: {message.what}" for message in explained.decoded.messages],
    }
