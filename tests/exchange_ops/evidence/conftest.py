"""The bundle of one settled payout, made once: two people approved it by passkey, one of them with a comment."""

import io
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from desk import clock
from desk.actions import attachments
from desk.audit import trail
from desk.models import StepUp
from desk.people import stepup
from desk.people.signing import signed_lists
from exchange_ops.evidence import bundle, paper
from exchange_ops.keys.models import ApiKey
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.proofs import material
from tests.desk.authenticator import SoftKey
from tests.exchange_ops.policy import grouping
from tests.exchange_ops.withdrawals.proofs.proving import supplier
from tests.exchange_ops.withdrawals.proofs.test_payout_walks import Paying
from tests.exchange_ops.withdrawals.walks import SESSION, TOTP_SECRET

COMMENT = "Invoice 2041, checked"
INVOICE = b"%PDF-1.4\n1 0 obj <<>> endobj\n%%EOF\n"
_made: dict[str, Any] = {}


@pytest.fixture
def paying(walk: Any, settings: Any) -> Paying:
    """A desk that pays on the chain of the sandbox."""
    settings.PAYOUT_PROOF_DEPTH = 2
    made = Paying(walk)
    made.begin()
    return made


def sign(walk: Any, row: Any, person: Any, key: SoftKey, comment: str = "") -> None:
    """An approval by passkey, as the page of the payout sends it."""
    row = walk.fresh(row)
    terms = signed_lists.terms_of(
        signed_lists.Decision(row.subject, approvals.purpose_of(row), row.digest, signed_lists.APPROVE, comment)
    )
    challenge = stepup.challenge(
        person=person, purpose=terms.purpose, digest=terms.digest, session_key=SESSION, now=clock.now()
    )
    walk.approve(row, person, answer=key.answer(challenge), comment=comment)


def _attach(row: Any, name: str, content: bytes) -> None:
    file = attachments.check(name, content)
    attachments.attach(subject=row.subject, person=row.initiator, file=file, request_key=name, now=clock.now())


def bundled(row: Any, *, reader: Any = None, proof: material.Material | None = None) -> tuple[bytes, Any]:
    """The bundle of a payout as bytes, and what `bundle.write` says of it."""
    file = io.BytesIO()
    proof = proof or material.Material()
    made = bundle.write(file, withdrawal_id=row.pk, reader=reader, material=proof, now=clock.now())
    return file.getvalue(), made


def read(content: bytes) -> dict[str, bytes]:
    """The members of a bundle."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(members: dict[str, bytes]) -> bytes:
    """A bundle of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def secrets_of(people: list[Any]) -> list[str]:
    """Everything secret that had a part in the payout, as text."""
    ring = (settings.KEY_RING or Path(settings.KEY_RING_FILE).read_text()).strip()
    keys = [entry.partition(":")[2] for entry in ring.replace("\n", ",").split(",")]
    sealed = list(ApiKey.objects.values_list("sealed_secret", flat=True))
    codes = list(StepUp.objects.values_list("mac", flat=True))
    hashes = [person.password for person in people]
    return [*keys, SESSION, TOTP_SECRET.reveal(), "demo-withdraw-secret", *sealed, *codes, *hashes]


@pytest.fixture
def heads(settled: dict[str, bytes]) -> str:
    """The file of heads as the desk of that payout left it."""
    text: str = _made["heads"]
    return text


@pytest.fixture
def document(settled: dict[str, bytes]) -> bytes:
    """The same evidence as a PDF."""
    content: bytes = _made["document"]
    return content


@pytest.fixture
def secrets(settled: dict[str, bytes]) -> list[str]:
    """What must not be in the bundle."""
    found: list[str] = _made["secrets"]
    return found


@pytest.fixture
def settled(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """The members of that bundle."""
    if not _made:
        from chaindata.cache import service

        desk = request.getfixturevalue("paying")
        grouping.publish({"Finance": desk.walk.approvers[:1], "Board": desk.walk.approvers[1:2]})
        row = desk.walk.held(currency="BCH", amount=Decimal(60), address=supplier())
        assert row.quorum_required == 2
        _attach(row, "invoice.pdf", INVOICE)
        for person, comment in zip(desk.walk.approvers[:2], ("", COMMENT), strict=True):
            key = SoftKey()
            key.enrol(person)
            sign(desk.walk, row, person, key, comment)
        row = desk.walk.until(row, "sent")
        _attach(row, "receipt.txt", b"Received with thanks.")
        desk.mine(2)
        row = desk.look(desk.walk.until(row, "settled"))
        assert row.state == "verified", row.last_problem
        client = service.open_client()
        _made["members"] = read(bundled(row, proof=material.fetched(row, client=client))[0])
        client.close()
        _made["document"] = paper.as_pdf(row, now=clock.now())
        _made["heads"] = trail.heads_path().read_text()
        _made["secrets"] = secrets_of(desk.walk.approvers)
    return dict(_made["members"])
