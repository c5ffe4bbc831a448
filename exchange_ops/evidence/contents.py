"""What a bundle says of a payout, member by member, in JSON's own types and without secrets.

Amounts and times are the texts that the audit trail has (`desk.machines.mover.texts`), so that a verifier can compare
them letter by letter.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.db.models import Model

from chaindata.headers.models import ChainHeader
from desk.actions import attachments, file_types
from desk.actions.models import Attachment
from desk.machines.mover import texts
from desk.models import Person, StepUp
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.models import Freeze, PolicyVersion
from exchange_ops.withdrawals.decisions import digest
from exchange_ops.withdrawals.models import PROVEN, Approval, HoldReleaseVote, PayoutProof, Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from exchange_ops.withdrawals.proofs.material import Material

MOST_HEADERS: Final = 145  # the block and a day of blocks on top of it
_JUDGED: Final = ("digest", "policy_version", "policy_trace", "quorum_required", "group_needs", "mode")
# Codes under keys of the desk: no outsider can check them, and what they protect is in the other columns.
_LEFT_OUT: Final = frozenset({"mac"})


def request(row: Withdrawal) -> dict[str, Any]:
    """The payout with every column, its digest and what that covers, and the names of the people concerned."""
    numbers = Freeze.objects.filter(account_id=row.account_id).order_by("-pk").values_list("pk", flat=True)
    covers = digest.covered(row, freeze_numbers=[*numbers, 0]) if row.digest else None
    return {
        "reference": row.reference,
        "subject": row.subject,
        "status": row.label,
        "account": row.account.name,
        "columns": columns(row),
        "digest": {"value": row.digest, "covers": covers, "code": "HMAC-SHA256", "context": digest.CONTEXT},
        "people": _people(row),
    }


def events(row: Withdrawal) -> list[dict[str, Any]]:
    """Every move of the payout, the first one first."""
    return [columns(event) for event in row.events.order_by("version")]


def policy(row: Withdrawal, moves: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Every decision by the rules with its trace, and the versions of the rules that they were made by."""
    decisions = [
        {name: move["changes"].get(name) for name in _JUDGED}
        | {"audit_number": move["audit_number"], "at": move["at"], "event": move["event"]}
        for move in moves
        if "quorum_required" in move["changes"] and move["changes"].get("digest")
    ]
    numbers = {row.policy_version, *(decision["policy_version"] for decision in decisions)}
    versions = PolicyVersion.objects.filter(number__in=numbers).order_by("number")
    return {"decisions": decisions, "versions": [_version(each, row.account_id) for each in versions]}


def approvals(row: Withdrawal) -> dict[str, Any]:
    """Every vote of a person with its second factor, in the order in which they were given."""
    votes = row.approvals.select_related("person", "confirmation__signed_with").order_by("at", "pk")
    orders = row.release_votes.select_related("person", "confirmation__signed_with").order_by("at", "pk")
    return {"approvals": [_vote(each) for each in votes], "release_orders": [_vote(each) for each in orders]}


def exchange(row: Withdrawal) -> dict[str, Any]:
    """The exchange's records of the payout as the ledger has them, and the comparison before the order to pay."""
    entries = row.ledger_entries.order_by("index")
    return {"entries": [columns(entry) for entry in entries], "compared": row.echo, "agrees": row.echo_ok}


def calls(row: Withdrawal) -> list[dict[str, Any]]:
    """Every call that the desk made for the payout, without keys and signatures, which it does not store."""
    return [columns(call) for call in row.calls.order_by("pk")]


def chain(row: Withdrawal, material: Material) -> dict[str, Any]:
    """The transaction, its proof, the headers from its block on, and the desk's own last check."""
    proof = PayoutProof.objects.filter(withdrawal=row).first()
    return {
        "is_verifiable": row.currency == payouts.COIN,
        "network": settings.CHAIN_NETWORKS[0],
        "transaction": material.transaction,
        "proof": material.proof,
        "headers": _headers(proof) if proof is not None and material.proof else [],
        "last_check": columns(proof) if proof is not None else None,
    }


def files(row: Withdrawal) -> list[dict[str, Any]]:
    """Every file that people attached, with the name of its member."""
    return [
        columns(each) | {"person": str(each.person), "member": member_of(each)} for each in attachments.of(row.subject)
    ]


def member_of(file: Attachment) -> str:
    """The name in the bundle of an attached file: its SHA-256, and how files of its kind end."""
    kind = file_types.named(file.name)
    return f"files/{file.stored_id}{kind.suffixes[0] if kind else ''}"


def columns(row: Model) -> dict[str, Any]:
    """Every column of a row by its name."""
    return texts({field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})


def _headers(proof: PayoutProof) -> list[str]:
    """The raw headers from the block of the payment on, as far as the desk has them."""
    if proof.standing != PROVEN or proof.height is None:
        return []
    rows = ChainHeader.objects.filter(is_active=True, height__gte=proof.height).order_by("height")
    return list(rows.values_list("raw", flat=True)[:MOST_HEADERS])


def _version(version: PolicyVersion, account_id: int) -> dict[str, Any]:
    return {
        "number": version.number,
        "published_at": texts({"at": version.published_at})["at"],
        "published_by": str(version.published_by) if version.published_by_id else None,
        "note": version.note,
        "rules": ruleset.as_json(ruleset.rules_of(version)),
        "decides_by": quorum.judging(number=version.number, account_id=account_id),
    }


def _vote(vote: Approval | HoldReleaseVote) -> dict[str, Any]:
    factor = vote.confirmation
    return columns(vote) | {"person": str(vote.person), "confirmation": _factor(factor) if factor else None}


def _factor(factor: StepUp) -> dict[str, Any]:
    own = {name: value for name, value in columns(factor).items() if name not in _LEFT_OUT}
    return own | {"signed_with": _factor(factor.signed_with) if factor.signed_with else None}


def _people(row: Withdrawal) -> dict[str, str]:
    """The names of everybody who acted on it, by their numbers."""
    numbers = {
        row.initiator_id,
        row.decided_by_id,
        *row.events.values_list("actor", flat=True),
        *row.approvals.values_list("person", flat=True),
        *row.release_votes.values_list("person", flat=True),
    }
    return {
        str(person.pk): str(person)
        for person in Person.objects.filter(pk__in=[number for number in numbers if number]).order_by("pk")
    }
