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
