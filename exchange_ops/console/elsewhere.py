"""Operations that the console never sends, and the pages where they are done instead.

Whatever moves money, orders or access is done where its rules are: limits, approvals, guards and a row that is stored
before anything leaves. A test compares these tables with the catalogues: an operation is either a question or here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where an operation is done: a sentence about it, and the page's URL name with the label of the link.

    Without a `url_name` there is no page for it, and the sentence names the alternative.
    """

    sentence: str
    url_name: str = ""
    label: str = ""


_ORDERS: Final = Elsewhere(
    "It places, replaces or cancels orders. That is done where limits, price guards and the order's history are.",
    "orders",
    "Orders",
)
_MARGIN: Final = Elsewhere(
    "It changes margin accounts or positions. That is done where the estimate and the limits are.", "margin", "Margin"
)
_PAYOUTS: Final = Elsewhere(
    "It reserves, pays or releases money. Payouts are requested, approved and released as withdrawals.",
    "withdrawals",
    "Withdrawals",
)
_TRANSFERS: Final = Elsewhere(
    "It moves money, and the exchange does it again if it is sent again. Transfers are sent once.",
    "transfers",
    "Transfers",
)
_SUBACCOUNTS: Final = Elsewhere(
    "It changes what a sub-account may do. Administrators do that after a look at what it affects.",
    "subaccounts",
    "Sub-accounts",
)
_ADDRESSES: Final = Elsewhere(
    "It makes a new deposit address, and the exchange keeps only a number of them.", "funds", "Funds"
)
_BROADCASTS: Final = Elsewhere(
    "It sends a transaction to the network. Treasury does that after the desk has explained its bytes.",
    "chain-broadcast-new",
    "Send a transaction",
)
_KEYED: Final = Elsewhere(
    "It carries a private key in its address, so it never passes through a browser: `manage.py slp_token` reads the "
    "key from its standard input, where CHAIN_KEYED_CALLS allows it."
)
_LOGIN: Final = Elsewhere(
    "The desk logs in by itself on every socket that needs it. The key's secret never passes through a browser."
)


def _each(place: Elsewhere, names: str) -> dict[str, Elsewhere]:
    return dict.fromkeys(names.split(), place)


EXCHANGE: Final[Mapping[str, Elsewhere]] = {
    **_each(_ORDERS, "create_order cancel_orders put_order cancel_order replace_order"),
    **_each(_ORDERS, "create_margin_order put_margin_order cancel_margin_orders cancel_margin_order"),
    **_each(_MARGIN, "set_margin_account close_margin_accounts close_margin_account"),
    **_each(_MARGIN, "close_margin_positions close_margin_position"),
    **_each(_PAYOUTS, "create_withdrawal commit_withdrawal rollback_withdrawal"),
    **_each(_TRANSFERS, "convert_currency transfer_funds transfer_to_user transfer_subaccount_funds"),
    **_each(_SUBACCOUNTS, "freeze_subaccounts activate_subaccounts set_subaccount_settings"),
    **_each(_ADDRESSES, "create_deposit_address"),
}
STREAMS: Final[Mapping[str, Elsewhere]] = {
    **_each(_ORDERS, "newOrder cancelOrder cancelReplaceOrder"),
    **_each(_ORDERS, "marginOrderNew marginOrderCancel marginOrderCancelReplace marginOrdersCancel"),
    **_each(_MARGIN, "marginAccountSet marginPositionClose"),
    **_each(_LOGIN, "login"),
}
CHAIN: Final[Mapping[str, Elsewhere]] = {
    **_each(_BROADCASTS, "send_raw_transaction send_raw_transactions"),
    **_each(_KEYED, "create_slp_token mint_slp_token send_slp_token"),
}
