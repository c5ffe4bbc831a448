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
    "Places, replaces or cancels orders. Use the Orders page, where limits and price checks apply.",
    "orders",
    "Orders",
)
_MARGIN: Final = Elsewhere(
    "Changes margin accounts or positions. Use the Margin page, where estimates are shown and limits apply.",
    "margin",
    "Margin",
)
_PAYOUTS: Final = Elsewhere(
    "Reserves, pays out or releases funds. Payouts are requested, approved and released on the Withdrawals page.",
    "withdrawals",
    "Withdrawals",
)
_TRANSFERS: Final = Elsewhere(
    "Moves money, and would move it again if sent twice. Use the Transfers page, where each request is sent only once.",
    "transfers",
    "Transfers",
)
_SUBACCOUNTS: Final = Elsewhere(
    "Freezes or activates sub-accounts, or changes their settings. Administrators do this on the Sub-accounts page, "
    "after reviewing a preview.",
    "subaccounts",
    "Sub-accounts",
)
_ADDRESSES: Final = Elsewhere(
    "Creates a deposit address; the exchange limits how many can be created. Use the currency's page under Funds.",
    "funds",
    "Funds",
)
_BROADCASTS: Final = Elsewhere(
    "Broadcasts a transaction. Treasury does this after reviewing the decoded transaction.",
    "chain-broadcast-new",
    "Broadcast a transaction",
)
_KEYED: Final = Elsewhere(
    "The URL contains a private key, so this request is never sent from a browser. If CHAIN_KEYED_CALLS allows it, use "
    "`manage.py slp_token`, which reads the key from standard input."
)
_LOGIN: Final = Elsewhere(
    "Countersign logs in to each stream automatically. The API secret never passes through the browser."
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
