"""The networks that a role can be used from (ROLE_NETWORKS): one decision for pages, sign-in, API tokens and sockets.

A person is let in from an address that is in the networks of every restricted role that they have, at whichever
accounts they have it. The address is that of the connection; behind TRUSTED_PROXIES the server has put the forwarded
one there (`project/serve.py`). An open socket keeps its address, so sockets are asked for it once, when they open.
"""

import ipaddress
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.conf import settings
from django.db import transaction

from desk import clock, models
from desk.audit import trail
from desk.people import roles

if TYPE_CHECKING:
    from django.http import HttpRequest

    from desk.models import Person

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

REFUSED: Final = "person.network_refused"
# What a person may be refused, as the trail names it.
PAGE, SIGN_IN, TOKEN, SOCKET = "session", "sign-in", "API token", "socket"
# Somebody outside can try as often as they like: the trail gets one event for each address and way in this time, and
# of each person no more than so many.
RECORDED_EVERY = timedelta(hours=1)
MOST_RECORDED = 10
_log = structlog.get_logger(__name__)


def address_of(request: "HttpRequest") -> str:
    """The client's address as the desk sees it; empty where it can't be told (`_believed`)."""
    return _believed(request.META.get("REMOTE_ADDR", ""), is_forwarded="X-Forwarded-For" in request.headers)


def address_of_handshake(scope: Any) -> str:
    """The same for the handshake of a socket."""
    is_forwarded = any(name == b"x-forwarded-for" for name, _ in scope["headers"])
    return _believed((scope.get("client") or ("",))[0], is_forwarded=is_forwarded)


def _believed(peer: str, *, is_forwarded: bool) -> str:
    """The peer's address; empty behind a proxy while TRUSTED_PROXIES names none: then it stands for anybody."""
    return "" if is_forwarded and not settings.TRUSTED_PROXIES else peer


def is_within(address: str, networks: Collection[Network]) -> bool:
    """Whether the address is in one of the networks; what is no address is in none."""
    try:
        client = ipaddress.ip_address(address)
    except ValueError:
        return False
    client = getattr(client, "ipv4_mapped", None) or client
    return any(client in network for network in networks if network.version == client.version)


def refusing_roles(names: Collection[str], address: str) -> list[str]:
    """Those of these roles that can't be used from this address, in the usual order."""
    by_role: Mapping[str, Collection[Network]] = settings.ROLE_NETWORKS
    return [role for role in roles.ALL if role in names and role in by_role and not is_within(address, by_role[role])]


def refusal(person: "Person", *, address: str, way: str, now: datetime, session_key: str = "") -> str:
    """Why the person is not let in from this address, for their eyes; empty where they are. A refusal is recorded.

    `way` is one of PAGE, SIGN_IN, TOKEN and SOCKET. Not in a transaction that may be rolled back.
    """
    if not settings.ROLE_NETWORKS:
        return ""
    refusing = refusing_roles(person.roles, address)
    if not refusing:
        return ""
    _log.warning("networks.refused", person=person.pk, address=address, roles=refusing, way=way)
    _record(person, {"address": address, "roles": refusing, "way": way}, now=now, session_key=session_key)
    seen_as = f"The desk sees your address as {address}" if address else "The desk can't tell your address"
    return (
        f"Your {roles.phrase(refusing)} can't be used from this network. {seen_as}. Connect from a network that is "
        "allowed, or ask whoever runs the desk's server to allow this one."
    )


def _record(person: "Person", facts: dict[str, Any], *, now: datetime, session_key: str) -> None:
    if _is_recorded(person, facts, now):
        return
    with transaction.atomic():
        trail.take_turn()  # of several requests at once the first one records it
        if not _is_recorded(person, facts, now):
            trail.record(
                actor=None,  # whoever it was
                action=REFUSED,
                subject=f"person:{person.pk}",
                before={},
                after=facts,
                now=now,
                session_key=session_key,
            )


def _is_recorded(person: "Person", facts: dict[str, Any], now: datetime) -> bool:
    lately = clock.recent("at", now - RECORDED_EVERY, now=now)
    events = models.AuditEvent.objects.filter(lately, subject=f"person:{person.pk}", action=REFUSED)
    texts = list(events.values_list("after_text", flat=True)[:MOST_RECORDED])
    return len(texts) >= MOST_RECORDED or trail.canonical(facts) in texts
