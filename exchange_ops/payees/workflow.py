"""The interface of payees: add one, decide on it, withdraw it, remove it, and end what is due."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from desk.machines import votes
from desk.machines.decisions import Act, Decisions
from desk.machines.queue import Queue, Step
from exchange_ops.addresses import destinations, lookalikes, owners
from exchange_ops.addresses.destinations import Destination
from exchange_ops.market.models import Currency
from exchange_ops.payees import book, machine, rules, states
from exchange_ops.payees.models import LONGEST_TEXT, LONGEST_TITLE, Payee, PayeeApproval
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM

if TYPE_CHECKING:
    from desk.models import Person

NOT_SEEN: Final = "The payee changed after you opened it. Refresh, then decide."


class CannotAdd(Exception):
    """The payee was not added; `problems` has a sentence for each field."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


class CannotDecide(Exception):
    """The decision was not taken; the text is the sentence for the person."""


def add(
    *,
    person: "Person",
    account: Account,
    currency: str,
    address: str,
    payment_id: str,
    title: str,
    owner: str,
    evidence: str,
    now: datetime,
    group: str = "",
    supplier: str = "",
    session_key: str = "",
) -> Payee:
    """Add a payee for others to approve; who adds the same again gets the open row. Raises CannotAdd."""
    if not rules.may_add(person, account):
        raise CannotAdd({FORM: "Payee not added: only operators and treasury can add payees."})
    texts = {"title": title, "owner": owner, "group": group, "supplier": supplier, "evidence": evidence}
    row = Payee(account=account, initiator=person)
    if problems := fill(row, {**texts, "currency": currency, "address": address, "payment_id": payment_id}):
        raise CannotAdd(problems)
    row.digest = book.digest_of(row)
    if (twin := _approved_twin(row, now)) is not None:
        return twin
    try:
        with transaction.atomic():
            machine.create(row, event="added", now=now, actor=person, session_key=session_key)
            machine.touch(row, next_action_at=now + states.OPEN_FOR)
    except IntegrityError:
        return _open_twin(row)
    return row


def fill(row: Payee, fields: Mapping[str, str]) -> dict[str, str]:
    """Fill an unsaved row with what was entered, its recipient in normal form. Gives the problems, by field."""
    texts = {name: fields[name].strip() for name in ("title", "owner", "group", "supplier", "evidence")}
    destination, problems = _destination(fields["currency"], fields["address"], fields["payment_id"])
    problems |= _text_problems(texts)
    if not problems and destination is not None:
        recipient = {"address": destination.address, "payment_id": destination.payment_id}
        for name, text in {**texts, **recipient, "currency": fields["currency"]}.items():
            setattr(row, name, text)
    return problems


def approve(
    *,
    payee_id: int,
    person: "Person",
    digest: str,
    answer: dict[str, Any],
    comment: str,
    session_key: str,
    now: datetime,
) -> Payee:
    """One person's approval; the second one begins the cooling-off period. Raises CannotDecide, `CannotConfirm`."""
    act = Act(person, now, session_key, comment, digest, answer)
    with DECISIONS.on(payee_id) as row:
        _refuse(row, act)
        if digest != row.digest or digest != book.digest_of(row):
            raise CannotDecide(NOT_SEEN)
        confirmation = DECISIONS.confirm_approval(row, act)
        DECISIONS.keep(row, act, stage=PayeeApproval.REVIEW, verdict=PayeeApproval.APPROVE, confirmation=confirmation)
        people = votes.people(current(row))
        evidence = {"approvals": people, "needed": states.APPROVALS, "digest": row.digest, **confirmation.evidence()}
        if people < states.APPROVALS:
            machine.move(
                row,
                event="approval_recorded",
                to=states.REVIEW,
                next_action_at=row.next_action_at,
                evidence=evidence,
                **act.moved,
            )
        else:
            if book.of_recipient(row).filter(state=states.COOLING_OFF).exists():
                raise CannotDecide("Another payee with this recipient was approved meanwhile. Reject this one.")
            counts_from = now + states.COOLING
            machine.move(
                row,
                event="quorum_reached",
                to=states.COOLING_OFF,
                next_action_at=counts_from,
                counts_from=counts_from,
                expires_at=counts_from + states.LASTS,
                evidence=evidence,
                **act.moved,
            )
    return row


def reject(*, payee_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Payee:
    """One treasurer's rejection ends it. It needs a reason but no second factor. Raises CannotDecide."""
    reason = DECISIONS.reason(reason, asks="Enter a reason for the rejection; the person who added it will see it.")
    act = Act(person, now, session_key, reason)
    with DECISIONS.on(payee_id) as row:
        _refuse_person(row, person)
        if row.state != states.REVIEW:
            raise CannotDecide(_why_over(row))
        DECISIONS.keep(row, act, stage=PayeeApproval.REVIEW, verdict=PayeeApproval.REJECT)
        _end(row, act, event="rejected", to=states.REJECTED, words=f"Rejected by {person}: {reason}")
    return row


def withdraw(*, payee_id: int, person: "Person", now: datetime, session_key: str = "") -> Payee:
    """Whoever added it takes it back before it is approved. Raises CannotDecide."""
    act = Act(person, now, session_key)
    with DECISIONS.on(payee_id) as row:
        if row.initiator_id != person.pk:
            raise CannotDecide("Only the person who added this payee can withdraw it.")
        if row.state != states.REVIEW:
            raise CannotDecide(_why_over(row))
        _end(row, act, event="withdrawn", to=states.WITHDRAWN)
    return row


def remove(*, payee_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Payee:
    """Remove an approved payee: at once, by one treasurer, because it only tightens. Raises CannotDecide."""
    reason = DECISIONS.reason(reason, asks="Enter a reason for removing the payee.")
    act = Act(person, now, session_key, reason)
    with DECISIONS.on(payee_id) as row:
        if not rules.may_decide(person, row):
            raise CannotDecide("Only treasury can remove payees.")
        if row.state not in {states.COOLING_OFF, states.ACTIVE}:
            raise CannotDecide(_why_over(row))
        _end(row, act, event="removed", to=states.REMOVED, words=f"Removed by {person}: {reason}")
        for renewal in renewals(row):
            _end_renewal(renewal.pk, act, row)
    return row


def renewals(row: Payee) -> QuerySet[Payee]:
    """The payees that wait or cool off to renew this one; they end when it is removed."""
    later = book.of_recipient(row).filter(pk__gt=row.pk, state__in=(states.REVIEW, states.COOLING_OFF))
    return later.select_related("initiator")


def is_renewable(row: Payee, now: datetime) -> bool:
    """Whether the same recipient can be added once more: in the last month, while no renewal is under way."""
    return row.state == states.ACTIVE and now >= renewable_from(row) and not renewals(row).exists()


def changes(earlier: Payee, row: Payee) -> list[tuple[str, str, str]]:
    """What differs between a renewal and the payee that it renews: the fact's name, its earlier and its new text."""
    names = {"title": "Name", "owner": "Owner", "group": "Group", "supplier": "Reference"}
    texts = [(words, getattr(earlier, name), getattr(row, name)) for name, words in names.items()]
    return [(words, before, after) for words, before, after in texts if before != after]


def renewable_from(row: Payee) -> datetime:
    """From when an approved payee can be renewed."""
    return (row.expires_at or row.created_at) - states.RENEWABLE


def current(row: Payee) -> QuerySet[PayeeApproval]:
    """The approvals that count now: proven, by active people of treasury other than whoever added it."""
    return book.BALLOT.counting(row, stage=PayeeApproval.REVIEW, verdict=PayeeApproval.APPROVE)


def undecided() -> QuerySet[Payee]:
    """Everything that waits for approvals, the oldest first."""
    return Payee.objects.filter(state=states.REVIEW).select_related("account", "initiator").order_by("created_at", "pk")


def waiting() -> votes.Waiting[Payee]:
    """Who can approve what now."""
    return votes.Waiting(book.BALLOT, undecided(), book.BALLOT.on_row(verdict=PayeeApproval.APPROVE))


def warnings(row: Payee) -> list[str]:
    """What approvers should check: an address like a known one, one of our own, no checksum, no payment id."""
    currency = Currency.objects.filter(pk=row.currency).first()
    sentences: list[str] = []
    if currency is not None:
        destination, _ = _destination(row.currency, row.address, row.payment_id)
        sentences += destination.warnings if destination else ()
    if is_own(row):
        sentences.append("This address belongs to the company.")
    others = Payee.objects.filter(account=row.account_id, currency=row.currency)
    if nearest := lookalike(row, others):
        sentences.append(f"This address resembles {nearest}, another payee's, but is not the same.")
    return sentences


def is_own(row: Payee) -> bool:
    """Whether the address belongs to the company itself."""
    return bool(owners.owners({row.address}))


def lookalike(row: Payee, others: Iterable[Payee]) -> str:
    """The address of another of these payees, of the same currency, that this one may be mistaken for; else empty."""
    payees = lookalikes.KnownAddresses(
        form
        for address in {other.address for other in others} - {row.address}
        for form in lookalikes.in_each_form(row.currency, address)
    )
    for form in lookalikes.in_each_form(row.currency, row.address):
        if (nearest := payees.nearest(form)) is not None:
            return nearest.text
    return ""


def _activate(row: Payee, *, now: datetime, client_for: Any = None) -> None:
    if (earlier := book.renewed(row)) is not None:
        machine.move(
            machine.lock(earlier.pk),
            event="renewed",
            to=states.RENEWED,
            now=now,
            next_action_at=None,
            last_problem=f"Renewed by {row.reference}, {row.title}.",
            evidence={"renewal": row.reference},
        )
    machine.move(row, event="activated", to=states.ACTIVE, now=now, next_action_at=row.expires_at)


def _expire(row: Payee, *, now: datetime, client_for: Any = None) -> None:
    machine.move(row, event="expired", to=states.EXPIRED, now=now, next_action_at=None)


def _lapse(row: Payee, *, now: datetime, client_for: Any = None) -> None:
    machine.move(row, event="lapsed", to=states.LAPSED, now=now, next_action_at=None)


STEPS: Final[dict[str, Step]] = {
    states.REVIEW: _lapse,
    states.COOLING_OFF: _activate,
    states.ACTIVE: _expire,
}
QUEUE: Final = Queue(machine.MACHINE, STEPS, read_with=("account", "initiator"))
look, sweep = QUEUE.look, QUEUE.sweep


def _destination(code: str, address: str, payment_id: str) -> tuple[Destination | None, dict[str, str]]:
    currency = Currency.objects.filter(pk=code).first()
    if currency is None or not currency.crypto:
        return None, {"currency": "Choose a currency that is paid to addresses."}
    try:
        return destinations.check(currency=currency, address=address, payment_id=payment_id), {}
    except destinations.CannotUseDestination as problem:
        return None, problem.problems


def _text_problems(texts: dict[str, str]) -> dict[str, str]:
    asks = {
        "title": "Enter a name for this payee.",
        "owner": "Enter who is paid at this address.",
        "evidence": "Enter how the address was checked, for example by phone with a known contact.",
    }
    problems = {name: sentence for name, sentence in asks.items() if not texts[name]}
    for name, text in texts.items():
        longest = LONGEST_TEXT if name == "evidence" else LONGEST_TITLE
        if len(text) > longest:
            problems[name] = f"At most {longest} characters."
    return problems


def _approved_twin(row: Payee, now: datetime) -> Payee | None:
    """The approved payee that the same form added. Raises CannotAdd for one of another form, before it is renewable."""
    for other in book.of_recipient(row).filter(state__in=(states.COOLING_OFF, states.ACTIVE)).order_by("-pk"):
        if other.state == states.ACTIVE and now >= renewable_from(other):
            continue
        if other.digest == row.digest:
            return other
        when = f"{renewable_from(other):%Y-%m-%d %H:%M} UTC"
        raise CannotAdd({"address": f"{_listed(other)} It can be renewed from {when}."})
    return None


def _listed(other: Payee | None) -> str:
    which = "" if other is None else f" ({other.reference}, {other.title})"
    return f"Payee not added: this address and payment ID are already in the list{which}."


def _end_renewal(number: int, act: Act, removed: Payee) -> None:
    """End a renewal together with the payee that it was to renew: whoever removes one trusts neither."""
    row = machine.lock(number)
    waits = row.state == states.REVIEW
    event, to = ("rejected", states.REJECTED) if waits else ("removed", states.REMOVED)
    if waits and row.initiator_id == act.person.pk:
        event, to = "withdrawn", states.WITHDRAWN
    _end(row, act, event=event, to=to, words=f"{removed.reference} was removed by {act.person}: {act.comment}")


def _open_twin(row: Payee) -> Payee:
    twin = book.of_recipient(row).filter(state=states.REVIEW).first()
    if twin is not None and twin.digest == row.digest:
        return twin
    raise CannotAdd({"address": _listed(twin)})


def _refuse(row: Payee, act: Act) -> None:
    _refuse_person(row, act.person)
    DECISIONS.refuse_while_cooling_off(act)
    if row.state != states.REVIEW:
        raise CannotDecide(_why_over(row))


def _refuse_person(row: Payee, person: "Person") -> None:
    if row.initiator_id == person.pk:
        raise CannotDecide("You added this payee, so other treasurers must decide.")
    if not rules.may_decide(person, row):
        raise CannotDecide("Only treasury can decide on payees.")


def _end(row: Payee, act: Act, *, event: str, to: str, words: str = "") -> None:
    evidence = {"reason": act.comment} if act.comment else {}
    machine.move(row, event=event, to=to, evidence=evidence, last_problem=words[:500], next_action_at=None, **act.moved)


def _why_over(row: Payee) -> str:
    if row.state == states.REVIEW:
        return "A colleague has just acted on this payee. Refresh, then decide."
    return f"No decision needed: {row.label[0].lower()}{row.label[1:]}."


DECISIONS: Final = Decisions(
    machine.PURPOSE,
    CannotDecide,
    machine.MACHINE,
    missing="Payee not found.",
    why_over=_why_over,
    ballot=book.BALLOT,
    given_already="Your decision is already recorded; another treasurer must also decide.",
)
