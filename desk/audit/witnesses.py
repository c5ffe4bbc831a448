"""Which columns of the desk's own tables decide or prove something, and which do not, each with its reason."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.db.models.signals import m2m_changed, post_save, pre_delete

from desk import models
from desk.rows import witnessed

_HASHED = "covered by the event's hash, which is witnessed"
_USE = "time of last use; nothing depends on it"


def register() -> None:
    """Declare the desk's tables; called once at the start."""
    witnessed.register(
        models.Person,
        loose={
            "last_login": _USE,
            "date_joined": "shown in lists only",
            "first_name": "display name, which the person can change",
            "last_name": "display name, which the person can change",
        },
        more=_roles,
    )
    witnessed.register(models.ApiToken, loose={"last_used_at": _USE})
    event = {field.attname for field in models.AuditEvent._meta.concrete_fields} - {"seq", "hash"}
    witnessed.register(models.AuditEvent, loose=dict.fromkeys(event, _HASHED))
    witnessed.register(
        models.StepUp, loose={"mac": "self-verifying: checked against all other columns whenever it is used"}
    )
    witnessed.register(models.SpentTotpStep)
    witnessed.register(models.KeyUse)
    witnessed.register(models.FactorChange)
    witnessed.register(models.DatabaseMark)
    witnessed.register(Authenticator, loose={"last_used_at": _USE, "created_at": "shown in lists only"})
    m2m_changed.connect(_roles_changed, sender=models.Person.groups.through, dispatch_uid="desk.audit.witnesses.roles")
    post_save.connect(_group_changed, sender=Group, dispatch_uid="desk.audit.witnesses.group")
    pre_delete.connect(_group_changed, sender=Group, dispatch_uid="desk.audit.witnesses.group")
    witnessed.decides_nothing(
        {
            "desk.rowwitness": "the entries themselves, verified as a chain, each with its own code",
            "desk.stepupchallenge": "a challenge; what the response proves is stored and signed in the confirmation",
            "desk.listchoice": "display preference for a list",
            "desk.keyedrequest": "a response kept for a week; what was recorded is witnessed and has its own key",
            "desk.savedfilter": "a person's saved filter for a list",
            "desk.stepupfailure": "limits guessing for a day",
            "desk.tries": "limits guessing",
            "desk.personalsettings": "display preferences; nothing stored or sent depends on them",
            "desk.sessionkeychange": "tells a replaced session key from an ended session; the old key grants no access",
            "desk.person_groups": "witnessed with the person, as roles",
            "desk.person_user_permissions": "permissions come from roles only; this is never read",
            "sessions.session": "signed by the desk's secret key, and bound to the person's password and epoch",
            "contenttypes.contenttype": "table names, which are never read",
            "account.emailaddress": "never used to sign in or to decide",
            "account.emailconfirmation": "never used to sign in or to decide",
            "auth.group": "its name is witnessed with each person who has it",
            "auth.group_permissions": "permissions come from roles only; this is never read",
            "auth.permission": "permissions come from roles only; this is never read",
        }
    )


def _roles(keys: Collection[Any] | None) -> Mapping[Any, Mapping[str, Any]]:
    links = models.Person.groups.through._base_manager.order_by("person_id", "group__name")
    if keys is None:
        people: Iterable[Any] = models.Person._base_manager.values_list("pk", flat=True)
    else:
        links, people = links.filter(person_id__in=keys), keys
    held: dict[Any, dict[str, Any]] = {person: {"roles": []} for person in people}
    for person, name in links.values_list("person_id", "group__name"):
        held.setdefault(person, {"roles": []})["roles"].append(name)
    return held


def _roles_changed(instance: Any, action: str, pk_set: set[Any] | None, reverse: bool, **_: Any) -> None:
    if not reverse:
        witnessed.note(models.Person, [instance.pk])
    elif action in {"post_add", "post_remove"}:
        witnessed.note(models.Person, pk_set or ())
    elif action == "pre_clear":
        witnessed.note(models.Person, list(instance.user_set.values_list("pk", flat=True)))


def _group_changed(instance: Group, **_: Any) -> None:
    witnessed.note(models.Person, list(instance.user_set.values_list("pk", flat=True)))
