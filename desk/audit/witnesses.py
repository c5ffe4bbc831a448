"""Which columns of the desk's own tables decide or prove something, and which do not, each with its reason."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.db.models.signals import m2m_changed, post_save, pre_delete

from desk import models
from desk.rows import witnessed

_HASHED = "part of what the event's hash is made over, and the hash is witnessed"
_USE = "says when it was last used; nothing rests on it"


def register() -> None:
    """Declare the desk's tables; called once at the start."""
    witnessed.register(
        models.Person,
        loose={
            "last_login": _USE,
            "date_joined": "a date for lists",
            "first_name": "a name to be read, changed by the person",
            "last_name": "a name to be read, changed by the person",
        },
        more=_roles,
    )
    witnessed.register(models.ApiToken, loose={"last_used_at": _USE})
    event = {field.attname for field in models.AuditEvent._meta.concrete_fields} - {"seq", "hash"}
    witnessed.register(models.AuditEvent, loose=dict.fromkeys(event, _HASHED))
    witnessed.register(
        models.StepUp, loose={"mac": "proves itself: it is verified against all other columns whenever it counts"}
    )
    witnessed.register(models.SpentTotpStep)
    witnessed.register(models.KeyUse)
    witnessed.register(models.FactorChange)
    witnessed.register(models.DatabaseMark)
    witnessed.register(Authenticator, loose={"last_used_at": _USE, "created_at": "a date for lists"})
    m2m_changed.connect(_roles_changed, sender=models.Person.groups.through, dispatch_uid="desk.audit.witnesses.roles")
    post_save.connect(_group_changed, sender=Group, dispatch_uid="desk.audit.witnesses.group")
    pre_delete.connect(_group_changed, sender=Group, dispatch_uid="desk.audit.witnesses.group")
    witnessed.decides_nothing(
        {
            "desk.rowwitness": "the entries themselves: checked as a chain, with the code of each",
            "desk.stepupchallenge": "a question; what its answer proves is kept, and signed, in the confirmation",
            "desk.listchoice": "how a person wants a list to look",
            "desk.keyedrequest": "an answer, kept for a week; what was recorded is witnessed, and has a key of its own",
            "desk.savedfilter": "a person's own bookmark of a list",
            "desk.stepupfailure": "slows down guessing for a day",
            "desk.tries": "slows down guessing",
            "desk.personalsettings": "how a page is drawn for its reader; nothing kept or sent is written by it",
            "desk.sessionkeychange": "tells an old session key from an ended session; the old key opens nothing",
            "desk.person_groups": "witnessed with the person, as roles",
            "desk.person_user_permissions": "rights come from roles alone; nothing reads it",
            "sessions.session": "signed by the desk's secret key, and bound to the person's password and epoch",
            "contenttypes.contenttype": "names of tables, of which nothing reads any",
            "account.emailaddress": "nobody signs in or decides by an address",
            "account.emailconfirmation": "nobody signs in or decides by an address",
            "auth.group": "its name is witnessed with every person that has it",
            "auth.group_permissions": "rights come from roles alone; nothing reads it",
            "auth.permission": "rights come from roles alone; nothing reads it",
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
