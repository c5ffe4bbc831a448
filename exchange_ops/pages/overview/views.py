"""The overview: which blocks a role sees, in which order and how wide; each is read again when it changes.

A row has twelve columns. Somebody with several roles sees the page of the first, and below it what the others add.
"""

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.models import Person
from desk.people import roles
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.pages.overview import house, work, worth
from exchange_ops.pages.overview.view import View, range_of
from exchange_ops.portfolio.history import RANGES
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

Row = tuple[tuple[str, int], ...]

VALUE: Final[Row] = (("balances", 8), ("allocation", 4))
BOOKS: Final[tuple[Row, ...]] = ((("accounts", 7), ("flows", 5)), (("lines", 12),))
LAYOUT: Final[dict[str, tuple[Row, ...]]] = {
    roles.TREASURY: ((("wellbeing", 12),), (("work", 8), ("deadlines", 4)), VALUE, (("requests", 12),), *BOOKS),
    roles.OPERATOR: ((("wellbeing", 12),), (("requests", 8), ("deadlines", 4)), VALUE, (("work", 12),), *BOOKS),
    roles.ADMIN: (
        (("wellbeing", 12),),
        (("staff", 8), ("work", 4)),
        VALUE,
        (("requests", 8), ("deadlines", 4)),
        *BOOKS,
    ),
    roles.AUDITOR: (
        (("wellbeing", 12),),
        (("changes", 8), ("checks", 4)),
        VALUE,
        (("requests", 8), ("work", 4)),
        *BOOKS,
    ),
}

# Blocks about the whole desk: hidden from somebody who holds the role at some accounts only.
OF_THE_DESK: Final = frozenset({"staff", "changes", "checks"})
READERS: Final[dict[str, Callable[[View], dict[str, Any]]]] = {
    "work": work.work,
    "requests": work.requests,
    "deadlines": work.deadlines,
    "balances": worth.balances,
    "allocation": worth.allocation,
    "accounts": worth.accounts,
    "flows": worth.flows,
    "lines": worth.lines,
    "wellbeing": house.wellbeing,
    "staff": house.staff,
    "changes": house.changes,
    "checks": house.checks,
}
TEMPLATES: Final = {name: f"exchange_ops/overview/_{name}.html" for name in READERS}


@require_safe
@requires(rules.may_see)
def overview(request: DeskRequest) -> HttpResponse:
    """The first page. htmx asks for a single block by the id of its element."""
    view = View(request.user, accounts.in_view(request), clock.now(), range_of(request.GET.get("range", "")))
    rows = page_rows(request.user)
    names = [name for row in rows for name, _ in row]
    target = request.htmx.target if request.htmx else None
    context: dict[str, Any] = {"now": view.now, "account": view.account, "accounts": view.accounts}
    context |= {"may_request": view.account is not None and rules.may_request(request.user)}
    context |= {"range": view.range, "ranges": RANGES}
    read = {name: READERS[name](view) for name in ([target] if target in names else names)}
    context["rows"] = [[{"template": TEMPLATES[name], "width": width} for name, width in row] for row in rows]
    return show(
        request, "exchange_ops/overview.html", _with(context, read), parts={name: TEMPLATES[name] for name in names}
    )


def _with(context: dict[str, Any], blocks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The context with the variables of all blocks, whose names never clash."""
    for variables in blocks.values():
        context |= variables
    return context


def page_rows(person: Person) -> list[Row]:
    """The rows of this person's page, each block once; a row that lost a block is filled by the others."""
    rows: list[Row] = []
    block_names: set[str] = set()
    for role, role_rows in LAYOUT.items():
        if not person.has_role(role):
            continue
        hidden = frozenset() if person.has_role(role, scope="") else OF_THE_DESK
        for row in role_rows:
            new = tuple((name, width) for name, width in row if name not in block_names | hidden)
            block_names |= {name for name, _ in new}
            if new:
                rows.append(new if len(new) == len(row) else tuple((name, 12 // len(new)) for name, _ in new))
    return rows
