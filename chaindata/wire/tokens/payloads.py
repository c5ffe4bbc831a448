"""Payloads of the property-token layer: each documented operation to its bytes, and bytes back to an operation.

Source: supplement 2 and 1.13 (the carrier). Integers are big-endian; a text is UTF-8 and ends with a zero byte. Amounts
are base units: how many make a token is the property's precision, which the chain knows and a payload does not say.
"""

from typing import ClassVar

import msgspec

from chaindata.wire import refusals
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.opcodes import OP_PUSHDATA4, OP_RETURN
from chaindata.wire.tokens.amounts import MOST_UNITS
from chaindata.wire.tokens.payload_fields import CannotWrite, Form, NotAPayload, Number, Text, Zero

MARKER = bytes.fromhex("08776863")
VERSION = 0
FIRST_PROPERTY = 1
MOST_PRECISION = 8
HIGHEST_PRICE = 10**16  # 10^8 tokens, with eight places
_HEAD_BYTES = 4

__all__ = ["KINDS", "MARKER", "CannotWrite", "NotAPayload", "Payload", "carried_by", "carrier", "read"]


def _property(name: str = "property_id", same_as: str = "") -> Number:
    return Number(name, 4, refusals.PROPERTY_OUT_OF_RANGE, lowest=1, same_as=same_as)


def _amount(name: str = "amount") -> Number:
    return Number(name, 8, refusals.INVALID_AMOUNT, lowest=1, highest=MOST_UNITS)


_ECOSYSTEM = Number("ecosystem", 1, refusals.ECOSYSTEM_NOT_MAIN, lowest=1, highest=1)
_COLLECTIBLE_PROPERTY = Number("property_id", 32, refusals.COLLECTIBLE_PROPERTY_UNKNOWN, lowest=1, little=True)
_COLLECTIBLE = Number("token_id", 32, refusals.COLLECTIBLE_UNKNOWN, little=True)
_ATTRIBUTE = Number("attribute", 32, refusals.COLLECTIBLE_UNKNOWN, little=True)


class Payload(msgspec.Struct, frozen=True):
    """One operation. `key` is its type, and its action where several share the type; `layout` its fields in order."""

    key: ClassVar[tuple[int, ...]]
    layout: ClassVar[tuple[Form, ...]] = ()

    @property
    def raw(self) -> bytes:
        """Its bytes. Raises `CannotWrite` for values that no node takes."""
        head = VERSION.to_bytes(2, "big") + self.key[0].to_bytes(2, "big") + bytes(self.key[1:])
        return head + b"".join(form.write(getattr(self, form.name, None)) for form in self.layout)


class SimpleSend(Payload, frozen=True):
    """Tokens to the receiver of the transaction."""

    key = (0,)
    layout = (_property(), _amount())
    property_id: int
    amount: int


class Participate(Payload, frozen=True):
    """The first property paid into a crowdsale."""

    key = (1,)
    layout = (_property(), _amount())
    amount: int
    property_id: int = FIRST_PROPERTY


class SendToOwners(Payload, frozen=True):
    """Tokens shared among the holders of a property."""

    key = (3,)
    layout = (_property(), _amount(), _property("distribution_property", same_as="property_id"))
    property_id: int
    amount: int
    distribution_property: int


class SendAll(Payload, frozen=True):
    """Everything the sender holds."""

    key = (4,)
    layout = (_ECOSYSTEM,)
    ecosystem: int = 1


_NEW_PROPERTY: tuple[Form, ...] = (
    _ECOSYSTEM,
    Number("precision", 2, refusals.INVALID_PRECISION, highest=MOST_PRECISION),
    Number("previous_id", 4, refusals.PROPERTY_OUT_OF_RANGE),
    *(Text("category"), Text("subcategory"), Text("name", needed=True), Text("url"), Text("data")),
)


class _Creation(Payload, frozen=True, kw_only=True):
    """What all new properties have. Bounds: `precision` 0 to 8, texts of at most 255 bytes, a name."""

    layout: ClassVar[tuple[Form, ...]] = _NEW_PROPERTY
    precision: int
    name: str
    category: str = ""
    subcategory: str = ""
    url: str = ""
    data: str = ""
    previous_id: int = 0
    ecosystem: int = 1


class CreateManaged(_Creation, frozen=True, kw_only=True):
    """A property that its issuer grants and revokes; with `previous_id` 1 its tokens can be frozen."""

    key = (54,)


class CreateFixed(_Creation, frozen=True, kw_only=True):
    """A property of which there is a fixed amount."""

    key = (50,)
    layout = (*_NEW_PROPERTY, _amount())
    amount: int


class CreateCrowdsale(_Creation, frozen=True, kw_only=True):
    """A property that is sold. `tokens_per_unit` has eight places more; `deadline` in seconds; bonus in % a week."""

    key = (51,)
    layout = (
        *_NEW_PROPERTY,
        Number("desired_id", 4, refusals.ONLY_FIRST_PROPERTY, lowest=FIRST_PROPERTY, highest=FIRST_PROPERTY),
        Number("tokens_per_unit", 8, refusals.TOKEN_PRICE, lowest=1, highest=HIGHEST_PRICE),
        Number("deadline", 8, refusals.DEADLINE, lowest=1, highest=MOST_UNITS),
        Number("early_bonus", 1, refusals.EARLY_BONUS),
        *(Zero(), _amount("total")),
    )
    tokens_per_unit: int
    deadline: int
    early_bonus: int
    total: int
    desired_id: int = FIRST_PROPERTY


class _OfProperty(Payload, frozen=True):
    layout = (_property(),)
    property_id: int


class CloseCrowdsale(_OfProperty, frozen=True):
    """The end of a sale, by its issuer."""

    key = (53,)


class ChangeIssuer(_OfProperty, frozen=True):
    """A new issuer: the receiver of the transaction."""

    key = (70,)


class _Issuance(Payload, frozen=True):
    layout = (_property(), _amount(), Text("memo"))
    property_id: int
    amount: int
    memo: str = ""


class Grant(_Issuance, frozen=True):
    """New tokens of a managed property."""

    key = (55,)


class Revoke(_Issuance, frozen=True):
    """Tokens of a managed property taken back."""

    key = (56,)


class Burn(Payload, frozen=True):
    """Coins given up for tokens of the first property."""

    key = (68,)


class _Freezing(Payload, frozen=True):
    layout = (_property(), _amount(), Text("address"))
    property_id: int
    amount: int
    address: str


class Freeze(_Freezing, frozen=True):
    """The tokens of an address held fast; the address with its prefix."""

    key = (185,)


class Unfreeze(_Freezing, frozen=True):
    """The tokens of an address set free."""

    key = (186,)


class IssueCollectibles(Payload, frozen=True):
    """A family of collectibles."""

    key = (9, 1)
    layout = (Text("name"), Text("symbol"), Text("data"), Text("url"), _amount("most"))
    name: str
    symbol: str
    data: str
    url: str
    most: int


class IssueCollectible(Payload, frozen=True):
    """One of a family; `token_id` 0 takes the next free one. The three numbers have up to 256 bits."""

    key = (9, 2)
    layout = (_COLLECTIBLE_PROPERTY, _COLLECTIBLE, _ATTRIBUTE, Text("url"))
    property_id: int
    token_id: int
    attribute: int
    url: str


class _OfCollectible(Payload, frozen=True):
    layout = (_COLLECTIBLE_PROPERTY, _COLLECTIBLE)
    property_id: int
    token_id: int


class TransferCollectible(_OfCollectible, frozen=True):
    """A collectible to the receiver of the transaction."""

    key = (9, 3)


class DestroyCollectible(_OfCollectible, frozen=True):
    """A collectible destroyed."""

    key = (9, 4)


KINDS: dict[tuple[int, ...], type[Payload]] = {
    kind.key: kind
    for kind in (
        *(SimpleSend, Participate, SendToOwners, SendAll, CreateFixed, CreateCrowdsale, CloseCrowdsale, CreateManaged),
        *(Grant, Revoke, Burn, ChangeIssuer, Freeze, Unfreeze),
        *(IssueCollectibles, IssueCollectible, TransferCollectible, DestroyCollectible),
    )
}
"""Every operation by its type and action."""
_WITH_ACTION = {key[0] for key in KINDS if len(key) > 1}

# Reading -------------------------------------------------------------------------------------------------------------


def read(raw: bytes) -> Payload:
    """The operation that the bytes are, all of them; whether its values make sense is not asked.

    Raises `NotAPayload` for unknown versions and types, for what ends too early, and for what follows after the end.
    """
    if len(raw) < _HEAD_BYTES:
        raise NotAPayload("Payloads must be at least four bytes.")
    version, code = int.from_bytes(raw[:2], "big"), int.from_bytes(raw[2:4], "big")
    if version != VERSION:
        raise NotAPayload(f"Unknown version {version}.")
    at = _HEAD_BYTES + (code in _WITH_ACTION)
    kind = KINDS.get((code, *raw[_HEAD_BYTES:at]))
    if kind is None:
        raise NotAPayload(f"Unknown type {code}" + (f", or its action {raw[4:5].hex()}." if at > 4 else "."))
    values: dict[str, int | str] = {}
    for form in kind.layout:
        if at == len(raw) and form.same_as:
            values[form.name] = values[form.same_as]
            continue
        value, at = form.read(raw, at)
        if not isinstance(form, Zero):
            values[form.name] = value
    if at != len(raw):
        raise NotAPayload(f"{len(raw) - at} bytes follow the end of the payload.")
    return kind(**values)


def carried_by(script: bytes) -> bytes | None:
    """The payload in an output's script: the one push after OP_RETURN, if the layer's marker begins it."""
    if script[:1] != bytes([OP_RETURN]):
        return None
    try:
        pushes = list(steps.steps(script[1:]))
    except steps.NotAScript:
        return None
    pushed = pushes[0].pushed if len(pushes) == 1 and 0 < pushes[0].opcode <= OP_PUSHDATA4 else None
    return pushed.removeprefix(MARKER) if pushed and pushed.startswith(MARKER) else None


def carrier(raw: bytes) -> bytes:
    """The script of the output that carries a payload."""
    return steps.returning([MARKER + raw])
