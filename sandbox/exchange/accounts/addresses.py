"""Deposit addresses of the accounts, and the addresses to which they withdrew."""

from dataclasses import dataclass
from functools import lru_cache

from sandbox.chain.wallet import Purse
from sandbox.exchange.accounts import address_forms
from sandbox.exchange.listing.currencies import Currency

LISTED = 10
NEW_PER_DAY = 5


@dataclass(frozen=True, slots=True)
class DepositAddress:
    """An address that stays valid for ever; `payment_id` and `public_key`, where present, belong to a deposit."""

    address: str
    payment_id: str
    public_key: str
    created_ms: int

    def wire(self) -> dict[str, object]:
        """The Deposit address record of the REST interface."""
        record = {"address": self.address, "paymentId": self.payment_id, "publicKey": self.public_key}
        return {name: value for name, value in record.items() if value}


@dataclass(frozen=True, slots=True)
class OnChain:
    """A deposit address on the sandbox's own chain, and the purse that its coins belong to."""

    account: str
    currency: str
    address: str
    purse: Purse


@lru_cache(4096)
def deposit_purse(seed: int, account: str, number: int) -> Purse:
    """The purse of an account's deposit address on the sandbox's own chain; its first address has the number 0."""
    return Purse(seed, f"deposit|{account}|{number}")


class Addresses:
    """The addresses of one world. A deposit address is never given to another account."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._deposit: dict[tuple[str, str], list[DepositAddress]] = {}
        self._owners: dict[tuple[str, str, str], str] = {}
        self._mine: dict[str, set[str]] = {}
        self._used: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
        self.by_script: dict[bytes, OnChain] = {}

    def create(self, account: str, currency: Currency, at_ms: int) -> DepositAddress:
        """A new deposit address, from now on the current one."""
        account_addresses = self._deposit.setdefault((account, currency.code), [])
        entropy = f"{self._seed}|{account}|{currency.code}|{len(account_addresses)}"
        purse = deposit_purse(self._seed, account, len(account_addresses)) if currency.on_chain else None
        address = DepositAddress(
            address=purse.address.cash_address if purse else address_forms.for_deposit(currency.address_kind, entropy),
            payment_id=address_forms.payment_id(entropy) if currency.payin_payment_id else "",
            public_key=address_forms.public_key(entropy) if currency.address_kind == "nxt" else "",
            created_ms=at_ms,
        )
        account_addresses.append(address)
        spelled = address_forms.spelled_alike(address.address)
        self._owners[currency.code, spelled, address.payment_id] = account
        self._mine.setdefault(account, set()).add(spelled)
        if purse:
            self.by_script[purse.script] = OnChain(account, currency.code, address.address, purse)
        return address

    def deposit_addresses(self, account: str, code: str) -> list[DepositAddress]:
        """The account's deposit addresses of a currency, oldest first."""
        return self._deposit.get((account, code), [])

    def owner(self, code: str, address: str, payment_id: str = "") -> str:
        """Whose deposit address this is; empty when it is nobody's here. Without its payment id, where it has one,
        an address is nobody's."""
        return self._owners.get((code, address_forms.spelled_alike(address), payment_id), "")

    def is_mine(self, account: str, address: str) -> bool:
        """Whether any of the account's deposit addresses, of any currency, is this one."""
        return address_forms.spelled_alike(address) in self._mine.get(account, ())

    def remember_use(self, account: str, code: str, address: str, payment_id: str) -> None:
        """Notes a withdrawal to the address, as the latest one."""
        used = self._used.setdefault((account, code), {})
        used.pop((address, payment_id), None)
        used[address, payment_id] = None

    def used(self, account: str, code: str) -> list[tuple[str, str]]:
        """The latest ten different withdrawal addresses with their payment ids, latest first."""
        return list(reversed(self._used.get((account, code), {})))[:LISTED]
