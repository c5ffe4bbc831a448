"""One search box: a withdrawal, an exchange id, a hash, an address. One exact hit opens at once."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from exchange_ops import rules
from exchange_ops.forms import FindForm, entries_like, withdrawals_like
from exchange_ops.models import LedgerEntry, Withdrawal
from exchange_ops.views import accounts
from exchange_ops.views.access import requires

MOST_ROWS = 25


@require_safe
@requires(rules.may_see)
def find(request: HttpRequest) -> HttpResponse:
    """What the text names; a single withdrawal is shown instead of a list of one."""
    form, account = FindForm(request.GET), accounts.current()
    text = form.cleaned_data["q"] if form.is_valid() else ""
    rows, entries = [], []
    if text:
        found = Withdrawal.objects.filter(withdrawals_like(text), account=account).select_related("initiator")
        rows = list(found.order_by("-pk")[:MOST_ROWS])
        lines = LedgerEntry.objects.filter(entries_like(text), account=account).select_related("withdrawal")
        entries = list(lines.order_by("-index")[:MOST_ROWS])
    if len(rows) == 1 and not [entry for entry in entries if entry.withdrawal_id != rows[0].pk]:
        return redirect("withdrawal", rows[0].pk)
    context = {"find": text, "form": form, "rows": rows, "entries": entries, "now": clock.now(), "most": MOST_ROWS}
    return show(request, "exchange_ops/find.html", context)
