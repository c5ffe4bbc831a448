"""The rows of the audit trail: that they are one chain of hashes, and what they say about the payout."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from exchange_ops.evidence.verifier.members import canonical_text, lines_of
from exchange_ops.evidence.verifier.report import Report

AUDIT = "audit.jsonl"


@dataclass
class AuditRow:
    """A row of the trail. One that is a link only has `content` None: its number and hashes, and nothing else."""

    seq: int
    prev: str
    hash: str
    content: list[Any] | None = None

    @property
    def action(self) -> str:
        """What happened, for instance "withdrawal.created"."""
        return "" if self.content is None else str(self.content[5])

    @property
    def after(self) -> dict[str, Any]:
        """What the row recorded."""
        facts = json.loads(self.content[8]) if self.content else {}
        return facts if isinstance(facts, dict) else {}

    @property
    def evidence(self) -> dict[str, Any]:
        """What the decision of this row rests on. A row that moves nothing has it among its facts."""
        facts = self.after if "version" not in self.after else self.after.get("evidence")
        return facts if isinstance(facts, dict) else {}


@dataclass
class Span:
    """The rows of the bundle in their order, those of the payout among them, and what these say it is by now."""

    rows: list[AuditRow] = field(default_factory=list)
    own: list[AuditRow] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)

    def place(self, row_hash: str) -> int | None:
        """The place of the row with this hash; None if it is not in the span."""
        return next((place for place, row in enumerate(self.rows) if row.hash == row_hash), None)


def read_span(members: dict[str, bytes], manifest: dict[str, Any], subject: str, report: Report) -> Span:
    """Check the chain of the rows of the bundle and put together what those of the payout say."""
    span = Span()
    try:
        span.rows = [_row(json.loads(line)) for line in lines_of(members.get(AUDIT, b"").decode())]
        span.own = [row for row in span.rows if row.content and row.content[6] == subject]
        for row in span.own:
            span.state |= row.after if "version" in row.after else {}
        _check_chain(span, manifest, report)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        report.fails("audit chain", f"{AUDIT} can't be read.")
    return span


def _row(line: dict[str, Any]) -> AuditRow:
    content = line.get("row")
    if content is None:
        return AuditRow(int(line["seq"]), str(line["prev"]), str(line["hash"]))
    if len(content) != 10:
        raise ValueError("a row of the trail has ten columns")
    return AuditRow(int(content[0]), str(content[1]), str(line["hash"]), content)


def _check_chain(span: Span, manifest: dict[str, Any], report: Report) -> None:
    problem, links = "", 0
    for place, row in enumerate(span.rows):
        before = span.rows[place - 1] if place else None
        if before is not None and (row.seq, row.prev) != (before.seq + 1, before.hash):
            problem = problem or f"Row {row.seq} does not follow row {before.seq}: rows were left out, added or moved."
        if row.content is None:
            links += 1
        elif hashlib.sha256(canonical_text(row.content).encode()).hexdigest() != row.hash:
            problem = problem or f"The hash of row {row.seq} is not that of its content: the row was changed."
    audit = manifest.get("audit") or {}
    ends = [[row.seq, row.hash] for row in (span.rows[:1] + span.rows[-1:])]
    if not span.rows or ends != [audit.get("first"), audit.get("last")]:
        problem = problem or "The audit rows do not begin and end where the manifest says: rows were cut off."
    count = f"{len(span.rows)} audit rows, {span.rows[0].seq} to {span.rows[-1].seq}" if span.rows else "No audit rows"
    report.check("audit chain", not problem, f"{count}, follow one another without a gap, each by hash.", problem)
    if links:
        report.believe(
            f"{links} of the {len(span.rows)} audit rows are links only: who exported the bundle may not read them, "
            "or there were too many. Their hashes could not be recomputed."
        )


def check_heads(span: Span, path: str, report: Report) -> None:
    """Compare the rows with a copy of the desk's own file of heads."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.split() for line in file]
    except OSError as problem:
        report.fails("audit heads", f"{path} can't be read: {problem.strerror}.")
        return
    heads = {line[0]: line[1] for line in lines if len(line) == 3}
    common = [row for row in span.rows if str(row.seq) in heads]
    wrong = [row.seq for row in common if heads[str(row.seq)] != row.hash]
    sentence = f"{len(common)} of {len(span.rows)} audit rows are in {path}, with the same hash."
    problem_text = f"Row {wrong[0]} has another hash in {path}." if wrong else f"{path} has none of these audit rows."
    report.check("audit heads", bool(common) and not wrong, sentence, problem_text)
