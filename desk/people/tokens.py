"""Tokens of the desk's own API: shown once, when they are made, and stored as a digest.

A token reads, and drafts where its scope allows it; it never approves.
"""

import hashlib
import secrets
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.permissions import SAFE_METHODS

from desk import clock, models
from desk.audit import trail
from desk.people import bearer, factors, stepup
from desk.people.by_role import networks
from wire.values import Secret

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.request import Request

    from desk.models import ApiToken, Person

PREFIX = "csn_"
DEFAULT_DAYS, LONGEST_DAYS = 90, 366
LONGEST_TEXT = 200  # what is longer is no token, and is not even hashed
PURPOSE = "make-token"
_USED_EVERY = timedelta(minutes=1)


@transaction.atomic
def create(
    *,
    person: "Person",
    name: str,
    now: datetime,
    days: int = DEFAULT_DAYS,
    scope: str = models.ApiToken.Scope.DRAFT,
    actor: "Person | None" = None,
) -> tuple["ApiToken", Secret]:
    """A new token of this person that ends after so many days (1 to 366). Its secret is not stored: show it now."""
    if not 1 <= days <= LONGEST_DAYS:
        raise ValueError("Validity must be between 1 and 366 days.")
    if scope not in models.ApiToken.Scope.values:
        raise ValueError("Choose the token's permissions.")
    text = PREFIX + secrets.token_urlsafe(32)
    row = models.ApiToken.objects.create(
        person=person,
        scope=scope,
        name=name,
        digest=_digest(text),
        hint=text[-4:],
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    _record(row, "token.created", actor=actor, now=now)
    return row, Secret(text)


def make_own(
    *,
    person: "Person",
    name: str,
    scope: str,
    days: int,
    request_key: str,
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> tuple["ApiToken", Secret]:
    """The person's own new token, confirmed with a second factor. Raises `stepup.CannotConfirm`."""
    with transaction.atomic():
        digest = digest_of(person, name=name, scope=scope, days=days, request_key=request_key)
        stepup.verify(person=person, purpose=PURPOSE, digest=digest, answer=answer, session_key=session_key, now=now)
        return create(person=person, name=name, scope=scope, days=days, now=now, actor=person)


def shown_once(secret: Secret) -> str:
    """The token itself, for the one page that shows it."""
    return secret.reveal()


def digest_of(person: "Person", *, name: str, scope: str, days: int, request_key: str) -> str:
    """What is signed for a new token: whose it is, its name, scope and days, and the key of its form."""
    return _digest(trail.canonical(["countersign-token-2", person.pk, name, scope, days, request_key]))


@transaction.atomic
def revoke(*, token_id: int, now: datetime, actor: "Person | None" = None) -> bool:
    """End a token at once; False where it had ended before."""
    if not models.ApiToken.objects.filter(pk=token_id, revoked_at=None).update(revoked_at=now):
        return False
    _record(models.ApiToken.objects.get(pk=token_id), "token.revoked", actor=actor, now=now)
    return True


@transaction.atomic
def revoke_all(*, person: "Person", now: datetime, actor: "Person | None" = None) -> int:
    """End every token of this person at once; how many there were."""
    rows = models.ApiToken.objects.filter(person=person, revoked_at=None).order_by("pk")
    return sum(revoke(token_id=pk, now=now, actor=actor) for pk in rows.values_list("pk", flat=True))


def _record(row: "ApiToken", action: str, *, actor: "Person | None", now: datetime) -> None:
    after = {"person": row.person_id, "name": row.name, "hint": row.hint, "expires_at": row.expires_at}
    after["scope"] = str(row.scope)
    trail.record(actor=actor, action=action, subject=f"token:{row.pk}", before={}, after=after, now=now)


def living_token(text: str, *, now: datetime) -> "ApiToken | None":
    """The valid token with this text, of an active person who has the second factors that they need."""
    if len(text) > LONGEST_TEXT:
        return None
    # The digest is looked up, not the text: the time of an index search tells nothing about a random token.
    token = _alive(now).filter(digest=_digest(text)).first()
    return token if token is None or factors.may_enter(token.person, {}) else None


def people_of(token_ids: Collection[int], *, now: datetime) -> dict[int, "Person"]:
    """Whose these tokens are, by number, with their groups; those that `living_token` would not give are left out."""
    rows = _alive(now).filter(pk__in=token_ids).prefetch_related("person__groups")
    people = {row.pk: row.person for row in rows}
    enrolled = factors.enrolled(people.values())
    return {pk: person for pk, person in people.items() if person.pk in enrolled}


def note_use(token: "ApiToken", *, now: datetime) -> None:
    """Record when it was last used, to the minute."""
    if token.last_used_at is None or clock.has_passed(_USED_EVERY, since=token.last_used_at, now=now):
        models.ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def _alive(now: datetime) -> "QuerySet[ApiToken]":
    alive = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))
    return models.ApiToken.objects.select_related("person").filter(alive, person__is_active=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class TokenAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer csn_…`. Every refusal of a token reads the same; one from another network says why."""

    keyword = bearer.SCHEME

    def authenticate(self, request: "Request") -> tuple["Person", "ApiToken"] | None:
        text = bearer.text_of(request.headers.get("Authorization", ""))
        if text is None:
            return None
        now = clock.now()
        token = living_token(text, now=now)
        if token is None:
            raise exceptions.AuthenticationFailed("This token is invalid, expired or revoked.")
        address = networks.address_of(request)
        if sentence := networks.refusal(token.person, address=address, way=networks.TOKEN, now=now):
            raise exceptions.PermissionDenied(sentence)
        if token.scope == models.ApiToken.Scope.READ and request.method not in SAFE_METHODS:
            raise exceptions.PermissionDenied("Nothing was recorded: this token is read-only.")
        if (enter := getattr(request, "enter", None)) is not None:
            enter(token.person)  # the rooms above say which accounts there are; a 404 where the person has no role
        note_use(token, now=now)
        return token.person, token

    def authenticate_header(self, request: "Request") -> str:
        return self.keyword


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the token reads in the published description of the interface."""

    target_class = "desk.people.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API token, created under “Your API tokens” or with `manage.py create_token`.",
        }
