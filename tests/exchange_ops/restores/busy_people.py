"""People who keep a desk busy: payouts, transfers, orders, brackets and margin, drawn from one seed.

Every request has an amount or a quantity of its own. So each effect in the exchange's books can be told from every
other one, and two effects of one request are seen as two.
"""

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from desk.models import Person, SpentTotpStep
from desk.people import demo
from desk.people.stepup import CannotConfirm
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders import workflow as orders
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.brackets.workflow import Exits
from exchange_ops.orders.models import Order
from exchange_ops.orders.steps import replacing
from exchange_ops.positions import states as margin_states
from exchange_ops.positions import workflow as margin
from exchange_ops.shared.models import Account
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import states as transfer_states
from exchange_ops.transfers import workflow as transfers
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import workflow as withdrawals
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops.orders.brackets.bracketing import TICK, Bracketing
from tests.exchange_ops.orders.dealings import SYMBOL, Dealing
from tests.exchange_ops.positions.margin_desk import MarginDesk
from tests.exchange_ops.transfers.movings import REQUESTS, Moving
from tests.exchange_ops.withdrawals.walks import ADDRESS, OTHER_ADDRESS, Walk
from wire.values import Secret

TREASURY = ("treasury", "treasury2", "treasury3")
# What a form or a decision answers to a person who comes too late, or at a moment when it can't be done.
REFUSALS = (
    approvals.CannotApprove,
    withdrawals.CannotCancel,
    withdrawals.CannotRequest,
    transfer_approvals.CannotApprove,
    transfers.CannotCancel,
    transfers.CannotTransfer,
    orders.CannotPlace,
    orders.CannotCancel,
    replacing.CannotReplace,
    margin.CannotAct,
    CannotConfirm,
)
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "drop_before"},
    {"kind": "drop_after"},
    {"kind": "cut_body"},
    {"kind": "status", "status": 504, "executes": True},
    {"kind": "rate_limit"},
)
CHANGES = (
    *("create_withdrawal", "commit_withdrawal", "rollback_withdrawal", "transfer_funds", "transfer_to_user"),
    *("transfer_subaccount_funds", "create_order", "replace_order", "cancel_order", "set_margin_account"),
    "create_margin_order",
)


def unlike_amounts(first: int) -> Callable[[Decimal | str], Decimal]:
    """Amounts like no other: a size, and a number that is counted on in the last of six places."""
    numbers = count(first)
    return lambda size: Decimal(size) + Decimal(next(numbers)).scaleb(-6)


@dataclass
class People:
    """The people of the demo desk in this process, and what each of them may do at any moment."""

    dice: random.Random
    walk: Walk
    moving: Moving
    dealing: Dealing
    amount: Callable[[Decimal | str], Decimal]
    form: str
    acts: list[str] = field(default_factory=list)
    _forms: Any = field(default_factory=lambda: count(1))

    @classmethod
    def of_demo(cls, dice: random.Random, sandbox: Any, *, first: int = 1, form: str = "first") -> "People":
        """`first` and `form` keep their amounts and forms apart from those of an earlier process."""
        account, named = Account.objects.get(), Person.objects.get_by_natural_key
        approvers = [named(name) for name in TREASURY]
        secret = Secret(demo.DEMO_TOTP_SECRET)
        walk = Walk(account=account, sandbox=sandbox, operator=named("operator"), approvers=approvers, secret=secret)
        spent = dict(SpentTotpStep.objects.values_list("person_id", "step"))
        walk._codes.update({person.pk: spent[person.pk] for person in approvers if person.pk in spent})
        dealing = Dealing(account=account, sandbox=sandbox, operator=walk.operator)
        return cls(dice, walk, Moving(walk), dealing, unlike_amounts(first), form)

    def act(self) -> None:
        """One of them does something, or comes too late for it."""
        choices = [self.ask_payout] * 5 + [self.decide_payout] * 8 + [self.take_payout_back]
        choices += [self.ask_transfer] * 4 + [self.decide_transfer] * 4
        choices += [self.place] * 4 + [self.replace] * 2 + [self.cancel] * 2 + [self.bracket, self.fill]
        choices += [self.margin] * 3 + [self.fault] * 2
        act = self.dice.choice(choices)
        self.acts.append(act.__name__)
        with contextlib.suppress(*REFUSALS):
            act()

    def decide(self) -> None:
        """Treasury says yes to everything that it is asked, as far as the desk lets it."""
        for person in self.walk.approvers:
            for payout in Withdrawal.objects.filter(state__in=("review", "held")):
                with contextlib.suppress(*REFUSALS):
                    self.walk.approve(payout, person)
            for transfer in Transfer.objects.filter(state="review"):
                with contextlib.suppress(*REFUSALS):
                    self.moving.approve(transfer, person)

    # Payouts ----------------------------------------------------------------------------------------------------------

    def ask_payout(self) -> None:
        """Most need one approval, some two."""
        size, address = self.dice.choice(("0.05", "0.05", "0.6")), self.dice.choice((ADDRESS, OTHER_ADDRESS))
        self.walk.request(amount=self.amount(size), address=address, request_key=self._form())

    def decide_payout(self) -> None:
        """Somebody of treasury approves, seldom rejects."""
        row, person = self._one(Withdrawal, "review", "held"), self.dice.choice(self.walk.approvers)
        if row is not None and self.dice.random() < 0.85:
            self.walk.approve(row, person)
        elif row is not None:
            self.walk.reject(row, person)

    def take_payout_back(self) -> None:
        """Who asked has thought better of it."""
        if row := self._one(Withdrawal, "draft", "review", "queued", "held"):
            withdrawals.cancel(withdrawal_id=row.pk, person=self.walk.operator, reason="", now=clock.now())

    # Transfers --------------------------------------------------------------------------------------------------------

    def ask_transfer(self) -> None:
        """Between the wallets, to a sub-account and to another user."""
        kind = self.dice.choice(
            (
                transfer_states.BANK_TO_TRADING,
                transfer_states.TRADING_TO_BANK,
                transfer_states.TO_SUBACCOUNT,
                transfer_states.TO_USER,
            )
        )
        self.moving.request(kind, amount=self.amount(REQUESTS[kind]["amount"]), request_key=self._form())

    def decide_transfer(self) -> None:
        """Somebody of treasury approves, seldom rejects."""
        row, person = self._one(Transfer, "review"), self.dice.choice(self.walk.approvers)
        if row is not None and self.dice.random() < 0.85:
            self.moving.approve(row, person)
        elif row is not None:
            transfer_approvals.reject(transfer_id=row.pk, person=person, reason="Not ours", now=clock.now())

    # Orders -----------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """Most rest far below the market, some are filled at once."""
        terms = self.dice.choice(({}, {}, {"type": "market", "time_in_force": "IOC", "price": None}))
        self.dealing.place(quantity=self._lot(), request_key=self._form(), **terms)

    def replace(self) -> None:
        """Another quantity for one that rests."""
        if row := self._one(Order, "placed", active=True, type="limit", margin=False, initiator=self.walk.operator):
            replacing.ask(
                order_id=row.pk,
                person=self.walk.operator,
                quantity=self._lot(),
                price=row.price,
                request_key=self._form(),
                now=clock.now(),
            )

    def cancel(self) -> None:
        """One that rests."""
        if row := self._one(Order, "placed", active=True, initiator=self.walk.operator):
            self.dealing.ask_to_cancel(row)

    def bracket(self) -> None:
        """An entry inside the spread, which another customer fills soon afterwards or never."""
        bracketing = Bracketing(self.dealing)
        price = bracketing.inside()
        away = Exits(stop=price - 2 * TICK, take=price + 2 * TICK)
        bracketing.ask(price=price, exits=away, quantity=self._lot(), key=self._form())

    def fill(self) -> None:
        """Another customer sells into an order inside the spread: a bracket is entered."""
        entries = Bracket.objects.filter(state="entering").values("entry")
        if row := self._one(Order, "placed", active=True, pk__in=entries):
            Bracketing(self.dealing).fill(row)

    # Margin -----------------------------------------------------------------------------------------------------------

    def margin(self) -> None:
        """Open the account, change its collateral, take a position, close a part or all of it."""
        desk = MarginDesk(self.dealing)
        held = MarginAccount.objects.filter(account=self.walk.account, symbol=SYMBOL, gone_at=None).first()
        position = MarginPosition.objects.filter(account=self.walk.account, gone_at=None).exclude(quantity=0).first()
        if held is None:
            desk.ask(margin_states.OPEN, amount=self.amount("1"), key=self._form())
        elif position is None and self.dice.random() < 0.6:
            terms = {"type": "market", "time_in_force": "IOC", "price": None, "margin": True}
            self.dealing.place(quantity=self._lot(), request_key=self._form(), **terms)
        elif position is None or self.dice.random() < 0.3:
            desk.ask(margin_states.SET, amount=self.amount("1"), key=self._form())
        else:
            at_market = {"order_type": margin_states.MARKET, "position_id": position.exchange_id}
            if self.dice.random() < 0.5:
                desk.ask(margin_states.REDUCE, quantity=self._lot(Decimal("0.01")), key=self._form(), **at_market)
            else:
                desk.ask(margin_states.CLOSE, key=self._form(), **at_market)

    # What goes wrong --------------------------------------------------------------------------------------------------

    def fault(self) -> None:
        """The next call of some kind gets no answer, or no whole one."""
        self.walk.fault(self.dice.choice(CHANGES), **self.dice.choice(FAULTS))

    def heal(self) -> None:
        """Every call is answered again."""
        self.walk.heal()

    # ------------------------------------------------------------------------------------------------------------------

    def _lot(self, least: Decimal = Decimal("0.1")) -> Decimal:
        """A quantity like no other, in steps that the symbol takes."""
        return least + (self.amount("0") * 100)

    def _one(self, model: Any, *states: str, **more: Any) -> Any:
        rows = list(model.objects.filter(state__in=states, **more).order_by("pk"))
        return self.dice.choice(rows) if rows else None

    def _form(self) -> str:
        return f"{self.form}-{next(self._forms)}"
