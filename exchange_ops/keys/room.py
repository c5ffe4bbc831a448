"""The exchange keys, as the desk knows them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db.models import Q
from django.urls import reverse

from desk import clock, rooms
from desk.incidents.kinds import Cause, Kind, Severity
from desk.people import roles
from desk.rooms import Check, Health
from desk.rows.witnessed import Table
from desk.web.context import Entry
from desk.web.search import MOST_OF_A_KIND, Command, Hit, Scope, Search
from exchange_ops.keys import status, store
from exchange_ops.keys.models import ApiKey
from exchange_ops.keys.trail_words import WORDS
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import ages, causes, reasons, topics


def _refused(now: datetime, only: str) -> Iterator[Cause]:
    for key in ApiKey.objects.filter(Q(active=True) | Q(replaces__isnull=False, kept_at=None), retired_at=None):
        if key.is_turned_down:
            sentence = f"The exchange rejected the key {key.label}: {key.last_problem}"
            yield Cause(key.subject, sentence, "key", str(key.pk), str(key.account_id))


def _rights(now: datetime, only: str) -> Iterator[Cause]:
    for key in ApiKey.objects.filter(retired_at=None).select_related("account").order_by("pk"):
        if warnings := status.view_of(key, now=now).warnings:
            yield Cause(key.subject, f"{key.label}: {' '.join(warnings)}", "key", str(key.pk), str(key.account_id))


def _keys() -> Health:
    """Which keys the exchange turned down, and whether another one of the same rights is there to take over."""
    active = list(ApiKey.objects.filter(active=True).select_related("account").order_by("pk"))
    bad = [key for key in active if key.is_turned_down]
    if not bad:
        return Health(ok=True, sentence="All keys in use are accepted by the exchange.", age_s=0)
    rights = {(key.account_id, right) for key in active if not key.is_turned_down for right in key.rights}
    alone = [key for key in bad if not {(key.account_id, right) for right in key.rights} <= rights]
    key = (alone or bad)[0]
    then = "No other key has the same permissions." if alone else "Other keys are used instead."
    sentence = f"The exchange rejected the key {key.label}: {key.last_problem} {then}"
    age = ages.age(key.last_problem_at, clock.now())
    public = f"The exchange rejected {len(bad)} of {len(active)} keys. {then}"
    return Health(not alone, sentence, None if age is None else age.total_seconds(), public)


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    if not rules.may_see_keys(scope.person):
        return
    rows = ApiKey.objects.filter(label__icontains=text, account__in=scope.accounts)
    for row in rows.order_by("label")[:MOST_OF_A_KIND]:
        words = "in use" if row.active else "not in use"
        yield Hit("Keys", row.label, words, reverse("key", args=[row.pk]), "key-round")


ROOM: Final = rooms.Room(
    paths={"key_id": (ApiKey, "pk", "account_id")},
    trail=(WORDS,),
    topics={store.TOPIC: topics.keys},
    checks={"keys": Check(_keys, order=110)},
    incidents=(
        Kind(
            alarms.KEY_REFUSED,
            "Key rejected",
            Severity.HIGH,
            (roles.ADMIN, roles.TREASURY),
            _refused,
            sees=(*causes.KEEPERS, roles.TREASURY),
            opens=causes.KEEPERS,
        ),
        Kind(
            alarms.KEY_RIGHTS, "Key permissions differ", Severity.MEDIUM, (roles.ADMIN,), _rights, sees=causes.KEEPERS
        ),
    ),
    rewrappers={"exchange keys": store.rewrap_all},
    tables=(
        Table(
            ApiKey,
            {
                "last_used_at": "when it was last used",
                "last_problem": reasons.SENTENCE,
                "last_problem_at": reasons.CLOCK,
                "probe_asked_at": reasons.TIMER,
                "probe_problem": reasons.SENTENCE,
            },
        ),
    ),
    searches=(Search(_search, 140),),
    commands=(Command("Add a key", "key-new", "key-round", rules.may_keep_keys, 80),),
    tasks="exchange_ops.keys.tasks",
    urls="exchange_ops.keys.urls",
    navigation=(
        Entry(
            "Keys", "keys", "key-round", "Control", order=230, key="b", may_see=rules.may_see_keys, also=("API keys",)
        ),
    ),
)
