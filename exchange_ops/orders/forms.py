"""The shape of an order that is asked for, and which orders to list."""

import re
from decimal import ROUND_HALF_DOWN, Decimal, localcontext
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q, QuerySet

from desk import clock
from desk.fields import plain
from desk.lists.filters import ALL, OPEN, SEARCH_MOST, DatedForm
from exchange_ops.market.models import Symbol
from exchange_ops.orders import states
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.brackets.exit_prices import Exits
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.orders.states import STATES
from exchange_ops.orders.steps import replacing
from exchange_ops.orders.ticket import sizing
from exchange_ops.policy.oversteps import MOST_CONFIRMED
from exchange_ops.shared.forms import GroupedAmountField, InstantField, RequestForm
from exchange_ops.wire import records

if TYPE_CHECKING:
    from desk.models import Person

TYPES = (("limit", "Limit"), ("market", "Market"), ("stopLimit", "Stop-limit"), ("stopMarket", "Stop-market"))
TIMES = (
    ("", "Default"),
    ("GTC", "GTC, good till cancelled"),
    ("IOC", "IOC, immediate or cancel"),
    ("FOK", "FOK, fill or kill"),
    ("Day", "Day, until midnight UTC"),
    ("GTD", "GTD, good till date"),
)
# The exchange's words and ours for them, the same in chips and filters.
ORDER_STATUSES = {
    "new": "Open",
    "partiallyFilled": "Partly filled",
    "suspended": "Stop not triggered",
    "filled": "Filled",
    "canceled": "Cancelled",
    "expired": "Expired",
}
# Options that few orders use: folded on the ticket until one of them is set or wrong.
EXITS = ("stop_loss", "take_profit")
FIGURES = ("quantity", "amount", "price", "stop_price", "take_markup", "provide_markup", *EXITS)
OPTIONS = ("time_in_force", "expire_time", "post_only", "take_markup", "provide_markup", "rounded")
BOTH_EXITS = "Enter both a stop and a take-profit price."
_DIGITS = 200  # of a quotient of two amounts
_TOKEN = re.compile(r"[a-z_]{1,20}:[0-9a-z.]{1,60}", re.ASCII)


class TokensField(forms.Field):
    """The confirmations by name, one token for each box that was ticked."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[str]:
        tokens = list(value or [])
        if len(tokens) > MOST_CONFIRMED or not all(_TOKEN.fullmatch(token) for token in tokens):
            raise forms.ValidationError("Tick the box to confirm.", code="malformed")
        return tokens


class OrderForm(RequestForm):
    """A ticket. `request_key` makes a double click, a second tab and a reload the same order."""

    symbol = forms.ChoiceField(label="Symbol", error_messages={"required": "Choose a symbol."})
    side = forms.ChoiceField(
        label="Side",
        choices=[("buy", "Buy"), ("sell", "Sell")],
        error_messages={"required": "Choose buy or sell."},
    )
    type = forms.ChoiceField(label="Type", choices=TYPES, initial="limit")
    time_in_force = forms.ChoiceField(label="Time in force", choices=TIMES, required=False)
    quantity = GroupedAmountField(label="Quantity", max_length=80, required=False)
    amount = GroupedAmountField(label="Amount", max_length=80, required=False)
    sized = forms.CharField(required=False, max_length=170, widget=forms.HiddenInput)
    price = GroupedAmountField(label="Price", max_length=80, required=False)
    stop_price = GroupedAmountField(label="Stop price", max_length=80, required=False)
    expire_time = InstantField(
        label="Until (UTC)",
        max_length=40,
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "60"}),
    )
    post_only = forms.BooleanField(label="Post-only", required=False)
    margin = forms.BooleanField(label="Account", required=False)
    rounded = forms.BooleanField(label="Round to tick and lot size", required=False)
    take_markup = GroupedAmountField(label="Taker markup, %", max_length=20, required=False)
    provide_markup = GroupedAmountField(label="Maker markup, %", max_length=20, required=False)
    stop_loss = GroupedAmountField(label="Stop", max_length=80, required=False)
    take_profit = GroupedAmountField(label="Take profit", max_length=80, required=False)
    confirmed = TokensField(required=False, label="Confirmation")
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, symbols: list[str], placer: "Person | None" = None, **options: Any) -> None:
        """`placer` places it now: the quantity that was shown for an amount counts, and before that a recorded one."""
        super().__init__(*arguments, **options)
        self.placer = placer
        choices = [("", "Choose"), *((code, code) for code in symbols)]
        self.fields["symbol"].choices = choices  # type: ignore[attr-defined]
        for name in FIGURES:
            self.fields[name].widget.attrs.update({"autocomplete": "off", "spellcheck": "false", "placeholder": " "})

    def clean(self) -> dict[str, Any]:
        """The ticket hides fields that the chosen type doesn't take, so values that remain in them are dropped."""
        cleaned = super().clean() or self.cleaned_data
        unused = {"price": ("limit", "stopLimit"), "stop_price": ("stopLimit", "stopMarket")}
        for name, types in unused.items():
            if cleaned.get("type") and cleaned["type"] not in types:
                cleaned[name] = None
                self.errors.pop(name, None)
        if cleaned.get("time_in_force") != "GTD":
            cleaned["expire_time"] = None
            self.errors.pop("expire_time", None)
        missing = {"stop_loss": "take_profit", "take_profit": "stop_loss"}
        for name, other in missing.items():
            if cleaned.get(other) and not cleaned.get(name) and name not in self.errors:
                self.add_error(name, BOTH_EXITS)
        if not self.errors.keys() & {"quantity", "amount"}:
            self._size(cleaned)
        return cleaned

    def _size(self, cleaned: dict[str, Any]) -> None:
        """Compute the quantity where an amount was entered."""
        quantity, amount = cleaned.get("quantity"), cleaned.get("amount")
        if quantity and amount:
            self.add_error("amount", sizing.ONE_SIZE)
        elif not amount and not quantity:
            self.add_error("quantity", forms.ValidationError("Enter the quantity.", code="required"))
        elif amount and not self.errors.keys() & {"symbol", "side", "type", "price", "stop_price"}:
            cleaned["quantity"], problem = self._sized(cleaned, amount)
            if problem:
                self.add_error("amount", problem)

    def _sized(self, cleaned: dict[str, Any], amount: Decimal) -> sizing.Size:
        if self.placer is not None and (key := cleaned.get("request_key")):
            earlier = sizing.earlier_quantity(initiator=self.placer, request_key=str(key), amount=amount)
            if earlier is not None:
                return sizing.Size(earlier)
        symbol = Symbol.objects.filter(pk=cleaned["symbol"]).first()
        terms: dict[str, Any] = {name: cleaned[name] or None for name in ("side", "type", "price", "stop_price")}
        size = sizing.compute(symbol=symbol, amount=amount, now=clock.now(), **terms)
        is_shown = self.placer is not None and cleaned["type"] == "market"
        return sizing.keep_shown(size, page_token=cleaned["sized"], amount=amount, symbol=symbol) if is_shown else size

    @property
    def size_shown(self) -> str:
        """What goes back with the ticket: the amount and the quantity that the page shows for it; else empty."""
        amount, quantity = self.cleaned_data.get("amount"), self.cleaned_data.get("quantity")
        return sizing.token(amount, quantity) if amount and quantity else ""

    def exits(self) -> Exits | None:
        """The stop and the take profit of a valid form; None where no bracket is requested."""
        return exits_of(self.cleaned_data)

    def order_request(self) -> OrderRequest:
        """The order that a valid form requests."""
        cleaned = self.cleaned_data
        usual = "IOC" if cleaned["type"] == "market" else "GTC"
        symbol = Symbol.objects.filter(pk=cleaned["symbol"]).first() if cleaned["rounded"] else None
        tick = symbol.tick_size if symbol else None
        increment = symbol.quantity_increment if symbol else None
        return OrderRequest(
            symbol=cleaned["symbol"],
            side=cleaned["side"],
            type=cleaned["type"],
            time_in_force=cleaned["time_in_force"] or usual,
            quantity=fit_to_step(cleaned["quantity"], increment),
            price=fit_to_step(cleaned["price"], tick) if cleaned["price"] else None,
            stop_price=fit_to_step(cleaned["stop_price"], tick) if cleaned["stop_price"] else None,
            expire_time=cleaned["expire_time"],
            post_only=cleaned["post_only"],
            strict_validate=not cleaned["rounded"],
            margin=cleaned["margin"],
            take_liquidity_markup=_fraction(cleaned["take_markup"]),
            provide_liquidity_markup=_fraction(cleaned["provide_markup"]),
        )

    @property
    def has_exits(self) -> bool:
        """Whether a stop or a take profit is set or wrong."""
        return self._is_set(EXITS)

    @property
    def has_options(self) -> bool:
        """Whether the time in force, post-only, a commission or rounding is set or wrong."""
        return self._is_set(OPTIONS)

    def _is_set(self, names: tuple[str, ...]) -> bool:
        return any(self[name].value() or name in self.errors for name in names)

    def refuse(self, problems: dict[str, str]) -> None:
        """Show the domain's sentences beside their fields, and those without a field above the form."""
        super().refuse(self.by_field(problems))

    @staticmethod
    def by_field(problems: dict[str, str]) -> dict[str, str]:
        """The sentences by the fields of this form: the markups are typed in percent, under names of their own."""
        names = {"take_liquidity_markup": "take_markup", "provide_liquidity_markup": "provide_markup"}
        return {names.get(name, name): sentence for name, sentence in problems.items()}


def exits_of(cleaned: dict[str, Any]) -> Exits | None:
    """The two prices of a bracket, if both were typed."""
    if not cleaned.get("stop_loss") or not cleaned.get("take_profit"):
        return None
    return Exits(stop=cleaned["stop_loss"], take=cleaned["take_profit"])


class GuardForm(RequestForm):
    """The two prices that guard an open order."""

    stop_loss = GroupedAmountField(label="Stop", max_length=80, error_messages={"required": "Enter the stop price."})
    take_profit = GroupedAmountField(
        label="Take profit", max_length=80, error_messages={"required": "Enter the take-profit price."}
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():
            field.widget.attrs.update({"autocomplete": "off", "spellcheck": "false"})

    def exits(self) -> Exits:
        """The two prices, from a form that is valid."""
        return Exits(stop=self.cleaned_data["stop_loss"], take=self.cleaned_data["take_profit"])


def fit_to_step(amount: Decimal, step: Decimal | None) -> Decimal:
    """The nearest multiple of a symbol's step, as the exchange would round it: half a step goes down (supplement 2.8).

    The amount itself where there is no step.
    """
    if not step or step <= 0:
        return amount
    with localcontext() as context:
        context.prec = _DIGITS
        return (amount / step).quantize(Decimal(1), rounding=ROUND_HALF_DOWN) * step


def _fraction(percent: Decimal | str) -> Decimal | None:
    return plain(Decimal(percent).scaleb(-2)) if percent else None


class ReplaceForm(RequestForm):
    """Another price or quantity for an open order; the quantity includes what was filled."""

    quantity = GroupedAmountField(label="Quantity", max_length=80, error_messages={"required": "Enter the quantity."})
    price = GroupedAmountField(label="Price", max_length=80, required=False)
    confirmed = TokensField(required=False, label="Confirmation")
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, order: Order, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.order = order
        for name in ("quantity", "price"):
            self.fields[name].widget.attrs.update({"autocomplete": "off", "spellcheck": "false"})

    def clean(self) -> dict[str, Any]:
        """An order that has no price gets none; one that has a price needs one."""
        cleaned = super().clean() or self.cleaned_data
        if self.order.price is None:
            cleaned["price"] = None
            self.errors.pop("price", None)
        elif not cleaned.get("price") and "price" not in self.errors:
            self.add_error("price", "Enter the price.")
        return cleaned

    def order_request(self) -> OrderRequest:
        """The replacing order that a valid form requests."""
        price = self.cleaned_data["price"] or None
        return replacing.changed_request(self.order, quantity=self.cleaned_data["quantity"], price=price)


class CancelAllForm(forms.Form):
    """Which open orders to cancel: those that the person saw, or all of a symbol, or all on margin."""

    margin = forms.BooleanField(required=False)
    symbol = forms.CharField(required=False, max_length=40)
    newest = forms.RegexField(r"^[0-9]{1,18}$", required=False)

    def clean(self) -> dict[str, Any]:
        """Without a symbol it takes the newest order that was seen, unless all margin orders are meant."""
        cleaned = super().clean() or self.cleaned_data
        if not cleaned.get("margin") and not cleaned.get("symbol") and not cleaned.get("newest"):
            self.add_error("newest", "Enter a symbol or the ID of the newest order shown.")
        return cleaned


VIEWS = [(OPEN, "Open"), ("ended", "Ended"), (ALL, "All")]


class OrderFilter(DatedForm):
    """Which orders to list. `view` is open, ended or all."""

    dated, dated_label = "created_at", "Placed or first seen"

    view = forms.ChoiceField(label="Show", required=False, choices=VIEWS)
    text = forms.CharField(label="Reference, any ID or person", required=False, max_length=SEARCH_MOST)
    symbol = forms.CharField(label="Symbol", required=False, max_length=40)
    side = forms.ChoiceField(label="Side", required=False, choices=[("", "Both"), ("buy", "Buy"), ("sell", "Sell")])
    type = forms.ChoiceField(label="Type", required=False, choices=[("", "Any type"), *TYPES])
    status = forms.ChoiceField(
        label="Status",
        required=False,
        choices=[
            ("", "Any status"),
            *((status, ORDER_STATUSES.get(status, status)) for status in records.ORDER_STATUSES),
            *((name, row.label) for name, row in STATES.items() if name not in states.AT_EXCHANGE),
        ],
    )
    origin = forms.ChoiceField(
        label="Origin",
        required=False,
        choices=[("", "Any origin"), ("desk", "Placed in Countersign"), ("elsewhere", "Placed outside Countersign")],
    )

    def narrow(self, rows: QuerySet[Order]) -> QuerySet[Order]:
        """Only the rows that every filter which is set lets through."""
        chosen = self.chosen()
        is_open = Q(active=True) | Q(state__in=(*states.AT_WORK, states.WAITING))
        if self.current_view != ALL:
            rows = rows.filter(is_open) if self.current_view == OPEN else rows.exclude(is_open)
        if "symbol" in chosen:
            rows = rows.filter(symbol=chosen["symbol"].upper())
        rows = rows.filter(**{name: chosen[name] for name in ("side", "type") if name in chosen})
        if "status" in chosen:
            rows = rows.filter(**{"state" if chosen["status"] in STATES else "status": chosen["status"]})
        if "origin" in chosen:
            rows = rows.filter(initiator__isnull=chosen["origin"] == "elsewhere")
        return rows.filter(orders_named(chosen["text"])) if "text" in chosen else rows


class BracketFilter(DatedForm):
    """Which brackets to list. `view` is open, ended or all."""

    dated, dated_label = "created_at", "Requested"

    view = forms.ChoiceField(label="Show", required=False, choices=VIEWS)
    symbol = forms.CharField(label="Symbol", required=False, max_length=40)
    outcome = forms.ChoiceField(
        label="Outcome", required=False, choices=[("", "Any outcome"), *bracket_states.OUTCOMES.items()]
    )

    def narrow(self, rows: QuerySet[Bracket]) -> QuerySet[Bracket]:
        """Only the rows that every filter which is set lets through."""
        chosen = self.chosen()
        if "outcome" in chosen:
            rows = rows.filter(outcome=chosen["outcome"])
        elif self.current_view != ALL:
            ended = Q(state=bracket_states.CLOSED)
            rows = rows.filter(~ended if self.current_view == OPEN else ended)
        return rows.filter(symbol=chosen["symbol"].upper()) if "symbol" in chosen else rows


def orders_named(text: str) -> Q:
    """Orders that match the text: their reference, the exchange's number, our id, or the name of who placed them."""
    condition = Q(client_order_id=text) | Q(initiator__username=text)
    number = text.upper().removeprefix("O-")
    if number.isascii() and number.isdigit() and len(number) <= 18:
        condition |= Q(pk=int(number)) | Q(exchange_id=int(number))
    return condition


class WholeNumberField(forms.IntegerField):
    """A number of ours as programs write it: digits 0 to 9 and nothing else."""

    def to_python(self, value: object) -> int | None:
        """The number; raises ValidationError for what is none."""
        text = str(value or "")
        if text and not (text.isascii() and text.isdigit()):
            raise forms.ValidationError("Enter a whole number.", code="malformed")
        return super().to_python(value)
