"""The bundle of a period: the bundle of each payout in it, and whether a payout of these days was left out."""

import json
from datetime import datetime
from typing import Any

from exchange_ops.evidence.verifier.members import (
    MANIFEST,
    SEAL,
    NotABundle,
    check_members,
    lines_of,
    read_json,
    read_members,
)
from exchange_ops.evidence.verifier.payout import verify
from exchange_ops.evidence.verifier.report import Report, in_words
from exchange_ops.evidence.verifier.trail import AUDIT, AuditRow, Span, check_heads, read_span

PERIOD_FORM = "countersign-evidence-period-1"
PAYOUTS = "payouts.json"


def is_period(members: dict[str, bytes]) -> bool:
    """Whether this is the bundle of a period and not of one payout."""
    return PAYOUTS in members


def verify_period(members: dict[str, bytes], *, key_ring: str = "", heads: str = "") -> tuple[Report, dict[str, Any]]:
    """All checks of the period and of each payout in it, and the manifest of the period."""
    report = Report()
    manifest = check_members(members, report, PERIOD_FORM)
    listing = read_json(members, PAYOUTS, report)
    if not manifest or listing is None:
        return report, manifest
    report.attempt(_check_listing, listing, members, manifest, report, key_ring=key_ring, heads=heads)
    return report, manifest


def _check_listing(
    listing: list[dict[str, Any]],
    members: dict[str, bytes],
    manifest: dict[str, Any],
    report: Report,
    *,
    key_ring: str,
    heads: str,
) -> None:
    span = read_span(members, manifest, "", report)
    if heads:
        check_heads(span, heads, report)
    for line in listing:
        _check_payout(line, members, manifest, span, report, key_ring=key_ring, heads=heads)
    _check_ends(manifest, span, report)
    _check_nothing_left_out(listing, manifest, span, report)


def _check_payout(
    line: dict[str, Any],
    members: dict[str, bytes],
    manifest: dict[str, Any],
    span: Span,
    report: Report,
    *,
    key_ring: str,
    heads: str,
) -> None:
    """Check the bundle of one payout whole, and that its audit rows are those of the period."""
    name = str(line["reference"])
    try:
        inner = read_members(name, members[f"{name}.zip"])
    except (KeyError, NotABundle) as problem:
        report.fails(name, f"The bundle of {name} is missing or can't be read ({problem}).")
        return
    own, its_manifest = verify(inner, key_ring=key_ring, heads=heads)
    for sentence in own.beliefs:
        report.believe(sentence)
    for sentence in its_manifest.get("missing", []):
        manifest.setdefault("missing", []).append(f"{name}: {sentence}")
    is_listed = its_manifest.get("subject") == line["subject"] and (
        inner.get(SEAL, b"").decode("ascii", "replace") == f"{line['manifest_sha256']}  {MANIFEST}\n"
    )
    hashes = {row.seq: row.hash for row in span.rows}
    strange = [seq for seq, text in _rows_of(inner) if hashes.get(seq, text) != text]
    problems = [f"{check}: {sentence}" for check, holds, sentence in own.checks if not holds]
    if not is_listed:
        problems.append("It is not the bundle that the list of payouts names.")
    if strange:
        problems.append(f"Audit row {strange[0]} has another hash in it than in the period.")
    report.check(
        name,
        not problems,
        f"{name}, {its_manifest.get('status', '?')}: all {len(own.checks)} checks hold.",
        " ".join(problems),
    )


def _rows_of(members: dict[str, bytes]) -> list[tuple[int, str]]:
    rows = [json.loads(line) for line in lines_of(members.get(AUDIT, b"").decode("utf-8", "replace"))]
    return [(int(row["row"][0] if "row" in row else row["seq"]), str(row["hash"])) for row in rows]


def _check_ends(manifest: dict[str, Any], span: Span, report: Report) -> None:
    """Whether the rows begin before the period, or with the first of the trail, and end after it or with its head."""
    first, last = span.rows[0], span.rows[-1]
    begins_early = first.seq == 1 or (first.content is not None and not _is_within(first, manifest))
    is_head = [last.seq, last.hash] == manifest["audit"].get("head")
    ends_late = is_head or (last.content is not None and not _is_within(last, manifest))
    hidden = [row.seq for row in (first, last) if row.content is None]
    if hidden:
        report.believe("No audit rows of the period were cut off: the rows around it are links only, without a time.")
        return
    report.check(
        "period",
        begins_early and ends_late,
        "The audit rows begin before the period and end after it, or with the trail itself.",
        "The audit rows begin or end within the period: rows were cut off.",
    )


def _check_nothing_left_out(
    listing: list[dict[str, Any]], manifest: dict[str, Any], span: Span, report: Report
) -> None:
    """Whether each payout that the audit rows of the period name has its bundle."""
    recorded = {
        str(row.content[6])
        for row in span.rows
        if row.content and str(row.content[6]).startswith("withdrawal:") and _is_within(row, manifest)
    }
    listed = {str(line["subject"]) for line in listing}
    report.check(
        "complete",
        recorded <= listed and len(listed) == len(listing),
        f"Each of the {len(recorded)} payouts that the audit rows of the period name has its bundle.",
        f"No bundle, or a second one, for {', '.join(sorted(recorded - listed)) or 'a payout'}: the list was changed.",
    )


def _is_within(row: AuditRow, manifest: dict[str, Any]) -> bool:
    begins, ends = (datetime.fromisoformat(manifest["period"][name]) for name in ("begins", "ends"))
    return row.content is not None and begins <= datetime.fromisoformat(str(row.content[2])) < ends


def printed_period(report: Report, manifest: dict[str, Any]) -> str:
    """The result in words."""
    period = manifest.get("period") or {}
    days = f"{period.get('first', '?')} to {period.get('last', '?')} (UTC)"
    return in_words(f"Evidence of payouts, {days}, made {manifest.get('made_at', '?')}", report, manifest)
