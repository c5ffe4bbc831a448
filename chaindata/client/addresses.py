"""Addresses and cash accounts. Source: chain data, Address, Util and Cash accounts; supplement 1.1, 1.8 and 4."""

from collections.abc import Sequence

from chaindata.client.core import Calls
from chaindata.wire.records import addresses as records
from chaindata.wire.records import cash_accounts


class AddressCalls(Calls):
    """What came to addresses and left them, in any of their forms. Pages are counted from 0."""

    def get_address_details(self, *, address: str, page: int | None = None) -> records.AddressDetails:
        """Balances, and the ids of its transactions, 1000 a page."""
        found: records.AddressDetails = self.call("get_address_details", address=address, page=page)
        return found

    def get_details_of_addresses(
        self, *, addresses: Sequence[str], page: int | None = None
    ) -> dict[str, records.AddressDetails]:
        """The same for many, by the form that was given."""
        return self._many("get_details_of_addresses", addresses, page=page)

    def get_address_utxos(self, *, address: str) -> records.AddressUtxos:
        """Its unspent outputs."""
        found: records.AddressUtxos = self.call("get_address_utxos", address=address)
        return found

    def get_utxos_of_addresses(self, *, addresses: Sequence[str]) -> dict[str, records.AddressUtxos]:
        """The same for many, by the form that was given."""
        return self._many("get_utxos_of_addresses", addresses)

    def get_address_unconfirmed(self, *, address: str) -> records.AddressUtxos:
        """Its unspent outputs that wait."""
        found: records.AddressUtxos = self.call("get_address_unconfirmed", address=address)
        return found

    def get_unconfirmed_of_addresses(self, *, addresses: Sequence[str]) -> dict[str, records.AddressUtxos]:
        """The same for many, by the form that was given."""
        return self._many("get_unconfirmed_of_addresses", addresses)

    def get_address_transactions(self, *, address: str, page: int | None = None) -> records.AddressTransactions:
        """Its transactions, newest first, ten a page."""
        found: records.AddressTransactions = self.call("get_address_transactions", address=address, page=page)
        return found

    def get_transactions_of_addresses(
        self, *, addresses: Sequence[str], page: int | None = None
    ) -> dict[str, records.AddressTransactions]:
        """The same page for many, by the form that was given."""
        return self._many("get_transactions_of_addresses", addresses, page=page)

    def validate_address(self, *, address: str) -> records.AddressValidation:
        """Whether a text is an address."""
        found: records.AddressValidation = self.call("validate_address", address=address)
        return found

    def validate_addresses(self, *, addresses: Sequence[str]) -> dict[str, records.AddressValidation]:
        """The same for many; a text that is none spoils its piece, which raises `Declined`."""
        return self._many("validate_addresses", addresses)

    # Cash accounts ---------------------------------------------------------------------------------------------------

    def look_up_cash_account(self, *, account: str, number: str, collision: str | None = None) -> cash_accounts.Lookup:
        """An account by its name and number; `collision` tells apart what both share. `Absent` for an unknown one."""
        found: cash_accounts.Lookup = self.call(
            "look_up_cash_account", account=account, number=number, collision=collision
        )
        return found

    def check_cash_account(self, *, account: str, number: str) -> cash_accounts.Check:
        """Every registration of the name in its block, with proofs."""
        found: cash_accounts.Check = self.call("check_cash_account", account=account, number=number)
        return found

    def find_cash_accounts(self, *, address: str) -> cash_accounts.ReverseLookup:
        """The accounts that pay a cash address."""
        found: cash_accounts.ReverseLookup = self.call("find_cash_accounts", account=address)
        return found
