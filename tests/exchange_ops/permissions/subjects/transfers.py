"""Who does what to a transfer inside the exchange in which state."""

from decimal import Decimal
from typing import Any

from desk import clock
from desk.people import roles
from exchange_ops.transfers import endings, machine, states
from exchange_ops.transfers.models import Transfer
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import OWN, Subject, signed, walk

BOTH = f"{roles.OPERATOR} and {roles.TREASURY}"
T, OPERATOR, TREASURER = roles.TREASURY, OWN + roles.OPERATOR, OWN + BOTH
FOR_APPROVAL = {"review", "rejected"}
COLUMNS = {
    "send_claimed": lambda row: {"attempt": row.attempt + 1, "sent_at": clock.now()},
    "accepted": lambda row: {"exchange_id": f"tx-{row.pk}"},
}


def reach(state: str, person: Any) -> Any:
    """A transfer in the state: to another user where it waits for approvals, else between the company's own."""
    rows.currency(now=clock.now(), transfer_enabled=True)
    if state == states.DRAFT:
        return _draft(person)
    kind = states.TO_USER if state in FOR_APPROVAL else states.BANK_TO_TRADING
    return walk(machine.MACHINE, rows.transfer(person, kind=kind, now=clock.now()), state, COLUMNS)


def _draft(person: Any) -> Transfer:
    content = {"kind": states.BANK_TO_TRADING, "currency": "BCH", "amount": Decimal("2.5"), "reason": "For the orders"}
    row = Transfer(account=rows.account(now=clock.now()), initiator=person, request_key=f"draft-{person.pk}", **content)
    return machine.create(row, now=clock.now(), actor=person)


def _fields(row: Any) -> dict[str, Any]:
    reasons = {f"{name}-reason": "Ours" for name in ("reject", "cancel")}
    digest = endings.digest_of(row) if row.state in {"not_seen", "investigate"} else row.digest
    return signed(row, verdict="not_moved", digest=digest, **reasons)


TRANSFERS = Subject(
    name="transfer",
    states=states.STATES,
    reach=reach,
    owners=(roles.OPERATOR, BOTH),
    routes=dict.fromkeys(
        (f"transfer-{name}" for name in ("approve", "reject", "cancel", "close", "reissue", "resolve")), _fields
    )
    | {"api-transfer-cancel": lambda row: {"reason": "Ours"}},
    goes_through={
        ("review", "transfer-approve"): {T},
        ("review", "transfer-reject"): {T},
        ("review", "transfer-cancel"): {OPERATOR, TREASURER},
        ("review", "api-transfer-cancel"): {OPERATOR, TREASURER},
        ("approved", "transfer-cancel"): {OPERATOR, TREASURER, T},
        ("approved", "api-transfer-cancel"): {OPERATOR, TREASURER},
        ("not_seen", "transfer-close"): {T},
        ("not_seen", "transfer-reissue"): {T},
        ("investigate", "transfer-resolve"): {T},
    },
    reads={"transfer": roles.ALL, "api-transfer": roles.ALL},
    part="decide",
    topic=lambda row: f"transfer:{row.pk}",
)
