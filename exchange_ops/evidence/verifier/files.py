"""The files that people attached to the payout: that each is the one whose attaching the audit rows recorded."""

import hashlib
from typing import Any

from exchange_ops.evidence.verifier.report import Report
from exchange_ops.evidence.verifier.trail import AuditRow, Span


def check_files(
    files: list[dict[str, Any]], members: dict[str, bytes], request: dict[str, Any], span: Span, report: Report
) -> None:
    """Compare each file with its audit row, and say which were attached only after the decision to pay."""
    recorded = {row.after.get("sha256"): row for row in span.rows if _is_attached(row, request["subject"])}
    decided = next((row.seq for row in span.own if row.after.get("decision") not in {None, "none"}), None)
    problem, late = "", []
    for file in files:
        row, content = recorded.pop(file["stored_id"], None), members.get(file["member"])
        if row is None or row.after.get("name") != file["name"] or row.content is None:
            problem = problem or f"No audit row records that “{file['name']}” was attached."
        elif row.content[3] != file["person_id"]:
            problem = problem or f"“{file['name']}” was attached by somebody else."
        elif content is None:
            problem = problem or f"“{file['name']}” is not in the bundle."
        elif hashlib.sha256(content).hexdigest() != file["stored_id"]:
            problem = problem or f"“{file['name']}” is not what was attached."
        elif decided is not None and row.seq > decided:
            late.append(f"“{file['name']}”")
    if recorded:
        problem = problem or f"Files that audit rows record and the bundle lacks: {len(recorded)}."
    sentence = f"Attached files, each as it was attached: {len(files)}." if files else "No files were attached."
    after = f" Attached only after the decision: {', '.join(late)}." if late else ""
    report.check("files", not problem, sentence + after, problem)


def _is_attached(row: AuditRow, subject: str) -> bool:
    return row.action == "thread.attached" and row.content is not None and row.content[6] == f"thread:{subject}"
