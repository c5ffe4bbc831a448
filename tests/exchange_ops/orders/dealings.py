"""An operator who trades, a worker who steps, and an exchange where somebody else may take the other side."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.ledger import balances
from exchange_ops.ledger.models import Balance
from exchange_ops.orders import policy_checks, request_checks, workflow
from exchange_ops.orders.models import AccountTrade, Order, OrderCall
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.new_orders import NewOrder

SYMBOL = "ETHBTC"
FAR = Decimal("0.000001")  # a price at which nobody sells


def placed_knowingly(**terms: Any) -> Order:
    """The order, with whatever has to be confirmed by name confirmed."""
    try:
        return workflow.place(**terms)
    except policy_checks.NotConfirmed as missing:
        return workflow.place(confirmed=[each.token for each in missing.oversteps], **terms)


@dataclass
class Dealing:
    """The desk under test. `client_for` may be replaced to make a worker die at a chosen moment."""

    account: Account
    sandbox: Any
    operator: Any
    client_for: Any = keys.client_for
    _keys: Any = field(default_factory=lambda: count(1))

    def place(self, *, now: datetime | None = None, request_key: str = "", **changes: Any) -> Order:
        """A small buy order far below the market, unless `changes` say otherwise."""
        wanted = {
            "symbol": SYMBOL,
            "side": "buy",
            "type": "limit",
            "time_in_force": "GTC",
            "quantity": Decimal("0.5"),
            "price": FAR,
        }
        return placed_knowingly(
            initiator=self.operator,
            account=self.account,
            requested=request_checks.OrderRequest(**(wanted | changes)),
            request_key=request_key or f"key-{next(self._keys)}",
            now=now or clock.now(),
        )

    def fresh(self, row: Order) -> Order:
        """The row as it is now."""
        return Order.objects.select_related("account", "initiator").get(pk=row.pk)

    def step(self, row: Order, *, later: timedelta = timedelta(0), lease_over: bool = True) -> Order:
        """One step at once, whatever the row waits for, `later` than now."""
        past: dict[str, Any] = {"next_action_at": clock.now() - timedelta(seconds=1)}
        if lease_over:
            past["lease_until"] = None
        Order.objects.filter(pk=row.pk, next_action_at__isnull=False).update(**past)
        workflow.advance(row.pk, now=clock.now() + later, client_for=self.client_for)
        return self.fresh(row)

    def placed(self, **changes: Any) -> Order:
        """An order that the exchange has."""
        row = self.step(self.place(**changes))
        assert row.state == "placed", f"{row.state}: {row.last_problem}"
        return row

    def unknown(self, kind: str, **changes: Any) -> Order:
        """An order whose answer got lost."""
        self.fault("create_order", kind)
        row = self.step(self.place(**changes))
        assert row.state == "unknown", f"{row.state}: {row.last_problem}"
        return row

    def ask_to_cancel(self, row: Order) -> Order:
        """The operator wants it cancelled."""
        return workflow.cancel(order_id=row.pk, person=self.operator, now=clock.now())

    def read(self, *, later: timedelta = timedelta(0)) -> None:
        """Read everything, as beat would."""
        done = workflow.read_all(now=clock.now() + later, client_for=self.client_for)
        assert done == 1, "the reading failed"

    def read_funds(self) -> None:
        """Read the trading wallet."""
        client = keys.client_for(self.account, Right.HISTORY)
        try:
            balances.sync(account=self.account, wallet=Balance.TRADING, client=client, now=clock.now())
        finally:
            client.close()

    def elsewhere(self, login: str = "demo-trade", **changes: Any) -> Any:
        """Somebody places an order past the desk, with this key."""
        wanted = {
            "client_order_id": f"elsewhere-{next(self._keys)}",
            "symbol": SYMBOL,
            "side": "buy",
            "quantity": Decimal("0.25"),
            "price": FAR,
        }
        return self.client(login).create_order(order=NewOrder(**(wanted | changes)))

    def client(self, login: str) -> Any:
        """A client with one of the sandbox's keys."""
        from exchange_ops.client import ExchangeClient
        from exchange_ops.wire import refusals
        from wire.transport import Credentials, Transport
        from wire.values import Secret

        credentials = Credentials(login, Secret(f"{login}-secret"))
        return ExchangeClient(
            Transport(base_url=self.sandbox.url, credentials=credentials, deadline_s=5, refusals=refusals.NOTHING_DONE)
        )

    def best_bid(self) -> Decimal:
        """A price above everybody's who buys, and below everybody's who sells."""
        book = self.client("demo-trade").get_orderbook(symbol=SYMBOL)
        price: Decimal = book.ask[0].price - Decimal("0.000001")
        assert price > book.bid[0].price
        return price

    def fault(self, operation: str, kind: str, times: int = 1, **more: Any) -> None:
        """The next calls of the operation fail."""
        self.sandbox.control("faults", {"operation": operation, "kind": kind, "times": times, **more})

    def sent(self, operation: str = "create_order") -> int:
        """How often the exchange received a call."""
        return len(self.sandbox.control(f"calls?operation={operation}")["calls"])

    def calls(self, row: Order) -> list[tuple[str, str]]:
        """Kinds and outcomes of our calls for the row."""
        return list(OrderCall.objects.filter(order=row).order_by("pk").values_list("kind", "outcome"))

    def trades(self, row: Order) -> list[AccountTrade]:
        """What the row was filled with."""
        number = self.fresh(row).exchange_id
        return list(AccountTrade.objects.filter(account=self.account, exchange_order_id=number).order_by("exchange_id"))
