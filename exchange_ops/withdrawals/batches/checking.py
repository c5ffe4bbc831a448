"""Checks of a whole batch before anything is requested: each line as the form of a single payout, then all together.

A line is checked by `NewWithdrawalForm` and `request_checks`, so that a batch takes nothing that the form refuses. Its
limits over time count the lines before it. The approvals that a line needs are those with all other lines counted:
every line is recorded before any is judged.
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
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.withdrawals import request_checks
from exchange_ops.withdrawals.batches.reading import Entry
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
    """One line: what was typed, and either its `problems` or the `arguments` of its request.

    `repeats` say which line or recent payout it equals. `fee` is the exchange's usual one, in the currency, None where
    it names none. `verdict` is what the rules require with all lines of the batch counted.
    """

    entry: Entry
    problems: list[str] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
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
    def amount(self) -> Decimal:
        """The amount, of a line without problems."""
        amount: Decimal = self.arguments["amount"]
        return amount

    @property
    def remarks(self) -> str:
        """What a person should know of the recipient; empty where there is nothing."""
        return "" if self.recipient is None else replace(self.recipient, equal=()).short

    def sums(self) -> tuple[Decimal, Decimal, Decimal]:
        """What arrives, the usual fee, and what leaves the account."""
        fee = (self.intent.fee if self.intent else None) or Decimal(0)
        if self.arguments["include_fee"]:
            return self.amount - fee, fee, self.amount
        return self.amount, fee, self.amount + fee


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
        return not self.wrong and not any(total.problem for total in self.totals)

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
    known = {row.code: row for row in currencies}
    lines: list[Line] = []
    for entry in entries:
        before = tuple(line.intent for line in lines if line.intent is not None)
        line = Line(entry, [entry.problem] if entry.problem else [])
        lines.append(line)
        if not line.problems:
            _check_form(line, currencies, key)
        if not line.problems:
            _check_request(line, account=account, person=person, known=known, before=before, now=now)
    good = [line for line in lines if line.intent is not None]
    _mark_repeats(good, now)
    totals = _totals(good, account)
    if len(good) == len(lines):
        _judge_together(good, now)
    return Checked(lines, totals)


def line_key(key: uuid.UUID, number: int) -> uuid.UUID:
    """The request key of a line: the same for the same batch and line, so that no line is requested twice."""
    return uuid.uuid5(key, str(number))


def _check_form(line: Line, currencies: list[Currency], key: uuid.UUID) -> None:
    typed = line.entry.fields
    fee_from = _FEES.get(typed.get("network_fee", "").strip().lower(), "")
    if not fee_from:
        line.problems.append("Network fee: enter added or deducted, or leave it empty.")
        return
    content = {name: typed.get(name, "") for name in ("amount", "address", "payment_id", "reason")}
    form = NewWithdrawalForm(
        {
            **content,
            "currency": typed.get("currency", "").strip().upper(),
            "fee_from": fee_from,
            "request_key": str(line_key(key, line.number)),
        },
        currencies=currencies,
    )
    if form.is_valid():
        line.arguments = form.arguments()
    else:
        line.problems += [f"{form[name].label}: {error}" for name, errors in form.errors.items() for error in errors]


def _check_request(
    line: Line,
    *,
    account: Account,
    person: "Person",
    known: dict[str, Currency],
    before: tuple[Intent, ...],
    now: datetime,
) -> None:
    row = Withdrawal(account=account, initiator=person, **line.arguments)
    try:
        line.destination = request_checks.check(row, now=now, before=before)
    except request_checks.CannotRequest as refusal:
        line.problems += list(_named(refusal.problems))
        return
    row.address, row.payment_id = line.destination.address, line.destination.payment_id
    line.intent = Intent.of(row, fee=known[row.currency].payout_fee)


def _named(problems: dict[str, str]) -> Iterable[str]:
    labels = {name: each.label for name, each in NewWithdrawalForm.base_fields.items()}
    for name, sentence in problems.items():
        yield sentence if name == FORM else f"{labels.get(name, name)}: {sentence}"


def _mark_repeats(lines: Sequence[Line], now: datetime) -> None:
    """Mark lines that equal an earlier one, and those that equal a payout of the last day."""
    subjects = [
        Subject(_place(line), line.intent.account, now, line.amount) for line in lines if line.intent is not None
    ]
    first: dict[tuple[Place, Decimal], int] = {}
    for line, subject, recipient in zip(lines, subjects, briefing.briefings(subjects, now=now), strict=True):
        line.recipient = recipient
        earlier = first.setdefault((subject.place, line.amount), line.number)
        if earlier != line.number:
            line.repeats.append(f"Same recipient and amount as line {earlier}.")
        if recipient.equal:
            names = ", ".join(row.reference for row in recipient.equal)
            line.repeats.append(f"Same recipient and amount as {names}, requested in the last 24 hours.")


def _place(line: Line) -> Place:
    intent = line.intent
    if intent is None:
        raise LookupError("A line with a problem has no recipient.")
    return Place(intent.account.pk, intent.currency, intent.address, intent.payment_id or "")


def _totals(lines: Sequence[Line], account: Account) -> list[Total]:
    totals: defaultdict[str, Total] = defaultdict(lambda: Total(""))
    for line in lines:
        total = totals[line.arguments["currency"]]
        arrives, fee, leaves = line.sums()
        total.lines += 1
        total.arrives, total.fee, total.leaves = total.arrives + arrives, total.fee + fee, total.leaves + leaves
    balances = Balance.objects.filter(account=account, wallet=Balance.BANK, currency__in=totals)
    available = dict(balances.values_list("currency", "available"))
    for code, total in totals.items():
        total.currency, total.available = code, available.get(code)
        total.problem = request_checks.funds_problem(account, code, total.leaves)
    return [totals[code] for code in sorted(totals)]


def _judge_together(lines: Sequence[Line], now: datetime) -> None:
    """What the rules require of each line with all others counted, which is how it is judged once all are recorded."""
    intents = [line.intent for line in lines if line.intent is not None]
    for at, (line, intent) in enumerate(zip(lines, intents, strict=True)):
        others = (*intents[:at], *intents[at + 1 :])
        line.verdict, columns = policy_evaluation.verdict_on(replace(intent, before=others), now=now)
        line.value = columns["quote_value"]
        if line.verdict.blocked:
            line.problems.append(line.verdict.blocked)
