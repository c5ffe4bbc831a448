"""The bank account: balances, addresses, transfers, ledger. Source: exchange REST, Account management; supplement 2.10.

Right: Payment information, unless a method says otherwise. Amounts are in the currency itself.
"""

from collections.abc import Iterator
from decimal import Decimal

from exchange_ops.client.core import PAGE, Calls
from exchange_ops.client.listings import Listing
from exchange_ops.client.pacing import LastLook
from exchange_ops.client.paging import upwards
from exchange_ops.wire import checking, records


class AccountCalls(Calls):
    """Reading the account and moving money inside the exchange. No move may be sent again after `OutcomeUnknown`."""

    def get_balances(self) -> Listing[records.Balance]:
        """The bank account."""
        return self.listing("get_balances")

    # Addresses -------------------------------------------------------------------------------------------------------

    def get_deposit_address(self, *, currency: str) -> records.DepositAddress:
        """The current address to pay in to; its payment id and public key, when present, belong to every deposit."""
        address: records.DepositAddress = self.call("get_deposit_address", currency=currency)
        return address

    def create_deposit_address(self, *, currency: str, last_look: LastLook = str) -> records.DepositAddress:
        """A new address to pay in to; the old ones stay valid. At most five in 24 hours and currency.

        It moves no money, but an unknown outcome may have used one of the five: list the addresses first.
        """
        deposit_address: records.DepositAddress = self.call(
            "create_deposit_address", last_look=last_look, currency=currency
        )
        return deposit_address

    def get_deposit_addresses(self, *, currency: str) -> Listing[records.DepositAddress]:
        """The last ten addresses to pay in to."""
        return self.listing("get_deposit_addresses", currency=currency)

    def get_used_addresses(self, *, currency: str) -> list[records.UsedAddress]:
        """The last ten different addresses that were withdrawn to; long-unused ones may be left out."""
        addresses: list[records.UsedAddress] = self.call("get_used_addresses", currency=currency)
        return addresses

    def is_own_address(self, *, address: str) -> bool:
        """Whether the address belongs to the account itself."""
        answer: records.Outcome = self.call("is_own_address", address=address)
        return answer.result

    # Moving money inside the exchange --------------------------------------------------------------------------------

    def transfer_funds(
        self,
        *,
        currency: str,
        amount: Decimal,
        type: str,
        rules: checking.CurrencyRules | None = None,
        last_look: LastLook = str,
    ) -> str:
        """Move money between the two wallets and return the id of the transaction; `type` is the direction.

        bankToExchange: from the bank to the trading account; exchangeToBank: back. With `rules`, the currency's own,
        closed transfers and too many decimal places are a `BadArgument` before anything is sent. `Refused` with 20001
        for too little money, 600 when transfers are closed for now.
        """
        checking.refuse(checking.transfer_problems(amount, rules))
        answer: records.Identifier = self.call(
            "transfer_funds", last_look=last_look, currency=currency, amount=amount, type=type
        )
        return answer.id

    def transfer_to_user(
        self,
        *,
        currency: str,
        amount: Decimal,
        by: str,
        identifier: str,
        rules: checking.CurrencyRules | None = None,
        last_look: LastLook = str,
    ) -> str:
        """Send money to another user and return the id of the transaction. Right: Withdraw cryptocurrencies.

        `by` says what `identifier` is: email or username. It can't be taken back. Checks and refusals as for
        `transfer_funds`; an unknown user is `Refused` with 10001.
        """
        checking.refuse(checking.transfer_problems(amount, rules))
        answer: records.TransactionId = self.call(
            "transfer_to_user", last_look=last_look, currency=currency, amount=amount, by=by, identifier=identifier
        )
        return answer.result

    def convert_currency(
        self,
        *,
        from_currency: str,
        to_currency: str,
        amount: Decimal,
        rules: checking.CurrencyRules | None = None,
        last_look: LastLook = str,
    ) -> list[str]:
        """Convert money of one network's variant of a currency into another's; returns the ids of the transactions.

        `rules` are those of `from_currency`. Checks and refusals as for `transfer_funds`.
        """
        checking.refuse(checking.transfer_problems(amount, rules))
        answer: records.TransactionIds = self.call(
            "convert_currency", last_look=last_look, fromCurrency=from_currency, toCurrency=to_currency, amount=amount
        )
        return answer.result

    # The ledger ------------------------------------------------------------------------------------------------------

    def get_transaction(self, *, exchange_id: str) -> records.Transaction:
        """One entry of the ledger; `Refused` with 20004 when there is none of that id."""
        transaction: records.Transaction = self.call("get_transaction", id=exchange_id)
        return transaction

    def transactions_after(self, *, index: int, limit: int = PAGE) -> Iterator[Listing[records.Transaction]]:
        """Pages of the ledger with indexes above `index`, ascending, until a page is not full.

        Each page starts after the last index of the one before and never at an offset: an entry that changes while we
        read moves to a higher index, where this walk meets it again, and nothing can slip past.
        """
        return upwards(
            lambda first: self.listing("get_transactions", **_page(first, limit)),
            after=index,
            limit=limit,
            key_of=lambda entry: entry.index,
            aside_key=lambda aside: aside.index,
        )


def _page(since_index: int, limit: int) -> dict[str, object]:
    return {"sort": "ASC", "by": "index", "from": since_index, "limit": limit}
