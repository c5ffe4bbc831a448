"""The first three steps of each role's tour."""

from typing import Final

from desk.people import roles
from desk.web.tours import Step

TOURS: Final[dict[str, tuple[Step, ...]]] = {
    roles.OPERATOR: (
        Step(
            "withdrawal-new",
            "Request a payout",
            (
                "Choose currency, amount and recipient. Limits, network fee and what the recipient gets are shown "
                "as you type. Nothing is paid yet: treasury must approve the request."
            ),
        ),
        Step(
            "withdrawals",
            "Track it to the end",
            (
                "Each payout page shows where the money is, who acts next and the time left. It updates "
                "automatically. You can withdraw a request until it is paid."
            ),
        ),
        Step(
            "action",
            "See what needs your action",
            (
                "Everything that needs your action is on one list, with deadlines. The number in the menu counts your "
                "items; set up notifications on your account page."
            ),
        ),
    ),
    roles.TREASURY: (
        Step(
            "action",
            "Approve or reject",
            "Approvals come first, the most urgent on top. Open one and compare amount, full address, network and "
            "the exchange's own record. You approve exactly what is shown, using your second factor.",
        ),
        Step(
            "withdrawals",
            "What an approval does",
            "Funds are reserved for an hour and paid only once enough people have approved. Rejecting releases them."
            " You can't approve your own request.",
        ),
        Step(
            "policy",
            "Freeze in an emergency",
            (
                "Policy sets how many approvals an amount needs. One person can freeze all payments immediately; it "
                "takes two to lift a freeze."
            ),
        ),
    ),
    roles.ADMIN: (
        Step(
            "people",
            "Invite your team",
            (
                "Invite each person with a one-time link and give them a role. Administrators manage people and keys; "
                "they never approve payments."
            ),
        ),
        Step(
            "keys",
            "Connect the exchange",
            (
                "Store one key for reading, one for trading and one for payouts, each with only the permissions it "
                "needs. Each key's actual permissions are checked."
            ),
        ),
        Step(
            "going-live",
            "Check before you pay",
            (
                "Each go-live step is checked and explained. Once all pass, make the smallest possible payout and see "
                "it verified on-chain."
            ),
        ),
    ),
    roles.AUDITOR: (
        Step(
            "audit",
            "Review the audit trail",
            (
                "Every change has an entry showing who made it, when, and what changed. Entries are chained, so an "
                "edited or missing entry is detected; the verify_audit command checks the whole chain."
            ),
        ),
        Step(
            "ledger",
            "Compare with the exchange",
            (
                "This is our copy of the exchange's ledger, linked to payouts. It is reconciled every hour; any "
                "difference opens an incident."
            ),
        ),
        Step(
            "system",
            "Check system health",
            (
                "Workers, streams, checks and the chain, each with its last update. You can view every page but "
                "can't change anything."
            ),
        ),
    ),
}
