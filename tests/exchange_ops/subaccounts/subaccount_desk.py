"""One desk in front of one sandbox, for tests of sub-accounts: an admin asks, a worker steps, time is moved by hand."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from desk import clock
from desk.people import totp
from exchange_ops.keys import store as keys
from exchange_ops.subaccounts import account_status, readings, workflow
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction
from sandbox.exchange.accounts.accounts import SubStatus
from tests.exchange_ops.withdrawals.walks import TOTP_SECRET

SESSION = "session-of-a-test"


@dataclass
class Desk:
    """The desk with its list read, an admin, and a clock that is moved by hand."""

    account: Any
    sandbox: Any
    admin: Any
    client_for: Any = keys.client_for
    ahead: timedelta = timedelta()
    _keys: Any = field(default_factory=lambda: count(1))
    _step: int = 0

    @property
    def now(self):
        return clock.now() + self.ahead

    def read(self):
        self.ahead += timedelta(minutes=3)
        readings.sync(now=self.now, client_for=self.client_for)

    def sub(self, number=7001):
        return SubAccount.objects.get(exchange_id=number)

    def code(self):
        self.ahead += timedelta(seconds=30)
        newest = totp.step_at(self.now)
        self._step = max(self._step + 1, newest - 1)
        return {"kind": "totp", "code": totp.code_at(TOTP_SECRET, self._step)}

    def ask(self, kind="freeze", *numbers, **changes):
        numbers = numbers or (7001,)
        subs = SubAccount.objects.filter(exchange_id__in=numbers)
        arguments = {
            "kind": kind,
            "account": self.account,
            "exchange_ids": list(numbers),
            "person": self.admin,
            "reason": "Its trader left",
            "digest": account_status.digest_of(kind, list(subs)),
            "request_key": f"key-{next(self._keys)}",
            "session_key": SESSION,
        }
        arguments |= changes
        if "answer" not in arguments:
            arguments["answer"] = self.code()
        return workflow.ask_status(now=self.now, **arguments)

    def ask_settings(self, number=7001, **changes):
        sub = self.sub(number)
        arguments = {
            "account": self.account,
            "exchange_id": number,
            "payout_enabled": False,
            "description": sub.description,
            "person": self.admin,
            "reason": "Nobody pays from it",
            "digest": account_status.digest_of("settings", [sub]),
            "request_key": f"key-{next(self._keys)}",
            "session_key": SESSION,
            "now": self.now,
        }
        return workflow.ask_settings(**(arguments | changes))

    def step(self, action, *, later=timedelta(seconds=40), give_up=False):
        """One step of the action, `later` than the last; with `give_up` the worker that had it is gone."""
        self.ahead += later
        if give_up:
            SubAccountAction.objects.filter(pk=action.pk).update(lease_until=None)
        SubAccountAction.objects.filter(pk=action.pk).exclude(next_action_at=None).update(next_action_at=self.now)
        workflow.advance(action.pk, now=self.now, client_for=self.client_for)
        return SubAccountAction.objects.select_related("sub_account").get(pk=action.pk)

    def until(self, action, *wanted, most=8):
        row = action
        for _ in range(most):
            row = self.step(row)
            if row.state in wanted:
                return row
        raise AssertionError(f"{row.state}, not {wanted}: {row.last_problem}")

    def fault(self, operation, kind, times=1, **more):
        self.sandbox.control("faults", {"operation": operation, "kind": kind, "times": times, **more})

    def calls(self, *operations):
        found = [call.as_json() for call in list(self.sandbox.calls._calls)]
        wanted = operations or ("freeze_subaccounts", "activate_subaccounts", "set_subaccount_settings")
        return [(call["operation"], call["executed"]) for call in found if call["operation"] in wanted]

    def theirs(self, number=7001):
        return self.sandbox.world.exchange.accounts.sub_account(f"desk+{number - 7000}@demo.test")

    def status_at_exchange(self, number=7001):
        return self.theirs(number).status.value

    def disable(self, number):
        self.sandbox.inside(lambda: setattr(self.theirs(number), "status", SubStatus.DISABLED))


def opened(account, sandbox, admin):
    """A desk whose list was read, with an admin who has one-time codes."""
    totp.enrol(admin, TOTP_SECRET)
    made = Desk(account=account, sandbox=sandbox, admin=admin)
    made.read()
    return made
