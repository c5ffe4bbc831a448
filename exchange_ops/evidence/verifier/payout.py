"""The bundle of one payout: all its checks, and the result in words."""

from typing import Any

from exchange_ops.evidence.verifier.files import check_files
from exchange_ops.evidence.verifier.members import check_members, read_json
from exchange_ops.evidence.verifier.payment import check_exchange, check_payment
from exchange_ops.evidence.verifier.report import Report, in_words
from exchange_ops.evidence.verifier.request import (
    check_digest,
    check_events,
    check_keyed_digest,
    check_policy,
    check_request,
)
from exchange_ops.evidence.verifier.trail import check_heads, read_span
from exchange_ops.evidence.verifier.votes import check_approvals, check_release_votes

_PARTS = ("request", "events", "policy", "approvals", "exchange", "chain", "files")


def verify(members: dict[str, bytes], *, key_ring: str = "", heads: str = "") -> tuple[Report, dict[str, Any]]:
    """All checks of a bundle's members, and its manifest. `key_ring` is the text of the desk's ring."""
    report = Report()
    manifest = check_members(members, report)
    parts = {name: read_json(members, f"{name}.json", report) for name in _PARTS}
    if not manifest or any(part is None for part in parts.values()):
        return report, manifest
    report.attempt(_check_parts, parts, members, manifest, report, key_ring=key_ring, heads=heads)
    return report, manifest


def _check_parts(
    parts: dict[str, Any],
    members: dict[str, bytes],
    manifest: dict[str, Any],
    report: Report,
    *,
    key_ring: str,
    heads: str,
) -> None:
    request = parts["request"]
    is_own = request["subject"] == f"withdrawal:{request['columns']['id']}" == manifest["subject"]
    report.check("subject", is_own, f"All of it is about {manifest['reference']}.", "The request is another payout's.")
    span = read_span(members, manifest, request["subject"], report)
    if heads:
        check_heads(span, heads, report)
    else:
        report.believe(
            "The audit rows are those of the desk's database. A copy of its audit-heads.log that was kept elsewhere "
            "shows it: pass it with --heads."
        )
    check_request(request, span, report)
    check_events(parts["events"], request, span, report)
    check_digest(request, span, report)
    check_keyed_digest(request, key_ring, report)
    check_policy(parts["policy"], request, span, report)
    check_approvals(parts["approvals"]["approvals"], request, span, report)
    check_release_votes(parts["approvals"]["release_orders"], request, span, report)
    check_exchange(parts["exchange"], request, report)
    check_payment(parts["chain"], request, span, report)
    check_files(parts["files"], members, request, span, report)
    report.believe("Names of people, their roles at the time, and the times of the desk's own clock.")


def printed(report: Report, manifest: dict[str, Any]) -> str:
    """The result in words."""
    reference, moment = manifest.get("reference", "?"), manifest.get("made_at", "?")
    return in_words(f"Evidence of payout {reference}, made {moment}", report, manifest)
