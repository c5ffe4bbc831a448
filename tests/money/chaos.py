"""An exchange where something happens all the time, and the ways in which following it is broken."""

import random
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from sandbox.exchange.terms import Caller, Event, Refusal
from sandbox.in_process import InProcessSandbox
from sandbox.settings.keys import DESK_ACCOUNT, EVERY_RIGHT

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
PAGE = 1_000
_CALLER = Caller("demo-full", DESK_ACCOUNT, EVERY_RIGHT)
# How often of a hundred times each kind of movement begins.
_MOVEMENTS = {"deposit": 25, "payin": 10, "to_trading": 25, "to_bank": 25, "hold": 15}


class BusyExchange:
    """Movements of the desk's account in the sandbox, drawn by `dice`, and everything that was told of them."""

    def __init__(self, sandbox: InProcessSandbox, dice: random.Random) -> None:
        self.sandbox = sandbox
        self.published: dict[int, Mapping[str, object]] = {}  # every version of every transaction, by its index
        self._dice = dice
        self._held: list[str] = []
        sandbox.world.listen(self._hear)
        self._known_before = len(self.transactions())

    def _hear(self, event: Event) -> None:
        if event.kind == "transaction" and event.account == DESK_ACCOUNT:
            assert isinstance(event.payload, dict)
            self.published[int(str(event.payload["index"]))] = event.payload

    def move(self, count: int) -> None:
        """So many movements, and sometimes what follows from earlier ones."""
        self.sandbox.inside(lambda: [self._move() for _ in range(count)] and None)

    def pass_time(self, seconds: int) -> None:
        """Confirmations come, payouts arrive, holds lapse."""
        self.sandbox.control("clock", {"advance_ms": seconds * 1000})

    def happened(self) -> int:
        """How many transactions there are that were not there in the beginning."""
        return self.sandbox.inside(lambda: len(self.sandbox.world.exchange.transactions.of_account(DESK_ACCOUNT))) - (
            self._known_before
        )

    def transactions(self) -> list[dict[str, Any]]:
        """All transactions as they are now, by their indexes."""
        found: list[dict[str, Any]] = []
        while True:
            first = found[-1]["index"] + 1 if found else 0
            page = self._perform("load_transactions", {"from": str(first), "limit": PAGE, "showSenders": False})
            found += page
            if len(page) < PAGE:
                return found

    def balances(self) -> dict[str, tuple[str, str]]:
        """What the bank wallet holds: currency to available and reserved."""
        listed = self._perform("get_stream_balance", {})
        return {one["currency"]: (one["available"], one["reserved"]) for one in listed}

    def _perform(self, operation: str, arguments: dict[str, object]) -> list[dict[str, Any]]:
        answer = self.sandbox.inside(lambda: self.sandbox.world.perform(operation, _CALLER, arguments))
        assert isinstance(answer, list)
        return answer

    def _move(self) -> None:
        kind = self._dice.choices(list(_MOVEMENTS), _MOVEMENTS.values())[0]
        amount = f"0.{self._dice.randrange(1, 999):03}"
        world = self.sandbox.world
        with suppress(Refusal):  # too little money for it: then it is the next one's turn
            match kind:
                case "deposit":
                    world.control("deposit", {"currency": "USD", "amount": f"{self._dice.randrange(1, 900)}.5"})
                case "payin":
                    world.control("deposit", {"currency": self._dice.choice(("BTC", "ETH")), "amount": amount})
                case "to_trading":
                    self._transfer("bankToExchange", amount)
                case "to_bank":
                    self._transfer("exchangeToBank", amount)
                case _:
                    order = {"currency": "BTC", "amount": f"0.00{amount[2:]}", "address": ADDRESS, "autoCommit": False}
                    held = world.perform("create_withdrawal", _CALLER, order)
                    assert isinstance(held, dict)
                    self._held.append(str(held["id"]))
        if self._held and self._dice.random() < 0.1:
            self._decide(self._held.pop(self._dice.randrange(len(self._held))))

    def _transfer(self, direction: str, amount: str) -> None:
        currency = self._dice.choice(("BTC", "ETH", "USD"))
        self.sandbox.world.perform(
            "transfer_funds", _CALLER, {"currency": currency, "amount": amount, "type": direction}
        )

    def _decide(self, held: str) -> None:
        decision = self._dice.choice(("commit_withdrawal", "rollback_withdrawal"))
        with suppress(Refusal):  # it lapsed
            self.sandbox.world.perform(decision, _CALLER, {"id": held})


# Breaks --------------------------------------------------------------------------------------------------------------

TRANSACTION, BALANCE = "updateTransaction", "balance"
STEPS = ("login", "loadTransactions", "subscribeTransactions", "subscribeBalance", "getBalance")
STOP, KILL = "stop", "kill"
# How many of two hundred breaks are of each kind.
SHARES = {"drop": 56, "gap": 40, "duplicate": 30, "reorder": 30, "silence": 20, STOP: 12, KILL: 12}


def plan(count: int, dice: random.Random) -> list[str]:
    """Kinds of break in their shares, in any order; there is at least one of each."""
    whole = sum(SHARES.values())
    kinds = [kind for kind, share in SHARES.items() for _ in range(max(1, share * count // whole))]
    kinds += dice.choices(list(SHARES), SHARES.values(), k=max(0, count - len(kinds)))
    dice.shuffle(kinds)
    return kinds[:count]


def faults(kind: str, dice: random.Random) -> list[dict[str, object]]:
    """What to arm for one break. A step of the beginning needs a beginning, so the socket is dropped too."""
    operation = dice.choices((TRANSACTION, BALANCE, dice.choice(STEPS)), (7, 2, 1))[0]
    if kind == "reorder" and operation in STEPS:
        operation = TRANSACTION
    fault: dict[str, object] = {"operation": operation, "kind": kind}
    if kind == "drop":
        fault["how"] = dice.choice(("close", "reset"))
    if kind == "silence":
        fault |= dice.choice(({}, {"ms": dice.randrange(50, 300)}, {"pings": True}))
    if operation not in STEPS:
        return [fault]
    return [{"operation": TRANSACTION, "kind": "drop", "how": "close"}, fault]


def instant(text: str) -> datetime:
    """A time as the exchange writes it."""
    return datetime.fromisoformat(text)
