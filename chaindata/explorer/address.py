"""The page of one address: its spellings, balance, transactions, unspent outputs and tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.cache import answers
from chaindata.explorer.transaction import making, spending
from chaindata.shared import addresses, owned_addresses
from chaindata.shared.pages import TIP_TOPIC, PartFreshness, freshness_of, moment, page_of
from chaindata.tokens.tokens import kind_of
from chaindata.wire import addresses as wire_addresses
from chaindata.wire import decoding
from chaindata.wire.addresses import Kind, Network
from chaindata.wire.records.addresses import AddressDetails, AddressTransactions, AddressUtxos, Utxo
from chaindata.wire.records.cash_accounts import OwnedAccount
from chaindata.wire.records.chain import Transaction
from chaindata.wire.records.slp import AddressBalance, Token
from chaindata.wire.records.tokens import Property, PropertyBalance

UNSPENT_SHOWN = 50
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Spellings:
    """One hash in every form: `display_form` for people, `printed` as services print it, `forms` the others.

    Links use `printed`. `owner` says in words whose it is, if it is one of ours.
    """

    printed: str
    display_form: str
    owner: str
    forms: Sequence[tuple[str, str]]
    kind: str
    hash: str


@dataclass(frozen=True, slots=True)
class BalancePart:
    """The balance of the address; `details` is None until it was read."""

    details: AddressDetails | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Line:
    """A transaction of the address: what it changed there, in coins. `height` is None while it waits."""

    txid: str
    time: datetime | None
    height: int | None
    confirmations: int
    change: Decimal
    is_coinbase: bool


@dataclass(frozen=True, slots=True)
class TransactionsPart:
    """Ten transactions, the newest first. Pages count from 1; `pages` is None until they were read."""

    lines: Sequence[Line]
    page: int
    pages: int | None
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class UnspentPart:
    """Fifty of the unspent outputs, the newest first. `count` and `coins` are of all of them."""

    outputs: Sequence[Utxo]
    count: int
    coins: Decimal
    page: int
    pages: int
    is_read: bool
    freshness: PartFreshness


@dataclass(frozen=True, slots=True)
class Holding:
    """Tokens of one kind that the address holds; `name` is empty until it was read.

    `is_frozen`: the issuer of a managed property has frozen this balance.
    """

    token: str
    name: str
    balance: Decimal
    reserved: Decimal
    is_frozen: bool = False


@dataclass(frozen=True, slots=True)
class TokensPart:
    """What the address holds in the layers above the chain, and the cash accounts that pay it."""

    ledger: Sequence[Holding]
    properties: Sequence[Holding]
    accounts: Sequence[OwnedAccount]
    freshness: PartFreshness


def spellings(text: str) -> Spellings:
    """Every form of the address. Raises `NotAnAddress`, with a sentence."""
    address = wire_addresses.read(text, networks=addresses.allowed_networks())
    printed = addresses.forms(addresses.printed(text))
    display_form = addresses.display_form(text)
    forms = [("Legacy address", printed.legacy_address)] if printed.legacy_address else []
    forms.append(("SLP address", printed.slp_address))
    if address.network is not Network.MAIN:
        prefix = wire_addresses.CASH_PREFIX[Network.REGTEST]
        regtest = wire_addresses.cash_encode(prefix, address.kind, address.hash)
        forms += [("Testnet", printed.cash_address), ("Regtest", regtest)]
    kind = "public key hash" if address.kind is Kind.KEY else "script hash"
    owner = owned_addresses.owners(addresses=[printed.cash_address]).get(printed.cash_address, "")
    forms = [(name, form) for name, form in forms if form != display_form]
    return Spellings(printed.cash_address, display_form, owner, forms, kind, address.hash.hex())


def balance(address: str, *, now: datetime) -> BalancePart:
    """The figures of the address."""
    reading = answers.read("get_address_details", now=now, address=address)
    return BalancePart(reading.record, freshness_of(reading, topics=[TIP_TOPIC]))


def transactions(address: str, *, page: int, now: datetime) -> TransactionsPart:
    """A page of its transactions."""
    reading = answers.read("get_address_transactions", now=now, address=address, page=page - 1)
    record: AddressTransactions | None = reading.record
    lines = [_line(each, address) for each in record.txs] if record else []
    return TransactionsPart(
        lines, page, max(1, record.pages_total) if record else None, freshness_of(reading, topics=[TIP_TOPIC])
    )


def unspent(address: str, *, page: int, now: datetime) -> UnspentPart:
    """A page of its unspent outputs; a page after the last one is the last one."""
    reading = answers.read("get_address_utxos", now=now, address=address)
    record: AddressUtxos | None = reading.record
    outputs = record.utxos if record else []
    page, pages, first = page_of(len(outputs), page=page, size=UNSPENT_SHOWN)
    return UnspentPart(
        outputs=outputs[first : first + UNSPENT_SHOWN],
        count=len(outputs),
        coins=decoding.coins(sum(each.satoshis for each in outputs)),
        page=page,
        pages=pages,
        is_read=record is not None,
        freshness=freshness_of(reading, topics=[TIP_TOPIC]),
    )


def tokens(address: str, *, now: datetime) -> TokensPart:
    """Its tokens of both layers, and the cash accounts that pay it."""
    ledger, properties, accounts = answers.read_many(
        [
            ("get_slp_balances_of_address", {"address": address}),
            ("get_token_balances_of_address", {"address": address}),
            ("find_cash_accounts", {"account": address}),
        ],
        now=now,
    )
    ledger_balances: list[AddressBalance] = ledger.record or []
    property_balances: list[PropertyBalance] = properties.record if isinstance(properties.record, list) else []
    freezes = [answers.read("get_frozen_balances_of_address", now=now, address=address)] if property_balances else []
    frozen = {row.propertyid for each in freezes if isinstance(each.record, list) for row in each.record}
    names, name_topics = _names(
        [row.token_id for row in ledger_balances], [row.propertyid for row in property_balances], now
    )
    return TokensPart(
        ledger=[
            Holding(row.token_id, names.get(row.token_id, ""), row.balance_string, Decimal(0))
            for row in ledger_balances
        ],
        properties=[
            Holding(
                token=str(row.propertyid),
                name=names.get(str(row.propertyid), ""),
                balance=row.balance,
                reserved=row.reserved,
                is_frozen=row.propertyid in frozen,
            )
            for row in property_balances
        ],
        accounts=accounts.record.results if accounts.record is not None else [],
        freshness=freshness_of(ledger, properties, accounts, *freezes, topics=[TIP_TOPIC, *name_topics]),
    )


def _names(ids: Sequence[str], numbers: Sequence[int], now: datetime) -> tuple[dict[str, str], list[str]]:
    """The names of the first tokens, as far as they were read, and the topics of the answers with the others."""
    calls: list[tuple[str, dict[str, object]]] = [
        ("get_slp_token", {"tokenId": each}) for each in ids[:MOST_NAMED] if kind_of(each)
    ]
    calls += [("get_property", {"propertyId": each}) for each in numbers[:MOST_NAMED] if kind_of(str(each))]
    names: dict[str, str] = {}
    readings = answers.read_many(calls, now=now)
    for reading in readings:
        if isinstance(reading.record, Token) and reading.record.is_known:
            names[reading.record.id] = reading.record.symbol or reading.record.name or ""
        elif isinstance(reading.record, Property):
            names[str(reading.record.propertyid)] = reading.record.name
    return names, [reading.topic for reading in readings]


def _line(record: Transaction, address: str) -> Line:
    credit = sum((each.coins for each in map(making, record.vout) if each.addresses == [address]), Decimal(0))
    debit = sum((each.coins or Decimal(0) for each in map(spending, record.vin) if each.address == address), Decimal(0))
    return Line(
        txid=record.txid,
        time=moment(record.blocktime or record.time),
        height=record.blockheight if record.blockhash else None,
        confirmations=record.confirmations,
        change=credit - debit,
        is_coinbase=bool(record.is_coin_base),
    )
