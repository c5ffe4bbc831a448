"""Pages for drafting new rules, agreeing to them, stopping them, and reading earlier versions."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.as_known.moments import MomentForm
from desk.models import Person
from desk.people import scopes
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.policy import comparison, payout_rules, quorum, ruleset
from exchange_ops.policy.comparison import Difference
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.policy.modes import BEYOND
from exchange_ops.policy.ruleset import Rules
from exchange_ops.policy_changes import back_test, open_requests, rules, states, workflow
from exchange_ops.policy_changes.forms import ConfirmForm, Editor, EndForm
from exchange_ops.policy_changes.models import PolicyChange
from exchange_ops.policy_changes.workflow import CannotChange
from exchange_ops.shared import rules as shared_rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires

ONLY = "Only treasury and administrators can change the rules."


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_keep, ONLY)
def draft(request: DeskRequest) -> HttpResponse:
    """The rules in force to be edited, then what differs, then a second factor for exactly that."""
    posted_fields, person = request.POST if request.method == "POST" else None, request.user
    editor = Editor(posted_fields, start=workflow.in_force(), person=person)
    if request.method != "POST":
        return _editor_page(request, editor)
    if not editor.is_valid():
        return _editor_page(request, editor, sentences=editor.problems(), status=422)
    sentences = editor.contradictions() or workflow.problems(editor.rules())
    if sentences or "back" in request.POST:
        return _editor_page(request, editor, sentences=sentences, status=422 if sentences else 200)
    return _reviewed(request, editor, editor.rules())


def _reviewed(request: DeskRequest, editor: Editor, new_rules: Rules) -> HttpResponse:
    if "confirmed" not in request.POST:
        return _review_page(request, editor, new_rules, ConfirmForm())
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return _review_page(request, editor, new_rules, form, status=422)
    try:
        row = workflow.propose(
            new_rules=new_rules, reason=editor.form.cleaned_data["reason"], **_confirmation(request, form)
        )
    except (CannotChange, CannotConfirm) as problem:
        return _review_page(request, editor, new_rules, form, refusal=str(problem), status=409)
    sentence = f"{row.reference} proposed. Nothing changes until a second person approves it."
    messages.success(request, sentence, extra_tags=f"policy-draft-{row.base}")
    return redirect("policy-change", row.pk)


@require_safe
@requires(shared_rules.may_see)
def change(request: DeskRequest, change_id: int) -> HttpResponse:
    """One change: what differs, which open requests it affects, and what can be done about it."""
    return _change_page(request, get_object_or_404(PolicyChange, pk=change_id))


@posted(rules.may_keep, ONLY)
def agree(request: DeskRequest, change_id: int) -> HttpResponse:
    """Agree as the second person."""
    row, form = get_object_or_404(PolicyChange, pk=change_id), ConfirmForm(request.POST)
    if not form.is_valid():
        return _change_page(request, row, confirm_form=form, status=422)
    try:
        row = workflow.agree(change_id=row.pk, **_confirmation(request, form))
    except (CannotChange, CannotConfirm) as problem:
        return _change_page(request, row, confirm_form=form, refusal=str(problem), status=409)
    messages.success(request, f"{row.reference}: {row.sentence}")
    return redirect("policy-change", row.pk)


@posted(rules.may_keep, ONLY)
def withdraw_or_reject(request: DeskRequest, change_id: int) -> HttpResponse:
    """Take a change back, or reject it."""
    row, form = get_object_or_404(PolicyChange, pk=change_id), EndForm(request.POST)
    if not form.is_valid():
        return _change_page(request, row, end_form=form, status=422)
    key = request.session.session_key or ""
    try:
        row = workflow.withdraw_or_reject(
            change_id=row.pk,
            actor=request.user,
            comment=form.cleaned_data["comment"],
            session_key=key,
            now=clock.now(),
        )
    except CannotChange as problem:
        return _change_page(request, row, end_form=form, refusal=str(problem), status=409)
    messages.success(request, f"{row.reference}: {row.sentence}")
    return redirect("policy-change", row.pk)


@require_safe
@requires(shared_rules.may_see)
def version(request: DeskRequest, number: int) -> HttpResponse:
    """One version as it was published, with what it changed."""
    row = get_object_or_404(PolicyVersion.objects.select_related("published_by"), number=number)
    context = _in_version(request, row) | {
        "now": clock.now(),
        "is_in_force": quorum.current() == row,
        "after": PolicyVersion.objects.filter(number=number + 1).first(),
    }
    return show(request, "exchange_ops/policy_version.html", context)


@require_safe
@requires(shared_rules.may_see)
def as_known(request: DeskRequest) -> HttpResponse:
    """The rules that were in force at a moment; without one, the form that asks for it."""
    form = MomentForm(request.GET, now=clock.now())
    moment = form.moment()
    context: dict[str, Any] = {"form": form, "moment": moment}
    if moment:
        version = quorum.in_force_at(moment.at)
        later = PolicyVersion.objects.filter(published_at__gt=moment.at).order_by("number")
        context |= {"later": later, **(_in_version(request, version) if version else {})}
    status = 422 if form.is_bound and moment is None else 200
    return show(request, "exchange_ops/policy_as_known.html", context, status=status)


def _in_version(request: DeskRequest, row: PolicyVersion) -> dict[str, Any]:
    """What a page says of one version: its rules, what it changed, and the change that it came from."""
    before = PolicyVersion.objects.filter(number=row.number - 1).first()
    version_rules, person = ruleset.rules_of(row), request.user
    changes = PolicyChange.objects.filter(version_number=row.number)
    return {
        "version": row,
        "rules": version_rules,
        "groups": tiers_by_account(version_rules, person, here=accounts.number(request)),
        "limits": named_limits(version_rules, person),
        "payout_rules": payout_rules_in_words(version_rules, person),
        "approval_groups": approval_groups(version_rules),
        "differences": _differences_for(person, ruleset.rules_of(before), version_rules) if before else [],
        "before": before,
        "change": changes.select_related("proposed_by", "agreed_by").first(),
    }


def tiers_by_account(version_rules: Rules, person: Person, *, here: int | None) -> list[dict[str, Any]]:
    """The tiers for every other account, then those of each account that has its own.

    The first group has no name where every account shares it. `here` is the account that the page is about: the tiers
    that apply to it are marked. Accounts where the person has no role are not named.
    """
    rows = list(shared_rules.seen_by(person, Account.objects.order_by("pk"), account="pk"))
    apart = ruleset.accounts_apart(version_rules)
    shared_by = [row.name for row in rows if row.pk not in apart]
    others = {
        "name": "All other accounts" if apart else "",
        "accounts": shared_by if apart else [],
        "tiers": ruleset.tiers_for(version_rules, None),
        "judges_here": bool(apart) and here is not None and here not in apart,
    }
    own = [
        {
            "name": row.name,
            "accounts": [],
            "tiers": ruleset.tiers_for(version_rules, row.pk),
            "judges_here": row.pk == here,
        }
        for row in rows
        if row.pk in apart
    ]
    return [others, *own]


def named_limits(version_rules: Rules, person: Person) -> list[dict[str, Any]]:
    """The limits with the names of their person and account, for the accounts where the person has a role."""
    names = workflow.names()
    return [
        {
            "kind": limit.kind,
            "beyond": BEYOND[limit.beyond],
            "most": limit.most,
            "person": "any user" if limit.person is None else names.get(f"person:{limit.person}", ""),
            "account": "any account" if limit.account is None else names.get(f"account:{limit.account}", ""),
        }
        for limit in version_rules.limits
        if limit.account is None or shared_rules.may_see(person, limit.account)
    ]


def payout_rules_in_words(version_rules: Rules, person: Person) -> list[tuple[int, str]]:
    """The rules for payouts as sentences with their numbers, for the accounts where the person has a role."""
    names = workflow.names()
    return [
        (number, payout_rules.in_words(rule, currency=version_rules.currency, names=names))
        for number, rule in enumerate(version_rules.payouts, 1)
        if rule.account is None or shared_rules.may_see(person, rule.account)
    ]


def approval_groups(version_rules: Rules) -> list[tuple[str, list[Person]]]:
    """The approval groups by name, each with its members in the order of their names."""
    members = {member for group in version_rules.groups for member in group.members}
    people = Person.objects.in_bulk(members)
    return [
        (group.name, sorted((people[member] for member in group.members), key=str)) for group in version_rules.groups
    ]


def _differences_for(person: Person, old: Rules, new: Rules) -> list[Difference]:
    """How the rules differ, without sentences about accounts where the person has no role."""
    hidden = scopes.hidden_names(person)
    differences = comparison.differences(old, new, names=workflow.names())
    return [each for each in differences if not any(name in each.sentence for name in hidden)]


def _touched(person: Person, new_rules: Rules) -> list[open_requests.TouchedRequest]:
    """The open requests that the new rules affect, on accounts where the person has a role."""
    hidden = set(scopes.hidden_names(person))
    return [each for each in open_requests.requests_touched_by(new_rules) if each.account not in hidden]


def _tried(person: Person, new_rules: Rules) -> dict[str, Any]:
    """What is questionable about the new rules, and what they would have done to the payouts of the last 90 days."""
    tested = back_test.run(new_rules, in_force=workflow.in_force(), person=person, now=clock.now())
    return {"warnings": workflow.warnings(new_rules), "tested": tested, "days": back_test.DAYS}


def _confirmation(request: DeskRequest, form: ConfirmForm) -> dict[str, Any]:
    return {
        "actor": request.user,
        "digest": request.POST.get("digest", ""),
        "answer": form.answer,
        "session_key": request.session.session_key or "",
        "now": clock.now(),
    }


def _editor_page(
    request: DeskRequest, editor: Editor, *, sentences: list[str] | None = None, status: int = 200
) -> HttpResponse:
    context = {"editor": editor, "form": editor.form, "sentences": sentences or [], "policy": quorum.current()}
    return show(request, "exchange_ops/policy_draft.html", context, status=status)


def _review_page(
    request: DeskRequest, editor: Editor, new_rules: Rules, form: ConfirmForm, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    policy, reason = quorum.current(), editor.form.cleaned_data["reason"].strip()
    base = 0 if policy is None else policy.number
    differences = workflow.compared(new_rules)
    context = {
        "now": clock.now(),
        "sent": [(name, value) for name, value in request.POST.items() if name not in _NOT_SENT],
        "base": base,
        "reason": reason,
        "differences": differences,
        "is_looser": any(each.is_looser for each in differences),
        "touched": _touched(request.user, new_rules),
        **_tried(request.user, new_rules),
        "digest": workflow.digest_of(ruleset.as_json(new_rules), base=base, reason=reason),
        "purpose": workflow.PROPOSE,
        "form": form,
        "refusal": refusal,
    }
    return show(request, "exchange_ops/policy_review.html", context, status=status)


_NOT_SENT = {"csrfmiddlewaretoken", "confirmed", "back", "code", "passkey", "digest", "purpose"}


def _change_page(
    request: DeskRequest, row: PolicyChange, *, refusal: str = "", status: int = 200, **forms: Any
) -> HttpResponse:
    person = request.user
    new_rules = ruleset.from_json(row.content)
    base = PolicyVersion.objects.filter(number=row.base).first()
    waits = row.state in {states.PROPOSED, states.AGREED}
    is_own = row.proposed_by_id == person.pk
    context = {
        "now": clock.now(),
        "row": row,
        "differences": _differences_for(person, ruleset.rules_of(base), new_rules),
        "touched": _touched(person, workflow.as_of_now(row) or new_rules) if waits else [],
        **(_tried(person, workflow.as_of_now(row) or new_rules) if waits else {}),
        "waits": waits,
        "is_own": is_own,
        "may_agree": row.state == states.PROPOSED and workflow.may_decide(person, row) and not is_own,
        "may_end": waits and (is_own or workflow.may_decide(person, row)),
        "purpose": workflow.AGREE,
        "refusal": refusal,
        "confirm_form": ConfirmForm(),
        "end_form": EndForm(),
        **forms,
    }
    parts = {"change": "exchange_ops/policy_change/_change.html"}
    return show(request, "exchange_ops/policy_change.html", context, parts=parts, status=status)
