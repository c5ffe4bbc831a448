"""Asking the exchange what its specification leaves open, with one hold of the least amount that is always released.

The hold goes to one of our own deposit addresses: if it were ever paid, we would have paid ourselves. Every answer is
stored as a dated fact. What needs no hold is read by `probe_readings`. `holds` says whether the desk, as it is built,
may rely on the answer.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Max

from desk import clock
from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.market.models import Currency
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from exchange_ops.withdrawals.evidence import probe_readings
from exchange_ops.withdrawals.evidence.probe_readings import Answer, Means
from wire.errors import CallFailed, OutcomeUnknown, Refused
from wire.values import decimal_text

TAG, LEFT_HOLD, PAID, PREFIX = "probe.tag", "probe.left_hold", "probe.paid", "probe."
LISTING_TRIES = 20
LISTING_PAUSE_MS = 250
RELEASE_TRIES = 5
HOUR_OVER = timedelta(minutes=65)
_LEFT = LEFT_HOLD.removeprefix(PREFIX)
CREATED, FAILED = "created", "failed"
ALREADY_COMMITTED = "refusal 20006"  # supplement 2.3, Errors: a rollback after a commit


class CannotProbe(Exception):
    """The probe could not be made, or could not be ended; the sentence says what to look at."""


@dataclass(frozen=True, slots=True)
class Extras:
    """What is asked only on demand, because it costs something or takes long.

    A hold left open for its hour, a payment of the least amount to an own address (which costs its fee), and as many
    calls in a second as the documents allow.
    """

    leave_hold: bool = False
    pay_own: bool = False
    pace: bool = False


def probe(*, account: Account, currency: Currency, means: Means, extras: Extras | None = None) -> list[Answer]:
    """Ask everything that is safe, and whatever `extras` add; every answer is stored. Raises `CannotProbe`."""
    extras, answers = extras or Extras(), [*_left_hold(account, means)]
    try:
        address = means.reader.call("get_deposit_address", currency=currency.code)
        answers += _refusals(currency, address.address, means)
        answers += _life_of_a_hold(account, currency, address, means)
        answers += probe_readings.ledger(means.reader)
        answers += probe_readings.transfers(account)
        answers += probe_readings.closed_subaccounts(means.reader)
        if extras.pace:
            answers.append(probe_readings.pace(means))
        if extras.pay_own:
            answers.append(_rollback_after_commit(account, currency, address, means))
        if extras.leave_hold and not any(answer.name == _LEFT and answer.value for answer in answers):
            answers.append(_leave_one(account, currency, address, means))
    except CallFailed as failure:
        raise CannotProbe(f"Unexpected response from the exchange: {failure}") from failure
    for answer in answers:
        facts.note(account=account, name=f"{PREFIX}{answer.name}", value=answer.value, now=means.now())
    return answers


def is_probe(*, account: Account, public_comment: str) -> bool:
    """Whether a transaction with this comment was made by a probe of ours."""
    return public_comment.startswith("probe-") and account.facts.filter(name=TAG, value=public_comment).exists()


def is_own_payment(*, account: Account, exchange_id: str) -> bool:
    """Whether this transaction was paid by a probe of ours, to an address of our own."""
    return account.facts.filter(name=PAID, value=exchange_id).exists()


def smallest(currency: Currency) -> Decimal:
    """The least amount that may be paid out: the minimum, or one unit of the last digit."""
    unit = Decimal(1).scaleb(-(currency.precision_payout or 0))
    return max(currency.payout_minimal_amount or unit, unit)


def cheapest(*, account: Account, quote: str, now: datetime) -> Currency:
    """The currency whose least payout is worth the least, of those that the bank wallet can pay with its fee.

    What can't be valued comes last, and what needs a payment id is left out. Raises `CannotProbe` when there is none.
    """
    available = dict(Balance.objects.filter(account=account, wallet=Balance.BANK).values_list("currency", "available"))
    currencies = Currency.objects.filter(
        code__in=available, crypto=True, payout_enabled=True, delisted=False, payout_is_payment_id=False
    )
    amounts = {row: smallest(row) + (row.payout_fee or Decimal(0)) for row in currencies}
    amounts = {row: amount for row, amount in amounts.items() if available[row.code] >= amount}
    if not amounts:
        raise CannotProbe(
            f"{account.name}: no currency has enough in the bank account for a minimum payout and its fee. Deposit a "
            "small amount, or choose one with --currency once balances are loaded."
        )
    values = valuation.values_of(amounts={row.code: amount for row, amount in amounts.items()}, quote=quote, now=now)
    return min(amounts, key=lambda row: (values[row.code].amount is None, values[row.code].amount or 0, row.code))


def _hold(account: Account, currency: Currency, address: records.DepositAddress, means: Means) -> tuple[str, str]:
    """Make a hold under a tag that is noted first; gives its id and tag."""
    tag = f"probe-{secrets.token_hex(8)}"
    facts.note(account=account, name=TAG, value=tag, now=means.now())
    try:
        hold_id = means.payer.create_withdrawal(
            currency=currency.code,
            amount=smallest(currency),
            address=address.address,
            payment_id=address.payment_id or "",
            public_comment=tag,
        )
    except OutcomeUnknown as unknown:
        raise CannotProbe(
            f"It is unknown whether a hold was created: {unknown.reason}. A hold pays nothing by itself. Look for the "
            f"comment {tag} in the exchange's ledger and release that hold, or let it expire."
        ) from unknown
    return hold_id, tag


def _life_of_a_hold(
    account: Account, currency: Currency, address: records.DepositAddress, means: Means
) -> Iterator[Answer]:
    estimate = means.payer.estimate_withdrawal(currency=currency.code, amount=smallest(currency))
    reserved_before, last_index = _reserved(means, currency.code), _newest_index(account)
    hold_id, tag = _hold(account, currency, address, means)
    try:
        record, waited_ms = _listed(hold_id, means, after=last_index)
        yield Answer(
            "listed_before_commit",
            record is not None,
            f"Holds are {'' if record is not None else 'not '}listed before commit.",
            record is not None,
        )
        if record is not None:
            yield Answer("listing_delay_ms", waited_ms, f"Holds are listed within {waited_ms} ms.")
            yield from _listed_as(record, tag, estimate)
            yield _reserved_by(record, currency, _reserved(means, currency.code) - reserved_before)
    finally:
        released = _release(hold_id, means)
    yield from _after_release(hold_id, released, means)


def _listed_as(record: records.Transaction, tag: str, estimate: Decimal) -> Iterator[Answer]:
    sentence = f"Status of an uncommitted hold: {record.status}."
    yield Answer("status_of_a_hold", record.status, sentence, holds=record.status == CREATED)
    echoed = record.public_comment == tag
    yield Answer("comment_is_echoed", echoed, f"The public comment is {'' if echoed else 'not '}returned.")
    fee = "not reported" if record.fee is None else decimal_text(record.fee)
    sentence = f"Hold fee: {fee}; estimate: {decimal_text(estimate)}."
    yield Answer("fee_is_the_estimate", record.fee == estimate, sentence)


def _reserved_by(record: records.Transaction, currency: Currency, grown: Decimal) -> Answer:
    with_fee = smallest(currency) + (record.fee or Decimal(0))
    sentence = f"The reserved balance increases by {decimal_text(grown)}; amount plus fee is {decimal_text(with_fee)}."
    return Answer("reserved_holds_amount_and_fee", grown == with_fee, sentence, holds=grown > 0)


def _after_release(hold_id: str, released: bool, means: Means) -> Iterator[Answer]:
    yield Answer("rollback_is_confirmed", released, f"Rollback returns {str(released).lower()}.", holds=released)
    record = means.reader.get_transaction(exchange_id=hold_id)
    sentence = f"Status after rollback: {record.status}."
    yield Answer("status_after_rollback", record.status, sentence, holds=record.status == FAILED)
    again = _outcome(lambda: means.payer.rollback_withdrawal(exchange_id=hold_id))
    yield Answer("rollback_again", again, f"A second rollback returns {again}.", holds=again is True)
    commit = _outcome(lambda: means.payer.commit_withdrawal(exchange_id=hold_id))
    after = means.reader.get_transaction(exchange_id=hold_id).status
    sentence = f"Commit after rollback returns {commit}; the status stays {after}."
    yield Answer("commit_after_rollback", commit, sentence, holds=after == FAILED)


def _rollback_after_commit(
    account: Account, currency: Currency, address: records.DepositAddress, means: Means
) -> Answer:
    """Pay an own address and roll back afterwards: that has to be refused, because the payment is on its way."""
    hold_id, _ = _hold(account, currency, address, means)
    facts.note(account=account, name=PAID, value=hold_id, now=means.now())
    commit = means.payer.commit_withdrawal(exchange_id=hold_id)
    rollback = _outcome(lambda: means.payer.rollback_withdrawal(exchange_id=hold_id))
    status = means.reader.get_transaction(exchange_id=hold_id).status
    sentence = f"Commit returns {commit}; a later rollback returns {rollback}. Final status: {status}."
    as_documented = commit and rollback == ALREADY_COMMITTED and status != FAILED
    return Answer("rollback_after_commit", rollback, sentence, holds=as_documented)


def _refusals(currency: Currency, address: str, means: Means) -> Iterator[Answer]:
    """Two calls that have to be refused; if one were not, it would only be a hold, which is released."""
    available = next(
        (b.available for b in means.reader.get_balances().records if b.currency == currency.code), Decimal(0)
    )
    too_much = available + 1
    for name, amount in (("insufficient_funds", too_much), ("validation_error", Decimal(0))):
        try:
            hold_id = means.payer.create_withdrawal(currency=currency.code, amount=amount, address=address)
        except Refused as refused:
            value = {"code": refused.code, "http_status": refused.http_status}
            sentence = f"Rejected with error code {refused.code} and HTTP status {refused.http_status}."
            yield Answer(f"refusal.{name}", value, sentence, holds=refused.http_status < 500)
        else:
            _release(hold_id, means)
            yield Answer(
                f"refusal.{name}", "accepted", "An invalid hold was accepted; it should be rejected.", holds=False
            )


def _leave_one(account: Account, currency: Currency, address: records.DepositAddress, means: Means) -> Answer:
    hold_id, _ = _hold(account, currency, address, means)
    left_at = means.now()
    return _open_until(left_at, {"id": hold_id, "at": left_at.isoformat()})


def _open_until(left_at: datetime, value: dict[str, str]) -> Answer:
    due = f"{left_at + HOUR_OVER:%Y-%m-%d %H:%M} UTC"
    return Answer(_LEFT, value, f"One hold is left open on purpose. Run the command again after {due} for the result.")


def _left_hold(account: Account, means: Means) -> Iterator[Answer]:
    """What became of a hold that an earlier probe left open; before its hour is over, when to ask again."""
    fact = facts.newest(account=account, name=LEFT_HOLD)
    if fact is None or not fact.value:
        return
    left_at = datetime.fromisoformat(fact.value["at"])
    if not clock.has_passed(HOUR_OVER, since=left_at, now=means.now()):
        yield _open_until(left_at, fact.value)
        return
    status = means.reader.get_transaction(exchange_id=fact.value["id"]).status
    ends = {CREATED: "stays open", FAILED: "is released"}.get(status, "is paid")
    yield Answer(
        facts.HOLD_END.removeprefix(PREFIX),
        status,
        f"An undecided hold {ends} after its one-hour limit.",
        holds=status == facts.LAPSES,
    )
    if status == CREATED:
        _release(fact.value["id"], means)
    yield Answer(_LEFT, {}, "The hold left open by the last run is closed.")


def _newest_index(account: Account) -> int:
    """The highest index we know: a new hold is listed after it, so older pages need not be read."""
    return account.ledger_entries.aggregate(newest=Max("index"))["newest"] or 0


def _listed(hold_id: str, means: Means, *, after: int) -> tuple[records.Transaction | None, int]:
    for tried in range(LISTING_TRIES):
        for page in means.reader.transactions_after(index=after):
            for record in page.records:
                if record.id == hold_id:
                    return record, tried * LISTING_PAUSE_MS
        means.wait_ms(LISTING_PAUSE_MS)
    return None, LISTING_TRIES * LISTING_PAUSE_MS


def _release(hold_id: str, means: Means) -> bool:
    """Roll the hold back until the exchange answers; repeating it does no harm."""
    problem: CallFailed | None = None
    for _ in range(RELEASE_TRIES):
        try:
            return means.payer.rollback_withdrawal(exchange_id=hold_id)
        except CallFailed as failure:
            problem = failure
            means.wait_ms(LISTING_PAUSE_MS)
    raise CannotProbe(f"The hold {hold_id} could not be released: {problem}. Release it at the exchange.")


def _outcome(call: Callable[[], bool]) -> bool | str:
    try:
        return call()
    except Refused as refused:
        return f"refusal {refused.code}"


def _reserved(means: Means, code: str) -> Decimal:
    listing = means.reader.get_balances()
    return next((entry.reserved for entry in listing.records if entry.currency == code), Decimal(0))
