"""Transfers on the desk under test: every kind asked for, workers that step, time that passes on our side."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from desk.models import Person
from exchange_ops.keys import store as keys
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.subaccounts import readings as subaccount_readings
from exchange_ops.transfers import approvals, endings, states, workflow
from exchange_ops.transfers.models import Transfer, TransferCall
from tests.exchange_ops.withdrawals.walks import SESSION, Walk

# What is asked for of each kind, and the operation that it becomes.
REQUESTS: dict[str, dict[str, Any]] = {
    states.BANK_TO_TRADING: {"currency": "BTC", "amount": Decimal("1.5")},
    states.TRADING_TO_BANK: {"currency": "ETH", "amount": Decimal("2.5")},
    states.TO_USER: {"currency": "ETH", "amount": Decimal("0.25"), "by": "username", "identifier": "other"},
    states.CONVERT: {"currency": "USD", "amount": Decimal("20.25"), "to_currency": "USDT20"},
    states.TO_SUBACCOUNT: {"currency": "BTC", "amount": Decimal("0.5"), "subaccount_id": 7001},
    states.FROM_SUBACCOUNT: {"currency": "BTC", "amount": Decimal("0.125"), "subaccount_id": 7001},
}
OPERATIONS = {
    states.BANK_TO_TRADING: "transfer_funds",
    states.TRADING_TO_BANK: "transfer_funds",
    states.TO_USER: "transfer_to_user",
    states.CONVERT: "convert_currency",
    states.TO_SUBACCOUNT: "transfer_subaccount_funds",
    states.FROM_SUBACCOUNT: "transfer_subaccount_funds",
}
QUIET_OVER = timedelta(minutes=10, seconds=5)


@dataclass
class Moving:
    """The desk under test, as far as it moves money inside the exchange."""

    walk: Walk
    client_for: Callable[..., Any] = keys.client_for
    ahead: timedelta = timedelta(0)
    _keys: Any = field(default_factory=lambda: count(1))

    # What people do ---------------------------------------------------------------------------------------------------

    def request(self, kind: str = states.BANK_TO_TRADING, **changes: Any) -> Transfer:
        """A transfer of this kind that nothing speaks against, unless `changes` do."""
        arguments: dict[str, Any] = {
            "initiator": self.walk.operator,
            "account": self.walk.account,
            "kind": kind,
            "reason": "Margin for the week",
            "request_key": f"transfer-{next(self._keys)}",
            "now": self.now(),
            **REQUESTS.get(kind, REQUESTS[states.BANK_TO_TRADING]),
        }
        return workflow.request(**(arguments | changes))

    def approved(self, kind: str = states.BANK_TO_TRADING, **changes: Any) -> Transfer:
        """The same, with the approvals that it needs."""
        row = self.request(kind, **changes)
        for person in self.walk.approvers:
            if self.fresh(row).state == "review":
                self.approve(row, person)
        return self.fresh(row)

    def approve(self, row: Transfer, person: Person | None = None, **changes: Any) -> Transfer:
        """One approval of what is on the row now."""
        approver = person or self.walk.approvers[0]
        arguments: dict[str, Any] = {
            "transfer_id": row.pk,
            "person": approver,
            "digest": self.fresh(row).digest,
            "answer": self.walk.answer(approver) if "answer" not in changes else None,
            "comment": "",
            "session_key": SESSION,
            "now": clock.now(),
        }
        return approvals.approve(**(arguments | changes))

    def end(self, act: str, row: Transfer, person: Person | None = None, **changes: Any) -> Transfer:
        """Close, re-issue or resolve what is on the row now."""
        approver = person or self.walk.approvers[0]
        arguments: dict[str, Any] = {
            "transfer_id": row.pk,
            "person": approver,
            "digest": endings.digest_of(self.fresh(row)),
            "answer": self.walk.answer(approver) if "answer" not in changes else None,
            "session_key": SESSION,
            "now": clock.now(),
        }
        if act == "resolve":
            arguments |= {"verdict": "moved", "evidence": "The exchange's own page"}
        else:
            arguments |= {"reason": "Looked at the exchange's own page"}
        if act == "reissue":
            arguments["request_key"] = f"again-{next(self._keys)}"
        return getattr(endings, act)(**(arguments | changes))

    # What the worker does ---------------------------------------------------------------------------------------------

    def now(self) -> Any:
        """Our clock in this test."""
        return clock.now() + self.ahead

    def fresh(self, row: Transfer) -> Transfer:
        """The row as it is now."""
        return Transfer.objects.select_related("account", "initiator").get(pk=row.pk)

    def step(self, row: Transfer, *, lease_over: bool = True) -> Transfer:
        """One step of the row at once, whatever it waits for; with `lease_over` a worker that held it is given up."""
        past: dict[str, Any] = {"next_action_at": clock.now() - timedelta(seconds=1)}
        if lease_over:
            past["lease_until"] = None
        Transfer.objects.filter(pk=row.pk).update(**past)
        workflow.advance(row.pk, now=self.now(), client_for=self.client_for)
        return self.fresh(row)

    def until(self, row: Transfer, *wanted: str, most: int = 8) -> Transfer:
        """Steps until the row is in one of the states."""
        now = self.fresh(row)
        for _ in range(most):
            if now.state in wanted:
                return now
            now = self.step(now)
        assert now.state in wanted, f"{now.state}, not {wanted}: {now.last_problem}"
        return now

    def not_seen(self, kind: str = states.BANK_TO_TRADING, **changes: Any) -> Transfer:
        """A transfer that never reached the exchange, after the quiet period."""
        self.walk.fault(OPERATIONS[kind], "drop_before")
        row = self.until(self.approved(kind, **changes), "unknown")
        self.ahead += QUIET_OVER
        return self.until(row, "not_seen")

    # What the exchange did --------------------------------------------------------------------------------------------

    def calls(self, row: Transfer, *, executed: bool | None = None) -> list[Any]:
        """The calls of this kind of transfer that the sandbox received."""
        return self.walk.calls(OPERATIONS[row.kind], executed=executed)

    def outcomes(self, row: Transfer) -> list[str]:
        """What became of our calls for the row."""
        return list(TransferCall.objects.filter(transfer=row).values_list("outcome", flat=True))

    def entries(self, row: Transfer) -> list[LedgerEntry]:
        """The entries of our copy of the ledger that belong to the row."""
        return list(LedgerEntry.objects.filter(transfer=row).order_by("index"))

    def moved(self, row: Transfer) -> list[Any]:
        """Transactions of the desk's account in the sandbox's own books that move this amount of this currency."""
        every = self.walk.sandbox.world.exchange.transactions.of_account("desk@demo.test")
        fitting = ("bankToExchange", "exchangeToBank", "withdraw", "deposit")
        return [
            one for one in every if one.type in fitting and one.currency == row.currency and one.amount == row.amount
        ]

    def balance(self, code: str, wallet: str = "bank", account: str = "desk@demo.test") -> Decimal:
        """What a wallet holds in the sandbox's own books."""
        found: Decimal = self.walk.sandbox.world.exchange.ledger.balance(account, wallet, code)
        return found

    def read_subaccounts(self) -> None:
        """Bring our copy of the list of sub-accounts up to date, as beat would."""
        subaccount_readings.sync(now=clock.now(), client_for=keys.client_for)
