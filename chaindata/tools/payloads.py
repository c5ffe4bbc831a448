"""Payloads of the property layer, built here byte by byte: the fourteen documented operations and their fields.

A payload counts base units. How many make a token is the property's precision, which only the chain knows. So the form
is checked first, and the payload is built once the precision is known.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chaindata.shared import addresses, meanings
from chaindata.wire import refusals
from chaindata.wire.tokens import amounts, payloads
from chaindata.wire.tokens.payload_fields import CannotWrite, Form, Text, Zero

FIRST_PROPERTY, FIRST_PRECISION = 1, 8
_HEAD = ("ecosystem", "propertyPrecision", "previousId", "category", "subcategory", "name", "url", "data")
_Values = Mapping[str, Any]


class Figure(str):
    """An amount as it was typed, digits and one point. How many decimals it may have depends on the property."""

    __slots__ = ()


class CannotMake(ValueError):
    """These values make no payload; `problems` maps a field to the sentence about it."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Operation:
    """One of the fourteen. `name` is the service's operation, `fields` the members of its body, by their wire names.

    `needs_precision` says that the amount is scaled by the precision of the property that `propertyId` names.
    """

    slug: str
    label: str
    name: str
    sentence: str
    fields: tuple[str, ...]
    needs_precision: bool
    make: Callable[[_Values, int], payloads.Payload]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a payload: what they are called, what they hold, and what that means."""

    name: str
    raw: str
    value: str
    means: str = ""


@dataclass(frozen=True, slots=True)
class BuiltPayload:
    """A payload with its bytes explained, and the script of the output that would carry it."""

    operation: Operation
    payload: payloads.Payload
    raw: str
    pieces: tuple[Piece, ...]
    carrier: str

    @property
    def size(self) -> int:
        """Bytes of the payload."""
        return len(self.raw) // 2

    @property
    def title(self) -> str:
        """The layer's name of the operation."""
        return meanings.payload_title(self.payload)


def precision_needed(*, operation: Operation, values: _Values) -> int | None:
    """The property whose precision has to be known first; None if none is needed."""
    number = values.get("propertyId")
    return int(number) if operation.needs_precision and number != FIRST_PROPERTY and number is not None else None


def make(*, operation: Operation, values: _Values, precision: int = FIRST_PRECISION) -> BuiltPayload:
    """The payload of these values, named by the wire's members. Raises `CannotMake` with a node's own refusal.

    `precision` is that of the property, where the operation needs one.
    """
    try:
        payload = operation.make(values, precision)
        raw = payload.raw
    except CannotWrite as problem:
        raise CannotMake({_field_of(problem, operation): _sentence(problem)}) from None
    pieces = _pieces(payload, precision if operation.needs_precision else _own_precision(payload))
    return BuiltPayload(operation, payload, raw.hex(), pieces, payloads.carrier(raw).hex())


def _units(values: _Values, name: str, precision: int) -> int:
    try:
        return amounts.units_of(values[name], precision)
    except CannotWrite as problem:
        raise CannotMake({name: _sentence(problem)}) from None


def _simple_send(values: _Values, precision: int) -> payloads.Payload:
    return payloads.SimpleSend(values["propertyId"], _units(values, "amount", precision))


def _participate(values: _Values, _: int) -> payloads.Payload:
    return payloads.Participate(_units(values, "amount", FIRST_PRECISION))


def _send_to_owners(values: _Values, precision: int) -> payloads.Payload:
    distribution = values["distributionProperty"]
    return payloads.SendToOwners(values["propertyId"], _units(values, "amount", precision), distribution)


def _send_all(values: _Values, _: int) -> payloads.Payload:
    return payloads.SendAll(int(values["ecosystem"]))


def _head(values: _Values) -> dict[str, Any]:
    return {
        "ecosystem": int(values["ecosystem"]),
        "precision": values["propertyPrecision"],
        "previous_id": values["previousId"],
        **{name: values[name] for name in ("category", "subcategory", "name", "url", "data")},
    }


def _fixed(values: _Values, _: int) -> payloads.Payload:
    return payloads.CreateFixed(**_head(values), amount=_units(values, "amount", values["propertyPrecision"]))


def _managed(values: _Values, _: int) -> payloads.Payload:
    return payloads.CreateManaged(**_head(values))


def _crowdsale(values: _Values, _: int) -> payloads.Payload:
    return payloads.CreateCrowdsale(
        **_head(values),
        desired_id=values["propertyIdDesired"],
        tokens_per_unit=_units(values, "tokensPerUnit", amounts.PRICE_PLACES),
        deadline=values["deadline"],
        early_bonus=values["earlyBonus"],
        total=_units(values, "totalNumber", values["propertyPrecision"]),
    )


def _of_property(kind: type[payloads.Payload]) -> Callable[[_Values, int], payloads.Payload]:
    return lambda values, _: kind(values["propertyId"])


def _issuance(kind: type[payloads.Payload]) -> Callable[[_Values, int], payloads.Payload]:
    return lambda values, precision: kind(
        values["propertyId"], _units(values, "amount", precision), values.get("memo", "")
    )


def _freezing(kind: type[payloads.Payload]) -> Callable[[_Values, int], payloads.Payload]:
    return lambda values, precision: kind(values["propertyId"], amounts.frozen_amount(precision), values["toAddress"])


def _burn(_: _Values, __: int) -> payloads.Payload:
    return payloads.Burn()


OPERATIONS: dict[str, Operation] = {
    operation.slug: operation
    for operation in (
        Operation(
            "simple-send", "Send", "make_simple_send_payload", "Sends tokens to the transaction's recipient.",
            ("propertyId", "amount"), True, _simple_send,
        ),
        Operation(
            "send-all", "Send all", "make_send_all_payload",
            "Sends all of the sender's tokens to the transaction's recipient.",
            ("ecosystem",), False, _send_all,
        ),
        Operation(
            "send-to-owners", "Send to owners", "make_send_to_owners_payload",
            "Distributes tokens among all holders of a property. Fee: 0.00000001 WHC per recipient.",
            ("propertyId", "amount", "distributionProperty"), True, _send_to_owners,
        ),
        Operation(
            "fixed", "New fixed property", "make_fixed_property_payload",
            "Creates a property with a fixed supply, all issued to the sender. Costs 1 WHC.",
            (*_HEAD, "amount"), False, _fixed,
        ),
        Operation(
            "managed", "New managed property", "make_managed_property_payload",
            "Creates a property whose issuer can grant, revoke and, if Previous ID is 1, freeze tokens. Costs 1 WHC.",
            _HEAD, False, _managed,
        ),
        Operation(
            "crowdsale", "New crowdsale", "make_crowdsale_payload",
            "Creates a property sold for WHC until a deadline. Costs 1 WHC.",
            (*_HEAD, "propertyIdDesired", "tokensPerUnit", "deadline", "earlyBonus", "totalNumber"), False, _crowdsale,
        ),
        Operation(
            "participate", "Buy in a crowdsale", "make_participation_payload",
            "Pays WHC into the recipient's crowdsale.", ("amount",), False, _participate,
        ),
        Operation(
            "close-crowdsale", "Close a crowdsale", "make_close_crowdsale_payload",
            "Ends a sale before its deadline; issuer only.",
            ("propertyId",), False, _of_property(payloads.CloseCrowdsale),
        ),
        Operation(
            "grant", "Grant", "make_grant_payload", "Issues new tokens of a managed property to the recipient.",
            ("propertyId", "amount", "memo"), True, _issuance(payloads.Grant),
        ),
        Operation(
            "revoke", "Revoke", "make_revoke_payload", "Destroys tokens of a managed property; issuer only.",
            ("propertyId", "amount", "memo"), True, _issuance(payloads.Revoke),
        ),
        Operation(
            "change-issuer", "Change the issuer", "make_change_issuer_payload",
            "Makes the transaction's recipient the new issuer.",
            ("propertyId",), False, _of_property(payloads.ChangeIssuer),
        ),
        Operation(
            "freeze", "Freeze", "make_freeze_payload", "Freezes the tokens at an address; issuer only.",
            ("toAddress", "propertyId"), True, _freezing(payloads.Freeze),
        ),
        Operation(
            "unfreeze", "Unfreeze", "make_unfreeze_payload", "Unfreezes the tokens at an address; issuer only.",
            ("toAddress", "propertyId"), True, _freezing(payloads.Unfreeze),
        ),
        Operation(
            "burn", "Burn coins for WHC", "make_burn_payload",
            "Burns at least 1 BCH, paid to the burn address in output 0. Each BCH yields 100 WHC.",
            (), False, _burn,
        ),
    )
}  # fmt: skip
"""The fourteen operations by the word in their URL."""

# Explaining -----------------------------------------------------------------------------------------------------------

_BY_REFUSAL = {
    "INVALID_AMOUNT": ("amount", "totalNumber"),
    "ECOSYSTEM_NOT_MAIN": ("ecosystem",),
    "INVALID_PRECISION": ("propertyPrecision",),
    "NAME_EMPTY": ("name",),
    "ONLY_FIRST_PROPERTY": ("propertyIdDesired",),
    "TOKEN_PRICE": ("tokensPerUnit",),
    "DEADLINE": ("deadline",),
    "EARLY_BONUS": ("earlyBonus",),
    "PROPERTY_OUT_OF_RANGE": ("propertyId", "distributionProperty", "previousId"),
    "TEXT_TOO_LONG": ("data", "memo", "toAddress"),
}
_WORDS = {
    "Invalid amount": "The amount has more decimals than the property allows, or is not between 1 and 2^63 - 1 units.",
}
NON_FIELD = "__all__"


def _field_of(problem: CannotWrite, operation: Operation) -> str:
    name = next((name for name in _BY_REFUSAL if getattr(refusals, name) is problem.refusal), "")
    return next((field for field in _BY_REFUSAL.get(name, ()) if field in operation.fields), NON_FIELD)


def _sentence(problem: CannotWrite) -> str:
    return _WORDS.get(problem.refusal.text, f"Nodes will reject this: {problem.refusal.text}.")


def _own_precision(payload: payloads.Payload) -> int:
    return getattr(payload, "precision", FIRST_PRECISION)


def _pieces(payload: payloads.Payload, precision: int) -> tuple[Piece, ...]:
    raw, key = payload.raw, payload.key
    pieces = [
        Piece("version", raw[:2].hex(), str(int.from_bytes(raw[:2], "big"))),
        Piece("type", raw[2:4].hex(), str(key[0]), meanings.payload_title(payload)),
    ]
    at = 4
    for form in payload.layout:
        written = form.write(getattr(payload, form.name, None))
        pieces.append(_piece(form, payload, written, precision))
        at += len(written)
    if at != len(raw):
        raise ValueError("The payload's fields do not match its bytes.")
    return tuple(pieces)


def _piece(form: Form, payload: payloads.Payload, written: bytes, precision: int) -> Piece:
    if isinstance(form, Zero):
        return Piece("unused", written.hex(), "0", "always zero")
    value = getattr(payload, form.name)
    if isinstance(form, Text):
        return Piece(form.name, written.hex(), value or "(empty)", "text ending in a zero byte")
    return Piece(
        form.name.replace("_id", "_ID").replace("_", " "),
        written.hex(),
        str(value),
        _meaning(form.name, value, payload, precision),
    )


def _meaning(name: str, value: int, payload: payloads.Payload, precision: int) -> str:
    match name:
        case "amount" | "total":
            tokens = amounts.amount_text(value, precision)
            means = f"{tokens} tokens: base units with precision {precision}"
        case "tokens_per_unit":
            means = f"{amounts.amount_text(value, amounts.PRICE_PLACES)} tokens per WHC, eight decimals"
        case "deadline":
            means = _instant(value)
        case "early_bonus":
            means = f"{value} % per week before the deadline"
        case "ecosystem":
            means = "main" if value == 1 else "test"
        case "previous_id" if isinstance(payload, payloads.CreateManaged):
            means = "tokens can be frozen" if value & 1 else "tokens can never be frozen"
        case "property_id" | "distribution_property" | "desired_id":
            means = "WHC" if value == FIRST_PROPERTY else ""
        case _:
            means = ""
    return means


def _instant(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return "date out of range"


def cash_address_of(*, text: str) -> str:
    """The cash address, with its prefix, that a freeze names. Raises `CannotMake`."""
    try:
        return addresses.printed(text)
    except addresses.NotAnAddress as problem:
        raise CannotMake({"toAddress": str(problem)}) from None
