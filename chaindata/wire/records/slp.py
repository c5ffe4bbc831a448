"""Simple-ledger tokens (chain data, Simple-ledger token; supplement 3, Answers)."""

from decimal import Decimal

from msgspec import field

from chaindata.wire.records.chain import Hash, Transaction
from wire.records import Int64, Record

TRANSACTION_TYPES = ("GENESIS", "MINT", "SEND")
NOT_FOUND = "not found"


class Token(Record, frozen=True):
    """A token. Of an unknown one only `id` is told: "not found" when asked alone, itself and `valid` false in bulk.

    Amounts are in tokens. `timestamp` is "YYYY-MM-DD hh:mm:ss" in UTC, null while unconfirmed.
    """

    id: str
    decimals: Int64 | None = None
    timestamp: str | None = None
    timestamp_unix: Int64 | None = None
    version_type: Int64 | None = None
    document_uri: str | None = None
    symbol: str | None = None
    name: str | None = None
    contains_baton: bool | None = None
    document_hash: str | None = None
    initial_token_qty: Decimal | None = None
    block_created: Int64 | None = None
    block_last_active_send: Int64 | None = None
    block_last_active_mint: Int64 | None = None
    txns_since_genesis: Int64 | None = None
    valid_addresses: Int64 | None = None
    total_minted: Decimal | None = None
    total_burned: Decimal | None = None
    circulating_supply: Decimal | None = None
    minting_baton_status: str | None = None
    valid: bool | None = None

    @property
    def is_known(self) -> bool:
        """Whether the service knows the token."""
        return self.id != NOT_FOUND and self.valid is not False


class AddressForms(Record, frozen=True):
    """One address in its three forms."""

    slp_address: str
    cash_address: str
    legacy_address: str


class Validity(Record, frozen=True):
    """Whether a transaction moves simple-ledger tokens by the rules, and if not, why."""

    txid: Hash
    valid: bool
    invalid_reason: str | None = None


class AddressBalance(Record, frozen=True):
    """What an address holds of one of its tokens."""

    token_id: Hash
    balance: Decimal
    balance_string: Decimal
    slp_address: str
    decimal_count: Int64


class HolderBalance(Record, frozen=True):
    """What one of the holders of a token holds."""

    token_id: Hash
    token_balance: Decimal
    token_balance_string: Decimal
    slp_address: str


class TokenBalance(Record, frozen=True):
    """What an address holds of a token."""

    token_id: Hash
    balance: Decimal
    balance_string: Decimal


class BurnTotal(Record, frozen=True):
    """Tokens that went into a transaction, came out, and were lost in it."""

    transaction_id: Hash
    input_total: Decimal
    output_total: Decimal
    burn_total: Decimal


class Message(Record, frozen=True):
    """What a transaction says to the token layer. Sends have `send_outputs`: base units by output, output 0 first."""

    version_type: Int64
    transaction_type: str
    token_id_hex: Hash | None = None
    send_outputs: list[Decimal] | None = None
    symbol: str | None = None
    name: str | None = None
    document_uri: str | None = None
    document_sha256: str | None = None
    decimals: Int64 | None = None
    genesis_or_mint_quantity: Decimal | None = None
    baton_vout: Int64 | None = None
    contains_baton: bool | None = None


class TokenTransaction(Transaction, frozen=True):
    """The details of a transaction with its meaning for the token layer."""

    token_info: Message | None = None
    token_is_valid: bool | None = None


class TokenOutput(Record, frozen=True):
    """An amount in tokens and whom it went to; null when the transaction has no such output."""

    amount: Decimal
    address: str | None = None


class TransactionDetail(Record, frozen=True):
    """A transaction as the token's history tells it."""

    decimals: Int64
    token_id_hex: Hash
    transaction_type: str
    version_type: Int64
    outputs: list[TokenOutput] | None = None
    document_uri: str | None = None
    document_sha256_hex: str | None = None
    symbol: str | None = None
    name: str | None = None
    txn_baton_vout: Int64 | None = None
    txn_contains_baton: bool | None = None


class TransactionDetails(Record, frozen=True):
    """Whether the transaction was valid, and its detail."""

    valid: bool
    detail: TransactionDetail
    invalid_reason: str | None = None
    schema_version: Int64 | None = field(default=None, name="schema_version")


class ListedTransaction(Record, frozen=True):
    """An entry of the history of a token at an address."""

    txid: Hash
    token_details: TransactionDetails
