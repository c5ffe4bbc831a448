"""The exchange's answers to the questions that its documentation leaves open, from the facts that a probe stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from exchange_ops.shared import facts
from exchange_ops.shared.models import Account

_PREFIX: Final = "probe."
# The name of each fact and the question that it answers, in the order of the page.
QUESTIONS: Final = {
    "hold_end": "Status of an expired reservation",
    "listed_before_commit": "Listed before commit",
    "listing_delay_ms": "Listing delay, ms",
    "status_of_a_hold": "Status of a reservation",
    "comment_is_echoed": "Public comment returned",
    "reserved_holds_amount_and_fee": "Amount and fee reserved",
    "fee_is_the_estimate": "Fee equals the estimate",
    "rollback_is_confirmed": "Release confirmed",
    "status_after_rollback": "Status after release",
    "rollback_again": "Repeated release",
    "commit_after_rollback": "Commit after release",
    "rollback_after_commit": "Release after commit",
    "index_density": "Ledger numbering",
    "ledger_types": "Ledger entry types",
    "types_of_transfers": "Entry types of internal transfers",
    "frozen_subaccount": "Frozen sub-account",
    "pace": "Documented rate limit reached",
    "refusal.insufficient_funds": "Response to an amount above the balance",
    "refusal.validation_error": "Response to a zero amount",
}
_OWN: Final = {"tag", "left_hold", "paid"}  # notes of the probe for itself


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, its newest answer as text, and the time of the answer."""

    account: str
    question: str
    answer: str
    at: datetime


def all_answers() -> list[Answer]:
    """Every answer, account by account; facts without a question here come last."""
    answers = []
    for account in Account.objects.order_by("pk"):
        rows = {row.name.removeprefix(_PREFIX): row for row in facts.all_newest(account=account, prefix=_PREFIX)}
        names = [*(name for name in QUESTIONS if name in rows), *sorted(set(rows) - {*QUESTIONS, *_OWN})]
        answers += [
            Answer(account.name, QUESTIONS.get(name, _words(name)), _text(rows[name].value), rows[name].noted_at)
            for name in names
        ]
    return answers


def _words(name: str) -> str:
    return name.replace(".", ": ").replace("_", " ").capitalize()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{_words(key)} {_text(each)}" for key, each in value.items())
    return str(value)
