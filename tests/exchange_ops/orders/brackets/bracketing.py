"""Brackets in front of a sandbox whose market stands still: another customer takes the other side."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from exchange_ops.market.models import Ticker
from exchange_ops.orders import policy_checks, request_checks
from exchange_ops.orders.brackets import workflow
from exchange_ops.orders.brackets.models import Bracket, BracketEvent
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.orders.steps import replacing
from tests.exchange_ops.orders.dealings import SYMBOL, Dealing

TICK = Decimal("0.000001")
TENTH = Decimal("0.1")


@dataclass
class Bracketing:
    """The desk under test, its worker stepping by hand."""

    dealing: Dealing
    _keys: Any = field(default_factory=lambda: count(1))

    def exits(self, price: Decimal, *, away: Decimal = 2 * TICK) -> workflow.Exits:
        """A stop and a take profit as far away from a price; both inside the spread, where nobody else has orders."""
        return workflow.Exits(stop=price - away, take=price + away)

    def ask(self, *, exits: workflow.Exits | None = None, key: str = "", **changes: Any) -> Bracket:
        """A limit order to buy inside the spread, with exits on both sides of it."""
        price = changes.pop("price", None) or self.inside()
        wanted = {"symbol": SYMBOL, "side": "buy", "type": "limit", "time_in_force": "GTC", "quantity": Decimal("0.5")}
        terms: dict[str, Any] = {
            "exits": exits or self.exits(price),
            "requested": request_checks.OrderRequest(**(wanted | {"price": price} | changes)),
            "account": self.dealing.account,
            "initiator": self.dealing.operator,
            "request_key": key or f"bracket-{next(self._keys)}",
            "now": clock.now(),
        }
        try:
            order = workflow.place(**terms)
        except policy_checks.NotConfirmed as missing:
            order = workflow.place(confirmed=[each.token for each in missing.oversteps], **terms)
        return Bracket.objects.get(entry=order)

    def look(self, row: Bracket, *, later: timedelta = timedelta(0)) -> Bracket:
        """One look at the bracket at once."""
        Bracket.objects.filter(pk=row.pk, next_action_at__isnull=False).update(
            next_action_at=clock.now() - timedelta(seconds=1)
        )
        workflow.advance(row.pk, now=clock.now() + later)
        return self.fresh(row)

    def turn(self, row: Bracket, times: int = 6, *, later: timedelta = timedelta(0)) -> Bracket:
        """As workers do in some seconds: every order of it takes its steps, everything is read, the bracket looks."""
        for _ in range(times):
            for order in self.orders(row):
                if order.is_open and order.state not in {"placed", "found"}:
                    self.dealing.step(order, later=later)
            self.dealing.read(later=later)
            row = self.look(row, later=later)
        return row

    def entered(self, **changes: Any) -> Bracket:
        """A bracket whose entry was filled whole, guarded by a stop at the exchange."""
        row = self.ask(**changes)
        self.dealing.step(row.entry)
        self.fill(row.entry)
        row = self.turn(row)
        assert row.state == "guarded", f"{row.state}: {row.last_problem}"
        return row

    def fill(self, order: Order, quantity: Decimal | None = None) -> None:
        """Another customer sells into an order that rests."""
        self.other("sell", quantity or order.quantity, self.dealing.fresh(order).price)

    def other(self, side: str, quantity: Decimal, price: Decimal) -> Any:
        """Another customer's order."""
        return self.dealing.elsewhere("other-full", side=side, quantity=quantity, price=price)

    def inside(self) -> Decimal:
        """A price in the middle of the spread: three ticks below who sells, four above who buys."""
        return self.dealing.best_bid() - 2 * TICK

    def trade_at(self, price: Decimal, *, bids: str = "0.5") -> None:
        """Others trade at this price, which wakes what waits for it; so much is bid there besides."""
        self.other("buy", Decimal(bids) + TENTH, price)
        self.other("sell", TENTH, price)

    def ticker(self, **prices: Decimal) -> None:
        """The best prices as the desk has just read them."""
        now = clock.now()
        Ticker.objects.update_or_create(symbol=SYMBOL, defaults={"timestamp": now, "read_at": now} | prices)

    def orders(self, row: Bracket) -> list[Order]:
        """The entry and every order of the bracket, with what was to replace them."""
        latest = [row.entry_id, *row.legs.values_list("order_id", flat=True)]
        numbers: list[int] = []
        while latest:
            numbers += latest
            latest = list(Order.objects.filter(replaces__in=latest).values_list("pk", flat=True))
        return [self.dealing.fresh(Order(pk=number)) for number in sorted(numbers)]

    def replace(self, order: Order, quantity: Decimal, *, fault: str = "") -> Order:
        """An operator has an open order replaced by one of this whole quantity; what the worker heard of it."""
        change: dict[str, Any] = {"order_id": order.pk, "person": self.dealing.operator, "now": clock.now()}
        change |= {"quantity": quantity, "price": order.price, "request_key": f"replace-{next(self._keys)}"}
        wanted = replacing.changed_request(order, quantity=quantity, price=order.price)
        beyond = replacing.find_oversteps(order, wanted, person=change["person"], now=change["now"])
        new = replacing.ask(confirmed=[each.token for each in beyond], **change)
        if fault:
            self.dealing.fault("replace_order", fault)
        return self.dealing.step(new)

    def arrive(self, order: Order) -> None:
        """The call for a replacement that nobody waits for any more reaches the exchange after all."""
        self.dealing.client("demo-trade").replace_order(
            client_order_id=order.replaces.client_order_id,
            new_client_order_id=order.client_order_id,
            quantity=order.quantity,
            price=order.price,
        )

    def looked_for(self, order: Order) -> Order:
        """The order, once the desk has looked for it as long as it does."""
        for seconds in (1, 30, 70):
            if self.dealing.fresh(order).state == "unknown":
                self.dealing.step(order, later=timedelta(seconds=seconds))
        return self.dealing.fresh(order)

    def resting(self) -> list[Decimal]:
        """What is left of each order that the exchange lists as open."""
        return [order.quantity - order.cum_quantity for order in self.at_exchange()]

    def sold(self) -> Decimal:
        """What was sold, by the account's own trades as they were read."""
        trades = AccountTrade.objects.filter(account=self.dealing.account, symbol=SYMBOL, side="sell")
        return sum(trades.values_list("quantity", flat=True), Decimal(0))

    def fresh(self, row: Bracket) -> Bracket:
        """The row as it is now."""
        return Bracket.objects.select_related("account", "initiator", "entry").get(pk=row.pk)

    def events(self, row: Bracket) -> list[str]:
        """What happened to it."""
        return list(BracketEvent.objects.filter(bracket=row).values_list("event", flat=True))

    def at_exchange(self) -> list[Any]:
        """What the exchange lists as open."""
        return list(self.dealing.client("demo-trade").get_orders().records)
