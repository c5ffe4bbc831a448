"""The evidence of one payout as a ZIP file: what the desk knows of it, and the program that verifies it elsewhere.

The manifest names each member with its SHA-256 and a sentence, and what is not there yet; `manifest.sha256` is the
manifest's own. Nothing in it is secret: codes under keys of the desk are left out, and the desk stores neither the keys
of calls nor sessions.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Final

from django.db import transaction

from desk.actions import attachments
from desk.audit import trail
from exchange_ops.evidence import audit_span, contents, verifier
from exchange_ops.policy import payout_rules
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from exchange_ops.withdrawals.proofs.material import Material

if TYPE_CHECKING:
    from desk.models import Person

FORM: Final = "countersign-evidence-1"
_ATTEMPTS: Final = 3
_ABOUT: Final = {
    "request.json": "The payout with every column, its digest, and exactly what the digest covers.",
    "policy.json": "Each decision by the policy with its trace, and the rules in force at the time.",
    "approvals.json": "Each person's decision with its second factor: for a passkey the signature and what it signed.",
    "events.json": "Every change of the payout's state, with who made it, when, and on which grounds.",
    "exchange.json": "The exchange's records of the payout as the desk read them, and the comparison with the request.",
    "calls.json": "Every call to the exchange for this payout and its outcome. Keys and signatures are never stored.",
    "chain.json": "The transaction, the proof that it is in a block, and the block headers from there on.",
    "files.json": "The files that people attached, with who attached them and when.",
    "audit.jsonl": "The audit rows from the first to the last of this payout, each linked to the previous by its hash.",
    verifier.NAME: "Verifies this bundle offline: python3 verify_evidence.py BUNDLE.zip",
}


class CannotExport(Exception):
    """No bundle was made; the text is a sentence for the person."""


@dataclass(slots=True)
class Bundle:
    """A bundle that was made: the SHA-256 of its manifest, and what is not in it yet, in sentences."""

    manifest_sha256: str
    missing: list[str]

    @property
    def facts(self) -> dict[str, Any]:
        """What the audit trail records of it."""
        return {"manifest_sha256": self.manifest_sha256, "missing": self.missing}


@dataclass(slots=True)
class Members:
    """Writes members and keeps what the manifest says of each."""

    file: zipfile.ZipFile
    moment: datetime
    entries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, chunks: Iterable[bytes], *, about: str = "") -> None:
        """Write a member that the manifest names, with a sentence about it."""
        digest, size = hashlib.sha256(), 0
        with self.file.open(self._info(name), "w", force_zip64=True) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self.entries.append({"name": name, "sha256": digest.hexdigest(), "bytes": size, "about": about or _ABOUT[name]})

    def seal(self, manifest: dict[str, Any]) -> str:
        """Write the manifest and its own SHA-256, which is returned."""
        raw = _json(manifest | {"members": self.entries})
        own = hashlib.sha256(raw).hexdigest()
        self.file.writestr(self._info("manifest.json"), raw)
        self.file.writestr(self._info("manifest.sha256"), f"{own}  manifest.json\n")
        return own

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name, self.moment.timetuple()[:6])
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        return info


def write(file: IO[bytes], *, withdrawal_id: int, reader: "Person | None", material: Material, now: datetime) -> Bundle:
    """Write the bundle of a payout to an empty file, for a reader; None reads every row of the trail.

    A payout that moves while it is read is read again. Raises CannotExport, and the model's DoesNotExist.
    """
    for _ in range(_ATTEMPTS):
        row = Withdrawal.objects.select_related("account").get(pk=withdrawal_id)
        span = audit_span.of_payout(row, reader=reader)
        file.seek(0)
        file.truncate()
        bundle = _written(file, row, span, material, now)
        newest = Withdrawal.objects.only("version").get(pk=withdrawal_id)
        if (newest.version, audit_span.of_payout(newest, reader=reader).last) == (row.version, span.last):
            return bundle
    raise CannotExport("Nothing was exported: the payout is changing at this moment. Try again in a few seconds.")


def record(row: Withdrawal, facts: dict[str, Any], *, person: "Person | None", session_key: str, now: datetime) -> None:
    """Record in the audit trail that evidence leaves, with the SHA-256 by which the file is recognised."""
    with transaction.atomic():
        trail.record(
            actor=person,
            action="withdrawal.evidence_exported",
            subject=f"evidence:{row.pk}",
            before={},
            after={"payout": row.reference, **facts},
            now=now,
            session_key=session_key,
        )


def _written(file: IO[bytes], row: Withdrawal, span: audit_span.AuditSpan, material: Material, now: datetime) -> Bundle:
    moment = now.astimezone(UTC)
    moves, chain, exchange = contents.events(row), contents.chain(row, material), contents.exchange(row)
    missing = list(_missing(row, chain, exchange))
    with zipfile.ZipFile(file, "w") as archive:
        members = Members(archive, moment)
        members.add("request.json", [_json(contents.request(row))])
        members.add("policy.json", [_json(contents.policy(row, moves))])
        members.add("approvals.json", [_json(contents.approvals(row))])
        members.add("events.json", [_json(moves)])
        members.add("exchange.json", [_json(exchange)])
        members.add("calls.json", [_json(contents.calls(row))])
        members.add("chain.json", [_json(chain)])
        members.add("files.json", [_json(contents.files(row))])
        missing += _attached(row, members)
        members.add("audit.jsonl", (line.encode() for line in span.lines()))
        members.add(verifier.NAME, [verifier.source().encode()])
        manifest = {
            "form": FORM,
            "reference": row.reference,
            "subject": row.subject,
            "status": row.label,
            "made_at": moment.isoformat(timespec="seconds"),
            "audit": span.ends(),
            "missing": missing,
        }
        return Bundle(members.seal(manifest), missing)


def _attached(row: Withdrawal, members: Members) -> list[str]:
    """Write the attached files; a sentence for each that is no longer what was attached, and so is left out."""
    damaged = []
    for file in attachments.of(row.subject):
        try:
            content = attachments.content_of(file)
        except attachments.CannotRead as problem:
            damaged.append(str(problem))
        else:
            members.add(contents.member_of(file), [content], about=f"“{file.name}”, attached by {file.person}.")
    return damaged


def _missing(row: Withdrawal, chain: dict[str, Any], exchange: dict[str, Any]) -> Iterator[str]:
    """What is not in the bundle yet, in sentences."""
    if row.is_open:
        yield f"The end of the payout: it is still open ({row.label})."
    if not row.digest:
        yield "A decision by the policy: the request has not been checked."
    elif row.is_open and row.decision == "none":
        needs = group_needs.of(group_needs.from_json(row.group_needs))
        yield f"The decision to pay: {payout_rules.required(row.quorum_required, needs)}."
    if not exchange["entries"]:
        yield "A record of the exchange: its ledger has no entry for this payout."
    if not row.hash:
        yield "The on-chain transaction: the exchange has not named one."
    elif row.currency == payouts.COIN and not chain["proof"]:
        yield "The transaction's bytes and proof: they are fetched once the payment is in a block. Export again later."


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
