"""One desk in front of one sandbox, for tests of the machine: people act, a worker steps, time is moved by hand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from desk.models import Person
from desk.people import totp
from exchange_ops.keys import store as keys
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from wire.values import Secret

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
OTHER_ADDRESS = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"
TOTP_SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
SESSION = "session-of-a-test"
CHANGES = ("create_withdrawal", "commit_withdrawal", "rollback_withdrawal")


@dataclass
class Walk:
    """The desk under test. `client_for` may be replaced to make a worker die at a chosen moment.

    `secret` is of the second factor that all approvers have.
    """

    account: Account
    sandbox: Any
    operator: Person
    approvers: list[Person]
    secret: Secret = field(default_factory=lambda: TOTP_SECRET)
    client_for: Callable[..., Any] = keys.client_for
    _keys: Any = field(default_factory=lambda: count(1))
    _codes: dict[int, int] = field(default_factory=dict)

    # What people do ---------------------------------------------------------------------------------------------------

    def request(self, **changes: Any) -> Withdrawal:
        """A payout that one approval releases, unless `changes` say otherwise."""
        arguments: dict[str, Any] = {
            "initiator": self.operator,
            "account": self.account,
            "currency": "BTC",
            "amount": Decimal("0.05"),
            "address": ADDRESS,
            "payment_id": "",
            "include_fee": False,
            "reason": "An invoice of a supplier",
            "request_key": f"key-{next(self._keys)}",
            "now": clock.now(),
        }
        return workflow.request(**(arguments | changes))

    def answer(self, person: Person) -> dict[str, str]:
        """A one-time code of the person that was not used yet."""
        now = clock.now()
        step = max(self._codes.get(person.pk, 0) + 1, totp.step_at(now) - 1)
        # With a wide tolerance some six digits are those of two steps, and would spend the later one.
        while totp.matching_step(self.secret, totp.code_at(self.secret, step), now=now) not in {step, None}:
            step += 1
        self._codes[person.pk] = step
        return {"kind": "totp", "code": totp.code_at(self.secret, step)}

    def approve(self, row: Withdrawal, person: Person | None = None, **changes: Any) -> Withdrawal:
        """One approval of what is on the row now."""
        approver = person or self.approvers[0]
        arguments: dict[str, Any] = {
            "withdrawal_id": row.pk,
            "person": approver,
            "digest": self.fresh(row).digest,
            "answer": self.answer(approver) if "answer" not in changes else None,
            "comment": "",
            "session_key": SESSION,
            "now": clock.now(),
        }
        return approvals.approve(**(arguments | changes))

    def reject(self, row: Withdrawal, person: Person | None = None) -> Withdrawal:
        """A no with a reason."""
        return approvals.reject(
            withdrawal_id=row.pk, person=person or self.approvers[0], reason="Not ours", now=clock.now()
        )

    # What the worker does ---------------------------------------------------------------------------------------------

    def fresh(self, row: Withdrawal) -> Withdrawal:
        """The row as it is now."""
        return Withdrawal.objects.select_related("account", "initiator").get(pk=row.pk)

    def step(self, row: Withdrawal, *, lease_over: bool = True) -> Withdrawal:
        """One step of the row at once, whatever it waits for; with `lease_over` a worker that held it is given up."""
        past: dict[str, Any] = {"next_action_at": clock.now() - timedelta(seconds=1)}
        if lease_over:
            past["lease_until"] = None
        Withdrawal.objects.filter(pk=row.pk).update(**past)
        workflow.advance(row.pk, now=clock.now(), client_for=self.client_for)
        return self.fresh(row)

    def until(self, row: Withdrawal, *wanted: str, most: int = 12) -> Withdrawal:
        """Steps until the row is in one of the states."""
        now = self.fresh(row)
        for _ in range(most):
            if now.state in wanted:
                return now
            now = self.step(now)
        assert now.state in wanted, f"{now.state}, not {wanted}: {now.last_problem}"
        return now

    def held(self, **changes: Any) -> Withdrawal:
        """A hold whose echo agrees, ready to be approved."""
        row = self.until(self.request(**changes), "held")
        if row.echo_ok is None:
            row = self.step(row)
        assert row.echo_ok is True, row.echo
        return row

    def committing(self, **changes: Any) -> Withdrawal:
        """A hold with its approval, which the exchange was told nothing about."""
        row = self.held(**changes)
        self.approve(row)
        return self.fresh(row)

    def sweep(self) -> int:
        """Whatever is due, as beat would ask for it."""
        return workflow.sweep(now=clock.now(), client_for=self.client_for)

    # What the exchange does and says ----------------------------------------------------------------------------------

    def fault(self, operation: str, kind: str, times: int = 1, **more: Any) -> None:
        """The next calls of the operation fail."""
        self.sandbox.control("faults", {"operation": operation, "kind": kind, "times": times, **more})

    def heal(self) -> None:
        """No faults any more."""
        self.sandbox.control("faults", method="DELETE")

    def later(self, **duration: float) -> None:
        """The exchange's clock moves on, and one read tells the desk."""
        self.sandbox.control("clock", {"advance_ms": int(timedelta(**duration).total_seconds() * 1000)})
        self.hear_clock()

    def hear_clock(self) -> None:
        """Read anything, so that the desk knows what time it is at the exchange."""
        client = keys.client_for(self.account, Right.PAYMENTS)
        try:
            client.get_balances()
        finally:
            client.close()

    def read_ledger(self) -> None:
        """Bring our copy of the exchange's ledger up to date, as beat would."""
        client = keys.client_for(self.account, Right.HISTORY)
        try:
            ledger.sync(account=self.account, client=client, now=clock.now())
        finally:
            client.close()

    def calls(self, *operations: str, executed: bool | None = None) -> list[Any]:
        """Calls the sandbox received, oldest first; of the three that change something unless named."""
        found = [call.as_json() for call in list(self.sandbox.calls._calls)]
        wanted = operations or CHANGES
        listed = [call for call in found if call["operation"] in wanted]
        return listed if executed is None else [call for call in listed if call["executed"] is executed]

    def payouts(self) -> list[Any]:
        """Every payout to the test's addresses in the sandbox's own books, oldest first."""
        every = self.sandbox.world.exchange.transactions.every()
        return [one for one in every if one.type == "payout" and one.address in {ADDRESS, OTHER_ADDRESS}]

    def balanced(self) -> bool:
        """Whether the sandbox's double-entry ledger sums to zero."""
        return bool(self.sandbox.control("ledger")["balanced"])

    def outcomes(self, row: Withdrawal, kind: str) -> list[str]:
        """What became of our calls of one kind for the row."""
        return list(ExternalCall.objects.filter(withdrawal=row, kind=kind).values_list("outcome", flat=True))

    def entry(self, row: Withdrawal) -> LedgerEntry:
        """The row's hold in our copy of the ledger."""
        return LedgerEntry.objects.get(account=self.account, exchange_id=self.fresh(row).exchange_id)
