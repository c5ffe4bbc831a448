"""An operator at margin, a worker who steps, and an exchange where an account and a position can be had at once."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from exchange_ops.market import refresh as market
from exchange_ops.positions import states, workflow
from exchange_ops.positions.models import MarginAction, MarginActionCall, MarginActionEvent
from exchange_ops.shared import public_client
from exchange_ops.wire.new_orders import NewOrder
from tests.exchange_ops.orders.dealings import Dealing

SYMBOL = "ETHBTC"


@dataclass
class MarginDesk:
    """The desk under test, in front of the sandbox of `dealing`."""

    dealing: Dealing
    _keys: Any = field(default_factory=lambda: count(1))

    @property
    def account(self) -> Any:
        """The account."""
        return self.dealing.account

    def exchange(self) -> Any:
        """A client with the trading key, past the desk."""
        return self.dealing.client("demo-trade")

    def has_account(self, balance: str = "1", symbol: str = SYMBOL) -> None:
        """A margin account that was opened elsewhere, and read."""
        self.exchange().set_margin_account(symbol=symbol, margin_balance=Decimal(balance))
        self.dealing.read()

    def has_position(self, side: str = "buy", quantity: str = "2", balance: str = "1") -> None:
        """A position that was opened elsewhere at the market, and read."""
        self.has_account(balance)
        self.trade(side, quantity)
        self.dealing.read()

    def trade(self, side: str, quantity: str) -> Any:
        """A margin order at the market, past the desk."""
        order = NewOrder(
            client_order_id=f"past-the-desk-{next(self._keys)}",
            symbol=SYMBOL,
            side=side,
            type="market",
            quantity=Decimal(quantity),
        )
        made = self.exchange().create_margin_order(order=order)
        assert made.status == "filled", made
        return made

    def position(self) -> Any:
        """The position as the exchange has it."""
        found = self.exchange().get_margin_positions().records
        return found[0] if found else None

    def balance(self) -> Decimal | None:
        """The collateral as the exchange has it."""
        found = self.exchange().get_margin_accounts().records
        return found[0].margin_balance if found else None

    def ask(self, kind: str, *, key: str = "", confirmed: Any = None, **wish: Any) -> MarginAction:
        """What the operator asks for, with whatever has to be confirmed by name confirmed, unless it is said."""
        terms: Any = {
            "initiator": self.dealing.operator,
            "account": self.account,
            "wish": workflow.Wish(**{"kind": kind, "symbol": SYMBOL} | wish),
            "request_key": key or f"margin-{next(self._keys)}",
            "now": clock.now(),
        }
        if confirmed is not None:
            return workflow.act(confirmed=confirmed, **terms)
        try:
            return workflow.act(**terms)
        except workflow.NotConfirmed as missing:
            return workflow.act(confirmed=[each.token for each in missing.oversteps], **terms)

    def fresh(self, row: MarginAction) -> MarginAction:
        """The row as it is now."""
        return MarginAction.objects.select_related("account", "initiator").get(pk=row.pk)

    def step(self, row: MarginAction, *, later: timedelta = timedelta(0)) -> MarginAction:
        """One step at once, whatever the row waits for, `later` than now."""
        waiting = MarginAction.objects.filter(pk=row.pk, next_action_at__isnull=False)
        waiting.update(next_action_at=clock.now() - timedelta(seconds=1), lease_until=None)
        workflow.advance(row.pk, now=clock.now() + later, client_for=self.dealing.client_for)
        return self.fresh(row)

    def done(self, kind: str, **wish: Any) -> MarginAction:
        """An action that was carried out."""
        row = self.step(self.ask(kind, **wish))
        assert row.state == states.DONE, f"{row.state}: {row.last_problem}"
        return row

    def found_out(self, row: MarginAction) -> MarginAction:
        """Looked at until it has ended: three looks, the last of them more than a minute later."""
        for seconds in (0, 5, 90, 100):
            if self.fresh(row).state in states.IN_FLIGHT:
                self.step(row, later=timedelta(seconds=seconds))
        return self.fresh(row)

    def read_book(self, symbol: str = SYMBOL) -> None:
        """Keep the order book as a worker does for a page that is open."""
        from exchange_ops.market import interest
        from exchange_ops.market.models import Symbol

        interest.ask(symbol=Symbol.objects.get(pk=symbol), period=interest.DEFAULT_PERIOD, now=clock.now())
        market.refresh(now=clock.now(), open_client=public_client.open_client)

    def calls(self, row: MarginAction) -> list[str]:
        """The outcomes of our calls for the row."""
        return list(MarginActionCall.objects.filter(action=row).values_list("outcome", flat=True))

    def events(self, row: MarginAction) -> list[str]:
        """What happened to it."""
        return list(MarginActionEvent.objects.filter(action=row).values_list("event", flat=True))
