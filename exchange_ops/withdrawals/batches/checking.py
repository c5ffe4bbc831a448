"""Checks of a whole batch before anything is requested: each line as the form of a single payout, then all together.

A line is checked by `NewWithdrawalForm` and `request_checks`, so that a batch takes nothing that the form refuses. Of
the lines that exceed a limit over time those are named that exceed it after the lines before them. The approvals that a
line needs are those with all other lines counted: every line is recorded before any is judged.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from exchange_ops.addresses.destinations import Destination
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Currency
from exchange_ops.policy.quorum import Verdict
from exchange_ops.shared.csv_lines import Entry
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.withdrawals import request_checks, workflow
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.forms import NewWithdrawalForm
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients import briefing
from exchange_ops.withdrawals.recipients.briefing import Recipient, Subject
from exchange_ops.withdrawals.recipients.history import Place

if TYPE_CHECKING:
    from desk.models import Person

_FEES: Final = {
    "": NewWithdrawalForm.FEE_ON_TOP,
    "added": NewWithdrawalForm.FEE_ON_TOP,
    "deducted": NewWithdrawalForm.FEE_FROM_AMOUNT,
}


@dataclass(slots=True)
class Line:
    """One line: what was typed, and either its `problems` or the `row` that is not stored yet and its `destination`.

    `intent` is there where the line by itself is good; its fee is the exchange's usual one. `repeats` say which line or
    recent payout it equals. `verdict` is what the rules require with all lines of the batch counted, and `value` the
    line's own value in the account's quote currency.
    """

    entry: Entry
    row: Withdrawal | None = None
    problems: list[str] = field(default_factory=list)
    destination: Destination | None = None
    intent: Intent | None = None
    repeats: list[str] = field(default_factory=list)
    recipient: Recipient | None = None
    verdict: Verdict | None = None
    value: Decimal | None = None

    @property
    def number(self) -> int:
        """Its line in the file."""
        return self.entry.number

    @property
    def remarks(self) -> str:
        """What a person should know of the recipient; empty where there is nothing."""
        return "" if self.recipient is None else replace(self.recipient, equal=()).short


@dataclass(slots=True)
class Total:
    """The lines of one currency together, all figures in it. `problem` says why they can't all be paid."""

    currency: str
    lines: int = 0
    arrives: Decimal = Decimal(0)
    fee: Decimal = Decimal(0)
    leaves: Decimal = Decimal(0)
    available: Decimal | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A batch after its checks. It can be requested where it `is_good`."""

    lines: list[Line]
    totals: list[Total]

    @property
    def is_good(self) -> bool:
        """Whether every line, and all together, passed every check."""
        is_judged = all(line.verdict is not None for line in self.lines)
        return is_judged and not self.wrong and not any(total.problem for total in self.totals)

    @property
    def wrong(self) -> list[Line]:
        """The lines with a problem."""
        return [line for line in self.lines if line.problems]

    @property
    def repeats(self) -> list[Line]:
        """The lines that equal another one, or a recent payout."""
        return [line for line in self.lines if line.repeats]

    @property
    def repeated(self) -> list[str]:
        """The repeated payments as texts: what a person who confirms them has seen."""
        return [f"{line.number}: {sentence}" for line in self.lines for sentence in line.repeats]

    @property
    def approvals(self) -> list[tuple[int, int]]:
        """How many lines need how many approvals: pairs of approvals and lines, the fewest approvals first."""
        return sorted(Counter(line.verdict.approvals for line in self.lines if line.verdict).items())


def check(entries: Sequence[Entry], *, account: Account, person: "Person", key: uuid.UUID, now: datetime) -> Checked:
    """Check every line, and all together. Nothing is written."""
    currencies = list(Currency.objects.order_by("code"))
    by_code = {row.code: row for row in currencies}
    lines: list[Line] = []
    for entry in entries:
        line = Line(entry, problems=[entry.problem] if entry.problem else [])
        lines.append(line)
        arguments = {} if line.problems else _arguments(line, currencies, key)
        if arguments:
            _check_content(line, workflow.unsaved(initiator=person, account=account, **arguments), by_code)
    good = [(line, line.intent) for line in lines if line.intent is not None]
    _mark_repeats(good, now)
    totals = _totals(good, account)
    blocked = _judge_together(good, now) if len(good) == len(lines) else None
    if blocked is not None or len(good) < len(lines):
        _judge_in_turn(good, now)
    if blocked is not None and not any(line.problems for line in lines):
        blocked[0].problems.append(blocked[1])
    return Checked(lines, totals)


def line_key(key: uuid.UUID, number: int) -> uuid.UUID:
    """The request key of a line: the same for the same batch and line, so that no line is requested twice."""
    return uuid.uuid5(key, str(number))


def _arguments(line: Line, currencies: list[Currency], key: uuid.UUID) -> dict[str, Any]:
    """What `workflow.unsaved` takes, read by the form of a single payout; empty where the line has problems."""
    typed = line.entry.fields
    fee_from, code = typed.get("network_fee", "").strip().lower(), typed.get("currency", "").strip().upper()
    if fee_from not in _FEES:
        line.problems.append("Network fee: enter added or deducted, or leave it empty.")
    if code and code not in {row.code for row in currencies}:
        line.problems.append(f"Currency: {request_checks.currency_problem(None)}")
    content = {name: typed.get(name, "") for name in ("amount", "address", "payment_id", "reason")}
    choices = {"currency": code, "fee_from": _FEES.get(fee_from, ""), "request_key": str(line_key(key, line.number))}
    form = NewWithdrawalForm({**content, **choices}, currencies=currencies)
    for name, errors in form.errors.items():
        if name != "fee_from" and not (name == "currency" and code):
            line.problems += [f"{form[name].label}: {error}" for error in errors]
    return {} if line.problems else form.arguments()


def _check_content(line: Line, row: Withdrawal, by_code: dict[str, Currency]) -> None:
    try:
        destination = request_checks.check_content(row)
    except request_checks.CannotRequest as refusal:
        line.problems += list(_named(refusal.problems))
        return
    line.row, line.destination = row, destination
    line.intent = replace(request_checks.intent_of(row, destination), fee=by_code[row.currency].payout_fee)


def _named(problems: dict[str, str]) -> Iterable[str]:
    labels = {name: each.label for name, each in NewWithdrawalForm.base_fields.items()}
    for name, sentence in problems.items():
        yield sentence if name == FORM else f"{labels.get(name, name)}: {sentence}"


def _mark_repeats(lines: Sequence[tuple[Line, Intent]], now: datetime) -> None:
    """Mark lines that equal an earlier one, and those that equal a payout of the last day."""
    subjects = [Subject(_place(intent), intent.account, now, intent.amount) for _, intent in lines]
    first: dict[tuple[Place, Decimal], int] = {}
    for (line, intent), recipient in zip(lines, briefing.briefings(subjects, now=now), strict=True):
        line.recipient = recipient
        earlier = first.setdefault((_place(intent), intent.amount), line.number)
        if earlier != line.number:
            line.repeats.append(f"Same recipient and amount as line {earlier}.")
        if recipient.equal:
            names = ", ".join(row.reference for row in recipient.equal)
            line.repeats.append(f"Same recipient and amount as {names}, requested in the last 24 hours.")


def _place(intent: Intent) -> Place:
    return Place(intent.account.pk, intent.currency, intent.address, intent.payment_id or "")


def _totals(lines: Sequence[tuple[Line, Intent]], account: Account) -> list[Total]:
    totals: defaultdict[str, Total] = defaultdict(lambda: Total(""))
    for line, intent in lines:
        total, fee = totals[intent.currency], intent.fee or Decimal(0)
        is_deducted = line.row is not None and line.row.include_fee
        total.currency, total.lines, total.fee = intent.currency, total.lines + 1, total.fee + fee
        total.arrives += intent.amount - fee if is_deducted else intent.amount
        total.leaves += intent.amount if is_deducted else intent.amount + fee
    balances = Balance.objects.filter(account=account, wallet=Balance.BANK, currency__in=totals)
    available = dict(balances.values_list("currency", "available"))
    for code, total in totals.items():
        total.available = available.get(code)
        total.problem = request_checks.funds_problem(account, code, total.leaves)
    return [totals[code] for code in sorted(totals)]


def _judge_together(lines: Sequence[tuple[Line, Intent]], now: datetime) -> tuple[Line, str] | None:
    """What the rules require of each line with all others counted, which is how it is judged once all are recorded.

    The first line that they reject, with the sentence.
    """
    intents = [intent for _, intent in lines]
    for at, (line, intent) in enumerate(lines):
        others = (*intents[:at], *intents[at + 1 :])
        line.verdict, columns = policy_evaluation.verdict_on(replace(intent, before=others), now=now)
        line.value = columns["quote_value"]
        if line.verdict.blocked:
            return line, line.verdict.blocked
    return None


def _judge_in_turn(lines: Sequence[tuple[Line, Intent]], now: datetime) -> None:
    """Name the lines that the rules reject, with only the lines before each counted: the first ones may be within."""
    intents = [intent for _, intent in lines]
    for at, (line, intent) in enumerate(lines):
        line.verdict = None
        verdict, _ = policy_evaluation.verdict_on(replace(intent, before=tuple(intents[:at])), now=now)
        if verdict.blocked:
            line.problems.append(verdict.blocked)
