"""The approvals: who gave them, for which content, with what proof, and whether they are enough for the policy."""

import hashlib
import json
from itertools import combinations
from typing import Any

from exchange_ops.evidence.verifier.members import plain_words
from exchange_ops.evidence.verifier.passkeys import OtherAlgorithm, passkey_problem
from exchange_ops.evidence.verifier.report import Report
from exchange_ops.evidence.verifier.request import digest_row
from exchange_ops.evidence.verifier.trail import AuditRow, Span

_GIVEN = ("approval_recorded", "quorum_reached", "rejected", "resolution_recorded", "resolved")
_MOST_GROUPS = 20
_PURPOSES = {"review": "approve-withdrawal", "release": "approve-held-withdrawal"}
_LATER_COLUMNS = ("listed", "signed_with_id", "position")  # absent from factors of versions without lists
_FIRST_SIGNED_COMMENTS = "countersign-withdrawal-3"


def check_approvals(votes: list[dict[str, Any]], request: dict[str, Any], span: Span, report: Report) -> None:
    """Check every vote by itself, all of them against the audit rows, and their number against the policy."""
    rows = [row for row in span.own if row.action.removeprefix("withdrawal.") in _GIVEN]
    votes_by_row = [[row.content[3], row.content[2]] for row in rows if row.content]
    is_whole = votes_by_row == [[vote["person_id"], vote["at"]] for vote in votes]
    report.check(
        "approvals",
        is_whole,
        f"Decisions of people: {len(votes)}, in the order in which the audit rows recorded them.",
        "The decisions of people are not those of the audit rows: one was removed, added, changed or moved.",
    )
    for place, vote in enumerate(votes):
        row = rows[place] if is_whole else None
        problem = _problem(vote, request, row, span, report)
        name = f"{vote['verdict']} by {vote['person']}"
        if problem:
            report.fails(f"approval {place + 1}", f"{name}: {problem}.")
        else:
            report.check(f"approval {place + 1}", True, f"{name}: {_proof_words(vote['confirmation'])}.")
    _check_number(votes, request, report)


def check_release_votes(votes: list[dict[str, Any]], request: dict[str, Any], span: Span, report: Report) -> None:
    """Check the orders to release a hold that outlived its request against their audit rows."""
    rows = [row for row in span.own if row.action == "withdrawal.release_ordered" and row.content]
    recorded = [[row.content[3], row.content[2], row.after.get("reason")] for row in rows if row.content]
    holds = recorded == [[vote["person_id"], vote["at"], vote["reason"]] for vote in votes] and all(
        vote["person_id"] != request["columns"]["initiator_id"] and not _factor_problem(vote["confirmation"], row)
        for vote, row in zip(votes, rows, strict=True)
    )
    if votes or rows:
        report.check(
            "release orders",
            holds,
            f"Orders to release the hold: {len(votes)}, as the audit rows recorded them.",
            "The orders to release the hold are not those of the audit rows.",
        )


def _check_number(votes: list[dict[str, Any]], request: dict[str, Any], report: Report) -> None:
    columns = request["columns"]
    quorum, people = max(columns["quorum_required"], 1), {}
    for stage in _PURPOSES:
        people[stage] = {
            vote["person_id"]
            for vote in votes
            if (vote["stage"], vote["verdict"], vote["digest"]) == (stage, "approve", columns["digest"])
        }
    needs = columns.get("group_needs") or []
    review, release = (len(people[stage]) >= quorum and not _unmet(needs, people[stage]) for stage in _PURPOSES)
    is_enough = release or (columns["mode"] == "approve_then_hold" and bool(people["release"]) and review)
    of_groups = ", ".join(f"{needed} of {plain_words(name)}" for name, needed, _ in needs)
    required = f"{quorum} ({of_groups})" if needs else str(quorum)
    count = f"People who approved exactly this content: {len(people['release'] | people['review'])}"
    if columns["decision"] != "commit":
        report.check("number of approvals", True, f"{count}. Required: {required}. No decision to pay is recorded.")
        return
    report.check(
        "number of approvals",
        is_enough,
        f"{count}. Required: {required}.",
        f"Too few approvals. {count}. Required: {required}.",
    )


def _unmet(needs: list[Any], people: set[int]) -> bool:
    """Whether some groups together have fewer approvals than they need together, so that somebody counts twice.

    Where no such groups exist, each approval needed can be that of another person (P. Hall, "On representatives of
    subsets", 1935). A policy has `_MOST_GROUPS` at most, so more of them are refused without counting.
    """
    return len(needs) > _MOST_GROUPS or any(
        len(people & {member for _, _, members in some for member in members}) < sum(count for _, count, _ in some)
        for size in range(1, len(needs) + 1)
        for some in combinations(needs, size)
    )


def _problem(vote: dict[str, Any], request: dict[str, Any], row: AuditRow | None, span: Span, report: Report) -> str:
    """Why a vote does not count as what it says, as a sentence's middle; an empty text if it does."""
    requester, factor = request["columns"]["initiator_id"], vote["confirmation"]
    if vote["initiator_id"] != requester or vote["person_id"] == requester:
        return "it is by the person who requested the payout"
    if factor is None:
        return _rejection_problem(vote, row)
    if factor["person_id"] != vote["person_id"]:
        return "its second factor is another person's"
    problem = _factor_problem(factor, row) if row is not None else ""
    problem = problem or _assertion_problem(factor.get("signed_with") or factor, vote["digest"], span, report)
    if vote["stage"] in _PURPOSES:
        return problem or _terms_problem(vote, request, report)
    report.believe("Findings on an unclear payout: that their second factors were given for the verdict shown.")
    return problem


def _rejection_problem(vote: dict[str, Any], row: AuditRow | None) -> str:
    """A rejection needs no second factor; the audit row has its reason."""
    if vote["verdict"] != "reject":
        return "it has no second factor"
    is_recorded = row is None or plain_words(row.evidence.get("reason", "")) == plain_words(vote["comment"])
    return "" if is_recorded else "the audit row recorded another reason"


def _terms_problem(vote: dict[str, Any], request: dict[str, Any], report: Report) -> str:
    """Whether the second factor was given for this approval: its digest, purpose and comment."""
    factor, form = vote["confirmation"], (request["digest"]["covers"] or {}).get("form")
    purposes = {_PURPOSES[vote["stage"]]} if form == _FIRST_SIGNED_COMMENTS else set(_PURPOSES.values())
    if factor["digest"] != vote["digest"] or factor["purpose"] not in purposes:
        return "its second factor was given for other content or another stage"
    if vote["digest"] != request["columns"]["digest"]:
        report.believe("Approvals of earlier content of this request: shown, and not counted.")
    if factor["kind"] == "list":
        return _list_problem(vote, factor, request)
    if not plain_words(vote["comment"]):
        return ""
    if form == _FIRST_SIGNED_COMMENTS and vote["digest"] == request["columns"]["digest"]:
        return "its comment is not the one that was signed"
    report.believe("Comments of approvals from before version 0.8.0, which were not signed.")
    return ""


def _list_problem(vote: dict[str, Any], factor: dict[str, Any], request: dict[str, Any]) -> str:
    """Whether the signed list has this approval, with its comment, at the place that the factor names."""
    signature = factor["signed_with"] or {}
    text = signature.get("listed") or ""
    if (
        signature.get("digest") != hashlib.sha256(text.encode()).hexdigest()
        or signature["purpose"] != "decide-selection"
    ):
        return "the list of decisions is not the one that was signed"
    try:
        form, decisions = json.loads(text)
        members = decisions[factor["position"]]
    except (ValueError, TypeError, IndexError, KeyError):
        return "the signed list has no decision at this place"
    expected = [request["subject"], factor["purpose"], factor["digest"], "approve"]
    if form != "desk.signed-list-1" or members[:4] != expected or signature["person_id"] != vote["person_id"]:
        return "the signed list has another decision at this place"
    if plain_words(members[4]) != plain_words(vote["comment"]):
        return "its comment is not the one that was signed"
    return ""


def _factor_problem(factor: dict[str, Any], row: AuditRow) -> str:
    """Whether the audit row of the decision recorded exactly this second factor."""
    evidence = row.evidence
    while True:
        if [evidence.get("step_up"), evidence.get("proof")] != [factor["id"], _fingerprint(factor)]:
            return "its second factor is not the one that the audit row recorded"
        signature = factor.get("signed_with")
        if signature is None:
            return ""
        factor, evidence = signature, evidence.get("signed_list") or {}


def _fingerprint(factor: dict[str, Any]) -> str:
    columns = {name: value for name, value in factor.items() if name not in {"id", "signed_with"}}
    columns = {name: value for name, value in columns.items() if name not in _LATER_COLUMNS or value is not None}
    return hashlib.sha256(json.dumps(columns, sort_keys=True).encode()).hexdigest()


def _assertion_problem(factor: dict[str, Any], digest: str, span: Span, report: Report) -> str:
    """Whether a passkey's signature holds, and was made over an audit head that includes the content it is for."""
    if factor["kind"] != "passkey":
        report.believe("One-time codes: the desk checked each code; nothing that can be checked later is left of one.")
        return ""
    report.believe("Each public key belonged to the person named; the desk enrolled it.")
    try:
        problem = passkey_problem(factor)
    except OtherAlgorithm as kind:
        report.believe(f"Signatures of algorithm {kind}, which this file can't check.")
        return ""
    row, head = digest_row(span, digest), span.place(factor["audit_head"])
    if problem or row is None:
        return problem
    if head is None or span.rows[head].seq < row.seq:
        return "the audit head that its passkey signed does not include this content"
    return ""


def _proof_words(factor: dict[str, Any] | None) -> str:
    if factor is None:
        return "without a second factor, which a rejection does not need"
    kind = (factor.get("signed_with") or factor)["kind"]
    scope = " for a signed list" if factor["kind"] == "list" else ""
    signed = f"the passkey's signature{scope} holds, over an audit head that includes this content"
    return signed if kind == "passkey" else f"one-time code{scope}, as the audit row recorded it"
