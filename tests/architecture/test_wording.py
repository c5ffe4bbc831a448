"""Phrases that no page says: each stopped a reader who knows the trade, and has a word of the trade in its place."""

import ast

from tests.architecture import tree

# The phrase, and what is said instead.
INSTEAD = {
    "Told as it happens": "Live",
    "told as they happen": "live",
    "Waits for you": "Needs your approval",
    "Yours to decide": "Needs your approval",
    "Ask for this payout": "Request payout",
    "Leave without": "Cancel",
    "comes on top": "added to amount",
    "Take the request back": "Withdraw request",
    "Take it back": "Withdraw request",
    "not yet on its way": "awaiting broadcast",
    "not verified by us": "confirmed by the exchange",
    "Not verifiable by us": "on-chain verification is available for one coin only",
    "Nobody needs to act": "No action needed",
    "Needs two people": "Review by two people",
    "Decisions rest": "Approvals are paused",
    "That code is not right": "Incorrect code",
    "Look at freezing": "Review freeze",
    "It can do more than it is for": "This key has more permissions than it needs",
    "Make new ones": "Generate new codes",
    "Interface for programs": "API",
    "No hour runs": "No deadline",
    "Ends of branches": "Chain tips",
    "New coins": "Block reward",
    "As it travels": "Raw transaction",
    "Nobody of this name": "First transfer to this recipient",
    "There is nothing here": "Page not found",
    "Nothing is named like that": "No results",
    # Second round: each stopped a reader of the screens, the messages, the errors or the commands.
    "not what they were when": "has changed since the request",
    "Read the page again": "Refresh the page",
    "its cause is gone": "resolved automatically",
    "Somebody works on it": "Assigned",
    "Nobody works on it": "It is not assigned",
    "Nobody has taken it on": "Not assigned yet",
    "by the command for it": "by command",
    "put back to an earlier moment": "restored to an earlier state",
    "what waits to be sent": "the pending requests",
    "Say of each what becomes": "Make a decision for each item",
    "It did not happen: go on": "Not sent: continue",
    "nobody of this number": "Person not found",
    "There is nobody called": "There is no user named",
    "There is nobody active called": "There is no active user named",
    "Names are never given twice": "Usernames are never reused",
    "the role stands alone": "The role can't be combined",
    "somebody has to stay admin": "at least one administrator must remain",
    "Roles then": "New roles",
    "Make somebody else": "Appoint another one",
    "Its time is nearly over": "Reminder before the deadline",
    "it waits no more": "no longer pending",
    "What you asked for has ended": "Your request has ended",
    "It was not taken": "Not delivered",
    "Whether somebody read it": "Whether it was read is unknown",
    "The other side took it": "The receiving server accepted it",
    "was told never to show": "are blocked",
    "It goes on reading": "Refreshing every few seconds",
    "Something has changed here": "New updates",
    "What the words on this page mean": "Terms on this page",
    "Go on with it": "Continue with it",
    "If it goes on, tell": "If the problem persists, inform",
    "Something broke on our side": "Internal error",
    "can't be asked for in this way": "can't be opened directly",
    "Code of your authenticator app": "Code from your authenticator app",
    "the passkey's answer": "the passkey response",
    "PIN, finger or face": "PIN, fingerprint or face",
    "That took longer than": "expired after",
    "not valid, or not any more": "invalid, expired or revoked",
    "This account is switched off": "This account is deactivated",
    "This account opens nothing": "Deactivated: cannot sign in",
    "It is shown this once": "It is shown only once",
    "Take the app away": "Remove app",
    "It stands in the audit trail": "Recorded in the audit trail",
    "As the device is set": "Match the device",
    "There is no such time zone": "Unknown time zone",
    "This member is not known": "Unknown field",
    "Yours, and new for each request": "A key of your choice, unique to each request",
    "is there already": "already exists",
    "What it said is above": "See the output above",
    "what went wrong is above": "see the output above",
    "is made up for you": "is generated",
    "are made up for you": "are generated",
    "stands there twice": "is listed twice",
    "stand side by side": "are adjacent",
    "Found by<": "Mined by",
    "Explain it": "Decode transaction",
    "Nameless": "Unnamed",
    "no longer there to be": "already closed",
    "Being placed": "Sending",
    "Disabled for good": "Disabled permanently",
    "As asked for": "As requested",
    "anybody has": "too large",
    "known book": "visible book",
    "would be needed": "Insufficient balance",
    "which the settings do not name": "is not in the settings",
    "come by themselves": "Loading",
    "Empty ones too": "Show zero balances",
    "fresh price, and so": "Not in total (no current price)",
    "has told no": "No prices yet",
    "would not tell": "refused",
    "another character is in it": "Use only the digits 0 to 9 and a decimal point",
    "An amount is above zero": "Enter an amount greater than zero",
    "watched no more": "no longer monitored",
    "works on.": "is still working",
    "Nobody should repeat this payment": "Do not pay this again",
    "the person who asked can cancel": "the requester can withdraw it",
    "is being told to pay": "the payment order is being sent",
    "Nobody has asked for": "No payouts yet",
    "two people of treasury thaw": "two treasurers lift the freeze",
    "past the desk": "outside Countersign",
    "Agree to thaw": "Approve lifting the freeze",
    "Money may leave": "Not frozen",
    "is confirmed by name": "needs explicit confirmation",
    "Propose other rules": "Propose a rule change",
    "See what differs": "Review changes",
    "Edit them again": "Back to editing",
    "count no more": "approvals start again",
    "tiers of its own": "its own tiers",
    "Turned down": "Refused",
    "by reads alone": "with read-only calls",
    "Blanks around": "Spaces around",
    "Payment made elsewhere": "Unrecognised withdrawal",
    "Asked by": "Requested by",
}
# Answers of the interface to programs keep their words: those are compared by programs.
FOR_PROGRAMS = {"There is nothing here"}


def sayings():
    """(where, text) of every template, of the scripts of the pages, and of every string in the code but docstrings."""
    for path in [*(tree.ROOT / "templates").rglob("*.html"), *(tree.ROOT / "static" / "js").glob("*.js")]:
        yield path.relative_to(tree.ROOT).as_posix(), path.read_text()
    for module in tree.production():
        spoken = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr)}
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken:
                yield f"{module.path}:{node.lineno}", node.value


def test_no_page_says_what_the_trade_has_a_word_for():
    found = [
        f"{where}: say {word!r} instead of {phrase!r}"
        for where, text in sayings()
        for phrase, word in INSTEAD.items()
        if phrase in text and not (phrase in FOR_PROGRAMS and ("/api/" in where or "/api" in where))
    ]
    assert not found
