"""Which of the framework's events the desk listens to; connected once, when the app is ready."""

from typing import Any

from django.db.backends.signals import connection_created
from django.db.models.signals import m2m_changed, post_migrate

from desk import fields, roles


def connect() -> None:
    """Connect every receiver. Each has a uid, so that a second call changes nothing."""
    from django.contrib.auth import get_user_model

    connection_created.connect(fields.teach_sqlite, dispatch_uid="desk.exact_decimal")
    post_migrate.connect(_make_groups, dispatch_uid="desk.groups")
    m2m_changed.connect(_end_sessions, sender=get_user_model().groups.through, dispatch_uid="desk.role_change")


def _make_groups(*, app_config: Any, using: str, **_: Any) -> None:
    if app_config.name == "desk":
        roles.ensure_groups(using=using)


def _end_sessions(*, instance: Any, action: str, reverse: bool, pk_set: set[int] | None, **_: Any) -> None:
    """A role given or taken ends every session of that person: rights apply at once, not at the next sign-in."""
    from desk import models

    if action not in {"post_add", "post_remove", "pre_clear"} or (pk_set is not None and not pk_set):
        return
    if not reverse:
        people = [instance.pk]
    else:
        people = list(pk_set) if pk_set is not None else list(instance.user_set.values_list("pk", flat=True))
    models.end_sessions(people)
