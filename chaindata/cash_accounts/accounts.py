"""Cash accounts: names for addresses. What the service says of an account, and what its registration itself says.

A registration comes with a proof that its block contains it. The account's hash, its emoji and whom it pays follow from
both, so a service can leave out an account but can't invent or change one.
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
class Query:
    """What was typed: an account, or an address whose accounts are looked for."""

    identifier: Identifier | None
    address: str


@dataclass(frozen=True, slots=True)
class LookupPart:
    """What the service says of an account. `is_unknown`: it knows none, or several that only digits tell apart."""

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
class CheckedRegistration:
    """One registration, checked here. `problem` is why it does not count.

    `is_in_chain` is None if the desk does not follow the chain at that height. `agrees` compares it with what the
    service says of the account; None if the service speaks of another one.
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
    """Every registration of the name in its block. `is_known` tells "none" from "not read yet"."""

    block: int | None
    number_fits: bool | None
    registrations: Sequence[CheckedRegistration]
    is_known: bool
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class OwnedPart:
    """The accounts that pay an address."""

    accounts: Sequence[tuple[str, records.OwnedAccount]]
    is_known: bool
    freshness: PartFreshness


def read_query(*, text: str) -> Query:
    """An account `name#number` with or without digits of its hash, or an address. Raises `CannotLookUp`."""
    if "#" in text:
        try:
            return Query(cash_accounts.identifier(text), "")
        except cash_accounts.NotAnIdentifier:
            raise CannotLookUp(_identifier_problem(text)) from None
    try:
        return Query(None, addresses.printed(text))
    except addresses.NotAnAddress as problem:
        if text.isascii() and text.replace("_", "").isalnum() and len(text) < 30:
            raise CannotLookUp(f"Add the account number, for example {text}#100.") from None
        raise CannotLookUp(f"This is neither an account nor an address. {problem}") from None


def _identifier_problem(text: str) -> str:
    name, _, suffix = text.partition("#")
    number = suffix.rstrip(";").partition(".")[0]
    if not (name.isascii() and name.replace("_", "").isalnum() and len(name) <= 99):
        return "Names must be 1 to 99 letters, digits or underscores, without accents."
    if not (number.isascii() and number.isdigit()):
        return "After the #, enter the account number, for example Jonathan#100."
    if int(number[:12]) < cash_accounts.FIRST_NUMBER:
        return f"Account numbers start at {cash_accounts.FIRST_NUMBER}."
    return "After the dot, enter 1 to 10 digits of the account's hash, for example Jonathan#100.5876."


def look_up(*, identifier: Identifier, now: datetime) -> LookupPart:
    """What the service says of the account."""
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
    return answers.read("look_up_cash_account", now=now, **params)


def check(*, identifier: Identifier, now: datetime) -> CheckPart:
    """Every registration of the name in that block, each proven here from its bytes."""
    reading = answers.read("check_cash_account", now=now, account=identifier.name, number=str(identifier.number))
    answer: records.Check | None = reading.record
    account = (lookup := _look_up(identifier, now).record) and lookup.information
    heights = _followed_heights(answer)
    candidates = (
        [_check_registration(each, answer.block, identifier, account, heights) for each in answer.results]
        if answer
        else []
    )
    registrations = [_with_full_name(each, candidates, identifier) for each in candidates]
    fits = None
    if answer is not None and tools.network() is Network.MAIN:
        fits = cash_accounts.number_at(answer.block) == identifier.number
    is_known = answer is not None or reading.freshness in ("missing", "refused")
    return CheckPart(
        answer.block if answer else None, fits, registrations, is_known, freshness_of(reading, topics=[TIP_TOPIC])
    )


def _followed_heights(answer: records.Check | None) -> dict[str, int]:
    """The hash of the followed chain's block at the height that the service names, with that height."""
    if answer is None:
        return {}
    rows = ChainHeader.objects.filter(is_active=True, height=answer.block)
    return dict(rows.values_list("hash", "height"))


def _check_registration(
    entry: records.Registration,
    height: int,
    identifier: Identifier,
    account: records.Account | None,
    heights: dict[str, int],
) -> CheckedRegistration:
    try:
        transaction = transactions.read(hashing.from_hex(entry.transaction, most_bytes=transactions.MOST_BYTES))
        proof = proofs.read(hashing.from_hex(entry.inclusion_proof, most_bytes=proofs.MOST_BYTES))
        registration = cash_accounts.registration_of(transaction)
        easiest = headers.EASIEST_TARGET[tools.network()]
        (proven,) = proofs.check(proof, easiest_target=easiest, txids_bytes=[transaction.txid_bytes])
    except (NotHexadecimal, NotATransaction, proofs.NotAProof, cash_accounts.NotARegistration) as problem:
        return CheckedRegistration("", "", (), "", "", "", 0, None, None, str(problem))
    block_hash, txid = proof.header.hash, transaction.txid
    payments = [(payment.words, payment.text(addresses.printing_network())) for payment in registration.payments]
    own, emoji = cash_accounts.collision_hash(block_hash, txid), cash_accounts.emoji(block_hash, txid)
    is_other = registration.name.lower() != identifier.name.lower()
    return CheckedRegistration(
        txid=txid,
        name=registration.name,
        payments=payments,
        hash=own,
        emoji=emoji,
        block_hash=block_hash,
        position=proven.position,
        is_in_chain=heights.get(block_hash) == height if heights else None,
        agrees=_agrees(account, registration.name, own, emoji, payments),
        problem=f"The transaction registers a different name: {registration.name}." if is_other else "",
    )


def _with_full_name(
    one: CheckedRegistration, every: Sequence[CheckedRegistration], identifier: Identifier
) -> CheckedRegistration:
    """With its full name: with as many digits of its hash as tell it apart from the others of the block."""
    if not one.hash or one.problem:
        return one
    others = [each.hash for each in every if each.hash and each.txid != one.txid]
    prefix = one.hash[: cash_accounts.collision(one.hash, others).length]
    return replace(one, full_name=Identifier(one.name, identifier.number, prefix).text.rstrip(";"))


def words_of(emoji: str) -> str:
    """The Unicode name of an emoji."""
    return ", ".join(unicodedata.name(each, "").lower() for each in emoji).strip(", ")


def _agrees(
    account: records.Account | None, name: str, own: str, emoji: str, payments: Sequence[tuple[str, str]]
) -> bool | None:
    """Whether what the service says of this registration follows from its bytes."""
    if account is None or account.collision.hash != own:
        return None
    same = len(account.payment) == len(payments) and all(
        payment.type == words and _same_target(payment.address, target)
        for payment, (words, target) in zip(account.payment, payments, strict=True)
    )
    return same and account.emoji == emoji and account.name == name


def _same_target(theirs: str, target: str) -> bool:
    return theirs == target or addresses.same(theirs, target)


def accounts_paying(*, address: str, now: datetime) -> OwnedPart:
    """The accounts that pay an address, each with its identifier."""
    reading = answers.read("find_cash_accounts", now=now, account=address)
    lookup: records.ReverseLookup | None = reading.record
    accounts = [(_identifier_of(each), each) for each in (lookup.results if lookup else [])]
    is_known = lookup is not None or reading.freshness in ("missing", "refused")
    return OwnedPart(accounts, is_known, freshness_of(reading, topics=[TIP_TOPIC]))


def _identifier_of(each: records.OwnedAccount) -> str:
    prefix = each.account_hash[: min(each.account_collision_length, _DIGITS_OF_HASH)]
    return f"{each.name_text}#{each.account_number}" + (f".{prefix}" if prefix else "")
