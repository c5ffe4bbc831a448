"""The client order ids of this desk: how they are chosen, and how the desk knows its own."""

import hmac
import secrets

from desk import sealing

ID_PREFIX = "cs-"
_CHOSEN_DIGITS, _CODE_DIGITS = 18, 10
_CONTEXT = "exchange_ops.client_order_id"


def fresh_id() -> str:
    """A new client order id: 31 characters of those that the exchange takes (supplement 2.8).

    It ends with a code over the rest under the desk's ring of keys, by which the desk knows its own orders (`is_ours`).
    """
    chosen = secrets.token_hex(9)
    return f"{ID_PREFIX}{chosen}{_codes(chosen)[0]}"


def is_ours(client_order_id: str) -> bool:
    """Whether this desk chose this id, whatever its rows say; False for all ids from before 0.8."""
    chosen, code = client_order_id[len(ID_PREFIX) : -_CODE_DIGITS], client_order_id[-_CODE_DIGITS:]
    if not client_order_id.startswith(ID_PREFIX) or len(chosen) != _CHOSEN_DIGITS:
        return False
    return any(hmac.compare_digest(each.encode(), code.encode()) for each in _codes(chosen))


def _codes(chosen: str) -> list[str]:
    """The end of an id under every key of the ring, the newest key's first."""
    return [code.partition(":")[2][:_CODE_DIGITS] for code in sealing.codes(chosen.encode(), context=_CONTEXT)]
