"""The description of the interface, and rows of every kind that it speaks about."""

import json

import pytest

from chaindata.watching import states
from chaindata.watching.machine import MOVEMENTS
from chaindata.watching.models import ChainMovement
from desk import clock
from desk.people import totp
from exchange_ops.subaccounts import account_status
from exchange_ops.subaccounts import workflow as subaccounts
from tests.chaindata.views import rows as chain_rows
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.permissions.subjects.watching import address as watched_address
from wire.values import Secret

SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


_served: list[bytes] = []  # it depends on no row, and writing it takes a fifth of a second


@pytest.fixture
def described(with_token, operator):
    """The description as it is served, and a client that may do everything that a program may."""
    client = with_token(operator)
    if not _served:
        _served.append(client.get("/api/v1/schema/?format=json").content)
    return json.loads(_served[0]), client


@pytest.fixture
def one_of_everything(described, operator, admin):
    """Rows in several states, and the number of one for each kind of address."""
    now = clock.now()
    order_rows.market(now=now)
    rows.currency(now=now, transfer_enabled=True)
    rows.requested(operator, now=now)
    rows.held(operator, now=now)
    withdrawal = rows.ended(operator, now=now)
    for kind in ("bank_to_trading", "to_user"):
        transfer = rows.transfer(operator, kind=kind, now=now)
    rows.transfer_sent(operator, now=now)
    order_rows.requested(operator, now=now)
    order_rows.elsewhere(now=now)
    order = order_rows.placed(operator, now=now, status="filled", filled="1")
    rows.entry(1, now=now)
    subaccount = rows.subaccount(now=now)
    watched = watched_address(states.WATCHED, admin)
    chain_movement = ChainMovement(watched=watched, txid="ab" * 32, change_sat=-5, spends=True)
    MOVEMENTS.create(chain_movement, event="seen", now=now)
    chain_rows.tip(20, at=now)
    totp.enrol(admin, SECRET)
    subaccounts.ask_status(
        kind="freeze",
        account=subaccount.account,
        exchange_ids=[subaccount.exchange_id],
        person=admin,
        reason="Its trader left",
        digest=account_status.digest_of("freeze", [subaccount]),
        answer={"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(now))},
        request_key="one-key-of-a-test",
        session_key="session",
        now=now,
    )
    return {
        "withdrawal_id": withdrawal.pk,
        "transfer_id": transfer.pk,
        "order_id": order.pk,
        "exchange_id": subaccount.exchange_id,
        "symbol": "BCHUSD",
        "watched_id": watched.pk,
    }
