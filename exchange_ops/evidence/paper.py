"""The evidence of one payout as a document in PDF, for people who read it and do not verify it.

It says what the bundle has, in the words of the payout's page. What a machine verifies (signatures, the proof, the
links of the audit rows) is in the bundle alone, and the document says so.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db import transaction

from desk import documents
from desk.actions import attachments
from desk.audit import trail, words
from desk.documents.blocks import Block, Facts, Heading, Table, Text
from desk.models import AuditEvent, Person, StepUp
from desk.personal.formats import UTC_NAME, figure
from exchange_ops.ledger.forms import LEDGER_STATUSES
from exchange_ops.templatetags.exchange_ops import call_label, outcome_label, word_label
from exchange_ops.withdrawals.models import Approval, HoldReleaseVote, PayoutProof, Withdrawal
from exchange_ops.withdrawals.proofs import sentences

_NONE: Final = "\u2013"


def as_pdf(row: Withdrawal, *, now: datetime) -> bytes:
    """The document of this payout as it stands now."""
    blocks = [*_request(row, now), *_policy(row), *_approvals(row), *_events(row), *_exchange(row), *_chain(row, now)]
    title = f"Evidence of payout {row.reference}"
    return documents.pdf(blocks, title=title, about=title, made_at=now)


def record(row: Withdrawal, content: bytes, *, person: Person, session_key: str, now: datetime) -> None:
    """Record in the audit trail that the document leaves, with the SHA-256 by which it is recognised."""
    with transaction.atomic():
        trail.record(
            actor=person,
            action="withdrawal.evidence_exported",
            subject=f"evidence:{row.pk}",
            before={},
            after={"payout": row.reference, "document_sha256": hashlib.sha256(content).hexdigest()},
            now=now,
            session_key=session_key,
        )


def _request(row: Withdrawal, now: datetime) -> Iterator[Block]:
    yield Heading(f"Evidence of payout {row.reference}", level=1)
    yield Text(
        f"As of {_moment(now)}. This document is for reading. The ZIP file of the same evidence has the signatures, "
        "the proof from the chain and the audit rows, with a program that verifies them.",
        quiet=True,
    )
    yield Text(f"{row.label}: {row.sentence}", strong=True)
    facts = [
        ("Account", row.account.name),
        ("Amount", f"{figure(row.amount)} {row.currency}"),
        ("To", row.address),
        ("Payment ID", row.payment_id or "none"),
        ("Fee", "included in the amount" if row.include_fee else "added to the amount"),
        ("Estimated fee", _amount(row.fee_estimate, row.currency)),
        ("Highest fee approved", _amount(row.fee_limit, row.currency)),
        ("Fee in the exchange\u2019s record", _amount(row.fee, row.currency)),
        ("Requested by", f"{row.initiator.get_username()}, {_moment(row.created_at)}"),
        ("Reason", row.reason or _NONE),
        ("Value when judged", _amount(row.quote_value, row.quote_currency)),
        ("ID at the exchange", row.exchange_id or _NONE),
        ("On-chain transaction", row.hash or _NONE),
        ("Digest that was approved", row.digest or _NONE),
    ]
    yield Facts(facts)
    if attached := attachments.of(row.subject):
        yield Heading("Attached files")
        yield Table(
            ["File", "SHA-256", "By", "At (UTC)"],
            [[each.name, each.stored_id, str(each.person), _time(each.at)] for each in attached],
            single_line=[1, 3],
        )


def _policy(row: Withdrawal) -> Iterator[Block]:
    yield Heading("Policy")
    if not row.policy_trace:
        yield Text("The policy has not judged this payout yet.")
    yield from map(Text, row.policy_trace)


def _approvals(row: Withdrawal) -> Iterator[Block]:
    yield Heading("Decisions of people")
    votes: list[Approval | HoldReleaseVote] = [
        *row.approvals.select_related("person", "confirmation__signed_with"),
        *row.release_votes.select_related("person", "confirmation__signed_with"),
    ]
    if not votes:
        yield Text("Nobody has decided yet.")
        return
    lines = [
        [_time(vote.at), vote.person.get_username(), _decision(vote, row), _factor(vote), _comment(vote)]
        for vote in sorted(votes, key=lambda vote: vote.at)
    ]
    yield Table(["At (UTC)", "Person", "Decision", "Confirmed with", "Comment"], lines, single_line=[0])


def _decision(vote: Approval | HoldReleaseVote, row: Withdrawal) -> str:
    if isinstance(vote, HoldReleaseVote):
        return "Approved the release"
    # A finding is bound to the unclear case, an approval to the content.
    is_earlier = vote.stage != Approval.RESOLUTION and vote.digest != row.digest
    return f"{word_label(vote.verdict)}{', for an earlier version' if is_earlier else ''}"


def _factor(vote: Approval | HoldReleaseVote) -> str:
    return str(StepUp.Kind(vote.confirmation.factor).label) if vote.confirmation is not None else _NONE


def _comment(vote: Approval | HoldReleaseVote) -> str:
    return (vote.reason if isinstance(vote, HoldReleaseVote) else vote.comment) or _NONE


def _events(row: Withdrawal) -> Iterator[Block]:
    numbers = list(row.events.values_list("audit_number", flat=True))
    events = list(AuditEvent.objects.filter(seq__in=numbers).order_by("seq"))
    telling = words.telling(events)
    yield Heading("What happened")
    yield Table(
        ["Audit row", "At (UTC)", "Event"],
        [[str(event.seq), _time(event.at), telling.sentence(event)] for event in events],
        figures=[0],
        single_line=[1],
    )


def _exchange(row: Withdrawal) -> Iterator[Block]:
    if calls := list(row.calls.order_by("pk")):
        yield Heading("Requests to the exchange")
        yield Table(
            ["Request", "Outcome", "Sent (UTC)", "Responded (UTC)", "Response"],
            [
                [
                    f"{call_label(call.kind)} {call.attempt}",
                    outcome_label(call.outcome),
                    _time(call.sent_at),
                    _time(call.answered_at),
                    " ".join(str(part) for part in (call.http_status, call.error_code, call.detail) if part) or _NONE,
                ]
                for call in calls
            ],
            single_line=[0, 2, 3],
        )
    if entries := list(row.ledger_entries.order_by("index")):
        yield Heading("Exchange ledger")
        yield Table(
            ["Index", "Updated (UTC)", "Status", "Amount", "Fee", "ID"],
            [
                [
                    str(entry.index),
                    _time(entry.updated_at),
                    LEDGER_STATUSES.get(entry.status, entry.status),
                    _amount(entry.amount, entry.currency),
                    _amount(entry.fee, entry.currency),
                    entry.exchange_id,
                ]
                for entry in entries
            ],
            figures=[0, 3, 4],
            single_line=[1],
        )


def _chain(row: Withdrawal, now: datetime) -> Iterator[Block]:
    status = sentences.chain_status(row, now=now)
    if status is None:
        return
    yield Heading("Chain")
    yield Text(f"{status.label}: {status.sentence}")
    proof: PayoutProof | None = status.proof
    if proof is None or proof.height is None:
        return
    yield Facts(
        [
            ("Block", f"{proof.height}, {proof.block_hash}"),
            ("Blocks from this one on", str(proof.depth)),
            ("Newest block when checked", proof.tip_hash or _NONE),
            ("Checked (UTC)", _time(proof.looked_at)),
        ]
    )


def _amount(value: Decimal | None, currency: str) -> str:
    return _NONE if value is None else f"{figure(value)} {currency}"


def _time(when: datetime | None) -> str:
    return _NONE if when is None else f"{when:%Y-%m-%d %H:%M:%S}"


def _moment(when: datetime) -> str:
    return f"{_time(when)} {UTC_NAME}"
