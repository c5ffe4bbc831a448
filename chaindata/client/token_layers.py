"""Property tokens and collectibles. Source: chain data, Token data retrieval; supplement 1.11."""

from chaindata.client.core import Calls
from chaindata.wire.records import tokens

EVERYBODY = "*"


class TokenLayerCalls(Calls):
    """What the token layer holds. Properties that do not exist raise `Absent`, ids out of range `Declined`."""

    def get_token_balance(self, *, address: str, property_id: int) -> tokens.Balance:
        """What an address holds of a property."""
        found: tokens.Balance = self.call("get_token_balance", address=address, propertyId=property_id)
        return found

    def get_token_balances_of_address(self, *, address: str) -> list[tokens.PropertyBalance]:
        """Everything that an address holds; the service's text for nothing becomes an empty list."""
        found: list[tokens.PropertyBalance] | str = self.call("get_token_balances_of_address", address=address)
        return [] if isinstance(found, str) else found

    def get_token_balances_of_property(self, *, property_id: int) -> list[tokens.HolderBalance]:
        """Everybody who holds a property."""
        found: list[tokens.HolderBalance] = self.call("get_token_balances_of_property", propertyId=property_id)
        return found

    def get_balances_hash(self, *, property_id: int) -> tokens.BalancesHash:
        """A digest of all balances of a property at the tip."""
        found: tokens.BalancesHash = self.call("get_balances_hash", propertyId=property_id)
        return found

    def get_consensus_hash(self) -> tokens.ConsensusHash:
        """A digest of the whole layer at the tip."""
        found: tokens.ConsensusHash = self.call("get_consensus_hash")
        return found

    def get_token_layer(self) -> tokens.Layer:
        """The layer at the tip."""
        found: tokens.Layer = self.call("get_token_layer")
        return found

    # Properties ------------------------------------------------------------------------------------------------------

    def get_properties(
        self,
        *,
        address: str | None = None,
        count: int | None = None,
        skip: int | None = None,
        start_block: int | None = None,
        end_block: int | None = None,
    ) -> list[tokens.ListedProperty]:
        """All properties; the documented parameters change nothing (supplement 1.11)."""
        params = {"address": address, "count": count, "skip": skip, "startBlock": start_block, "endBlock": end_block}
        found: list[tokens.ListedProperty] = self.call("get_properties", **params)
        return found

    def get_property(self, *, property_id: int) -> tokens.Property:
        """One property."""
        found: tokens.Property = self.call("get_property", propertyId=property_id)
        return found

    def get_crowdsale(self, *, property_id: int, verbose: bool = False) -> tokens.Crowdsale:
        """The sale of a property, with `verbose` its purchases too."""
        found: tokens.Crowdsale = self.call("get_crowdsale", propertyId=property_id, verbose=verbose)
        return found

    def get_grants(self, *, property_id: int) -> tokens.Grants:
        """What was granted and revoked of a managed property."""
        found: tokens.Grants = self.call("get_grants", propertyId=property_id)
        return found

    def get_frozen_balance(self, *, address: str, property_id: int) -> tokens.FrozenBalance:
        """Whether the balance of an address in a managed property is frozen."""
        found: tokens.FrozenBalance = self.call("get_frozen_balance", address=address, propertyId=property_id)
        return found

    def get_frozen_balances_of_address(self, *, address: str) -> list[tokens.FrozenProperty]:
        """The frozen balances of an address."""
        found: list[tokens.FrozenProperty] = self.call("get_frozen_balances_of_address", address=address)
        return found

    def get_frozen_balances_of_property(self, *, property_id: int) -> list[tokens.FrozenHolder]:
        """The frozen balances in a managed property."""
        found: list[tokens.FrozenHolder] = self.call("get_frozen_balances_of_property", propertyId=property_id)
        return found

    # Transactions ----------------------------------------------------------------------------------------------------

    def get_payload(self, *, txid: str) -> tokens.Payload:
        """The bytes of the layer in a transaction."""
        found: tokens.Payload = self.call("get_payload", txid=txid)
        return found

    def get_token_transaction(self, *, txid: str) -> tokens.TokenTransaction:
        """What a transaction does in the layer."""
        found: tokens.TokenTransaction = self.call("get_token_transaction", txid=txid)
        return found

    def get_send_to_owners(self, *, txid: str, recipient: str = EVERYBODY) -> tokens.TokenTransaction:
        """A send to owners with whom it reached: everybody, or the one cash address that is given."""
        found: tokens.TokenTransaction = self.call("get_send_to_owners", txid=txid, recipientFilter=recipient)
        return found

    def get_token_transactions_of_block(self, *, height: int) -> list[str]:
        """The ids of the layer's transactions in a block."""
        found: list[str] = self.call("get_token_transactions_of_block", index=height)
        return found

    def get_pending_token_transactions(self, *, address: str) -> list[tokens.TokenTransaction]:
        """The layer's transactions that wait and concern an address."""
        found: list[tokens.TokenTransaction] = self.call("get_pending_token_transactions", address=address)
        return found

    def get_seed_blocks(self, *, start_block: int, end_block: int) -> list[int]:
        """The heights between two, both included, of blocks with transactions of the layer."""
        found: list[int] = self.call("get_seed_blocks", startBlock=start_block, endBlock=end_block)
        return found

    # Collectibles ----------------------------------------------------------------------------------------------------

    def get_collectibles_of_address(self, *, address: str, property_id: str) -> list[tokens.ListedCollectible]:
        """The collectibles of a property that an address holds."""
        found: list[tokens.ListedCollectible] = self.call(
            "get_collectibles_of_address", address=address, propertyId=property_id
        )
        return found

    def get_destroyed_collectibles(self, *, property_id: str) -> list[tokens.ListedCollectible]:
        """The collectibles of a property that were destroyed."""
        found: list[tokens.ListedCollectible] = self.call("get_destroyed_collectibles", propertyId=property_id)
        return found

    def get_collectible_property(self, *, property_id: str) -> tokens.CollectibleProperty:
        """A family of collectibles."""
        found: tokens.CollectibleProperty = self.call("get_collectible_property", propertyId=property_id)
        return found

    def get_collectible(self, *, property_id: str, token_id: str) -> tokens.Collectible:
        """One collectible."""
        found: tokens.Collectible = self.call("get_collectible", propertyId=property_id, tokenId=token_id)
        return found
