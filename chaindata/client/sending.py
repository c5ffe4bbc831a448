"""Transactions sent, the one act of this service. Source: chain data, Raw transactions; supplement 1.2, 1.8, 8.

Whoever sends looks for the transaction first, and after a lost answer again (`broadcasts`). Nothing is sent twice.
"""

from chaindata.client.core import Calls, Declined
from chaindata.wire import catalogue
from chaindata.wire.refusals import Case, Spoken
from wire.errors import OutcomeUnknown, Unreachable


class SendingCalls(Calls):
    """Sending, which has a rule of its own; everything else is asked by its name."""

    def send_raw_transaction(self, *, raw: str) -> str:
        """Send a transaction, once, and give its id as the service tells it.

        One that is too long for an address travels in a body. Raises `Declined` when it was refused, `Unreachable` when
        it was not sent, which is always so of one that is too long for a body as well, and `OutcomeUnknown`.
        """
        if len(raw) > catalogue.MOST_HEX_IN_BODY:
            raise Unreachable("the transaction is longer than the chain-data service takes")
        named: str | list[str]
        if len(raw) > catalogue.MOST_HEX_IN_PATH:
            named = self._send_long(raw)
        else:
            named = self.call("send_raw_transaction", hex=raw)
        if isinstance(named, str):
            return named
        if len(named) != 1:
            raise OutcomeUnknown(f"One transaction was sent, and {len(named)} were named.")
        return named[0]

    def _send_long(self, raw: str) -> list[str]:
        """The bulk form, in which a refusal leaves open what became of those before; here there are none before it."""
        try:
            named: list[str] = self.call("send_raw_transactions", hexes=[raw])
        except OutcomeUnknown as failure:
            status, text = failure.evidence.get("status"), failure.evidence.get("text")
            if isinstance(status, int) and 400 <= status < 500 and status != 408 and isinstance(text, str) and text:
                raise Declined(Spoken(Case.WRONG, text), status) from None
            raise
        return named
