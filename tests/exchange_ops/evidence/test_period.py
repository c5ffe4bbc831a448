"""The evidence of a period: every payout of its days, none left out, and each as strict as alone."""

import io
import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from desk import audit_check, clock
from desk.audit import trail, words
from desk.models import AuditEvent
from exchange_ops.evidence import bundle, period
from exchange_ops.evidence.verifier.period import printed_period, verify_period
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.withdrawals.proofs.material import Material
from tests.exchange_ops import rows
from tests.exchange_ops.evidence.conftest import pack, read
from tests.exchange_ops.evidence.forging import Members, with_json

pytestmark = pytest.mark.django_db
DAYS = Period(date(2026, 3, 1), date(2026, 3, 31))
MARCH = datetime(2026, 3, 10, 12, tzinfo=UTC)


def noted(at: datetime) -> None:
    trail.record(actor=None, action="statements.exported", subject="statements", before={}, after={}, now=at)


@pytest.fixture
def payouts(make_person: Any) -> list[Any]:
    """One of February, two of March, one of April, with a row of something else between the months."""
    operator, made = make_person("operator"), []
    for at in (MARCH - timedelta(days=20), MARCH, MARCH + timedelta(days=2), MARCH + timedelta(days=40)):
        noted(at - timedelta(hours=1))
        made.append(rows.held(operator, now=at))
    return made


def exported(*, reader: Any = None, accounts: Any = None, days: Period = DAYS) -> Members:
    contents = period.contents_of(days, accounts=accounts or Account.objects.all(), reader=reader)
    file = io.BytesIO()
    period.write(file, contents, material=lambda row: Material(), now=clock.now())
    return read(file.getvalue())


def failures(members: Members) -> set[str]:
    return set(verify_period(members)[0].failures)


def resealed(members: Members) -> Members:
    """The same with a manifest that names every member as it is: what somebody would do who forges a bundle."""
    import hashlib

    manifest = json.loads(members["manifest.json"])
    others = {name: content for name, content in members.items() if not name.startswith("manifest.")}
    manifest["members"] = [
        {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "about": ""}
        for name, content in others.items()
    ]
    raw = (json.dumps(manifest) + "\n").encode()
    seal = f"{hashlib.sha256(raw).hexdigest()}  manifest.json\n".encode()
    return others | {"manifest.json": raw, "manifest.sha256": seal}


def test_the_payouts_of_the_days_are_all_there_and_verified_by_the_file_alone(payouts: Any, tmp_path: Path) -> None:
    members = exported()
    inside = {name for name in members if name.startswith("W-")}
    assert inside == {f"{row.reference}.zip" for row in payouts[1:3]}
    assert failures(members) == set()
    (tmp_path / "period.zip").write_bytes(pack(members))
    (tmp_path / "verify_evidence.py").write_bytes(members["verify_evidence.py"])
    command = [sys.executable, "-I", "-S", "verify_evidence.py", "period.zip"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    for sentence in (
        "Evidence of payouts, 2026-03-01 to 2026-03-31 (UTC)",
        "Each of the 2 payouts that the audit rows of the period name has its bundle.",
        "The audit rows begin before the period and end after it, or with the trail itself.",
        f"{payouts[1].reference}: The end of the payout: it is still open",
        "VERIFIED. All ",
    ):
        assert sentence in ended.stdout


def test_what_is_forged_in_a_period_is_named(payouts: Any) -> None:
    members, first = exported(), payouts[1].reference
    listing = json.loads(members["payouts.json"])
    inner = read(members[f"{first}.zip"])
    changed = with_json(inner, "request.json", lambda request: request["columns"].update(amount="2"))
    lines = members["audit.jsonl"].decode().splitlines(keepends=True)
    other = json.dumps({"row": json.loads(lines[1])["row"][:9] + ["forged"], "hash": json.loads(lines[1])["hash"]})
    forged = {
        "complete": {name: content for name, content in members.items() if name != f"{first}.zip"}
        | {"payouts.json": json.dumps(listing[1:]).encode()},
        first: members | {f"{first}.zip": pack(changed)},
        "audit chain": members | {"audit.jsonl": "".join([lines[0], f"{other}\n", *lines[2:]]).encode()},
        "period": members | {"audit.jsonl": "".join(lines[2:]).encode()},
    }
    for name, content in forged.items():
        assert name in failures(resealed(content)), name
        assert failures(content) >= {name}, "and the manifest of before does not fit"
    assert failures(members | {f"{first}.zip": b"no ZIP"}) >= {first, f"{first}.zip"}


def test_the_list_of_another_bundle_of_the_same_payout_is_named(payouts: Any) -> None:
    members = exported()
    listing = json.loads(members["payouts.json"])
    listing[0]["manifest_sha256"] = "0" * 64
    report, manifest = verify_period(resealed(members | {"payouts.json": json.dumps(listing).encode()}))
    assert "It is not the bundle that the list of payouts names." in printed_period(report, manifest)


def test_payouts_of_an_account_that_the_reader_may_not_export_are_links(payouts: Any, make_person: Any) -> None:
    own = Account.objects.exclude(pk=payouts[1].account_id).first() or Account.objects.create(
        name="Another desk", quote_currency="USD"
    )
    operator = make_person("operator", username="olga")
    mine = rows.held(operator, now=MARCH + timedelta(days=3), account=own)
    reader = make_person("auditor")
    members = exported(reader=reader, accounts=[own])
    assert [line["subject"] for line in json.loads(members["payouts.json"])] == [mine.subject]
    assert failures(members) == set()
    assert payouts[1].subject not in members["audit.jsonl"].decode()


def test_days_without_a_payout_and_too_many_days_are_refused(payouts: Any, make_person: Any, monkeypatch: Any) -> None:
    with pytest.raises(bundle.CannotExport, match="nothing was recorded on these days"):
        exported(days=Period(date(2020, 1, 1), date(2020, 1, 2)))
    with pytest.raises(bundle.CannotExport, match="choose up to 366 days"):
        exported(days=Period(date(2025, 1, 1), date(2026, 12, 31)))
    with pytest.raises(bundle.CannotExport, match="choose up to 366 days"):
        exported(days=Period(date(2026, 3, 2), date(2026, 3, 1)))
    noted(MARCH - timedelta(days=60))
    quiet = (MARCH - timedelta(days=60)).date()
    with pytest.raises(bundle.CannotExport, match="no payout was requested, changed or paid"):
        exported(days=Period(quiet, quiet))
    monkeypatch.setattr(period, "MOST_ON_A_PAGE", 1)
    with pytest.raises(bundle.CannotExport, match=r"2 payouts, more than 1\. Choose fewer days, or use"):
        exported(reader=make_person("auditor"))


def test_the_page_and_the_command_write_it_and_the_trail_has_both(
    payouts: Any, make_person: Any, signed_in: Any, tmp_path: Path
) -> None:
    address = "/withdrawals/evidence.zip?since=2026-03-01&until=2026-03-31"
    answer = signed_in(make_person("auditor")).get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert failures(read(b"".join(answer.streaming_content))) == set()
    assert signed_in(make_person("operator", username="otto")).get(address).status_code == 403
    wrong = signed_in(make_person("auditor", username="ada")).get("/withdrawals/evidence.zip?since=x")
    assert (wrong.status_code, wrong["Location"]) == (302, "/statements/")
    target = tmp_path / "march.zip"
    call_command("evidence", since="2026-03-01", until="2026-03-31", to=str(target))
    assert failures(read(target.read_bytes())) == set()
    with pytest.raises(CommandError, match="both --since and --until"):
        call_command("evidence", since="2026-03-01", to=str(tmp_path / "other.zip"))
    with pytest.raises(CommandError, match="From: This day is in the future"):
        call_command("evidence", since="9999-12-31", until="9999-12-31", to=str(tmp_path / "other.zip"))
    events = list(AuditEvent.objects.filter(action="payout_evidence.exported").order_by("seq"))
    assert [event.after["payouts"] for event in events] == [2, 2]
    assert words.telling(events).sentence(events[0]) == "auditor exported the list “Payout evidence”."
    assert not [line for line in audit_check.verify(replay=True) if "heads" not in line]
