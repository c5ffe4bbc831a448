"""The request: that its columns, its digest, its events and the rules applied are what the audit rows recorded."""

import base64
import hashlib
import hmac
import json
from typing import Any

from exchange_ops.evidence.verifier.members import is_hash
from exchange_ops.evidence.verifier.report import Report
from exchange_ops.evidence.verifier.trail import AuditRow, Span

CONTENT = ("account_id", "initiator_id", "currency", "amount", "include_fee", "address", "payment_id", "reason")
JUDGED = ("digest", "policy_version", "policy_trace", "quorum_required", "group_needs", "mode")
_MOVED = ("fee_limit", "state", "version", "decision", "exchange_id", "echo", "echo_ok", "tag")
_ALWAYS_COVERED = {"currency", "amount", "include_fee", "address", "payment_id", "quorum_required", "mode"}
_BESIDE_COLUMNS = {"form", "id", "freeze", "rules"}


def check_request(request: dict[str, Any], span: Span, report: Report) -> None:
    """Compare each column that people approved, or that the machine decided, with what the audit rows recorded."""
    columns, names = request["columns"], [*CONTENT, *JUDGED, *_MOVED]
    is_created = bool(span.own) and span.own[0].action.endswith(".created") and span.state.keys() >= set(CONTENT)
    other = [name for name in names if name in span.state and span.state[name] != columns.get(name)]
    report.check(
        "request",
        is_created and not other,
        "The request has the content and the decisions that its audit rows recorded.",
        f"The request differs from its audit rows: {', '.join(other)}."
        if other
        else "The audit rows of this payout do not begin with its request.",
    )


def check_events(events: list[dict[str, Any]], request: dict[str, Any], span: Span, report: Report) -> None:
    """Compare the events with their audit rows, one for one, from the first to the newest."""
    columns, rows = request["columns"], {row.seq: row for row in span.own}
    problem = ""
    for place, event in enumerate(events, start=1):
        if event["version"] != place:
            problem = problem or f"Event {place} is missing or out of order."
        elif not _is_recorded(event, rows.get(event["audit_number"])):
            problem = problem or f"Event {place}, {event['event']}, is not in the audit rows as it is here."
    moves = {row.seq for row in span.own if "version" in row.after and row.action.startswith("withdrawal.")}
    if not problem and moves - {event["audit_number"] for event in events} - _votes_without_events(span):
        problem = "The audit rows record events of this payout that are not in the bundle."
    if not problem and (not events or (events[-1]["version"], events[-1]["to_state"]) != _newest(columns)):
        problem = "The newest event is not the state of the request: events or audit rows were cut off."
    report.check("events", not problem, f"{len(events)} events, each with its audit row, lead to the state.", problem)


def check_digest(request: dict[str, Any], span: Span, report: Report) -> None:
    """Compare the content that the digest covers with the request, and the digest with the audit rows."""
    columns, digest, covers = request["columns"], request["digest"]["value"], request["digest"]["covers"]
    row = digest_row(span, digest)
    if not digest and not row and not columns["digest"]:
        report.check("digest", True, "The request has no digest yet: nothing can be approved.")
        return
    if not isinstance(covers, dict) or not covers.keys() >= _ALWAYS_COVERED or row is None or not is_hash(digest):
        report.fails("digest", "The bundle does not say what the digest covers, or no audit row recorded the digest.")
        return
    # What was recorded before the digest is what people saw; a later row can't make it other content.
    before_digest: dict[str, Any] = {}
    for earlier in span.own:
        before_digest |= earlier.after if earlier.seq <= row.seq else {}
    names = covers.keys() - _BESIDE_COLUMNS
    other = [name for name in names if covers[name] != columns.get(name) or covers[name] != before_digest.get(name)]
    other += ["id"] if covers.get("id") != columns["id"] else []
    other += ["digest"] if columns["digest"] != digest else []
    other += ["group_needs"] if columns.get("group_needs") and "group_needs" not in covers else []
    report.check(
        "digest",
        not other,
        f"Digest {digest[:16]}… covers exactly this content of the request; audit row {row.seq} recorded both.",
        f"What the digest covers differs from the request: {', '.join(sorted(other))}.",
    )


def check_keyed_digest(request: dict[str, Any], key_ring: str, report: Report) -> None:
    """Recompute the digest with the desk's keys, if its key ring is there; else say that it was believed."""
    if not request["digest"]["value"]:
        return
    if not key_ring:
        report.believe(
            "The digest is a code under a key of the desk, so this file can't compute it; the audit row that recorded "
            "digest and content together is checked instead. Who has the desk's key ring can pass it with --key-ring."
        )
        return
    text = json.dumps(request["digest"]["covers"], sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    codes = [hmac.new(key, text, "sha256").hexdigest() for key in _digest_keys(key_ring, request["digest"]["context"])]
    is_own = request["digest"]["value"] in codes
    report.check(
        "digest key", is_own, "The digest is the desk's own code of this content.", "No key makes this digest."
    )


def check_policy(policy: dict[str, Any], request: dict[str, Any], span: Span, report: Report) -> None:
    """Compare each decision by the rules with its audit row, and the last one with the request."""
    columns, rows = request["columns"], {row.seq: row for row in span.own}
    problem = ""
    for decision in policy["decisions"]:
        after = rows[decision["audit_number"]].after if decision["audit_number"] in rows else {}
        if any(after.get(name) != decision.get(name) for name in JUDGED):
            problem = problem or f"The decision of audit row {decision['audit_number']} is not what the row recorded."
    recorded = [row.seq for row in span.own if "quorum_required" in row.after and row.after.get("digest")]
    if recorded != [decision["audit_number"] for decision in policy["decisions"]]:
        problem = problem or "The decisions by the rules are not those of the audit rows."
    if policy["decisions"] and any(policy["decisions"][-1].get(name) != columns.get(name) for name in JUDGED):
        problem = problem or "The last decision by the rules is not the one on the request."
    covered = (request["digest"]["covers"] or {}).get("rules")
    in_force = {version["number"]: version["decides_by"] for version in policy["versions"]}
    if covered is not None and in_force.get(columns["policy_version"]) != covered:
        problem = problem or "The rules in the bundle are not those that the digest covers."
    if covered is not None and not _are_of_rules(columns.get("group_needs") or [], covered):
        problem = problem or "The approval groups of the request are not those of the rules that the digest covers."
    count = len(policy["decisions"])
    sentence = f"{count} decisions by the policy, each with its trace, are as recorded." if count != 1 else ""
    report.check(
        "policy", not problem, sentence or "The decision by the policy is as recorded, with its trace.", problem
    )


def _are_of_rules(needs: list[Any], rules: list[Any]) -> bool:
    """Whether each group that the request needs has exactly the members that the rules give it."""
    groups: list[Any] = next((part["groups"] for part in rules if isinstance(part, dict) and "groups" in part), [])
    return all([name, members] in groups for name, _, members in needs)


def digest_row(span: Span, digest: str) -> AuditRow | None:
    """The audit row that recorded this digest last."""
    rows = [row for row in span.own if row.after.get("digest") == digest and "quorum_required" in row.after]
    return rows[-1] if digest and rows else None


def _is_recorded(event: dict[str, Any], row: AuditRow | None) -> bool:
    if row is None or row.content is None:
        return False
    after = row.after
    recorded = [row.action, *row.content[2:4], after.get("state"), after.get("version"), row.evidence]
    names = ("at", "actor_id", "to_state", "version", "evidence")
    return recorded == [f"withdrawal.{event['event']}", *(event[name] for name in names)]


def _votes_without_events(span: Span) -> set[int]:
    """Rows that record a release of a hold; they move nothing."""
    return {row.seq for row in span.own if row.action.endswith((".release_ordered", ".orphan_released"))}


def _newest(columns: dict[str, Any]) -> tuple[Any, Any]:
    return columns["version"], columns["state"]


def _digest_keys(key_ring: str, context: str) -> list[bytes]:
    """The keys of digests, derived from each key of the ring. Source: RFC 5869 (HKDF)."""
    keys = []
    for entry in key_ring.replace("\n", ",").split(","):
        key_id, _, encoded = entry.strip().partition(":")
        if encoded:
            drawn = hmac.new(bytes(32), base64.b64decode(encoded), "sha256").digest()
            info = f"desk.sealing.code:v1:{key_id}:{context}".encode()
            keys.append(hmac.new(drawn, info + b"\x01", hashlib.sha256).digest())
    return keys
