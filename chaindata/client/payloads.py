"""Payloads of the token layer, made by the service. Source: chain data, Payload creation; supplement 2.

`wire/payloads.py` makes the same bytes here; what the service says is compared with that before anybody uses it.
"""

from dataclasses import dataclass
from decimal import Decimal

from chaindata.client.core import Calls


@dataclass(frozen=True, slots=True)
class Head:
    """What every new property says of itself."""

    ecosystem: str
    precision: int
    previous_id: int
    category: str
    subcategory: str
    name: str
    url: str
    data: str

    @property
    def members(self) -> dict[str, object]:
        """As the wire names them."""
        return {
            "ecosystem": self.ecosystem,
            "propertyPrecision": self.precision,
            "previousId": self.previous_id,
            "category": self.category,
            "subcategory": self.subcategory,
            "name": self.name,
            "url": self.url,
            "data": self.data,
        }


class PayloadCalls(Calls):
    """Each gives the payload in hexadecimal, without the marker of the layer; amounts are in whole tokens."""

    def make_burn_payload(self) -> str:
        """Burns coins for the first property."""
        return self._payload("make_burn_payload")

    def make_change_issuer_payload(self, *, property_id: int) -> str:
        """Gives a property to the receiver."""
        return self._payload("make_change_issuer_payload", propertyId=property_id)

    def make_close_crowdsale_payload(self, *, property_id: int) -> str:
        """Ends a sale."""
        return self._payload("make_close_crowdsale_payload", propertyId=property_id)

    def make_grant_payload(self, *, property_id: int, amount: Decimal, memo: str | None = None) -> str:
        """Makes tokens of a managed property."""
        return self._payload("make_grant_payload", propertyId=property_id, amount=amount, memo=memo)

    def make_revoke_payload(self, *, property_id: int, amount: Decimal, memo: str | None = None) -> str:
        """Unmakes tokens of a managed property."""
        return self._payload("make_revoke_payload", propertyId=property_id, amount=amount, memo=memo)

    def make_crowdsale_payload(
        self,
        *,
        head: Head,
        desired_id: int,
        tokens_per_unit: Decimal,
        deadline: int,
        early_bonus: int,
        total: Decimal,
    ) -> str:
        """Makes a property and sells it until `deadline`, seconds since 1970; `early_bonus` in percent a week."""
        return self._payload(
            "make_crowdsale_payload",
            **head.members,
            propertyIdDesired=desired_id,
            tokensPerUnit=tokens_per_unit,
            deadline=deadline,
            earlyBonus=early_bonus,
            totalNumber=total,
        )

    def make_fixed_property_payload(self, *, head: Head, amount: Decimal) -> str:
        """Makes a property with all of its tokens."""
        return self._payload("make_fixed_property_payload", **head.members, amount=amount)

    def make_managed_property_payload(self, *, head: Head) -> str:
        """Makes a property without tokens."""
        return self._payload("make_managed_property_payload", **head.members)

    def make_participation_payload(self, *, amount: Decimal) -> str:
        """Buys in the sale of the receiver."""
        return self._payload("make_participation_payload", amount=amount)

    def make_send_all_payload(self, *, ecosystem: int) -> str:
        """Sends everything."""
        return self._payload("make_send_all_payload", ecosystem=ecosystem)

    def make_simple_send_payload(self, *, property_id: int, amount: Decimal) -> str:
        """Sends tokens."""
        return self._payload("make_simple_send_payload", propertyId=property_id, amount=amount)

    def make_send_to_owners_payload(self, *, property_id: int, amount: Decimal, distribution_id: int) -> str:
        """Shares tokens among the owners of a property."""
        return self._payload(
            "make_send_to_owners_payload", propertyId=property_id, amount=amount, distributionProperty=distribution_id
        )

    def make_freeze_payload(self, *, address: str, property_id: int) -> str:
        """Freezes the tokens of a cash address."""
        return self._payload("make_freeze_payload", toAddress=address, propertyId=property_id)

    def make_unfreeze_payload(self, *, address: str, property_id: int) -> str:
        """Takes a freeze back."""
        return self._payload("make_unfreeze_payload", toAddress=address, propertyId=property_id)

    def _payload(self, operation: str, **members: object) -> str:
        found: str = self.call(operation, **members)
        return found
