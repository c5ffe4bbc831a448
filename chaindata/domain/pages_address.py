"""The page of one address: its spellings, what it holds, what came and went, its unspent outputs, its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from chaindata.domain import addresses, answers
from chaindata.domain.pages import TIP_TOPIC, Standing, moment, standing
from chaindata.domain.pages_transaction import making, spending
from chaindata.wire import addresses as wire_addresses
from chaindata.wire import decoding
from chaindata.wire.addresses import Kind, Network
from chaindata.wire.records.addresses import AddressDetails, AddressTransactions, AddressUtxos, Utxo
from chaindata.wire.records.cash_accounts import OwnedAccount
from chaindata.wire.records.chain import Transaction
from chaindata.wire.records.slp import AddressBalance
from chaindata.wire.records.tokens import PropertyBalance

UNSPENT_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Spellings:
    """One hash in every form, each with its name; `printed` is the one that services print and pages link."""

    printed: str
    forms: Sequence[tuple[str, str]]
    kind: str
    hash: str


@dataclass(frozen=True, slots=True)
class BalancePart:
    """What the address holds, None until it was read."""

    details: AddressDetails | None
    standing: Standing


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
    standing: Standing


@dataclass(frozen=True, slots=True)
class UnspentPart:
    """Fifty unspent outputs, the newest first, of all; what all of them hold is `coins`."""

    outputs: Sequence[Utxo]
    count: int
    coins: Decimal
    page: int
    pages: int
    is_read: bool
    standing: Standing


@dataclass(frozen=True, slots=True)
class TokensPart:
    """What the address holds in the layers above the chain, and the cash accounts that pay it."""

    ledger: Sequence[AddressBalance]
    properties: Sequence[PropertyBalance]
    accounts: Sequence[OwnedAccount]
    standing: Standing


def spellings(text: str) -> Spellings:
    """Every form of the address. Raises `NotAnAddress`, with a sentence."""
    address = wire_addresses.read(text, networks=addresses.allowed_networks())
    printed = addresses.forms(addresses.printed(text))
    forms = [("Cash address", printed.cash_address)]
    forms += [("Legacy address", printed.legacy_address)] if printed.legacy_address else []
    forms.append(("Simple-ledger address", printed.slp_address))
    if address.network is not Network.MAIN:
        prefix = wire_addresses.CASH_PREFIX[Network.REGTEST]
        forms.append(("On a regtest", wire_addresses.cash_encode(prefix, address.kind, address.hash)))
    kind = "a public key" if address.kind is Kind.KEY else "a script"
    return Spellings(printed.cash_address, forms, kind, address.hash.hex())


def balance(address: str, *, now: datetime) -> BalancePart:
    """The figures of the address."""
    reading = answers.look("get_address_details", now=now, address=address)
    return BalancePart(reading.record, standing(reading, topics=[TIP_TOPIC]))


def transactions(address: str, *, page: int, now: datetime) -> TransactionsPart:
    """A page of its transactions."""
    reading = answers.look("get_address_transactions", now=now, address=address, page=page - 1)
    found: AddressTransactions | None = reading.record
    lines = [_line(each, address) for each in found.txs] if found else []
    return TransactionsPart(
        lines, page, max(1, found.pages_total) if found else None, standing(reading, topics=[TIP_TOPIC])
    )


def unspent(address: str, *, page: int, now: datetime) -> UnspentPart:
    """A page of its unspent outputs; a page behind the last one is the last one."""
    reading = answers.look("get_address_utxos", now=now, address=address)
    found: AddressUtxos | None = reading.record
    outputs = found.utxos if found else []
    last = max(1, -(-len(outputs) // UNSPENT_SHOWN))
    page = min(max(page, 1), last)
    first = (page - 1) * UNSPENT_SHOWN
    return UnspentPart(
        outputs=outputs[first : first + UNSPENT_SHOWN],
        count=len(outputs),
        coins=decoding.coins(sum(each.satoshis for each in outputs)),
        page=page,
        pages=last,
        is_read=found is not None,
        standing=standing(reading, topics=[TIP_TOPIC]),
    )


def tokens(address: str, *, now: datetime) -> TokensPart:
    """Its tokens of either kind, and the names that lead to it."""
    ledger, properties, accounts = answers.look_many(
        [
            ("get_slp_balances_of_address", {"address": address}),
            ("get_token_balances_of_address", {"address": address}),
            ("find_cash_accounts", {"account": address}),
        ],
        now=now,
    )
    owned = properties.record if isinstance(properties.record, list) else []
    named = accounts.record.results if accounts.record is not None else []
    return TokensPart(ledger.record or [], owned, named, standing(ledger, properties, accounts, topics=[TIP_TOPIC]))


def _line(told: Transaction, address: str) -> Line:
    came = sum((each.coins for each in map(making, told.vout) if each.addresses == [address]), Decimal(0))
    went = sum((each.coins or Decimal(0) for each in map(spending, told.vin) if each.address == address), Decimal(0))
    return Line(
        txid=told.txid,
        time=moment(told.blocktime or told.time),
        height=told.blockheight if told.blockhash else None,
        confirmations=told.confirmations,
        change=came - went,
        is_coinbase=bool(told.is_coin_base),
    )
