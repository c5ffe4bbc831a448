"""Statements as a document in PDF: each account begins a page, with what the page of the desk says of it.

Amounts are exact and grouped by commas, times are in UTC, whoever takes the file.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal

from desk import documents
from desk.documents.blocks import Block, Facts, Heading, NewPage, Table, Text
from desk.documents.values import NONE, amount, moment
from desk.personal.formats import UTC_NAME, cents, figure
from exchange_ops.ledger.directions import OTHER
from exchange_ops.shared.periods import Period
from exchange_ops.statements import proofs
from exchange_ops.statements.lines import KINDS, Line
from exchange_ops.statements.signing import SignOff
from exchange_ops.statements.statement import Statement


def as_pdf(statements: Sequence[tuple[Statement, SignOff]], *, period: Period, now: datetime) -> bytes:
    """The statements of some accounts for one period, each with how far it is signed off."""
    days = f"{period.first} to {period.last}"
    blocks: list[Block] = []
    for each, sign_off in statements:
        blocks += [NewPage(), *_of_account(each, sign_off, days)]
    names = ", ".join(each.account.name for each, _ in statements)
    return documents.pdf(
        blocks or [Heading("Statement", level=1), Text("No exchange account is set up yet.")],
        title=f"Statement {days}",
        about=f"Statement {days}: {names}" if names else f"Statement {days}",
        made_at=now,
        wide=True,
    )


def _of_account(each: Statement, sign_off: SignOff, days: str) -> Iterator[Block]:
    yield Heading(f"Statement: {each.account.name}", level=1)
    yield Text(f"{days}, whole days in {UTC_NAME}.", quiet=True)
    yield Facts(list(_facts(each, sign_off)))
    if each.support.problem:
        yield Text(f"No balances can be shown: {each.support.problem}", strong=True)
    elif each.is_provisional and not each.is_before_all:
        yield Text(
            "Provisional: the ledger was last synced before the end of this period. More entries may follow.",
            strong=True,
        )
    if each.lines:
        yield Heading("Balances and movements")
        yield from _lines(each)
    else:
        yield Text("No balances and no movements in this period.")
    if not each.is_before_all:
        yield Heading("Proof")
        yield from map(Text, _proof(each))


def _facts(each: Statement, sign_off: SignOff) -> Iterator[tuple[str, str]]:
    yield "As of", moment(each.now)
    yield (
        "Ledger last synced",
        moment(each.support.synced_at) if each.support.synced_at else "Not fully synced yet",
    )
    if each.support.begins:
        yield "First ledger entry", moment(each.support.begins)
    yield "Value at closing", _worth(each.value, each.account.quote_currency)
    yield "Prices of", str(each.priced_on)
    if each.unvalued:
        yield "Not in the value", f"{', '.join(each.unvalued)}: no known balance or no price"
    yield "Sign-off", _signed(sign_off)
    yield "Digest of the figures (SHA-256)", sign_off.digest


def _signed(sign_off: SignOff) -> str:
    people = "; ".join(f"{one.person.get_username()}, {moment(one.at)}" for one in sign_off.signatures)
    if sign_off.signed is not None and sign_off.signatures:
        state = "signed off by" if sign_off.is_done else "needs another signature, signed by"
        return f"{sign_off.signed.reference}: {state} {people}"
    if sign_off.outdated is not None:
        return f"Not signed. Other figures were signed for this period: {sign_off.outdated.reference}"
    return "Not signed"


def _lines(each: Statement) -> Iterator[Block]:
    kinds = {kind: label for kind, label in KINDS.items() if any(line.movements[kind].count for line in each.lines)}
    quote = each.account.quote_currency
    head = ["Currency", "Wallet", "Opening", *kinds.values(), "Closing", f"Price in {quote}", f"Value in {quote}"]
    rows = [
        [
            *(line.currency, line.wallet_label, amount(line.opening)),
            *(_movement(line, kind) for kind in kinds),
            *(
                amount(line.closing),
                _price(line, each.priced_on),
                NONE if line.value is None else cents(line.value),
            ),
        ]
        for line in each.lines
    ]
    total = ["Total", *("" for _ in head[2:]), "" if each.value is None else cents(each.value)]
    yield Table(head, rows, figures=range(2, len(head)), total=total)
    if still := [label for kind, label in KINDS.items() if kind not in kinds]:
        yield Text(f"No movements of these kinds: {', '.join(still)}.", quiet=True)
    for line in each.lines:
        if line.reason:
            yield Text(f"{line.currency}, {line.wallet_label}: {line.reason}")


def _movement(line: Line, kind: str) -> str:
    movement = line.movements[kind]
    if kind == OTHER and movement.count:
        return f"{movement.count} entr{'y' if movement.count == 1 else 'ies'}"
    return amount(movement.amount, plus=True)


def _price(line: Line, day: date) -> str:
    """The price that values the closing, with its day where that is not the day of the others."""
    if line.price is None:
        return "none"
    if not line.price.via:
        return "1"
    rate = figure(line.price.rate)
    return rate if line.price.day == day else f"{rate}\nof {line.price.day}"


def _proof(each: Statement) -> Iterator[str]:
    proof, outcome, late = each.proof, each.reconciled, each.late
    differ = f"{proof.differing} of them differ from the chain." if proof.differing else "None differs from the chain."
    yield (
        f"Ledger entries: {proof.entries}. Proven on-chain: {proof.on_chain}. Confirmed by the exchange\u2019s ledger: "
        f"{proof.by_exchange}. Notified by the exchange, not yet compared: {proof.by_stream}. {differ}"
    )
    if outcome.state == proofs.NOT_YET or outcome.at is None:
        yield "Not reconciled yet: there has been no reconciliation since the closing."
    elif outcome.state == proofs.AGREES:
        yield f"Reconciled: the first reconciliation after the closing, {moment(outcome.at)}, agrees."
    else:
        amounts = ", ".join(amount(each, code, plus=True) for code, each in outcome.differences.items())
        yield f"Differs: the first reconciliation after the closing, {moment(outcome.at)}, differs: {amounts}."
    if outcome.not_verifiable:
        yield f"Not verifiable, because of an unknown transaction type: {', '.join(outcome.not_verifiable)}."
    if outcome.incidents:
        yield f"Incidents open at the closing: {', '.join(row.reference for row in outcome.incidents)}."
    if late.count and late.last is not None:
        yield (
            f"Records dated before the end of this period and read after it: {late.count}, the last one "
            f"{moment(late.last)}. A statement made before then can differ."
        )


def _worth(value: Decimal | None, currency: str) -> str:
    return "Unknown" if value is None else f"{cents(value)} {currency}"
