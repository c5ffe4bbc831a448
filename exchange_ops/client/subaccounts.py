"""Sub-accounts of the account. Source: exchange REST, Sub-accounts; supplement 2.7, 2.11."""

from collections.abc import Sequence
from decimal import Decimal

from exchange_ops.client.core import Calls
from exchange_ops.client.pacing import LastLook
from exchange_ops.wire import checking, records


class SubAccountCalls(Calls):
    """List, freeze, activate, pay and set. Code 500 stays an unknown outcome: the list tells what became of it."""

    def get_subaccounts(self) -> list[records.SubAccount]:
        """All sub-accounts. Any key may ask. A frozen one and a disabled one have the same status, disable."""
        answer: records.SubAccounts = self.call("get_subaccounts")
        return answer.result

    def freeze_subaccounts(self, *, ids: Sequence[int], last_look: LastLook = str) -> bool:
        """Freeze sub-accounts: their orders are cancelled and their trading balances moved to the bank account.

        One at least. Any key may ask. An id that is unknown, frozen or disabled is answered with 500 and a description,
        which is `OutcomeUnknown` here: read the list.
        """
        answer: records.Outcome = self.call("freeze_subaccounts", last_look=last_look, ids=ids)
        return answer.result

    def activate_subaccounts(self, *, ids: Sequence[int], last_look: LastLook = str) -> bool:
        """Bring frozen sub-accounts back; False when they are disabled, which is for good. Otherwise as freezing."""
        answer: records.Outcome = self.call("activate_subaccounts", last_look=last_look, ids=ids)
        return answer.result

    def transfer_subaccount_funds(
        self,
        *,
        subaccount_id: int,
        currency: str,
        amount: Decimal,
        type: str,
        rules: checking.CurrencyRules | None = None,
        last_look: LastLook = str,
    ) -> str:
        """Move money to a sub-account (`type` deposit) or back (withdraw); the id of the transaction.

        Right: Withdraw cryptocurrencies. With `rules`, the currency's own, closed transfers and too many decimal places
        are a `BadArgument` before anything is sent. `Refused` with 20001 for too little money. A frozen or disabled one
        is answered with 500, which is `OutcomeUnknown` here. Never send it again after that: read the ledger.
        """
        checking.refuse(checking.transfer_problems(amount, rules))
        answer: records.TransactionId = self.call(
            "transfer_subaccount_funds",
            last_look=last_look,
            subAccountId=subaccount_id,
            amount=amount,
            currency=currency,
            type=type,
        )
        return answer.result

    def get_subaccount_settings(self, *, ids: Sequence[int]) -> list[records.WithdrawalSetting]:
        """Whether these sub-accounts may withdraw, frozen and disabled ones left out. Right: Payment information."""
        answer: records.WithdrawalSettings = self.call("get_subaccount_settings", subAccountIds=ids)
        return answer.result

    def set_subaccount_settings(
        self,
        *,
        subaccount_id: int,
        is_payout_enabled: bool | None = None,
        description: str | None = None,
        last_look: LastLook = str,
    ) -> list[records.WithdrawalSetting]:
        """Change whether a sub-account may withdraw, or the description of that; None leaves a part as it is.

        Right: Payment information. `Refused` with 10021 for a disabled one.
        """
        answer: records.WithdrawalSettings = self.call(
            "set_subaccount_settings",
            last_look=last_look,
            subAccountUserId=subaccount_id,
            isPayoutEnabled=is_payout_enabled,
            description=description,
        )
        return answer.result

    def get_subaccount_balances(self, *, subaccount_id: int) -> records.SubAccountBalances:
        """Both wallets of a sub-account, in whatever state it is. Right: Payment information."""
        answer: records.SubAccountBalancesReply = self.call("get_subaccount_balances", id=subaccount_id)
        return answer.result

    def get_subaccount_deposit_address(self, *, subaccount_id: int, currency: str) -> records.DepositAddress:
        """Where to pay in to a sub-account. Right: Payment information."""
        answer: records.SubAccountAddressReply = self.call(
            "get_subaccount_deposit_address", id=subaccount_id, currency=currency
        )
        return answer.result
