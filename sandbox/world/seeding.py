"""How a world begins: accounts, balances, deposit addresses, and a few days of history, the same for the same seed."""

from decimal import Decimal

from sandbox.amounts import EXACT
from sandbox.chain.node.terms import Place
from sandbox.engine.clock import DAY_MS, HOUR_MS
from sandbox.exchange.accounts import address_forms, chain_history
from sandbox.exchange.accounts.accounts import Account, Accounts, SubAccount, SubStatus
from sandbox.exchange.accounts.ledger import HOUSE, Line, Wallet, moved
from sandbox.exchange.funds import chain_blocks, network, transfers, withdrawals
from sandbox.exchange.funds.onchain import Movements
from sandbox.exchange.listing.symbols import listed
from sandbox.exchange.schedule import go_off
from sandbox.exchange.state import Exchange
from sandbox.exchange.traders.traders import Traders
from sandbox.settings.config import Config
from sandbox.settings.keys import DESK_ACCOUNT, OTHER_ACCOUNT, SUB_ACCOUNT

HISTORY_MS = 4 * DAY_MS
MINUTE_MS = HOUR_MS // 60
COIN = "BCH"  # of the sandbox's own chain

# What the accounts own when the world begins, after their history: bank, trading.
OPENING: dict[str, dict[str, tuple[str, str]]] = {
    DESK_ACCOUNT: {
        "BTC": ("100", "100"),
        "ETH": ("1000", "1000"),
        "BCH": ("500", "500"),
        "LTC": ("2000", "2000"),
        "XRP": ("200000", "200000"),
        "DOGE": ("500000", "500000"),
        "EOS": ("10000", "10000"),
        "ONT": ("5000", "5000"),
        "USD": ("1000000", "1000000"),
        "EUR": ("500000", "500000"),
        "USDT20": ("10000", "10000"),
        "NXT": ("1000", "0"),
        "DDF": ("250", "0"),
    },
    OTHER_ACCOUNT: {
        "BTC": ("5", "5"),
        "ETH": ("50", "50"),
        "BCH": ("20", "20"),
        "EOS": ("1000", "1000"),
        "USD": ("25000", "25000"),
        "USDT20": ("5000", "5000"),
    },
    SUB_ACCOUNT: {
        "BTC": ("2", "1"),
        "ETH": ("20", "10"),
        "BCH": ("5", "5"),
        "USD": ("10000", "5000"),
    },
    "desk+2@demo.test": {
        "ETH": ("5", "0"),
        "USD": ("2500", "0"),
        "USDT20": ("750", "0"),
    },
}


def exchange(*, seed: int, symbols: int | None, started_ms: int, config: Config, still: bool) -> Exchange:
    """The exchange of a fresh world at its first instant, `started_ms`; its history lies before it."""
    currencies, pairs = listed(symbols)
    world = Exchange(
        seed=seed,
        started_ms=started_ms,
        config=config,
        currencies=currencies,
        symbols=pairs,
        accounts=_accounts(),
        still=still,
    )
    world.moment_ms = started_ms - HISTORY_MS
    make_addresses(world)
    _make_history(world)
    _find_history(world)
    _fill_up(world)
    chain_blocks.begin(world)
    traders = Traders(world)
    world.refresh_book, world.simulated_traders = traders.refresh, traders
    return world


def _accounts() -> Accounts:
    subs = [
        SubAccount(7001, SUB_ACCOUNT, SubStatus.ACTIVE, description="Trading"),
        SubAccount(7002, "desk+2@demo.test", SubStatus.ACTIVE, is_payout_enabled=False, description="Settlement"),
        SubAccount(7003, "desk+3@demo.test", SubStatus.NEW),
        SubAccount(7004, "desk+4@demo.test", SubStatus.DISABLED),
    ]
    return Accounts((Account(DESK_ACCOUNT, "desk", subs), Account(OTHER_ACCOUNT, "other")))


def make_addresses(world: Exchange) -> None:
    """Give each account and sub-account an address in every currency that takes deposits."""
    for account in world.accounts.every():
        for email in (account.email, *(sub_account.email for sub_account in account.sub_accounts)):
            for currency in world.currencies.values():
                if currency.crypto and currency.payin_enabled:
                    world.addresses.create(email, currency, world.moment_ms)


def _make_history(world: Exchange) -> None:
    """A few payins, payouts and transfers of the days before, lived through as they would have been."""
    for code, amount in (("BTC", "2.5"), ("ETH", "40"), ("XRP", "25000"), ("EOS", "1500")):
        currency = world.currencies[code]
        address = world.addresses.deposit_addresses(DESK_ACCOUNT, code)[-1]
        network.deposit(
            world, DESK_ACCOUNT, currency, Decimal(amount), address=address.address, payment_id=address.payment_id
        )
        _live_on(world, 3 * HOUR_MS)
    for code, amount, payment_id in (
        ("BTC", "0.75", ""),
        ("XRP", "4000", "1001"),
        ("ETH", "6", ""),
    ):
        _pay_out(world, code, Decimal(amount), payment_id)
        _live_on(world, 5 * HOUR_MS)
    for code, amount, kind in (("BTC", "1", transfers.BANK_TO_EXCHANGE), ("BTC", "0.4", transfers.EXCHANGE_TO_BANK)):
        transfers.between_wallets(world, DESK_ACCOUNT, world.currencies[code], Decimal(amount), kind)
        _live_on(world, 7 * HOUR_MS)


def _find_history(world: Exchange) -> None:
    """The payin and the payout that the scenario of the chain has, at the times of their blocks."""
    movements, chain = Movements(world), world.chain
    world.movements = movements
    currency, address = world.currencies[COIN], world.addresses.deposit_addresses(DESK_ACCOUNT, COIN)[-1].address
    paid_in = chain.history(chain_history.payin_script(world.seed)).confirmed[0]
    _live_on(world, _time_ms(world, paid_in) - world.moment_ms)
    movements.see(paid_in.txid_bytes)
    payin = world.transaction(movements.payin_of(paid_in.txid_bytes, address))
    _live_on(world, HOUR_MS // 3)
    network.confirm_payin_so_far(world, payin, currency.payin_confirmations)
    paid_out = chain.history(chain_history.supplier_script(world.seed)).confirmed[0]
    _live_on(world, _time_ms(world, paid_out) - world.moment_ms - MINUTE_MS)
    amount = Decimal(chain_history.PAYOUT_SAT).scaleb(-8)
    order = withdrawals.Order(currency, amount, chain_history.supplier_address(world.seed), auto_commit=False)
    payout = world.payouts[withdrawals.hold(world, DESK_ACCOUNT, order).id]
    movements.remember(payout, paid_out.txid_bytes)
    withdrawals.commit(world, DESK_ACCOUNT, payout.id)
    _live_on(world, HOUR_MS // 3)
    network.confirm_payout_so_far(world, payout, currency.payin_confirmations)
    _live_on(world, HOUR_MS)


def _time_ms(world: Exchange, place: Place) -> int:
    """When the block of a transaction was found."""
    block = world.chain.at(place.height)
    if block is None:
        raise LookupError(f"the chain has no block {place.height}")
    return block.header.time * 1000


def _pay_out(world: Exchange, code: str, amount: Decimal, payment_id: str) -> None:
    currency = world.currencies[code]
    address = address_forms.make(currency.address_kind, f"{world.seed}|supplier|{code}")
    withdrawals.hold(world, DESK_ACCOUNT, withdrawals.Order(currency, amount, address, payment_id))


def _live_on(world: Exchange, ms: int) -> None:
    until_ms = world.moment_ms + ms
    while timer := world.timers.take_due(until_ms):
        world.moment_ms = timer.due_ms
        go_off(world, timer)
    world.moment_ms = until_ms


def _fill_up(world: Exchange) -> None:
    """Brings every balance to its opening figure, against the outside; from here on time is the sandbox's."""
    world.moment_ms = world.started_ms
    for account, currencies in OPENING.items():
        for code, (bank, trading) in currencies.items():
            lines: list[Line] = []
            for wallet, text in ((Wallet.BANK, bank), (Wallet.TRADING, trading)):
                missing = EXACT.subtract(Decimal(text), world.ledger.balance(account, wallet, code))
                lines += moved(code, missing, (HOUSE, Wallet.OUTSIDE), (account, wallet))
            world.post("opening", "", lines)
