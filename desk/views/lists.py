"""The pages and the files of lists, made from their declarations, and what a person keeps of a list."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from desk import clock
from desk.api import resources
from desk.lists import kept
from desk.lists.declared import LISTS, List
from desk.lists.exports import KINDS
from desk.lists.listing import CannotExport, Listing, export
from desk.lists.models import LONGEST_NAME, SavedFilter
from desk.models import Person
from desk.people import roles
from desk.views.rendering import show, target
from desk.web.requests import DeskRequest

View = Callable[..., HttpResponseBase]


def urls(*lists: List) -> list[URLPattern]:
    """The addresses of lists: each has its page and its files."""
    return [
        pattern
        for each in lists
        for pattern in (
            path(each.path, page(each), name=each.route),
            path(f"{each.path}export.<slug:form>", files(each), name=each.export_route),
        )
    ]


def api_urls(*lists: List) -> list[URLPattern]:
    """The addresses of lists for programs."""
    return [
        path(f"{each.interface.name}/", resources.of_list(each).as_view(), name=f"api-{each.interface.name}")
        for each in lists
        if each.interface
    ]


def page(declared: List) -> View:
    """The page of a list. One whose address says nothing opens with the person's default filter, if they chose one."""

    @require_safe
    def answered(request: DeskRequest) -> HttpResponseBase:
        _let_readers_in(request, declared)
        is_bare = not request.GET and not request.headers.get("HX-Request")
        query = kept.opening(request.user, declared) if is_bare else ""
        return redirect(f"{reverse(declared.route)}?{query}") if query else show_list(request, declared)

    return answered


def show_list(request: DeskRequest, declared: List, *, status: int = 200, **context: Any) -> HttpResponse:
    """The page, or the part of it that htmx asks for, with what its own template shows besides."""
    listing = Listing(request, declared, now=clock.now())
    topics, more = listing.of_reader.topics, listing.of_reader.context
    is_part = topics is not None and target(request) == "rows"
    context |= {
        "now": listing.now,
        "list": listing,
        "topics": topics,
        "frame": "desk/lists/_rows.html" if is_part else "base.html",
        **(more(listing) if more else {}),
    }
    parts = {**declared.parts, "totals": "desk/lists/_totals.html"}
    return show(request, declared.template, context, parts=parts, status=status)


def files(declared: List) -> View:
    """A list as a file: all that is filtered, or what was chosen of it and sent by POST."""

    @require_http_methods(["GET", "HEAD", "POST"])
    def answered(request: DeskRequest, form: str) -> HttpResponseBase:
        _let_readers_in(request, declared)
        listing = Listing(request, declared, now=clock.now())
        if form not in KINDS:
            raise Http404("Export format must be CSV or JSON.")
        chosen = request.POST.getlist("row") if request.method == "POST" else None
        try:
            return export(listing, kind=form, chosen=chosen)
        except CannotExport as problem:
            notes.error(request, f"Nothing was exported. {problem}")
            return _back(declared, request.GET.urlencode())

    return answered


def _let_readers_in(request: DeskRequest, declared: List) -> None:
    if not declared.may_see(request.user):
        raise PermissionDenied(declared.refusal)


@require_POST
def keep(request: DeskRequest, list_name: str) -> HttpResponseBase:
    """Keep the columns and the page size."""
    person, declared = _named(request, list_name)
    posted = request.POST
    try:
        kept.keep(person, declared, columns=posted.getlist("column"), size=posted.get("size", ""))
    except kept.CannotKeep as problem:
        notes.error(request, str(problem))
    return _back(declared, posted.get("query", ""))


@require_POST
def save(request: DeskRequest, list_name: str) -> HttpResponseBase:
    """Keep the filters and the order under a name."""
    person, declared = _named(request, list_name)
    name, query = request.POST.get("name", ""), request.POST.get("query", "")
    try:
        row = kept.save(person, declared, name=name, query=query)
    except kept.CannotKeep as problem:
        return _name_again(request, declared, str(problem), name=name, query=query)
    notes.success(request, f"Filter “{row.name}” saved.")
    return _back(declared, row.query)


@require_POST
def change(request: DeskRequest, list_name: str, saved_id: int) -> HttpResponseBase:
    """Rename a saved filter, make it the default or not, or delete it."""
    person, declared = _named(request, list_name)
    row = get_object_or_404(SavedFilter, pk=saved_id, person=person, list_name=declared.name)
    posted, query = request.POST, row.query
    if posted.get("action") == "rename":
        try:
            kept.rename(row, name=posted.get("name", ""))
        except kept.CannotKeep as problem:
            return _name_again(request, declared, str(problem), name=posted.get("name", ""), query=query, row=row)
    elif posted.get("action") == "delete":
        row.delete()
        notes.success(request, f"Filter “{row.name}” deleted.")
    elif posted.get("action") in {"default", "no-default"}:
        kept.set_default(row, is_default=posted["action"] == "default")
    return _back(declared, query)


def _named(request: DeskRequest, list_name: str) -> tuple[Person, List]:
    person = request.user
    if not person.has_role(*roles.ALL):
        raise PermissionDenied("Only people with a role can save filters.")
    if list_name not in LISTS:
        raise Http404("List not found.")
    return person, LISTS[list_name]


def _back(declared: List, query: str) -> HttpResponse:
    bare = kept.bare_query(query)
    return redirect(f"{reverse(declared.route)}?{bare or 'saved=none'}")


def _name_again(
    request: DeskRequest, declared: List, problem: str, *, name: str, query: str, row: SavedFilter | None = None
) -> HttpResponse:
    context = {
        "declared": declared,
        "problem": problem,
        "name": name,
        "query": kept.bare_query(query),
        "row": row,
        "longest_name": LONGEST_NAME,
        "back": f"{reverse(declared.route)}?{kept.bare_query(query) or 'saved=none'}",
    }
    return show(request, "desk/lists/name.html", context, status=422)
