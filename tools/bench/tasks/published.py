"""How the same tasks go on other consoles, as their public documentation describes it: nobody measured them.

A step is counted by the rule of `tools/bench/tasks/hands.py`: one thing that a person decides to do. An optional field
and what has a usable default is left out, in their favour; a page that the description does not mention is
not supposed. What is not described step by step has no row here.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Flow:
    """One documented way: whose, its steps in order, and the page that says so. `differs` is what is not alike."""

    console: str
    steps: tuple[str, ...]
    title: str
    address: str
    differs: str = ""


_MERCURY = "https://support.mercury.com/hc/en-us/articles/"
_KRAKEN = "https://support.kraken.com/hc/en-us/articles/"

# By the name of the task; the first is the closest.
FLOWS: Final[dict[str, tuple[Flow, ...]]] = {
    "Request a payout of BCH": (
        Flow(
            "Mercury",
            ("Move Money", "Send", "recipient", "payment method", "amount", "Send Payment"),
            "Sending domestic payments",
            f"{_MERCURY}30231584548756-Sending-domestic-payments",
            "the recipient was entered before, account and date stay as offered; here address and reason are typed",
        ),
        Flow(
            "Kraken",
            (
                "Portfolio",
                "Withdraw",
                "currency",
                "To",
                "add new",
                "description",
                "address",
                "add",
                "link in an e-mail",
            ),
            "Adding and confirming a new cryptocurrency withdrawal address",
            f"{_KRAKEN}7631228462484-Adding-and-confirming-a-new-cryptocurrency-withdrawal-address",
            "up to a new address that can be paid to; the amount and its confirmation come on top",
        ),
    ),
    "Call the request off": (
        Flow(
            "Mercury",
            ("Payments", "Cancel payment in the row", "confirm"),
            "Cancel a payment",
            "https://help.mercury.com/t/p8h3d03/cancel-a-payment",
            "here a reason can be written too, and the trail keeps it",
        ),
    ),
    "Place a limit order": (
        Flow(
            "Kraken Pro",
            ("market selector", "pair", "limit", "price", "quantity", "submit"),
            "How to buy and sell on Kraken Pro",
            "https://support.kraken.com/hc/pt-br/articles/how-to-buy-and-sell-on-kraken-pro",
        ),
    ),
    "Cancel the order": (
        Flow(
            "Kraken (derivatives)",
            ("Open Orders", "the X in the row"),
            "Trading interface guide",
            f"{_KRAKEN}360022627732-Trading-interface-guide",
        ),
    ),
    "Copy a deposit address": (
        Flow(
            "Kraken",
            ("Deposit", "search for the currency", "copy icon"),
            "How to deposit cryptocurrencies to your Kraken account",
            f"{_KRAKEN}360000672643-How-to-deposit-cryptocurrencies-to-your-Kraken-account",
        ),
    ),
    "Have the ledger as a file": (
        Flow(
            "Stripe",
            ("Refunds", "Export", "time zone", "range", "columns"),
            "Exporting refund reports",
            "https://support.stripe.com/questions/exporting-refund-reports",
            "time zone, range and columns are asked each time; here the list as it is set",
        ),
    ),
    "Invite an operator": (
        Flow(
            "Stripe",
            ("Team", "Add member", "e-mail", "role", "Send invites"),
            "Start a team",
            "https://docs.stripe.com/payments/account/teams",
            "no code; here a second factor confirms the invitation, which counts as a step",
        ),
        Flow(
            "Linear",
            ("Preferences", "Members", "Invite people", "e-mail", "role", "Send invites"),
            "Invite members",
            "https://linear.app/docs/invite-members",
        ),
        Flow(
            "Mercury",
            ("profile menu", "Team", "Invite a Team Member", "name", "e-mail", "role"),
            "Add a team member",
            "https://help.mercury.com/t/p8h3dwn/add-team-member",
        ),
    ),
    "Give somebody a second role": (
        Flow(
            "Mercury",
            ("Users", "the person", "menu", "Edit User Permissions", "role", "Save Changes"),
            "Managing roles and permissions",
            f"{_MERCURY}30494148154900-Managing-roles-and-permissions",
            "no code and no reason",
        ),
    ),
    "Look at the own sessions": (
        Flow(
            "Linear",
            ("G then S", "Security & Access"),
            "Security & Access",
            "https://linear.app/docs/security-and-access",
        ),
    ),
    "Begin a notification channel": (
        Flow(
            "Stripe",
            ("Workbench", "Webhooks", "Create new destination"),
            "Manage event destinations",
            "https://docs.stripe.com/workbench/webhooks",
        ),
    ),
    "Find what concerns a person": (
        Flow(
            "Linear",
            ("Workspace settings", "Audit log", "filter by the kind of event"),
            "Audit log",
            "https://linear.app/docs/audit-log",
            "pages filter by the kind of event alone; by person only through the API",
        ),
    ),
    "Follow a payment onto the chain": (
        Flow(
            "mempool.space",
            ("paste the id into the search",),
            "What Is A Block Explorer? (a guide by a third party)",
            "https://www.whatisbitcoin.com/what-is-a-block-explorer/",
            "the id of the transaction is at hand there, the index of the ledger's line here",
        ),
    ),
}
