"""The receivers of the framework's signals, connected once, when the app is ready."""

from typing import Any

import structlog
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.db.backends.signals import connection_created
from django.db.models.signals import m2m_changed, post_migrate, post_save
from django.http import HttpRequest

from desk import clock, fields, models
from desk.audit import trail
from desk.people import factors, own_sessions, roles, session_life, tokens

_log = structlog.get_logger(__name__)


def connect() -> None:
    """Connect every receiver. Each has a uid, so that a second call changes nothing."""
    connection_created.connect(fields.teach_sqlite, dispatch_uid="desk.exact_decimal")
    post_migrate.connect(_make_groups, dispatch_uid="desk.groups")
    m2m_changed.connect(_end_sessions, sender=get_user_model().groups.through, dispatch_uid="desk.role_change")
    post_save.connect(_end_what_opens, sender=get_user_model(), dispatch_uid="desk.end_what_opens")
    user_logged_in.connect(_signed_in, dispatch_uid="desk.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="desk.signed_out")
    user_login_failed.connect(_not_signed_in, dispatch_uid="desk.not_signed_in")


def _end_what_opens(*, instance: Any, created: bool, update_fields: Any, **_: Any) -> None:
    """End a person's tokens with a new password and with deactivation, which also ends their sessions for good.

    Sessions of an old password end by themselves: they carry a digest of it.
    """
    if created:
        return
    off = not instance.is_active and (update_fields is None or "is_active" in update_fields)
    if instance.has_new_password or off:
        tokens.revoke_all(person=instance, now=clock.now())
    if off:
        models.end_sessions([instance.pk])
        instance.refresh_from_db(fields=["session_epoch"])


def _make_groups(*, app_config: Any, using: str, **_: Any) -> None:
    if app_config.name == "desk":
        roles.ensure_groups(using=using)


def _end_sessions(*, instance: Any, action: str, reverse: bool, pk_set: set[int] | None, **_: Any) -> None:
    """End the sessions of a person whose roles change: rights apply at once, not at the next sign-in."""
    if action not in {"post_add", "post_remove", "pre_clear"} or (pk_set is not None and not pk_set):
        return
    if reverse:
        people = list(pk_set) if pk_set is not None else list(instance.user_set.values_list("pk", flat=True))
        models.end_sessions(people)
        return
    models.end_sessions([instance.pk])
    # The caller may sign the person in with this object next.
    instance.refresh_from_db(fields=["session_epoch"])
    instance.__dict__.pop("_roles", None)


def _signed_in(*, request: HttpRequest | None, user: Any, **_: Any) -> None:
    if request is None:
        return
    device = own_sessions.device_of(request.headers.get("User-Agent", ""))
    session_life.mark_sign_in(request.session, clock.now(), device=device)
    if factors.may_enter(user, request.session):
        request.signed_in_person = user  # type: ignore[attr-defined]  # read by SessionLifeMiddleware
    _record(user, "person.signed_in", request)


def _signed_out(*, request: HttpRequest | None, user: Any, **_: Any) -> None:
    if request is None:
        return
    request.signed_out = True  # type: ignore[attr-defined]  # read by SessionMiddleware
    if user is not None:
        _record(user, "person.signed_out", request)


def _not_signed_in(*, credentials: dict[str, Any], **_: Any) -> None:
    # A log line and no event: strangers must not be able to make the trail grow.
    _log.warning("accounts.sign_in_refused", name=str(credentials.get("username", ""))[:60])


def _record(user: Any, action: str, request: HttpRequest) -> None:
    with transaction.atomic():
        trail.record(
            actor=user,
            action=action,
            subject=f"person:{user.pk}",
            before={},
            after={},
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
