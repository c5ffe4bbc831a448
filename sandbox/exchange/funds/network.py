"""What the networks do: payouts get a hash, confirmations and an end; payins arrive and become money.

The coin of the sandbox's own chain has its movements there (`onchain`); for every other one time alone confirms. A
payout to a deposit address of this exchange never leaves it: it is booked over at once (subType offchain).
"""

from decimal import Decimal
from hashlib import sha256

from exchange_ops.wire import coin_addresses
from sandbox.amounts import EXACT, digits_after_point
from sandbox.exchange.accounts import address_forms
from sandbox.exchange.accounts.ledger import HOUSE, Line, Wallet, moved
from sandbox.exchange.accounts.movements import CoinMovements
from sandbox.exchange.accounts.transactions import Payout, Status, Transaction
from sandbox.exchange.funds import withdrawals
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.state import Exchange

INVALID_ADDRESS = "INVALID_ADDRESS"
INVALID_PAYMENT_ID = "INVALID_PAYMENT_ID"
BAD_PRECISION = "BAD_PRECISION"
ERROR_CODES = (INVALID_ADDRESS, INVALID_PAYMENT_ID, BAD_PRECISION)


def send(exchange: Exchange, payout: Payout) -> None:
    """The payout reaches its network: refused there, booked over inside the exchange, or pending with a hash."""
    transaction = exchange.transaction(payout.id)
    error_code = _problem(exchange.currencies[payout.currency], transaction)
    if error_code:
        withdrawals.give_back(exchange, payout, "failed payout", error_code)
    elif receiver := exchange.addresses.owner(payout.currency, transaction.address, transaction.payment_id):
        _book_over(exchange, payout, receiver)
    else:
        broadcast(exchange, payout)


def broadcast(exchange: Exchange, payout: Payout) -> None:
    """Gives the payout its hash; it is pending until its confirmations are complete.

    On the sandbox's own chain it waits as it is while the exchange's purse has not the coins.
    """
    transaction, movements = exchange.transaction(payout.id), _movements(exchange, payout.currency)
    chain_hash = movements.pay_out(payout) if movements else _hash(exchange, transaction)
    if not chain_hash:
        return
    payout.step += 1
    transaction.status = Status.PENDING
    transaction.hash = transaction.hash or chain_hash
    transaction.confirmations = 0
    exchange.touch(transaction)
    if not movements:
        _await_confirmation(exchange, "payout_confirm", payout.id, payout.step)


def confirm_payout(exchange: Exchange, payout: Payout) -> None:
    """One more confirmation; the last one ends the payout."""
    transaction = exchange.transaction(payout.id)
    transaction.confirmations = (transaction.confirmations or 0) + 1
    if transaction.confirmations >= exchange.currencies[payout.currency].payin_confirmations:
        settle(exchange, payout)
    else:
        exchange.touch(transaction)
        _await_confirmation(exchange, "payout_confirm", payout.id, payout.step)


def confirm_payout_so_far(exchange: Exchange, payout: Payout, confirmations: int) -> None:
    """The chain has so many blocks on the payout by now, or so many left; enough of them end it."""
    transaction = exchange.transaction(payout.id)
    if transaction.confirmations == confirmations:
        return
    transaction.confirmations = confirmations
    if confirmations >= exchange.currencies[payout.currency].payin_confirmations:
        settle(exchange, payout)
    else:
        exchange.touch(transaction)


def confirmations(exchange: Exchange, transaction: Transaction) -> int | None:
    """How many blocks its network has on a transaction at the moment; None where nothing is confirmed.

    What has ended goes on being confirmed, without becoming another version: its index stays.
    """
    confirmations, movements = transaction.confirmations, _movements(exchange, transaction.currency)
    if confirmations is None or transaction.status is not Status.SUCCESS:
        return confirmations
    if movements:
        return movements.confirmations_of(transaction)
    if not transaction.pace_ms:
        return confirmations
    return confirmations + (exchange.moment_ms - transaction.updated_ms) // transaction.pace_ms


def record_of(exchange: Exchange, transaction: Transaction, *, show_senders: bool = False) -> dict[str, object]:
    """The Transaction record as of the moment."""
    record = transaction.wire(echo_comment=exchange.config.echo_comment, show_senders=show_senders)
    if "confirmations" in record:
        record["confirmations"] = confirmations(exchange, transaction)
    return record


def settle(exchange: Exchange, payout: Payout) -> None:
    """The payout has arrived outside: what was reserved is gone, the fee is the exchange's."""
    transaction, movements = exchange.transaction(payout.id), _movements(exchange, payout.currency)
    if movements and not transaction.hash:
        transaction.hash = movements.pay_out(payout)
    _pay(exchange, payout, (HOUSE, Wallet.OUTSIDE))
    transaction.hash = transaction.hash or _hash(exchange, transaction)
    transaction.pace_ms = _pace_ms(exchange)
    exchange.touch(transaction)


def deposit(
    exchange: Exchange,
    account: str,
    currency: Currency,
    amount: Decimal,
    *,
    address: str = "",
    payment_id: str = "",
    senders: tuple[str, ...] = (),
) -> Transaction:
    """Money comes in: over the chain it waits for its confirmations, money of account is there at once."""
    if not currency.crypto:
        transaction = exchange.record(account=account, type="deposit", currency=currency, amount=amount)
        _credit(exchange, transaction)
        return transaction
    transaction = arrive(exchange, account, currency, amount, address=address, payment_id=payment_id, senders=senders)
    _await_confirmation(exchange, "payin_confirm", transaction.id, 0)
    return transaction


def arrive(
    exchange: Exchange,
    account: str,
    currency: Currency,
    amount: Decimal,
    *,
    address: str,
    payment_id: str = "",
    chain_hash: str = "",
    senders: tuple[str, ...] = (),
) -> Transaction:
    """A payin is seen, without any confirmation yet; hash and senders are made up where they are not given."""
    transaction = exchange.record(
        account=account, type="payin", currency=currency, amount=amount, address=address, payment_id=payment_id
    )
    transaction.hash = chain_hash or _hash(exchange, transaction)
    transaction.senders = senders or (address_forms.make(currency.address_kind, f"sender|{transaction.id}"),)
    transaction.status = Status.PENDING
    transaction.confirmations = 0
    exchange.touch(transaction)
    return transaction


def confirm_payin(exchange: Exchange, transaction: Transaction) -> None:
    """One more confirmation; with the last one the money is there."""
    transaction.confirmations = (transaction.confirmations or 0) + 1
    if transaction.confirmations >= exchange.currencies[transaction.currency].payin_confirmations:
        _credit(exchange, transaction)
    else:
        exchange.touch(transaction)
        _await_confirmation(exchange, "payin_confirm", transaction.id, 0)


def confirm_payin_so_far(exchange: Exchange, transaction: Transaction, confirmations: int) -> bool:
    """The chain has so many blocks on the payin by now, or so many left; True as soon as the money is there."""
    if transaction.status is Status.SUCCESS:
        return True
    if transaction.confirmations == confirmations:
        return False
    transaction.confirmations = confirmations
    if confirmations < exchange.currencies[transaction.currency].payin_confirmations:
        exchange.touch(transaction)
        return False
    _credit(exchange, transaction)
    return True


def _movements(exchange: Exchange, code: str) -> CoinMovements | None:
    """The movements on the sandbox's own chain, for its coin."""
    return exchange.movements if exchange.currencies[code].on_chain else None


def can_be_paid(exchange: Exchange, payout: Payout) -> bool:
    """Whether the address of a payout is one of its network."""
    currency = exchange.currencies[payout.currency]
    return address_forms.is_payable(currency.code, currency.address_kind, exchange.transaction(payout.id).address)


def _problem(currency: Currency, transaction: Transaction) -> str:
    if not address_forms.is_payable(currency.code, currency.address_kind, transaction.address):
        return INVALID_ADDRESS
    if transaction.payment_id and coin_addresses.payment_id_problem(currency.code, transaction.payment_id):
        return INVALID_PAYMENT_ID
    if digits_after_point(transaction.amount) > currency.digits:
        return BAD_PRECISION
    return ""


def _book_over(exchange: Exchange, payout: Payout, receiver: str) -> None:
    _pay(exchange, payout, (receiver, Wallet.BANK))
    sent = exchange.transaction(payout.id)
    sent.sub_type = "offchain"
    sent.offchain_id = (exchange.transactions.new_id(),)
    exchange.touch(sent)
    received = exchange.record(
        account=receiver,
        type="payin",
        currency=exchange.currencies[payout.currency],
        amount=payout.net,
        address=sent.address,
        payment_id=sent.payment_id,
    )
    received.sub_type, received.offchain_id, received.status = "offchain", sent.offchain_id, Status.SUCCESS
    exchange.touch(received)


def _pay(exchange: Exchange, payout: Payout, target: tuple[str, Wallet]) -> None:
    owner = payout.account
    lines = (
        Line(owner, Wallet.BANK_RESERVED, payout.currency, EXACT.minus(payout.total)),
        Line(*target, payout.currency, payout.net),
        Line(HOUSE, Wallet.FEES, payout.currency, payout.fee),
    )
    exchange.post("payout", payout.id, lines)
    payout.step += 1
    payout.ended = True
    exchange.transaction(payout.id).status = Status.SUCCESS


def _credit(exchange: Exchange, transaction: Transaction) -> None:
    code, amount = transaction.currency, transaction.amount
    lines = moved(code, amount, (HOUSE, Wallet.OUTSIDE), (transaction.account, Wallet.BANK))
    exchange.post("deposit", transaction.id, lines)
    transaction.status = Status.SUCCESS
    transaction.pace_ms = _pace_ms(exchange)
    exchange.touch(transaction)


def _pace_ms(exchange: Exchange) -> int:
    """After how long a network confirms once more what has ended; where payouts take no time, that of blocks."""
    return exchange.config.payout_ms or exchange.config.block_ms


def _await_confirmation(exchange: Exchange, action: str, subject: str, expected: int) -> None:
    exchange.timers.set(exchange.moment_ms + exchange.config.payout_ms, action, subject, expected)


def _hash(exchange: Exchange, transaction: Transaction) -> str:
    digest = sha256(f"{exchange.seed}|{transaction.id}".encode()).hexdigest()
    kind = exchange.currencies[transaction.currency].address_kind
    return f"0x{digest}" if kind == "ethereum" else digest
