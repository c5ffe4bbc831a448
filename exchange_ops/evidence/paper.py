"""The evidence of one payout as a document in PDF, for people who read it and do not verify it.

It says what the bundle has, in the words of the payout's page. What a machine verifies (signatures, the proof, the
links of the audit rows) is in the bundle alone, and the document says so.
"""

from collections.abc import Iterator
from datetime import datetime

from desk import documents
from desk.actions import attachments
from desk.audit import words
from desk.documents.blocks import Block, Facts, Heading, Table, Text
from desk.documents.values import NONE, amount, moment, time
from desk.models import AuditEvent, StepUp
from exchange_ops.ledger.forms import LEDGER_STATUSES
from exchange_ops.templatetags.exchange_ops import call_label, outcome_label, word_label
from exchange_ops.withdrawals.models import Approval, HoldReleaseVote, PayoutProof, Withdrawal
from exchange_ops.withdrawals.proofs import sentences


def as_pdf(row: Withdrawal, *, now: datetime) -> bytes:
    """The document of this payout as it stands now."""
    blocks = [*_request(row, now), *_policy(row), *_approvals(row), *_events(row), *_exchange(row), *_chain(row, now)]
    title = f"Evidence of payout {row.reference}"
    return documents.pdf(blocks, title=title, about=title, made_at=now)


def _request(row: Withdrawal, now: datetime) -> Iterator[Block]:
    yield Heading(f"Evidence of payout {row.reference}", level=1)
    yield Text(
        f"As of {moment(now)}. This document is for reading. The ZIP file of the same evidence has the signatures, "
        "the proof from the chain and the audit rows, with a program that verifies them.",
        quiet=True,
    )
    yield Text(f"{row.label}: {row.sentence}", strong=True)
    facts = [
        ("Account", row.account.name),
        ("Amount", amount(row.amount, row.currency)),
        ("To", row.address),
        ("Payment ID", row.payment_id or "none"),
        ("Fee", "included in the amount" if row.include_fee else "added to the amount"),
        ("Estimated fee", amount(row.fee_estimate, row.currency)),
        ("Highest fee approved", amount(row.fee_limit, row.currency)),
        ("Fee in the exchange\u2019s record", amount(row.fee, row.currency)),
        ("Requested by", f"{row.initiator.get_username()}, {moment(row.created_at)}"),
        ("Reason", row.reason or NONE),
        ("Value when judged", amount(row.quote_value, row.quote_currency)),
        ("ID at the exchange", row.exchange_id or NONE),
        ("On-chain transaction", row.hash or NONE),
        ("Digest that was approved", row.digest or NONE),
    ]
    yield Facts(facts)
    if attached := attachments.of(row.subject):
        yield Heading("Attached files")
        yield Table(
            ["File", "SHA-256", "By", "At (UTC)"],
            [[each.name, each.stored_id, str(each.person), time(each.at)] for each in attached],
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
        [time(vote.at), vote.person.get_username(), _decision(vote, row), _factor(vote), _comment(vote)]
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
    return str(StepUp.Kind(vote.confirmation.factor).label) if vote.confirmation is not None else NONE


def _comment(vote: Approval | HoldReleaseVote) -> str:
    return (vote.reason if isinstance(vote, HoldReleaseVote) else vote.comment) or NONE


def _events(row: Withdrawal) -> Iterator[Block]:
    numbers = list(row.events.values_list("audit_number", flat=True))
    events = list(AuditEvent.objects.filter(seq__in=numbers).order_by("seq"))
    telling = words.telling(events)
    yield Heading("What happened")
    yield Table(
        ["Audit row", "At (UTC)", "Event"],
        [[str(event.seq), time(event.at), telling.sentence(event)] for event in events],
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
                    time(call.sent_at),
                    time(call.answered_at),
                    " ".join(str(part) for part in (call.http_status, call.error_code, call.detail) if part) or NONE,
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
                    time(entry.updated_at),
                    LEDGER_STATUSES.get(entry.status, entry.status),
                    amount(entry.amount, entry.currency),
                    amount(entry.fee, entry.currency),
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
            ("Newest block when checked", proof.tip_hash or NONE),
            ("Checked (UTC)", time(proof.looked_at)),
        ]
    )
