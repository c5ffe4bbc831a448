"""Pages of payees: the list, one payee, adding one, and what people decide."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.lists.declared import Column, List, Rows, Value
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.context import Entry
from desk.web.requests import DeskRequest, prefilled, prefilled_number
from exchange_ops.market.models import Currency
from exchange_ops.payees import book, machine, rules, states, workflow
from exchange_ops.payees.forms import ApproveForm, PayeeFilter, PayeeForm, ReasonForm
from exchange_ops.payees.models import Payee, PayeeApproval
from exchange_ops.payees.workflow import CannotAdd, CannotDecide
from exchange_ops.shared import rules as shared_rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ONLY: Final = "Only operators and treasury can add payees."
_MESSAGES: Final = {
    states.REVIEW: "approval recorded. Another treasurer must also approve.",
    states.COOLING_OFF: "approved. It counts as an approved payee in 24 hours.",
    states.REJECTED: "rejected.",
    states.WITHDRAWN: "withdrawn.",
    states.REMOVED: "removed. Payouts to it no longer count as payouts to an approved payee.",
}


def _rows(request: DeskRequest) -> Rows:
    mine = accounts.in_view(request)
    named = {"account": mine[0]} if len(mine) == 1 else {"account__in": mine}
    rows = Payee.objects.filter(**named).select_related("account", "initiator")
    return Rows(rows, topics=machine.TOPIC, context=lambda listing: {"may_add": rules.may_add(request.user)})


PAYEES: Final = List(
    name="payees",
    title="Payees",
    one="payee",
    many="payees",
    path="payees/",
    template="exchange_ops/payees.html",
    entry=Entry(
        "Payees",
        "payees",
        "circle-user-round",
        "Money",
        order=55,
        may_see=shared_rules.may_see,
        also=("Address book", "Allowlist", "Whitelist", "Beneficiaries", "Approved destinations"),
    ),
    rows=_rows,
    may_see=shared_rules.may_see,
    filters=PayeeFilter,
    columns=(
        Column("payee", "Payee", Value("reference", reads=("pk",)), css="s-name"),
        Column("title", "Name", Value("name", "title"), css="s-to", order=("title", "pk")),
        Column("state", "Status", Value("status", "label", ("state",)), css="s-state"),
        Column("owner", "Owner", Value("owner")),
        Column("group", "Group", Value("group")),
        Value("currency"),
        Column("address", "Address", Value("address"), is_mono=True),
        Value("payment id", "payment_id"),
        Column("supplier", "Reference", Value("company reference", "supplier"), is_shown=False),
        Column("who", "Added by", Value("added by", "initiator.username"), css="s-who"),
        Column("created", "Added", Value("added at ({zone})", "created_at"), css="s-when", order=("pk",), is_time=True),
        Column("until", "Expires", Value("expires at ({zone})", "expires_at"), is_time=True),
    ),
    page="payee title state owner group address who created until supplier",
)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_add, ONLY)
def new(request: DeskRequest) -> HttpResponse:
    """Add a payee for others to approve, or one that renews the payee named in the address."""
    currencies = list(Currency.objects.filter(crypto=True).order_by("code"))
    renews = _renewed(request)
    if request.method != "POST":
        initial = prefilled(request, "currency", "address", "payment_id", "title", longest=256)
        initial = initial if renews is None else PayeeForm.renewing(renews)
        return _render_form(request, PayeeForm(initial=initial, currencies=currencies), renews)
    form = PayeeForm(request.POST, currencies=currencies)
    if not form.is_valid():
        return _render_form(request, form, renews, status=422)
    key = request.session.session_key or ""
    account, now = accounts.required(request), clock.now()
    try:
        row = workflow.add(person=request.user, account=account, now=now, session_key=key, **form.cleaned_data)
    except CannotAdd as refusal:
        for name, sentence in refusal.problems.items():
            form.add_error(name if name in form.fields else None, sentence)
        return _render_form(request, form, renews, status=422)
    what = "added" if book.renewed(row) is None else "renewal requested"
    messages.success(request, f"{row.reference}, {row.title}: {what}. Two treasurers must approve it.")
    return redirect("payee", row.pk)


@require_safe
@requires(shared_rules.may_see)
def payee(request: DeskRequest, payee_id: int) -> HttpResponse:
    """One payee: what it is, who approved it, and what can be done."""
    return _render_page(request, _row(request, payee_id))


@posted(shared_rules.may_see)
def approve(request: DeskRequest, payee_id: int) -> HttpResponse:
    """One approval with its second factor, for the digest that was on the screen."""
    row, form = _row(request, payee_id), ApproveForm(request.POST)
    if not form.is_valid():
        return _render_page(request, row, approve_form=form, status=422)
    digest = request.POST.get("digest", "")
    return _decided(request, row, "approve_form", form, workflow.approve, digest=digest, answer=form.answer, comment="")


@posted(shared_rules.may_see)
def reject(request: DeskRequest, payee_id: int) -> HttpResponse:
    """A rejection with its reason."""
    return _with_reason(request, payee_id, "reject", workflow.reject)


@posted(shared_rules.may_see)
def remove(request: DeskRequest, payee_id: int) -> HttpResponse:
    """Remove an approved payee."""
    return _with_reason(request, payee_id, "remove", workflow.remove)


@posted(shared_rules.may_see)
def withdraw(request: DeskRequest, payee_id: int) -> HttpResponse:
    """Take back what one added oneself."""
    return _decided(request, _row(request, payee_id), "", None, workflow.withdraw)


def _row(request: DeskRequest, number: int) -> Payee:
    rows = Payee.objects.filter(account__in=accounts.in_view(request)).select_related("account", "initiator")
    return get_object_or_404(rows, pk=number)


def _with_reason(request: DeskRequest, number: int, prefix: str, act: Callable[..., Payee]) -> HttpResponse:
    row, form = _row(request, number), ReasonForm(request.POST, prefix=prefix)
    if not form.is_valid():
        forms: dict[str, Any] = {f"{prefix}_form": form}
        return _render_page(request, row, status=422, **forms)
    return _decided(request, row, f"{prefix}_form", form, act, reason=form.cleaned_data["reason"])


def _decided(
    request: DeskRequest, row: Payee, name: str, form: Any, act: Callable[..., Payee], **words: Any
) -> HttpResponse:
    key = request.session.session_key or ""
    try:
        row = act(payee_id=row.pk, person=request.user, now=clock.now(), session_key=key, **words)
    except (CannotDecide, CannotConfirm) as refusal:
        forms = {name: form} if name else {}
        return _render_page(request, _row(request, row.pk), refusal=str(refusal), status=409, **forms)
    messages.success(request, f"{row.reference}, {row.title}: {_MESSAGES[row.state]}")
    return redirect("payee", row.pk)


def _renewing(request: DeskRequest, row: Payee) -> dict[str, Any]:
    """What the page says of the payee that this one renews, and of those that renew it."""
    earlier, now = book.renewed(row), clock.now()
    return {
        "now": now,
        "renews": earlier,
        "changes": workflow.changes(earlier, row) if earlier else [],
        "renewals": workflow.renewals(row),
        "may_renew": rules.may_add(request.user, row.account_id) and workflow.is_renewable(row, now),
    }


def _renewed(request: DeskRequest) -> Payee | None:
    """The payee that a link asks to renew, if it can be renewed now."""
    number = prefilled_number(request, "renew")
    if number is None:
        return None
    row = Payee.objects.filter(pk=number, account__in=accounts.in_view(request)).first()
    return row if row is not None and workflow.is_renewable(row, clock.now()) else None


def _render_form(request: DeskRequest, form: PayeeForm, renews: Payee | None, *, status: int = 200) -> HttpResponse:
    return show(request, "exchange_ops/payee_new.html", {"form": form, "renews": renews}, status=status)


def _render_page(
    request: DeskRequest, row: Payee, *, refusal: str = "", status: int = 200, **forms: Any
) -> HttpResponse:
    person = request.user
    is_own, may_decide = row.initiator_id == person.pk, rules.may_decide(person, row)
    waits = row.state == states.REVIEW
    approvals = PayeeApproval.objects.filter(payee=row).select_related("person")
    may_reject = waits and may_decide and not is_own
    context = {
        **_renewing(request, row),
        "row": row,
        "approvals": approvals,
        "counting": len(book.BALLOT.counting_by_row([row], stage="review", verdict="approve").get(row.pk, [])),
        "needed": states.APPROVALS,
        "warnings": workflow.warnings(row) if waits else [],
        "waits": waits,
        "may_approve": may_reject and person.pk not in {vote.person_id for vote in approvals},
        "may_reject": may_reject,
        "may_withdraw": waits and is_own,
        "may_remove": may_decide and row.state in {states.COOLING_OFF, states.ACTIVE},
        "may_pay": row.state == states.ACTIVE and shared_rules.may_request(person, row.account_id),
        "place": urlencode({name: getattr(row, name) for name in ("currency", "address", "payment_id")}),
        "purpose": machine.PURPOSE,
        "refusal": refusal,
        "approve_form": ApproveForm(),
        "reject_form": ReasonForm(prefix="reject"),
        "remove_form": ReasonForm(prefix="remove"),
        **forms,
    }
    parts = {"payee": "exchange_ops/payee/_payee.html"}
    return show(request, "exchange_ops/payee.html", context, parts=parts, status=status)
