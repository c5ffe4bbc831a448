"""Cash accounts: names for addresses. What the service tells of one, and what its registration itself says.

A registration comes with a proof that its block has it. From both follow the account's hash, its emoji and whom it
pays, so a service can leave out an account but not invent or change one.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chaindata.cache import answers
from chaindata.headers.models import ChainHeader
from chaindata.shared import addresses
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of
from chaindata.tools import tools
from chaindata.wire import cash_accounts, hashing, headers, proofs, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.cash_accounts import Identifier
from chaindata.wire.hashing import NotHexadecimal
from chaindata.wire.records import cash_accounts as records
from chaindata.wire.transactions import NotATransaction

LONGEST = 400
_DIGITS_OF_HASH = 10


class CannotLookUp(ValueError):
    """The text names neither an account nor an address; the message is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was typed: an account, or else an address whose accounts are wanted."""

    identifier: Identifier | None
    address: str


@dataclass(frozen=True, slots=True)
class LookupPart:
    """What the service tells of an account. `is_unknown`: it knows none, or several, which the digits tell apart."""

    account: records.Account | None
    identifier: str
    payments: Sequence[records.Payment]
    is_unknown: bool
    freshness: PartFreshness

    @property
    def emoji_words(self) -> str:
        """The emoji in words, for those who can't see it."""
        return words_of(self.account.emoji) if self.account else ""


@dataclass(frozen=True, slots=True)
class Registered:
    """One registration as it was checked here. `problem` is why it counts for nothing.

    `is_in_chain` is None as long as the desk does not follow the chain there. `agrees` compares it with what the
    service tells of the account; None when that tells of another one.
    """

    txid: str
    name: str
    payments: Sequence[tuple[str, str]]
    hash: str
    emoji: str
    block_hash: str
    position: int
    is_in_chain: bool | None
    agrees: bool | None
    problem: str
    full_name: str = ""

    @property
    def emoji_words(self) -> str:
        """The emoji in words, for those who can't see it."""
        return words_of(self.emoji)


@dataclass(frozen=True, slots=True)
class CheckPart:
    """Every registration of the name in its block. `is_known` tells none from not read yet."""

    block: int | None
    number_fits: bool | None
    registrations: Sequence[Registered]
    is_known: bool
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class OwnedPart:
    """The accounts that pay an address."""

    accounts: Sequence[tuple[str, records.OwnedAccount]]
    is_known: bool
    freshness: PartFreshness


def wanted(*, text: str) -> Wanted:
    """An account `name#number` with or without digits of its hash, or an address. Raises `CannotLookUp`."""
    if "#" in text:
        try:
            return Wanted(cash_accounts.identifier(text), "")
        except cash_accounts.NotAnIdentifier:
            raise CannotLookUp(_identifier_problem(text)) from None
    try:
        return Wanted(None, addresses.printed(text))
    except addresses.NotAnAddress as problem:
        if text.isascii() and text.replace("_", "").isalnum() and len(text) < 30:
            raise CannotLookUp(f"Add the number of the account: {text}#100, for instance.") from None
        raise CannotLookUp(f"This is neither an account nor an address. {problem}") from None


def _identifier_problem(text: str) -> str:
    name, _, rest = text.partition("#")
    number = rest.rstrip(";").partition(".")[0]
    if not (name.isascii() and name.replace("_", "").isalnum() and len(name) <= 99):
        return "A name has 1 to 99 letters, digits and underscores, without accents."
    if not (number.isascii() and number.isdigit()):
        return "After the # comes the number of the account, as in Jonathan#100."
    if int(number[:12]) < cash_accounts.FIRST_NUMBER:
        return f"The first account has the number {cash_accounts.FIRST_NUMBER}."
    return "After the point come 1 to 10 digits of the account's hash, as in Jonathan#100.5876."


def look_up(*, identifier: Identifier, now: datetime) -> LookupPart:
    """What the service tells of the account."""
    reading = _look_up(identifier, now)
    lookup: records.Lookup | None = reading.record
    unknown = lookup is None and reading.freshness in ("missing", "refused")
    return LookupPart(
        account=lookup.information if lookup else None,
        identifier=lookup.identifier if lookup else identifier.text,
        payments=lookup.information.payment if lookup else [],
        is_unknown=unknown,
        freshness=freshness_of(reading, topics=[TIP_TOPIC]),
    )


def _look_up(identifier: Identifier, now: datetime) -> answers.Reading:
    params = {"account": identifier.name, "number": str(identifier.number)}
    if identifier.prefix:
        params["collision"] = identifier.prefix
    return answers.look("look_up_cash_account", now=now, **params)


def check(*, identifier: Identifier, now: datetime) -> CheckPart:
    """Every registration of the name in that block, each proven here from its own bytes."""
    reading = answers.look("check_cash_account", now=now, account=identifier.name, number=str(identifier.number))
    answer: records.Check | None = reading.record
    account = (known_as := _look_up(identifier, now).record) and known_as.information
    known = _known_headers(answer)
    found = [_registered(each, answer.block, identifier, account, known) for each in answer.results] if answer else []
    registrations = [_with_full_name(each, found, identifier) for each in found]
    fits = None
    if answer is not None and tools.network() is Network.MAIN:
        fits = cash_accounts.number_at(answer.block) == identifier.number
    is_known = answer is not None or reading.freshness in ("missing", "refused")
    return CheckPart(
        answer.block if answer else None, fits, registrations, is_known, freshness_of(reading, topics=[TIP_TOPIC])
    )


def _known_headers(answer: records.Check | None) -> dict[str, int]:
    """Hashes of the followed chain's blocks around the one that is told, with their heights."""
    if answer is None:
        return {}
    rows = ChainHeader.objects.filter(is_active=True, height=answer.block)
    return dict(rows.values_list("hash", "height"))


def _registered(
    listed: records.Registration,
    height: int,
    identifier: Identifier,
    account: records.Account | None,
    known: dict[str, int],
) -> Registered:
    try:
        made = transactions.read(hashing.from_hex(listed.transaction, most_bytes=transactions.MOST_BYTES))
        proof = proofs.read(hashing.from_hex(listed.inclusion_proof, most_bytes=proofs.MOST_BYTES))
        registration = cash_accounts.registration_of(made)
        easiest = headers.EASIEST_TARGET[tools.network()]
        (proven,) = proofs.check(proof, easiest_target=easiest, wanted=[made.txid_bytes])
    except (NotHexadecimal, NotATransaction, proofs.NotAProof, cash_accounts.NotARegistration) as problem:
        return Registered("", "", (), "", "", "", 0, None, None, str(problem))
    block_hash, txid = proof.header.hash, made.txid
    paid = [(payment.words, payment.text(addresses.printing_network())) for payment in registration.payments]
    own, emoji = cash_accounts.collision_hash(block_hash, txid), cash_accounts.emoji(block_hash, txid)
    is_other = registration.name.lower() != identifier.name.lower()
    return Registered(
        txid=txid,
        name=registration.name,
        payments=paid,
        hash=own,
        emoji=emoji,
        block_hash=block_hash,
        position=proven.position,
        is_in_chain=known.get(block_hash) == height if known else None,
        agrees=_agrees(account, registration.name, own, emoji, paid),
        problem=f"It registers another name: {registration.name}." if is_other else "",
    )


def _with_full_name(one: Registered, every: Sequence[Registered], identifier: Identifier) -> Registered:
    """With the name in full: as many digits of its hash as tell it apart from the others of the block."""
    if not one.hash or one.problem:
        return one
    others = [each.hash for each in every if each.hash and each.txid != one.txid]
    prefix = one.hash[: cash_accounts.collision(one.hash, others).length]
    return replace(one, full_name=Identifier(one.name, identifier.number, prefix).text.rstrip(";"))


def words_of(emoji: str) -> str:
    """The name of an emoji in the tables of Unicode."""
    return ", ".join(unicodedata.name(each, "").lower() for each in emoji).strip(", ")


def _agrees(
    account: records.Account | None, name: str, own: str, emoji: str, paid: Sequence[tuple[str, str]]
) -> bool | None:
    """Whether the service tells of this registration what follows from its bytes."""
    if account is None or account.collision.hash != own:
        return None
    same = len(account.payment) == len(paid) and all(
        payment.type == words and _same_target(payment.address, target)
        for payment, (words, target) in zip(account.payment, paid, strict=True)
    )
    return same and account.emoji == emoji and account.name == name


def _same_target(claimed: str, target: str) -> bool:
    return claimed == target or addresses.same(claimed, target)


def owned(*, address: str, now: datetime) -> OwnedPart:
    """The accounts that pay an address, each with its identifier."""
    reading = answers.look("find_cash_accounts", now=now, account=address)
    lookup: records.ReverseLookup | None = reading.record
    found = [(_identifier_of(each), each) for each in (lookup.results if lookup else [])]
    is_known = lookup is not None or reading.freshness in ("missing", "refused")
    return OwnedPart(found, is_known, freshness_of(reading, topics=[TIP_TOPIC]))


def _identifier_of(each: records.OwnedAccount) -> str:
    prefix = each.account_hash[: min(each.account_collision_length, _DIGITS_OF_HASH)]
    return f"{each.name_text}#{each.account_number}" + (f".{prefix}" if prefix else "")
