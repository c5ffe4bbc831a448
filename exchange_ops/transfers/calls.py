"""The one call of a transfer: its row before the bytes leave, a last check of claim and clocks, one send, one outcome.

A transfer can't be taken back, so at most one of its attempts may ever reach the exchange: the database refuses the row
of a second call unless the first one provably was not sent.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from desk.machines import calls
from desk.machines.calls import Reply
from desk.machines.mover import texts
from desk.machines.step_clock import SEND_WITHIN
from exchange_ops.client import ExchangeClient
from exchange_ops.shared import clocks
from exchange_ops.shared.calls import reply_of
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer, TransferCall
from exchange_ops.transfers.snapshots import Snapshot
from exchange_ops.wire.catalogue import Right
from wire.errors import OutcomeUnknown

QUIET = timedelta(minutes=10)  # longer than any gateway may keep a request before it is carried out
MARGIN = timedelta(minutes=2)
LONGEST_ID = 80
OPERATIONS = {
    states.BANK_TO_TRADING: "transfer_funds",
    states.TRADING_TO_BANK: "transfer_funds",
    states.TO_USER: "transfer_to_user",
    states.CONVERT: "convert_currency",
    states.TO_SUBACCOUNT: "transfer_subaccount_funds",
    states.FROM_SUBACCOUNT: "transfer_subaccount_funds",
}
_BY_WITHDRAWING = ("transfer_to_user", "transfer_subaccount_funds")
_DIRECTIONS = {states.BANK_TO_TRADING: "bankToExchange", states.TRADING_TO_BANK: "exchangeToBank"}


def right_for(row: Transfer) -> Right:
    """The right that the key of this call needs (exchange REST, Account management and Sub-accounts)."""
    return Right.WITHDRAW if OPERATIONS[row.kind] in _BY_WITHDRAWING else Right.PAYMENTS


def prepare(row: Transfer, *, before: Snapshot, now: datetime) -> TransferCall:
    """The row of the call, inside the transaction of the claim. `before` is what was read right before it."""
    reading = clocks.believed(account=row.account)
    skew = timedelta(milliseconds=0 if reading is None else reading.skew_ms)
    return TransferCall.objects.create(
        account_id=row.account_id,
        transfer_id=row.pk,
        attempt=row.attempt,
        epoch=row.lease_epoch,
        operation=OPERATIONS[row.kind],
        fingerprint=calls.fingerprint(row.kind, content(row)),
        watermark=before.watermark,
        balances=before.facts(),
        expected=texts(expected(row)),
        created_from=now + min(skew, timedelta(0)) - MARGIN,
        created_until=now + max(skew, timedelta(0)) + QUIET + MARGIN,
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def content(row: Transfer) -> dict[str, Any]:
    """The content of the request."""
    names = ("currency", "amount", "to_currency", "by", "identifier", "subaccount_id")
    return {name: getattr(row, name) for name in names}


def expected(row: Transfer) -> dict[str, dict[str, Decimal]]:
    """What the transfer changes in our own wallets, by wallet and currency."""
    code, amount = row.currency, row.amount
    if row.kind == states.BANK_TO_TRADING:
        return {"bank": {code: -amount}, "trading": {code: amount}}
    if row.kind == states.TRADING_TO_BANK:
        return {"bank": {code: amount}, "trading": {code: -amount}}
    if row.kind == states.CONVERT:
        return {"bank": {code: -amount, row.to_currency: amount}}
    return {"bank": {code: amount if row.kind == states.FROM_SUBACCOUNT else -amount}}


def send(row: Transfer, client: ExchangeClient, last_look: calls.LastLook) -> Reply:
    """Send it and return the outcome."""
    return reply_of(lambda: _exchange_ids(client, row, last_look))


def _exchange_ids(client: ExchangeClient, row: Transfer, last_look: calls.LastLook) -> tuple[str, ...]:
    """The ids that the exchange gave; ids that can't be stored make the outcome unknown."""
    arguments: dict[str, Any] = {"currency": row.currency, "amount": row.amount, "last_look": last_look}
    if row.kind in _DIRECTIONS:
        ids: tuple[str, ...] = (client.transfer_funds(**arguments, type=_DIRECTIONS[row.kind]),)
    elif row.kind == states.TO_USER:
        ids = (client.transfer_to_user(**arguments, by=row.by, identifier=row.identifier),)
    elif row.kind == states.CONVERT:
        ids = tuple(
            client.convert_currency(
                from_currency=row.currency, to_currency=row.to_currency, amount=row.amount, last_look=last_look
            )
        )
    else:
        direction = "withdraw" if row.kind == states.FROM_SUBACCOUNT else "deposit"
        ids = (client.transfer_subaccount_funds(**arguments, subaccount_id=row.subaccount_id or 0, type=direction),)
    if not 1 <= len(ids) <= 2 or len(set(ids)) != len(ids) or not all(_is_storable(one) for one in ids):
        raise OutcomeUnknown("the exchange returned IDs for the transfer that can't be stored")
    return ids


def _is_storable(number: str) -> bool:
    return 0 < len(number) <= LONGEST_ID and number.isprintable()
