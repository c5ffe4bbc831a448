"""A bundle is verified without the desk; whatever is changed in it is found and named."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exchange_ops.evidence.verifier.command import main
from exchange_ops.evidence.verifier.members import check_members
from exchange_ops.evidence.verifier.payout import verify
from exchange_ops.evidence.verifier.report import Report
from exchange_ops.evidence.verifier.trail import read_span
from tests.exchange_ops.evidence import forging
from tests.exchange_ops.evidence.conftest import pack
from tests.exchange_ops.evidence.forging import Members, with_json

pytestmark = pytest.mark.django_db(transaction=True)


def failures(members: Members, **options: str) -> set[str]:
    return set(verify(members, **options)[0].failures)


def test_a_settled_payout_is_verified_by_the_file_alone(settled: Members, heads: str, tmp_path: Path) -> None:
    """Without the project, site-packages or environment. A copy of the heads outside agrees."""
    (tmp_path / "bundle.zip").write_bytes(pack(settled))
    (tmp_path / "heads.log").write_text(heads)
    (tmp_path / "verify_evidence.py").write_bytes(settled["verify_evidence.py"])
    command = [sys.executable, "-I", "-S", "verify_evidence.py", "bundle.zip", "--heads", "heads.log"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    for sentence in (
        "approval 1: approve by treasury: the passkey's signature holds, over an audit head that includes this content",
        "approval 2: approve by treasury2: the passkey's signature for a signed list holds",
        "People who approved exactly this content: 2. Required: 2 (1 of Board, 1 of Finance).",
        "An output pays exactly 60 BCH to ",
        "14 of 14 audit rows are in heads.log, with the same hash.",
        "Each public key belonged to the person named",
        "the chain with the most work",
        "VERIFIED. All ",
    ):
        assert sentence in ended.stdout
    (tmp_path / "bundle.zip").write_bytes(pack(settled | {"calls.json": b"[]\n"}))
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "NOT VERIFIED. Failed: calls.json." in ended.stdout


def test_a_changed_byte_of_any_member_is_found_and_the_member_named(settled: Members) -> None:
    for name, content in settled.items():
        step = max(len(content) // 40, 1)
        for place in (*range(0, len(content), step), len(content) - 1):
            flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
            report = Report()
            check_members(settled | {name: flipped}, report)
            assert name.replace(".sha256", ".json") in report.failures, (name, place)
    for name in settled:
        report = Report()
        check_members({each: content for each, content in settled.items() if each != name}, report)
        assert report.failures, name
    assert "more.txt" in failures(settled | {"more.txt": b""})


def test_a_changed_byte_of_an_audit_row_is_found_whatever_the_manifest_says(settled: Members) -> None:
    rows = settled["audit.jsonl"]
    ends = [place for place, byte in enumerate(rows) if byte == ord("\n")]
    for place in [*range(0, len(rows), 211), *ends]:
        flipped = rows[:place] + bytes([rows[place] ^ 1]) + rows[place + 1 :]
        report = Report()
        read_span(settled | {"audit.jsonl": flipped}, json.loads(settled["manifest.json"]), "withdrawal:1", report)
        assert report.failures == ["audit chain"], place


def _approvals(change: Callable[[list[Any]], Any]) -> Callable[[Members], Members]:
    return lambda members: with_json(members, "approvals.json", lambda parts: change(parts["approvals"]))


def _rows(change: Callable[[list[Any]], Any], *, linked: bool) -> Callable[[Members], Members]:
    def changed(members: Members) -> Members:
        rows = forging.audit_rows(members)
        change(rows)
        return forging.with_rows(members, rows, linked=linked)

    return changed


def _flipped(text: str, place: int) -> str:
    return text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]


FORGERIES: dict[str, tuple[Callable[[Members], Members], set[str]]] = {
    "removed": (_approvals(lambda votes: votes.pop(0)), {"approvals", "number of approvals"}),
    "added": (_approvals(lambda votes: votes.append(votes[0] | {"person_id": 99})), {"approvals"}),
    "reordered": (_approvals(lambda votes: votes.reverse()), {"approvals"}),
    "by the requester": (
        lambda members: _approvals(
            lambda votes: votes[0].update(person_id=json.loads(members["request.json"])["columns"]["initiator_id"])
        )(members),
        {"approvals", "approval 1"},
    ),
    "another comment": (_approvals(lambda votes: votes[1].update(comment="Pay twice")), {"approval 2"}),
    "an added comment": (_approvals(lambda votes: votes[0].update(comment="Pay twice")), {"approval 1"}),
    "another signed list": (
        _approvals(lambda votes: votes[1]["confirmation"]["signed_with"].update(listed="[]")),
        {"approval 2"},
    ),
    "borrowed": (_approvals(lambda votes: votes[0].update(confirmation=votes[1]["confirmation"])), {"approval 1"}),
    "end of the audit rows": (_rows(lambda rows: rows.pop(), linked=False), {"events"}),
    "middle of the audit rows": (_rows(lambda rows: rows.pop(4), linked=False), {"audit chain", "events"}),
    "middle, linked again": (_rows(lambda rows: rows.pop(4), linked=True), {"events", "approval 1"}),
    "amount of the request": (
        lambda members: with_json(members, "request.json", lambda request: request["columns"].update(amount="6")),
        {"request", "digest", "amount and recipient"},
    ),
    "amount, history rewritten": (
        lambda members: forging.with_amount(members, "61"),
        {"approval 1", "approval 2", "exchange", "amount and recipient"},
    ),
    "amount, in a row after the approvals": (lambda members: forging.with_amount(members, "61", at=-1), {"digest"}),
    "fewer required": (
        lambda members: with_json(members, "request.json", lambda parts: parts["columns"].update(quorum_required=1)),
        {"request", "digest", "policy"},
    ),
    "no group required": (
        lambda members: with_json(members, "request.json", lambda parts: parts["columns"].update(group_needs=None)),
        {"request", "digest", "policy"},
    ),
    "another group required": (
        lambda members: with_json(
            members,
            "request.json",
            lambda parts: parts["columns"]["group_needs"].append(["Audit", 1, [99]]),
        ),
        {"request", "digest", "policy", "number of approvals"},
    ),
    "members of a group": (
        lambda members: with_json(
            members, "request.json", lambda parts: parts["digest"]["covers"]["rules"][-1]["groups"][0][1].append(99)
        ),
        {"policy"},
    ),
    "transaction": (
        lambda members: with_json(
            members, "chain.json", lambda chain: chain.update(transaction=_flipped(chain["transaction"], 20))
        ),
        {"transaction", "merkle proof"},
    ),
    "header": (
        lambda members: with_json(members, "chain.json", lambda chain: chain.update(proof=_flipped(chain["proof"], 8))),
        {"headers"},
    ),
    "trace": (
        lambda members: with_json(
            members, "policy.json", lambda policy: policy["decisions"][0]["policy_trace"].append("No limit applies.")
        ),
        {"policy"},
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_with_a_right_manifest_is_refused_and_named(settled: Members, forgery: str) -> None:
    forge, named = FORGERIES[forgery]
    assert not failures(forging.sealed(settled)), "a new manifest alone changes nothing"
    assert failures(forge(settled)) >= named


def test_no_secret_is_in_the_bundle(settled: Members, secrets: list[str]) -> None:
    assert len(secrets) > 10
    for name, content in settled.items():
        assert not [secret for secret in secrets if secret.encode() in content], name


def test_who_has_the_key_ring_recomputes_the_digest(settled: Members, secrets: list[str]) -> None:
    report, _ = verify(settled, key_ring=f"{_ring_name()}:{secrets[0]}\n")
    assert (report.failures, "digest key" in [name for name, _, _ in report.checks]) == ([], True)
    assert failures(settled, key_ring=f"{_ring_name()}:{'A' * 43}=\n") == {"digest key"}


def _ring_name() -> str:
    from desk import sealing

    return sealing.newest_id()


def test_what_is_no_bundle_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.zip").write_bytes(b"PK")
    assert main([str(tmp_path / "other.zip")]) == 2
    assert capsys.readouterr().out.startswith("NOT VERIFIED. ")
