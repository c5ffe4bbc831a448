"""What the service knows of addresses (chain data, Address details, Address validation; supplement 1.1 and 1.5)."""

from decimal import Decimal

from chaindata.wire.records.chain import Hash, Transaction
from wire.records import Int64, Record


class AddressDetails(Record, frozen=True):
    """What came to an address and left it: in coins, and in satoshis. At most 1000 ids a page, counted from 0.

    The misspelt counts are the wire's own. Unconfirmed balances count the change that waits, and may be negative.
    """

    balance: Decimal
    balance_sat: Int64
    total_received: Decimal
    total_received_sat: Int64
    total_sent: Decimal
    total_sent_sat: Int64
    unconfirmed_balance: Decimal
    unconfirmed_balance_sat: Int64
    unconfirmed_tx_apperances: Int64
    tx_apperances: Int64
    transactions: list[Hash]
    legacy_address: str
    cash_address: str
    current_page: Int64
    pages_total: Int64
    addr_str: str | None = None
    slp_address: str | None = None


class Utxo(Record, frozen=True):
    """An unspent output of an address: `amount` in coins. Unconfirmed: no height (or -1), and seconds in `ts`."""

    txid: Hash
    vout: Int64
    amount: Decimal
    satoshis: Int64
    confirmations: Int64
    height: Int64 | None = None
    ts: Int64 | None = None


class AddressUtxos(Record, frozen=True):
    """The unspent outputs of one address and the script that locks them; its texts are empty without any."""

    utxos: list[Utxo]
    legacy_address: str
    cash_address: str
    script_pub_key: str
    slp_address: str | None = None
    asm: str | None = None


class AddressTransactions(Record, frozen=True):
    """The transactions of one address, newest first, ten a page, counted from 0."""

    pages_total: Int64
    txs: list[Transaction]
    legacy_address: str
    cash_address: str
    current_page: Int64
    slp_address: str | None = None


class AddressValidation(Record, frozen=True):
    """Whether a text is an address; only of one that is, more is said."""

    isvalid: bool
    address: str | None = None
    script_pub_key: str | None = None
    ismine: bool | None = None
    iswatchonly: bool | None = None
    isscript: bool | None = None
