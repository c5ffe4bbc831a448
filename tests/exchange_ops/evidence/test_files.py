"""Files that people attached to a payout, in its evidence: exactly as they were attached, each with its audit row."""

import hashlib
from typing import Any

import pytest

from desk import clock
from desk.actions import attachments, room
from desk.actions.models import StoredFile
from exchange_ops.evidence.verifier.payout import printed, verify
from tests.exchange_ops import rows
from tests.exchange_ops.evidence.conftest import INVOICE, bundled, read
from tests.exchange_ops.evidence.forging import Members, content, sealed, with_json
from tests.rows import unguarded

pytestmark = pytest.mark.django_db(transaction=True)
MEMBER = f"files/{hashlib.sha256(INVOICE).hexdigest()}.pdf"


def test_the_files_are_in_the_bundle_and_a_late_one_is_named(settled: Members) -> None:
    assert settled[MEMBER] == INVOICE
    text = printed(*verify(settled))
    sentence = "Attached files, each as it was attached: 2. Attached only after the decision: “receipt.txt”."
    assert f"ok    files: {sentence}" in text


def other_content(members: Members) -> Members:
    """Another invoice, and a list of files that has its hash."""
    forged = INVOICE.replace(b"1 0 obj", b"2 0 obj")

    def change(files: Any) -> None:
        files[0]["stored_id"] = hashlib.sha256(forged).hexdigest()

    return sealed(with_json(members, "files.json", change) | {MEMBER: forged})


def other_file(members: Members) -> Members:
    """Another invoice in place of the first one."""
    return sealed(members | {MEMBER: INVOICE + b" "})


def renamed(members: Members) -> Members:
    """The invoice under another name."""
    return with_json(members, "files.json", lambda files: files[0].update(name="contract.pdf"))


def left_out(members: Members) -> Members:
    """A bundle that says nothing of the late file."""
    return with_json(members, "files.json", lambda files: files.pop())


def of_another_person(members: Members) -> Members:
    """The invoice attached by somebody else."""
    return with_json(members, "files.json", lambda files: files[0].update(person_id=files[0]["person_id"] + 1))


def without_content(members: Members) -> Members:
    """The list names the invoice, but it is gone, from the manifest as well."""
    members = with_json(
        members,
        "manifest.json",
        lambda manifest: manifest.update(members=[each for each in manifest["members"] if each["name"] != MEMBER]),
    )
    return sealed({name: value for name, value in members.items() if name != MEMBER})


FORGERIES = {
    other_content: "No audit row records that “invoice.pdf” was attached.",
    other_file: "“invoice.pdf” is not what was attached.",
    renamed: "No audit row records that “contract.pdf” was attached.",
    left_out: "Files that audit rows record and the bundle lacks: 1.",
    of_another_person: "“invoice.pdf” was attached by somebody else.",
    without_content: "“invoice.pdf” is not in the bundle.",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_file_is_named(settled: Members, forge: Any) -> None:
    report, manifest = verify(forge(settled))
    assert report.failures == ["files"]
    assert FORGERIES[forge] in printed(report, manifest)


def test_what_was_changed_in_the_database_is_not_passed_on(make_person: Any) -> None:
    row = rows.held(make_person("operator"))
    attachments.attach(
        subject=row.subject,
        person=row.initiator,
        file=attachments.check("a.pdf", INVOICE),
        request_key="k",
        now=clock.now(),
    )
    with unguarded(room.GUARDS):
        StoredFile.objects.update(content=INVOICE + b" ")
    members = read(bundled(row)[0])
    assert MEMBER not in members
    assert any("“a.pdf” is not what operator attached" in each for each in content(members, "manifest.json")["missing"])
    assert verify(members)[0].failures == ["files"]
