"""What left the desk and whether it arrived, sending it again, and the demo's mailbox."""

from typing import cast

from django.conf import settings
from django.contrib import messages as notes
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from desk import clock
from desk.machines.mover import CannotMove
from desk.models import Person
from desk.notifications import channels, delivering, machine, messages
from desk.notifications.models import Channel, Delivery, Medium
from desk.people import roles
from desk.views.rendering import show
from desk.web.paging import page as page_of

MAILS_SHOWN = 50


@require_safe
def deliveries(request: HttpRequest) -> HttpResponse:
    """The newest first, narrowed to a state and a way."""
    person = _reader(request)
    rows = Delivery.objects.select_related("notification", "person", "channel")
    state, way = request.GET.get("state", ""), request.GET.get("way", "")
    if state in machine.STATES:
        rows = rows.filter(state=state)
    if way in Medium.values:
        rows = rows.filter(medium=way)
    context = {
        "now": clock.now(),
        "page": page_of(request, rows, key="pk"),
        "state": state,
        "way": way,
        "states": machine.TABLE.choices,
        "ways": Medium.choices,
        "channels": Channel.objects.filter(ended_at=None).order_by("name"),
        "may_keep": channels.may_keep(person),
        "email_is_set_up": bool(settings.EMAIL_HOST),
        "mailbox": settings.MAILBOX,
    }
    return show(request, "desk/deliveries.html", context, parts={"deliveries": "desk/deliveries/_list.html"})


@require_POST
def send_again(request: HttpRequest, delivery_id: int) -> HttpResponse:
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
def mailbox(request: HttpRequest) -> HttpResponse:
    """What the demo mailed: to this person, or to everybody for those who read the deliveries."""
    person = cast(Person, request.user)
    if not person.has_role(*roles.ALL):
        raise PermissionDenied("Only somebody with a role sees what the desk mailed.")
    if not settings.MAILBOX:
        raise Http404("Only the demo without a mail server has a mailbox.")
    rows = Delivery.objects.filter(medium=Medium.EMAIL, state=machine.DELIVERED).order_by("-pk")
    sees_all = channels.may_read(person)
    if not sees_all:
        rows = rows.filter(person=person)
    mails = [
        {"row": row, "subject": messages.subject(row.notification), "text": row.content}
        for row in rows.select_related("notification", "person")[:MAILS_SHOWN]
    ]
    context = {"now": clock.now(), "mails": mails, "sees_all": sees_all, "most": MAILS_SHOWN}
    return show(request, "desk/mailbox.html", context)


def _reader(request: HttpRequest) -> Person:
    person = cast(Person, request.user)
    if not channels.may_read(person):
        raise PermissionDenied("Administrators and auditors see what left the desk.")
    return person
