"""The tasks: ten for each role, each a script of verbs that both hands go through."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.e2e.visitors import ADDRESS, Visitor
from tools.bench.tasks.hands import Hands

Script = Callable[[Hands, "Needs"], None]


@dataclass
class Needs:
    """What a task finds there before it begins, made by somebody else and not counted."""

    operator: Visitor
    second: Visitor  # a second administrator or another of treasury
    _payouts: int = field(default=0)

    def payout(self) -> int:
        """A payout that waits for its approval; its number."""
        self._payouts += 1
        return self.operator.ask_and_hold(amount=f"0.01{self._payouts:02d}", reason=f"Invoice {self._payouts}")


@dataclass(frozen=True, slots=True)
class Task:
    """What is done, by whom."""

    role: str
    name: str
    script: Script


# An operator ----------------------------------------------------------------------------------------------------------


def request_payout(hands: Hands, _: Needs) -> None:
    hands.press("New withdrawal", role="link", loads=True)
    hands.choose("Currency", "BCH")
    hands.fill("Amount", hands.amount("0.0125"))
    hands.fill("Address", ADDRESS)
    hands.fill("Reason", "Invoice 7")
    hands.press("Request payout", loads=True)
    hands.sees("Reserved, waiting for approvals")


def follow_request(hands: Hands, _: Needs) -> None:
    hands.go("Withdrawals")
    hands.open(hands.amount("0.0125"))
    hands.sees("Invoice 7")


def cancel_request(hands: Hands, _: Needs) -> None:
    hands.go("Withdrawals")
    hands.press("Withdraw request", role="link", loads=True)
    hands.press("Withdraw this request")
    hands.sees("Withdrawn")


def place_order(hands: Hands, _: Needs) -> None:
    hands.find("ETHBTC", "ETHBTC")
    hands.fill("Quantity", "0.05")
    hands.fill("Price", "0.03")
    hands.press("Place buy order")
    hands.sees("O-")


def cancel_order(hands: Hands, _: Needs) -> None:
    hands.go("Orders")
    hands.press("Cancel O-")
    hands.sees("Cancel requested")


def move_funds(hands: Hands, _: Needs) -> None:
    hands.go("Transfers")
    hands.press("New transfer", role="link", loads=True)
    hands.choose("Currency", "BTC")
    hands.fill("Amount", "0.1")
    hands.fill("Reason", "Margin for the day")
    hands.press("Move the money", loads=True)
    hands.sees("Margin for the day")


def deposit_address(hands: Hands, _: Needs) -> None:
    hands.find("deposit btc", "Deposit BTC")
    hands.sees("BTC")
    hands.press("Copy")


def find_transaction(hands: Hands, _: Needs) -> None:
    hands.find("7200000039", "7200000039")
    hands.sees("Payout")


def export_ledger(hands: Hands, _: Needs) -> None:
    hands.go("Ledger")
    hands.downloads("CSV")


def read_profit(hands: Hands, _: Needs) -> None:
    hands.go("Profit and loss")
    hands.sees("First in, first out")


# Treasury -------------------------------------------------------------------------------------------------------------


def approve_payout(hands: Hands, needs: Needs) -> None:
    number = needs.payout()
    hands.go("Needs action")
    hands.open(f"W-{number}")
    hands.confirm("Approve and pay")
    hands.sees("Approved|On its way|Paid")


def reject_payout(hands: Hands, needs: Needs) -> None:
    number = needs.payout()
    hands.go("Needs action")
    hands.open(f"W-{number}")
    hands.press("Reject", role="summary")
    hands.fill("Reason", "Not in the contract")
    hands.press("Reject and release funds")
    hands.sees("Rejected")


def comment_on_payout(hands: Hands, needs: Needs) -> None:
    number = needs.payout()
    hands.find(f"W-{number}", f"W-{number}")
    hands.fill("Add a comment", "Called the company")
    hands.press("Add comment")
    hands.sees("Called the company")


def payouts_to_an_address(hands: Hands, _: Needs) -> None:
    hands.go("Withdrawals")
    hands.fill("Reference", ADDRESS[-12:])
    hands.enter()
    hands.sees("Request")


def propose_rules(hands: Hands, _: Needs) -> None:
    hands.go("Policy")
    hands.press("Change the rules", role="link", loads=True)
    hands.fill("Maximum price age", "240")
    hands.fill("Reason for the change", "Fresher prices")
    hands.press("Review changes", loads=True)
    hands.sees("240")


def read_rules_of_then(hands: Hands, _: Needs) -> None:
    hands.go("Policy")
    hands.press("Policy v1", role="link", loads=True)
    hands.sees("Rules")


def next_deadline(hands: Hands, needs: Needs) -> None:
    needs.payout()
    hands.go("Overview")
    hands.sees("Next deadline")


def what_is_held(hands: Hands, _: Needs) -> None:
    hands.find("BCH", "BCH")
    hands.sees("BCH")


def flows_of_a_month(hands: Hands, _: Needs) -> None:
    hands.go("Overview")
    hands.sees("In and out")


def follow_a_payout(hands: Hands, needs: Needs) -> None:
    number = needs.payout()
    hands.find(f"W-{number}", f"W-{number}")
    hands.sees("Reserved, waiting for approvals")


# An administrator -----------------------------------------------------------------------------------------------------


def invite(hands: Hands, _: Needs) -> None:
    hands.find("invite", "Invite somebody")
    hands.fill("E-mail", f"{hands.name('newcomer')}@desk.test")
    hands.tick("Operator: asks for payouts")
    hands.confirm("Invite")
    hands.sees("works once")


def change_roles(hands: Hands, _: Needs) -> None:
    hands.go("People")
    hands.press("newcomer-", role="link", loads=True)
    hands.tick("Treasury: approves and rejects")
    hands.fill("Reason", "Helps out")
    hands.confirm("Change these roles")
    hands.sees("Treasury")


def find_somebody(hands: Hands, _: Needs) -> None:
    hands.find("operator-1", "operator-1")
    hands.sees("Last signed in")


def own_sessions(hands: Hands, _: Needs) -> None:
    hands.find("your sessions", "Your sessions")
    hands.sees("Your sessions")


def make_token(hands: Hands, _: Needs) -> None:
    hands.find("api tok", "Your API tokens")
    hands.fill("What it is for", "Report of the month")
    hands.confirm("Make token")
    hands.sees("It is shown this once")


def revoke_token(hands: Hands, _: Needs) -> None:
    hands.find("api tok", "Your API tokens")
    hands.press("Revoke")
    hands.sees("No tokens yet|Revoked|revoked")


def add_channel(hands: Hands, _: Needs) -> None:
    hands.go("Deliveries")
    hands.press("Channels", role="link", loads=True)
    hands.press("Add a channel", role="link", loads=True)
    hands.sees("Kind")


def going_live(hands: Hands, _: Needs) -> None:
    hands.go("Going live")
    hands.sees("hold")


def key_rights(hands: Hands, _: Needs) -> None:
    hands.go("Keys")
    hands.press("Demo read", role="link", loads=True)
    hands.sees("Permissions")


def freeze_subaccount(hands: Hands, _: Needs) -> None:
    hands.go("Sub-accounts")
    hands.tick("Choose 7001")
    hands.press("Review freeze", loads=True)
    hands.sees("7001")


# An auditor -----------------------------------------------------------------------------------------------------------


def story_of_a_payout(hands: Hands, needs: Needs) -> None:
    number = needs.payout()
    hands.find(f"W-{number}", f"W-{number}")
    hands.sees("What happened")


def audit_as_file(hands: Hands, _: Needs) -> None:
    hands.go("Audit trail")
    hands.downloads("CSV")


def ledger_as_json(hands: Hands, _: Needs) -> None:
    hands.go("Ledger")
    hands.downloads("JSON")


def acts_of_somebody(hands: Hands, _: Needs) -> None:
    hands.go("Audit trail")
    hands.press("Filter", role="summary")
    hands.fill("Person", "operator-0")
    hands.enter()
    hands.sees("operator-0")


def state_of_checks(hands: Hands, _: Needs) -> None:
    hands.go("System")
    hands.sees("Reconciliation")


def rules_in_force(hands: Hands, _: Needs) -> None:
    hands.go("Policy")
    hands.sees("Rules in force")


def what_was_sent(hands: Hands, _: Needs) -> None:
    hands.go("Deliveries")
    hands.sees("Deliveries")


def a_transaction_on_the_chain(hands: Hands, _: Needs) -> None:
    hands.find("7200000057", "41fdc00c")
    hands.sees("Flow of funds")


def balances_now(hands: Hands, _: Needs) -> None:
    hands.go("Funds")
    hands.sees("BTC")


def calls_made_by_hand(hands: Hands, _: Needs) -> None:
    hands.go("Console")
    hands.press("History", role="link", loads=True)
    hands.sees("History")


ALL: Final = (
    Task("operator", "Request a payout of BCH", request_payout),
    Task("operator", "Look how far the request is", follow_request),
    Task("operator", "Call the request off", cancel_request),
    Task("operator", "Place a limit order", place_order),
    Task("operator", "Cancel the order", cancel_order),
    Task("operator", "Move BTC to the trading wallet", move_funds),
    Task("operator", "Copy a deposit address", deposit_address),
    Task("operator", "Find a transaction by its index", find_transaction),
    Task("operator", "Have the ledger as a file", export_ledger),
    Task("operator", "Read profit and loss", read_profit),
    Task("treasury", "Approve a payout", approve_payout),
    Task("treasury", "Reject a payout with a reason", reject_payout),
    Task("treasury", "Comment on a payout", comment_on_payout),
    Task("treasury", "Find the payouts to an address", payouts_to_an_address),
    Task("treasury", "Draft other rules", propose_rules),
    Task("treasury", "Read the first rules", read_rules_of_then),
    Task("treasury", "See the next deadline", next_deadline),
    Task("treasury", "See what is held of a currency", what_is_held),
    Task("treasury", "See what came in and went out", flows_of_a_month),
    Task("treasury", "Open a payout by its reference", follow_a_payout),
    Task("admin", "Invite an operator", invite),
    Task("admin", "Give somebody a second role", change_roles),
    Task("admin", "Find a person by name", find_somebody),
    Task("admin", "Look at the own sessions", own_sessions),
    Task("admin", "Make an API token", make_token),
    Task("admin", "Revoke the token", revoke_token),
    Task("admin", "Begin a notification channel", add_channel),
    Task("admin", "See what going live lacks", going_live),
    Task("admin", "Read what a key may do", key_rights),
    Task("admin", "Review a freeze of a sub-account", freeze_subaccount),
    Task("auditor", "Read the story of a payout", story_of_a_payout),
    Task("auditor", "Have the audit trail as a file", audit_as_file),
    Task("auditor", "Have the ledger as JSON", ledger_as_json),
    Task("auditor", "Find what concerns a person", acts_of_somebody),
    Task("auditor", "See what the checks found", state_of_checks),
    Task("auditor", "Read the rules in force", rules_in_force),
    Task("auditor", "See what was sent to whom", what_was_sent),
    Task("auditor", "Follow a payment onto the chain", a_transaction_on_the_chain),
    Task("auditor", "Read the balances", balances_now),
    Task("auditor", "Read the calls made by hand", calls_made_by_hand),
)
