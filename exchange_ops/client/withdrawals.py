"""Payouts in two steps (exchange REST, Account management; supplement 2.10). Right: Withdraw cryptocurrencies."""

from decimal import Decimal

from exchange_ops.client.core import Calls
from exchange_ops.client.pacing import LastLook
from exchange_ops.wire import records


class WithdrawalCalls(Calls):
    """Reserve, then commit or roll back within an hour."""

    def estimate_withdrawal(self, *, currency: str, amount: Decimal) -> Decimal:
        """The fee that a withdrawal of `amount` would cost now, in its own currency."""
        answer: records.Fee = self.call("estimate_withdrawal", currency=currency, amount=amount)
        return answer.fee

    def create_withdrawal(
        self,
        *,
        currency: str,
        amount: Decimal,
        address: str,
        payment_id: str = "",
        include_fee: bool = False,
        public_comment: str = "",
        last_look: LastLook = str,
    ) -> str:
        """Reserve a payout without paying it, and give its id: it waits an hour for commit or rollback.

        There is no way to have it paid at once: autoCommit is always false. Never send it again after `OutcomeUnknown`.
        """
        answer: records.Identifier = self.call(
            "create_withdrawal",
            last_look=last_look,
            currency=currency,
            amount=amount,
            address=address,
            includeFee=include_fee,
            autoCommit=False,
            paymentId=payment_id or None,
            publicComment=public_comment or None,
        )
        return answer.id

    def commit_withdrawal(self, *, exchange_id: str, last_look: LastLook = str) -> bool:
        """Pay a reserved payout. Idempotent; what false means is not documented, so the ledger decides."""
        answer: records.Outcome = self.call("commit_withdrawal", last_look=last_look, id=exchange_id)
        return answer.result

    def rollback_withdrawal(self, *, exchange_id: str, last_look: LastLook = str) -> bool:
        """Release a reserved payout. Idempotent; what false means is not documented, so the ledger decides."""
        answer: records.Outcome = self.call("rollback_withdrawal", last_look=last_look, id=exchange_id)
        return answer.result
