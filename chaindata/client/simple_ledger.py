"""Simple-ledger tokens, read. Source: chain data, Simple-ledger tokens; supplement 3."""

from collections.abc import Sequence

from chaindata.client import bulks
from chaindata.client.core import Calls
from chaindata.wire.records import slp
from wire.errors import BadReply

Pair = tuple[str, str]  # an address and the id of a token


class SimpleLedgerCalls(Calls):
    """What the index of the simple ledger holds. "Not valid" right after a broadcast may only be "not known yet"."""

    def get_slp_tokens(self) -> list[slp.Token]:
        """All tokens, the newest first, 10,000 at most."""
        found: list[slp.Token] = self.call("get_slp_tokens")
        return found

    def get_slp_token(self, *, token_id: str) -> slp.Token | None:
        """One token; None for one that the index does not have, which the service answers with a special id."""
        found: slp.Token = self.call("get_slp_token", tokenId=token_id)
        return found if found.is_known else None

    def get_slp_tokens_by_id(self, *, token_ids: Sequence[str]) -> dict[str, slp.Token]:
        """Many tokens by their ids; `is_known` is false of those that the index does not have."""
        return self._many("get_slp_tokens_by_id", token_ids)

    def get_slp_token_stats(self, *, token_id: str) -> slp.Token | None:
        """One token with its figures; None as in `get_slp_token`."""
        found: slp.Token = self.call("get_slp_token_stats", tokenId=token_id)
        return found if found.is_known else None

    def get_slp_stats_of_tokens(self, *, token_ids: Sequence[str]) -> dict[str, slp.Token]:
        """The figures of many tokens by their ids."""
        return self._many("get_slp_stats_of_tokens", token_ids)

    # Addresses -------------------------------------------------------------------------------------------------------

    def convert_address(self, *, address: str) -> slp.AddressForms:
        """The three forms of an address."""
        found: slp.AddressForms = self.call("convert_address", address=address)
        return found

    def convert_addresses(self, *, addresses: Sequence[str]) -> dict[str, slp.AddressForms]:
        """The forms of many addresses, by the form that was given."""
        return self._many("convert_addresses", addresses)

    def get_slp_balances_of_address(self, *, address: str) -> list[slp.AddressBalance]:
        """Everything that an address holds."""
        found: list[slp.AddressBalance] = self.call("get_slp_balances_of_address", address=address)
        return found

    def get_slp_balances_of_addresses(self, *, addresses: Sequence[str]) -> dict[str, list[slp.AddressBalance]]:
        """Everything that many addresses hold, by address; a list that names another address is refused."""
        found: dict[str, list[slp.AddressBalance]] = {}
        for address, held in self._in_places("get_slp_balances_of_addresses", "addresses", addresses):
            if any(bulks.normal_address(each.slp_address) != bulks.normal_address(address) for each in held):
                raise BadReply("the balances of the reply are of other addresses than were asked for")
            found[address] = held
        return found

    def get_slp_balances_of_token(self, *, token_id: str) -> list[slp.HolderBalance]:
        """Everybody who holds a token."""
        found: list[slp.HolderBalance] = self.call("get_slp_balances_of_token", tokenId=token_id)
        return found

    def get_slp_balances_of_tokens(self, *, token_ids: Sequence[str]) -> dict[str, list[slp.HolderBalance]]:
        """Everybody who holds one of many tokens, by token."""
        found: dict[str, list[slp.HolderBalance]] = {}
        for token_id, holders in self._in_places("get_slp_balances_of_tokens", "tokenIds", token_ids):
            if any(each.token_id != token_id.lower() for each in holders):
                raise BadReply("the balances of the reply are of other tokens than were asked for")
            found[token_id] = holders
        return found

    def get_slp_balance(self, *, address: str, token_id: str) -> slp.TokenBalance:
        """What an address holds of a token."""
        found: slp.TokenBalance = self.call("get_slp_balance", address=address, tokenId=token_id)
        return found

    def get_slp_balances(self, *, pairs: Sequence[Pair]) -> dict[Pair, slp.TokenBalance]:
        """What addresses hold of tokens, by address and token."""
        found: dict[Pair, slp.TokenBalance] = {}
        for piece in bulks.pieces(pairs):
            params = [{"address": address, "tokenId": token_id} for address, token_id in piece]
            balances: list[slp.TokenBalance] = self.call("get_slp_balances", pairs=params)
            if [each.token_id for each in balances] != [token_id.lower() for _, token_id in piece]:
                raise BadReply("the balances of the reply are of other tokens than were asked for")
            found |= dict(zip(piece, balances, strict=True))
        return found

    # Transactions ----------------------------------------------------------------------------------------------------

    def validate_slp_transaction(self, *, txid: str) -> slp.Validity:
        """Whether a transaction moves tokens by the rules."""
        found: slp.Validity = self.call("validate_slp_transaction", txid=txid)
        return found

    def validate_slp_transactions(self, *, txids: Sequence[str]) -> dict[str, slp.Validity]:
        """The same for many, by their ids."""
        return self._many("validate_slp_transactions", txids)

    def get_slp_transaction(self, *, txid: str) -> slp.TokenTransaction:
        """A transaction with its meaning for the token layer."""
        found: slp.TokenTransaction = self.call("get_slp_transaction", txid=txid)
        return found

    def get_slp_transactions(self, *, token_id: str, address: str) -> list[slp.ListedTransaction]:
        """The transactions of a token at an address, newest first, 100 at most."""
        found: list[slp.ListedTransaction] = self.call("get_slp_transactions", tokenId=token_id, address=address)
        return found

    def get_slp_transactions_of_pairs(self, *, pairs: Sequence[Pair]) -> dict[Pair, list[slp.ListedTransaction]]:
        """The same for many addresses and tokens."""
        found: dict[Pair, list[slp.ListedTransaction]] = {}
        for piece in bulks.pieces(pairs):
            params = [{"tokenId": token_id, "address": address} for address, token_id in piece]
            lists: list[list[slp.ListedTransaction]] = self.call("get_slp_transactions_of_pairs", pairs=params)
            if len(lists) != len(piece):
                raise BadReply("the reply has not as many elements as were asked for")
            found |= dict(zip(piece, lists, strict=True))
        return found

    def get_slp_history_of_address(self, *, address: str) -> list[slp.ListedTransaction]:
        """The transactions of every token at an address."""
        found: list[slp.ListedTransaction] = self.call("get_slp_history_of_address", address=address)
        return found

    def get_slp_burn_total(self, *, txid: str) -> slp.BurnTotal:
        """Tokens that were lost in a transaction."""
        found: slp.BurnTotal = self.call("get_slp_burn_total", transactionId=txid)
        return found

    def get_slp_burn_totals(self, *, txids: Sequence[str]) -> dict[str, slp.BurnTotal]:
        """The same for many, by their ids."""
        return self._many("get_slp_burn_totals", txids)
