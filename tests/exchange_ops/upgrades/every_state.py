"""Rows in every state of every machine, by the machines themselves: on an account of its own, which has no key.

The ways there are those by which the permissions of each state are tested (`tests/exchange_ops/permissions/subjects`).
Nothing of it was at an exchange, so no key leads from this account to one.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from functools import partial
from hashlib import sha256
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.db import transaction

from chaindata.broadcasts.models import ChainBroadcast
from chaindata.wire import transactions
from desk import clock
from desk.models import Person
from desk.people import roles, stepup, totp
from exchange_ops.addresses.models import AddressRequest, DepositAddress
from exchange_ops.market.models import Currency, Symbol
from exchange_ops.policy import quorum
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from tests.chaindata import paying
from tests.desk.machines.test_tables import ADDRESS_REQUESTS, BROADCASTS
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.permissions import shared_form
from tests.exchange_ops.permissions.subjects import (
    members,
    payouts,
    restores,
    rule_changes,
    sub_accounts,
    trading,
    transfers,
    watching,
)
from tests.exchange_ops.restores import restore_rows
from tests.exchange_ops.withdrawals.decisions.test_open_holds import resolve
from tests.exchange_ops.withdrawals.walks import Walk

NAME = "Second desk"
_MODULES = (members, payouts, restores, rule_changes, sub_accounts, trading, transfers, watching, restore_rows)
# What changes the rules comes late: each new version of them voids approvals. What waits for them comes last.
_FOR_APPROVAL = ("waiting", "declined", "withdrawn", "lapsed")
_OPEN_CHANGES = ("agreed", "proposed")


class Staff:
    """People by their role, each made once; second factors that were not used before; a request key for each row."""

    def __init__(self) -> None:
        self._people: dict[str, Person] = {}
        self._steps = count(totp.step_at(clock.now()) - 90)

    def colleague(self, role: str, name: str = "") -> Person:
        """Somebody with this role, by this name where it matters."""
        name = name or f"second-{role}"
        if name not in self._people:
            self._people[name] = Person.objects.create_user(username=name, email=f"{name}@desk.test", password="-" * 20)
            self._people[name].groups.add(Group.objects.get_or_create(name=role)[0])
            totp.enrol(self._people[name], shared_form.SECRET)
        return self._people[name]

    def code(self) -> dict[str, str]:
        """A one-time code later than every one before it."""
        return {"kind": "totp", "code": totp.code_at(shared_form.SECRET, next(self._steps))}


def account(*, now: datetime = rows.NOW) -> Account:
    """The account of these rows, at an exchange whose forgotten holds were seen to lapse."""
    quorum.ensure_first(now=now)
    row, is_new = Account.objects.get_or_create(name=NAME, defaults={"quote_currency": "USD"})
    if is_new:
        facts.note(account=row, name=facts.HOLD_END, value=facts.LAPSES, now=now)
    return row


@contextmanager
def staffed(staff: Staff) -> Iterator[pytest.MonkeyPatch]:
    """Every way into a state takes its people, codes and account from here, so that its rows can be many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "account", account)
        for module in _MODULES:
            for name, replacement in (("code_of_now", staff.code), ("colleague", staff.colleague)):
                if hasattr(module, name):
                    patch.setattr(module, name, replacement)
        yield patch


def fill(staff: Staff, walk: Walk) -> None:
    """A row in each state of each machine, but of incidents, whose causes have to be there (`company`)."""
    with staffed(staff) as patch:
        now = clock.now()
        restores.restore("settled", staff.colleague(roles.TREASURY))  # first: nothing waits yet
        rows.account(now=now)
        rows.currency(now=now, transfer_enabled=True)
        rows.price(now=now)
        rows.balance(now=now)
        _payments(staff, walk, patch)
        _trades(staff, patch)
        _chain(staff, patch)
        _members(staff)
        _rules(staff)


def _payments(staff: Staff, walk: Walk, patch: pytest.MonkeyPatch) -> None:
    operator, ask = staff.colleague(roles.OPERATOR), rows.requested
    patch.setattr(payouts, "walk", partial(_approved, walk))
    for state in payouts.PAYOUTS.states:  # of equal payments a single one is under way
        patch.setattr(rows, "requested", partial(ask, payment_id=f"invoice {state}"))
        row = payouts.reach(state, operator)
        if state == "investigate":
            resolve(walk, row, "not_paid", walk.approvers[0])  # one finding of two
    listed = Currency.objects.filter(delisted=False).exclude(pk__in=("BCH", "BTC", "ETH", "USD", "USDT20"))
    codes, transfer = iter(listed.order_by("pk").values_list("pk", flat=True)), rows.transfer
    for state in transfers.TRANSFERS.states:  # of one kind and currency a single transfer is under way
        code = "BCH" if state in transfers.FOR_APPROVAL else next(codes)
        rows.currency(code, now=clock.now(), transfer_enabled=True)
        rows.balance(code, now=clock.now())
        patch.setattr(rows, "transfer", partial(transfer, currency=code, amount=Decimal(2)))
        transfers.reach(state, operator)
    rows.entry(1, now=clock.now())
    rows.entry(3, now=clock.now(), type="payout", status="pending", foreign=True)  # made past the desk
    currencies = ("BTC", "ETH", "XRP", "LTC", "BCH", "USD", "USDT20")
    for currency, state in zip(currencies, ADDRESS_REQUESTS.table.states, strict=True):
        row = AddressRequest(account=rows.account(), initiator=operator, currency=currency, request_key=str(uuid4()))
        row = ADDRESS_REQUESTS.create(row, event="asked", now=clock.now(), actor=operator)
        shared_form.walk(ADDRESS_REQUESTS, row, state, {"made": _address})


def _approved(walk: Walk, machine: Any, row: Any, end: str, columns: Mapping[str, Callable[[Any], Any]]) -> Any:
    """Move the payout by its own machine; what people decide is decided by somebody of treasury."""
    for move in shared_form.steps(machine.table, row.state, end):
        if move.event == "quorum_reached":
            walk.approve(row)
            row = walk.fresh(row)
            assert row.state == move.target
        else:
            changes = columns[move.event](row) if move.event in columns else {}
            machine.move(row, event=move.event, to=move.target, now=clock.now(), **changes)
    return row


def _address(row: AddressRequest) -> dict[str, DepositAddress]:
    """The address that a request led to."""
    now, text = clock.now(), paying.key(99).address.cash_address
    columns = {"address": text, "is_current": True, "place": 1, "first_seen_at": now, "seen_at": now}
    return {"made": DepositAddress.objects.create(account=row.account, currency=row.currency, **columns)}


def _trades(staff: Staff, patch: pytest.MonkeyPatch) -> None:
    operator, now = staff.colleague(roles.OPERATOR), clock.now()
    _margin(staff, patch)
    for state in trading.ORDERS.states:
        if state not in _FOR_APPROVAL:
            trading.ORDERS.reach(state, operator)
    for state in trading.BRACKETS.states:
        trading.BRACKETS.reach(state, operator)
    order_rows.elsewhere(now=now)
    for number in (1, 2, 3):
        rows.trade(number, now=now)
    admin = staff.colleague(roles.ADMIN)
    for state in sub_accounts.SUB_ACCOUNTS.states:
        sub_accounts.SUB_ACCOUNTS.reach(state, admin)
    for state in sub_accounts.SUB_ACCOUNT_ACTIONS.states:
        patch.setattr(sub_accounts, "KEY", str(uuid4()))
        sub_accounts.SUB_ACCOUNT_ACTIONS.reach(state, admin)


def _margin(staff: Staff, patch: pytest.MonkeyPatch) -> None:
    """Actions of several symbols: of one symbol a single action is under way."""
    operator, ask = staff.colleague(roles.OPERATOR), rows.margin_action
    symbols = Symbol.objects.order_by("pk").values_list("pk", flat=True)
    for state, symbol in zip(trading.MARGIN_ACTIONS.states, symbols, strict=False):
        patch.setattr(rows, "margin_action", partial(ask, symbol=symbol))
        trading.MARGIN_ACTIONS.reach(state, operator)
    rows.margin_position(now=clock.now())


def _chain(staff: Staff, patch: pytest.MonkeyPatch) -> None:
    treasurer, numbers = staff.colleague(roles.TREASURY), count(101)
    for subject in (watching.WATCHED, watching.MOVEMENTS):
        for state in subject.states:
            patch.setattr(watching, "ADDRESS", paying.key(next(numbers)).address.cash_address)
            subject.reach(state, treasurer)
    sent = {"claimed": lambda row: {"sends": 1, "sent_at": clock.now()}}
    for state in BROADCASTS.table.states:
        raw = paying.funding(paying.key(next(numbers)), 100_000, mark=next(numbers)).raw
        shared_form.walk(BROADCASTS, _broadcast(raw, treasurer, staff), state, sent)


_EXPLAINED = {
    "network": "regtest",
    "in_sat": 102_000,
    "out_sat": 101_000,
    "fee_sat": 1_000,
    "rate": "6.2",
    "spends_ours": False,
    "warnings": [],
    "sources": [],
    "payments": [],
    "says": [],
}


def _broadcast(raw: bytes, person: Person, staff: Staff) -> ChainBroadcast:
    now, digest = clock.now(), sha256(raw).hexdigest()
    words = {"person": person, "purpose": "broadcast-transaction", "digest": digest, "session_key": "s", "now": now}
    with transaction.atomic():
        confirmation = stepup.verify(answer=staff.code(), **words)
        row = ChainBroadcast(txid=transactions.read(raw).txid, raw=raw.hex(), size=len(raw), digest=digest)
        row.explained, row.reason = _EXPLAINED, "Moves the reserve"
        row.requested_by, row.confirmation = person, confirmation
        return BROADCASTS.create(row, event="asked", now=now, actor=person, evidence=confirmation.evidence())


def _members(staff: Staff) -> None:
    """An administrator asks, and where it takes two another one confirms."""
    admin = staff.colleague(roles.ADMIN, "first-admin")
    for state in members.STATES:
        members.member(state, admin)
    for state in members.CHANGES_OF_MEMBERS.states:
        members.change(state, admin)


def _rules(staff: Staff) -> None:
    admin, operator = staff.colleague(roles.ADMIN, "first-admin"), staff.colleague(roles.OPERATOR)
    states = [state for state in rule_changes.RULE_CHANGES.states if state not in (*_OPEN_CHANGES, "published")]
    for state in (*states, "published"):
        rule_changes.reach(state, admin)
    for state in _FOR_APPROVAL:
        trading.ORDERS.reach(state, operator)
    for state in _OPEN_CHANGES:
        rule_changes.reach(state, admin)
