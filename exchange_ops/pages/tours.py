"""The first three steps of each role's tour."""

from typing import Final

from desk.people import roles
from desk.web.tours import Step

TOURS: Final[dict[str, tuple[Step, ...]]] = {
    roles.OPERATOR: (
        Step(
            "withdrawal-new",
            "Request a payout",
            "Choose currency, amount and recipient. Limits, network fee and what the recipient gets are shown as you "
            "type. Nothing is paid yet: a request waits for people of treasury.",
        ),
        Step(
            "withdrawals",
            "Follow it to the end",
            "Every payout says what happened to the money, whose turn it is and how much time is left. The page "
            "updates by itself. You can withdraw a request until it is paid.",
        ),
        Step(
            "action",
            "See what needs you",
            "Everything that waits for you is on one list, with its deadline. The number beside it counts what is "
            "yours, and your account page says how you are notified.",
        ),
    ),
    roles.TREASURY: (
        Step(
            "action",
            "Decide what waits for you",
            "Approvals come first, the most urgent on top. Open one and compare amount, whole address, network and the "
            "exchange's own record. You approve exactly that, with your second factor.",
        ),
        Step(
            "withdrawals",
            "Know what an approval does",
            "Funds are reserved for an hour and paid only after enough people approved. Rejecting releases them. "
            "Nobody approves their own request.",
        ),
        Step(
            "policy",
            "Stop everything if you must",
            "These rules say how many approvals an amount needs. One person may freeze all payments at once; "
            "it takes two to lift a freeze.",
        ),
    ),
    roles.ADMIN: (
        Step(
            "people",
            "Bring in your people",
            "Invite each person with a link that works once, and give them a role. Admins keep people and keys; "
            "they never approve payments.",
        ),
        Step(
            "keys",
            "Connect the exchange",
            "Store one key for reading, one for trading and one for payouts, each with no more permissions than it "
            "needs. The desk checks what every key can really do.",
        ),
        Step(
            "going-live",
            "Check before you pay",
            "The desk verifies each step of going live and says why it matters. When all of them hold, "
            "make the smallest payout and see it proven.",
        ),
    ),
    roles.AUDITOR: (
        Step(
            "audit",
            "Read what happened",
            "Every change has an entry with who, when and what. Entries form a chain: an edited or missing one shows, "
            "and the command verify_audit checks it all.",
        ),
        Step(
            "ledger",
            "Compare with the exchange",
            "This is the desk's copy of the exchange's ledger, with links to the payouts it belongs to. Each hour it "
            "is reconciled; a difference becomes an incident.",
        ),
        Step(
            "system",
            "See whether the desk is well",
            "Workers, streams, checks and the chain, each with its age. You can open every page, "
            "and you can change nothing.",
        ),
    ),
}
