"""The page on which treasury confirms a new colleague."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.models import Person
from desk.people import factors, roles, scopes
from desk.people.stepup import CannotConfirm
from desk.staff import colleagues, rules
from desk.staff.rules import CannotChange
from desk.views.people_forms import ConfirmForm
from desk.views.rendering import show
from desk.web.requests import DeskRequest


@require_http_methods(["GET", "HEAD", "POST"])
def colleague(request: DeskRequest, person_id: int) -> HttpResponse:
    """Who arrived, and the second factor that lets their approvals count."""
    reader = request.user
    if not (reader.has_role(roles.TREASURY) or rules.may_keep(reader)):
        raise PermissionDenied("Treasury confirms its new colleagues.")
    member = Person.objects.filter(pk=person_id, groups__name=roles.TREASURY).first()
    if member is None:
        raise Http404("There is nobody of this number in treasury.")
    if request.method != "POST":
        return _page(request, member, ConfirmForm())
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return _page(request, member, form, status=422)
    try:
        colleagues.confirm(
            person_id=member.pk,
            actor=reader,
            digest=form.cleaned_data["digest"],
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (CannotChange, CannotConfirm) as problem:
        return _page(request, member, form, refusal=str(problem), status=409)
    messages.success(request, f"{member.get_username()} is confirmed. Their approvals count from now on.")
    return redirect("action")


def _page(
    request: DeskRequest, member: Person, form: ConfirmForm, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    obstacle = colleagues.obstacle(member)
    if not obstacle and not colleagues.may_confirm(request.user, member):
        obstacle = "Somebody else of treasury has to confirm this person."
    context = {
        "now": clock.now(),
        "member": member,
        "roles": scopes.words(member.grants),
        "rests_until": factors.cooling_off_until(member, now=clock.now()),
        "obstacle": obstacle,
        "purpose": colleagues.PURPOSE,
        "digest": colleagues.digest_of(member),
        "refusal": refusal,
        "form": form,
    }
    return show(request, "desk/person_colleague.html", context, status=status)
