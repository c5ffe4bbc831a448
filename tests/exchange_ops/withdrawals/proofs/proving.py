"""A desk that pays in the coin of the sandbox's chain, and workers that follow it and look for proofs, by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from chaindata import tip_follower
from chaindata.cache import service
from desk import clock
from desk.models import Person
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.models import PayoutProof, Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from sandbox.exchange.accounts import address_forms
from tests.chaindata.conftest import unhurried

SLOW = 86_400  # seconds between blocks: none comes but those that a test asks for
WAY = (
    ("submitted", "queued"),
    ("hold_claimed", "holding"),
    ("hold_accepted", "held"),
    ("quorum_reached", "committing"),
    ("commit_confirmed", "committed"),
    ("hash_seen", "sent"),
    ("exchange_succeeded", "settled"),
)
_numbers = count(1)


def supplier(name: str = "a supplier") -> str:
    """An address of the chain that is nobody's on the exchange."""
    return address_forms.make("cash", name)


@contextmanager
def beside_a_chain(account: Account, operator: Person, settings: Any) -> Iterator["Proving"]:
    """The desk beside a sandbox of its own, whose proofs count two blocks deep."""
    from sandbox.serving import InProcessSandbox

    settings.PAYOUT_PROOF_DEPTH = 2
    with InProcessSandbox(seed=1, still=True) as sandbox:
        settings.CHAINDATA_URL = sandbox.url
        made = Proving(account, sandbox, operator)
        made.begin()
        yield made


@dataclass
class Proving:
    """The desk under test, beside a sandbox. `ahead` is how far its clock is ahead of the real one."""

    account: Account
    sandbox: Any
    operator: Person
    ahead: timedelta = timedelta(0)

    @property
    def now(self) -> datetime:
        """The time of the desk."""
        return clock.now() + self.ahead

    def begin(self) -> None:
        """Payouts go out at once, and blocks come when they are asked for."""
        self.control("config", {"payout_seconds": 0, "block_seconds": SLOW})
        self.follow()

    def control(self, name: str, arguments: dict[str, Any]) -> Any:
        return self.sandbox.control(name, arguments)

    # Payouts whose way here is not what a test is about: rows as the machine leaves them, payments by the miner -------

    def paid(self, *, blocks: int = 2, pays: str = "1.25", txid: str = "", **changes: Any) -> Withdrawal:
        """A payout of 1.25 that the exchange reports as paid; the chain has it, or something else, so deep."""
        request = {"currency": "BCH", "amount": Decimal("1.25"), "address": supplier()} | changes
        txid = txid or self.control("chain/pay", {"address": supplier(), "amount": pays})["txid"]
        if blocks:
            self.mine(blocks)
        return self.row("settled", hash=txid, **request)

    def row(self, state: str, *, hash: str, **request: Any) -> Withdrawal:
        """A row that went the usual way to `state`."""
        number = next(_numbers)
        row = Withdrawal(account=self.account, initiator=self.operator, request_key=f"proof-{number}", **request)
        machine.create(row, now=self.now, actor=row.initiator)
        with_it: dict[str, dict[str, Any]] = {
            "held": {"exchange_id": f"exchange-{number}"},
            "committing": {"decision": states.COMMIT, "decided_at": self.now},
            "sent": {"hash": hash},
            "settled": {"exchange_status": "success"},
        }
        for event, to in WAY:
            machine.move(row, event=event, to=to, now=self.now, **with_it.get(to, {}))
            if to == state:
                break
        return row

    def proven(self, **changes: Any) -> Withdrawal:
        """A payout that is proven."""
        row = self.look(self.paid(**changes))
        assert row.state == "verified", self.proof(row).sentence
        return row

    # What happens around them ----------------------------------------------------------------------------------------

    def mine(self, blocks: int = 1) -> None:
        """Blocks, which the desk hears of."""
        self.control("chain/mine", {"blocks": blocks})
        self.follow()

    def reorganise(self, depth: int) -> None:
        """The last blocks are replaced by empty ones, which the desk hears of."""
        self.control("chain/reorg", {"depth": depth})
        self.follow()

    def follow(self) -> None:
        tip_follower.follow(now=self.now, open_client=service.open_client, budget=unhurried())

    def sweep(self) -> int:
        """Whatever is due, as beat would ask for it."""
        return payouts.prove_due(now=self.now, open_client=service.open_client)

    def look(self, row: Withdrawal) -> Withdrawal:
        """The row after everything that is due was looked at."""
        self.sweep()
        return self.fresh(row)

    def fresh(self, row: Withdrawal) -> Withdrawal:
        """The row as it is now."""
        return Withdrawal.objects.select_related("account", "initiator").get(pk=row.pk)

    def proof(self, row: Withdrawal) -> PayoutProof:
        return PayoutProof.objects.get(withdrawal=row)

    def events(self, row: Withdrawal) -> list[str]:
        """The moves of the row since the exchange named its transaction."""
        names = list(row.events.order_by("version").values_list("event", flat=True))
        return names[names.index("hash_seen") + 1 :]
