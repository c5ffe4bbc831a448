"""The description of the interface for programs, drawn from its schema by local scripts."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from desk.views.rendering import show
from exchange_ops.shared import rules
from exchange_ops.shared.views.access import requires


@require_safe
@requires(rules.may_see)
def interface(request: HttpRequest) -> HttpResponse:
    """One page; what it lists comes from /api/v1/schema/."""
    return show(request, "exchange_ops/api_docs.html", {})
