"""Three addresses for machines: alive, ready, figures. They need no sign-in, and carry no secrets and no names."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from desk import health
from desk.models import Person
from desk.people import factors, roles, scopes
from desk.people.by_role import networks


@login_not_required
@never_cache
@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all."""
    return HttpResponse("alive\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """200 when every check is well, else 503; a sentence for each either way.

    Only somebody of the desk who may see every account reads names in it.
    """
    states, sees_names = health.states(), _sees_names(request)
    checks = {
        name: {"ok": one.ok, "sentence": one.sentence if sees_names else one.anonymous, "age_s": one.age_s}
        for name, one in states.items()
    }
    well = all(one.ok for one in states.values())
    return JsonResponse({"ready": well, "checks": checks}, status=200 if well else 503)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of this process and the checks, as Prometheus text, for the addresses of METRICS_ALLOW."""
    if not _may_read_figures(request):
        return HttpResponse(
            "This IP address is not allowed to read the metrics.\n", status=403, content_type="text/plain"
        )
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def _sees_names(request: HttpRequest) -> bool:
    person = request.user
    if not (isinstance(person, Person) and person.has_role(*roles.ALL)):
        return False
    if networks.refusing_roles(person.roles, networks.address_of(request)):
        return False
    return not scopes.hidden_names(person) and factors.may_enter(person, request.session)


def _may_read_figures(request: HttpRequest) -> bool:
    """By the peer's address; behind a proxy that is trusted the server has put the one that it forwarded there.

    A proxy that nobody named stands for anybody: what it forwards from this machine is not this machine's.
    """
    return networks.is_within(networks.address_of(request), settings.METRICS_ALLOW)
