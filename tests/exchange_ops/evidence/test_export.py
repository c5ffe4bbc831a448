"""Who exports the evidence of a payout, what a bundle says of one under way, and what the trail records of it."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pypdf import PdfReader

from desk import audit_check
from desk.audit import words
from desk.models import AuditEvent
from exchange_ops.evidence import audit_span, bundle
from exchange_ops.evidence.verifier.payout import printed, verify
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.decisions import resolutions
from exchange_ops.withdrawals.proofs.material import Material
from tests.exchange_ops import rows
from tests.exchange_ops.evidence.conftest import COMMENT, bundled, read
from tests.exchange_ops.evidence.forging import with_json
from tests.exchange_ops.withdrawals.decisions.test_open_holds import order
from tests.exchange_ops.withdrawals.walks import OTHER_ADDRESS

pytestmark = pytest.mark.django_db


def downloaded(client: Client, row: Any) -> dict[str, bytes]:
    response = client.get(f"/withdrawals/{row.pk}/evidence.zip")
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    assert response["Content-Disposition"].startswith(f'attachment; filename="evidence_{row.reference}_')
    return read(b"".join(response.streaming_content))  # type: ignore[attr-defined]


def test_a_payout_under_way_says_what_is_not_there_yet(make_person: Callable[..., Any]) -> None:
    row = rows.held(make_person("operator"))
    members = read(bundled(row)[0])
    report, manifest = verify(members)
    assert report.failures == []
    assert [sentence.partition(":")[0] for sentence in manifest["missing"]] == [
        "The end of the payout",
        "The decision to pay",
        "A record of the exchange",
        "The on-chain transaction",
    ]
    text = printed(report, manifest)
    assert "People who approved exactly this content: 0. Required: 1. No decision to pay is recorded." in text
    assert "Not there yet:\n  - The end of the payout: it is still open" in text


def test_a_request_that_was_only_recorded_has_a_bundle(make_person: Callable[..., Any]) -> None:
    report, manifest = verify(read(bundled(rows.requested(make_person("operator")))[0]))
    assert report.failures == []
    assert "A decision by the policy: the request has not been checked." in manifest["missing"]


class Busy(io.BytesIO):
    """A file; each time that it is emptied for another attempt, the payout has just moved once more."""

    def __init__(self, row: Any, moves: list[tuple[str, str]]) -> None:
        super().__init__()
        self.row, self.moves = row, moves

    def truncate(self, size: int | None = None) -> int:
        if self.moves:
            event, to = self.moves.pop(0)
            machine.move(self.row, event=event, to=to, now=rows.NOW)
        return super().truncate(size)


def test_a_payout_that_moves_while_it_is_read_is_read_again(make_person: Callable[..., Any]) -> None:
    row = rows.submitted(make_person("operator"))
    file = Busy(row, [("hold_claimed", "holding")])
    bundle.write(file, withdrawal_id=row.pk, reader=None, material=Material(), now=rows.NOW)
    members = read(file.getvalue())
    assert json.loads(members["request.json"])["columns"]["state"] == "holding"
    assert verify(members)[0].failures == []
    file = Busy(row, [("hold_unknown", "hold_unknown"), ("hold_adopted", "held"), ("echo_agrees", "held")])
    with pytest.raises(bundle.CannotExport, match="Nothing was exported: the payout is changing"):
        bundle.write(file, withdrawal_id=row.pk, reader=None, material=Material(), now=rows.NOW)


def test_the_download_is_recorded_and_found_under_the_payout(
    make_person: Callable[..., Any], signed_in: Callable[..., Client]
) -> None:
    row, auditor = rows.held(make_person("operator")), make_person("auditor")
    client = signed_in(auditor)
    assert f'href="/withdrawals/{row.pk}/evidence.zip"' in client.get(f"/withdrawals/{row.pk}/").content.decode()
    members = downloaded(client, row)
    event = AuditEvent.objects.get(action="withdrawal.evidence_exported")
    assert event.actor == auditor
    assert event.after["manifest_sha256"] == members["manifest.sha256"].decode().split()[0]
    sentence = words.telling([event], lists={}).sentence(event)
    assert sentence.startswith("auditor exported the evidence of payout W-")
    assert event.subject in words.subjects_named(row.reference)
    assert not [found for found in audit_check.verify(replay=True) if "heads" not in found]
    assert verify(downloaded(client, row))[0].failures == [], "an export is no event of the payout"


@pytest.mark.django_db(transaction=True)
def test_the_document_says_in_words_what_the_bundle_has(
    settled: dict[str, bytes], document: bytes, secrets: list[str]
) -> None:
    document_text = " ".join(" ".join(page.extract_text().split()) for page in PdfReader(io.BytesIO(document)).pages)
    unbroken = document_text.replace(" ", "")
    request, files = json.loads(settled["request.json"]), json.loads(settled["files.json"])
    calls, events = json.loads(settled["calls.json"]), json.loads(settled["events.json"])
    assert f"Evidence of payout {request['reference']} As of " in document_text
    for name in ("address", "hash", "digest", "exchange_id"):
        assert request["columns"][name] in unbroken, name
    assert all(each["stored_id"] in unbroken and each["name"] in unbroken for each in files)
    assert all(" ".join(line.split()) in document_text for line in request["columns"]["policy_trace"])
    assert document_text.count(" passkey ") == 2
    assert COMMENT in document_text
    assert len(events) == sum(f" {event['audit_number']} " in document_text for event in events)
    assert document_text.count(" Accepted ") == len(calls)
    assert "Proven" in document_text
    assert not [secret for secret in secrets if secret in document_text]


def test_the_document_is_recorded_with_its_digest_and_says_what_is_not_there_yet(
    make_person: Callable[..., Any], signed_in: Callable[..., Client]
) -> None:
    row, auditor = rows.held(make_person("operator")), make_person("auditor")
    answer = signed_in(auditor).get(f"/withdrawals/{row.pk}/evidence.pdf")
    assert answer["Content-Type"] == "application/pdf"
    event = AuditEvent.objects.get(action="withdrawal.evidence_exported")
    assert (event.actor, event.after["document_sha256"]) == (auditor, hashlib.sha256(answer.content).hexdigest())
    assert "Nobody has decided yet." in PdfReader(io.BytesIO(answer.content)).pages[0].extract_text()
    assert signed_in(row.initiator).get(f"/withdrawals/{row.pk}/evidence.pdf").status_code == 403


def test_who_only_requests_payouts_or_has_another_account_exports_none(
    make_person: Callable[..., Any], signed_in: Callable[..., Client]
) -> None:
    operator = make_person("operator")
    row, client = rows.held(operator), signed_in(operator)
    assert "evidence.zip" not in client.get(f"/withdrawals/{row.pk}/").content.decode()
    assert client.get(f"/withdrawals/{row.pk}/evidence.zip").status_code == 403
    other = Account.objects.create(name="Another desk", quote_currency="USD")
    limited = make_person("treasury", username="limited", limits=f"treasury:{other.pk}")
    assert signed_in(limited).get(f"/withdrawals/{row.pk}/evidence.zip").status_code == 404
    assert not AuditEvent.objects.filter(action="withdrawal.evidence_exported").exists()


def test_rows_between_that_the_reader_may_not_read_are_links(
    make_person: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Treasury reads no other payout's rows; an auditor does, unless the span is too long for a page."""
    operator = make_person("operator")
    row = rows.requested(operator)
    rows.requested(operator, reason="Another payout's reason", amount=Decimal(2))
    row = machine.move(row, event="cancelled", to="cancelled", now=rows.NOW)
    whole = read(bundled(row, reader=make_person("auditor"))[0])
    links = read(bundled(row, reader=make_person("treasury"))[0])
    monkeypatch.setattr(audit_span, "MOST_COMPLETE", 1)
    limited = read(bundled(row, reader=make_person("auditor", username="auditor2"))[0])
    assert limited["audit.jsonl"] == links["audit.jsonl"]
    assert b"Another payout's reason" in whole["audit.jsonl"]
    assert b"Another payout's reason" not in links["audit.jsonl"]
    for members, believed in ((whole, False), (links, True)):
        report, _ = verify(members)
        assert report.failures == []
        assert any("of the 3 audit rows are links only" in sentence for sentence in report.beliefs) is believed


def test_the_command_writes_a_bundle_and_the_verifier(make_person: Callable[..., Any], tmp_path: Path) -> None:
    row = rows.held(make_person("operator"))
    to = str(tmp_path / "evidence.zip")
    call_command("evidence", row.reference, "--to", to, stdout=io.StringIO())
    with zipfile.ZipFile(to) as file:
        assert json.loads(file.read("manifest.json"))["reference"] == row.reference
        assert file.testzip() is None
        written = file.read("verify_evidence.py")
    assert AuditEvent.objects.get(action="withdrawal.evidence_exported").actor is None
    with pytest.raises(CommandError, match="Nothing was written"):
        call_command("evidence", row.reference, "--to", to)
    with pytest.raises(CommandError, match="Payout not found"):
        call_command("evidence", "W-99", "--to", str(tmp_path / "other.zip"))
    call_command("evidence", "--verifier", "--to", str(tmp_path / "verifier.py"), stdout=io.StringIO())
    assert (tmp_path / "verifier.py").read_bytes() == written


@pytest.mark.django_db(transaction=True)
def test_codes_rejections_and_findings_are_checked_against_the_audit_rows(walk: Any) -> None:
    """A payout with one-time codes, rejected after one of two approvals; one that two people settled."""
    row = walk.held(amount=Decimal(1))
    walk.approve(row, comment="Invoice 7")
    walk.reject(row, walk.approvers[1])
    members = read(bundled(walk.fresh(row))[0])
    report, _ = verify(members)
    assert report.failures == []
    checked = {name: sentence for name, _, sentence in report.checks}
    assert checked["approval 1"].endswith("one-time code for a signed list, as the audit row recorded it.")
    assert checked["approval 2"].endswith("without a second factor, which a rejection does not need.")
    assert any(sentence.startswith("One-time codes:") for sentence in report.beliefs)
    other = walk.committing(address=OTHER_ADDRESS)
    machine.move(other, event="executed_without_us", to="investigate", now=other.updated_at)
    for person in walk.approvers[:2]:
        other = walk.fresh(other)
        resolutions.resolve(
            withdrawal_id=other.pk, person=person, verdict="paid", evidence="Their receipt", session_key="s",
            now=other.updated_at, digest=resolutions.digest_of(other), answer=walk.answer(person),
        )  # fmt: skip
    walk.read_ledger()
    order(walk, walk.fresh(other), walk.approvers[0])
    members = read(bundled(walk.fresh(other))[0])
    report, _ = verify(members)
    assert report.failures == []
    assert any(sentence.startswith("Orders to release the hold: 1") for _, _, sentence in report.checks)
    changed = with_json(
        members, "approvals.json", lambda parts: parts["release_orders"][0].update(reason="Another reason")
    )
    assert verify(changed)[0].failures == ["release orders"]
