"""What left the desk and whether it arrived, sending it again, and the demo's mailbox."""

from datetime import datetime
from typing import Final

from django import forms
from django.conf import settings
from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from desk import clock
from desk.lists.declared import Column, List
from desk.lists.filters import DatedForm
from desk.lists.listing import Listing
from desk.machines.mover import CannotMove
from desk.models import Person
from desk.notifications import channels, delivering, messages, states
from desk.notifications.models import Delivery, Medium
from desk.people import roles
from desk.views import lists
from desk.views.rendering import show
from desk.web.requests import DeskRequest

MAILS_SHOWN = 50


class DeliveryFilter(DatedForm):
    """Which deliveries to list."""

    dated, dated_label = "created_at", "Made"

    state = forms.ChoiceField(label="State", required=False, choices=[("", "Any state"), *states.TABLE.choices])
    way = forms.ChoiceField(label="Way", required=False, choices=[("", "Any way"), *Medium.choices])

    def narrow(self, rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
        """Only the deliveries that every filter which is set lets through."""
        chosen = self.chosen()
        rows = rows.filter(state=chosen["state"]) if "state" in chosen else rows
        return rows.filter(medium=chosen["way"]) if "way" in chosen else rows


DELIVERIES: Final = List(
    name="deliveries",
    one="delivery",
    many="deliveries",
    route="deliveries",
    export_route="deliveries-export",
    cells="desk/deliveries/_cells.html",
    css="reflow",
    filters=DeliveryFilter,
    columns=(
        Column(name="number", head="Number", css="d-number"),
        Column(name="about", head="About", css="d-about"),
        Column(name="why", head="Why", css="d-why"),
        Column(name="to", head="To"),
        Column(name="state", head="State"),
        Column(name="tries", head="Tries", is_end=True),
        Column(name="made", head="Made", order=("pk",), is_time=True),
        Column(name="again", head="Send again", css="d-again"),
        Column(name="sent", head="Sent", is_shown=False, is_time=True),
    ),
    exported=(
        ("number", "reference"),
        ("about", "notification.reference"),
        ("what", "notification.title"),
        ("why", "notification.get_stage_display"),
        ("way", "get_medium_display"),
        ("person", "person.username"),
        ("channel", "channel.name"),
        ("state", "label"),
        ("problem", "last_problem"),
        ("tries", "attempts"),
        ("made at ({zone})", "created_at"),
        ("sent at ({zone})", "sent_at"),
    ),
    reads={
        "reference": ("pk",),
        "label": ("state",),
        "notification.get_stage_display": ("stage",),
        "get_medium_display": ("medium",),
    },
)
PARTS: Final = {"rows": "desk/deliveries/_rows.html", "totals": "desk/lists/_totals.html"}


@require_safe
def deliveries(request: DeskRequest) -> HttpResponseBase:
    """The newest first unless it is sorted otherwise."""
    _reader(request)
    return _opened(request)


@require_http_methods(["GET", "HEAD", "POST"])
def export(request: DeskRequest, form: str) -> HttpResponseBase:
    """The filtered deliveries as a file, or the chosen ones."""
    _reader(request)
    return lists.file(_listing(request, clock.now()), form)


@lists.opens(DELIVERIES)
def _opened(request: DeskRequest) -> HttpResponse:
    now = clock.now()
    context = {
        "now": now,
        "list": _listing(request, now),
        "topics": "deliveries",
        "may_keep": channels.may_keep(request.user),
        "email_is_set_up": bool(settings.EMAIL_HOST),
        "mailbox": settings.MAILBOX,
    }
    return show(request, "desk/deliveries.html", context, parts=PARTS)


def _listing(request: DeskRequest, now: datetime) -> Listing:
    rows = Delivery.objects.select_related("notification", "person", "channel")
    return Listing(request, DELIVERIES, rows, now=now)


@require_POST
def send_again(request: DeskRequest, delivery_id: int) -> HttpResponse:
    """Once more, with the same id; a receiver that has it already can tell."""
    person = _reader(request)
    if not channels.may_keep(person):
        raise PermissionDenied("Administrators send a message again.")
    row = get_object_or_404(Delivery, pk=delivery_id)
    try:
        delivering.again(row, actor=person, session_key=request.session.session_key or "", now=clock.now())
    except CannotMove:
        notes.warning(request, f"{row.reference} was not sent again: it is on its way, or it is not needed any more.")
    else:
        notes.success(request, f"{row.reference} is sent again now, with the same id.")
    return redirect("deliveries")


@require_safe
def mailbox(request: DeskRequest) -> HttpResponse:
    """What the demo mailed: to this person, or to everybody for those who read the deliveries."""
    person = request.user
    if not person.has_role(*roles.ALL):
        raise PermissionDenied("Only somebody with a role sees what the desk mailed.")
    if not settings.MAILBOX:
        raise Http404("Only the demo without a mail server has a mailbox.")
    rows = Delivery.objects.filter(medium=Medium.EMAIL, state=states.DELIVERED).order_by("-pk")
    sees_all = channels.may_read(person)
    if not sees_all:
        rows = rows.filter(person=person)
    mails = [
        {"row": row, "subject": messages.subject(row.notification), "text": row.content}
        for row in rows.select_related("notification", "person")[:MAILS_SHOWN]
    ]
    context = {"now": clock.now(), "mails": mails, "sees_all": sees_all, "most": MAILS_SHOWN}
    return show(request, "desk/mailbox.html", context)


def _reader(request: DeskRequest) -> Person:
    person = request.user
    if not channels.may_read(person):
        raise PermissionDenied("Administrators and auditors see what left the desk.")
    return person
