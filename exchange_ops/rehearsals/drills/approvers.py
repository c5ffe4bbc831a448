"""The drill in which everybody who may approve a payout is absent, and its hold runs out."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from desk import clock
from desk.audit import words
from desk.models import AuditEvent, Person
from desk.notifications.models import Notification, Stage
from desk.staff import states as staff_states
from desk.staff.models import PersonChange
from desk.templatetags.desk import kept_amount
from exchange_ops.rehearsals import spans
from exchange_ops.rehearsals.drills.scene import Alarm, CannotDrill, Drill, Scene
from exchange_ops.shared import clocks
from exchange_ops.withdrawals import rules
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.states import HELD, NOT_PAID, PAID

_CONFIRMED: Final = "person.colleague_confirmed"
_REMINDERS: Final = (Stage.ESCALATED, Stage.EVERYBODY)
# How the wait for approvals ends. `time_over`: the desk releases the hold by itself.
_ENDS: Final = {
    "quorum_reached": "Approved by {who}",
    "rejected": "Rejected by {who}",
    "cancelled": "Withdrawn by {who}",
    "time_over": "Nobody decided: the desk released the money at the deadline",
    "frozen": "Stopped by a freeze",
}


def _go_away(scene: Scene) -> None:
    row = approvals.undecided().filter(state=HELD).first()
    if row is None:
        raise CannotDrill(
            "The drill needs a payout that is reserved and waits for approvals. Request one, wait until its page says "
            "so, and start the drill again. Nothing was done."
        )
    people = Person.objects.filter(is_active=True, unconfirmed_since=None)
    away = [person for person in people if rules.may_decide(person, row)]
    if not away:
        raise CannotDrill(f"Nobody may approve {row.reference}, so nobody can be absent. Nothing was done.")
    scene.payout, scene.away = row.pk, frozenset(person.pk for person in away)
    what = f"{kept_amount(row.amount, row.currency)} to {row.address}"
    scene.say(f"{row.reference} waits for approvals: {what}, requested by {row.initiator.username}.")
    names = ", ".join(sorted(person.username for person in away))
    scene.say(f"Absent until the end of the drill: {names}. They don't sign in and decide on nothing.")
    if row.approve_until is not None:
        now = clock.now()
        until = clocks.by_desk_clock(row.approve_until, clocks.exchange_now(account=row.account, now=now), now=now)
        scene.say(f"Approvals close at {until:%H:%M:%S} UTC, in {spans.spoken(until - now)}.")


def _come_back(scene: Scene) -> None:
    """Nothing to take away: who was absent was so by agreement."""


def _reminders(scene: Scene) -> list[Alarm]:
    rows = Notification.objects.filter(
        subject=f"{Withdrawal.name}:{scene.payout}", stage__in=_REMINDERS, created_at__gte=scene.began
    )
    return [Alarm(row.created_at, f"{Stage(row.stage).label} ({row.reference})") for row in rows.order_by("pk")]


def _over(scene: Scene) -> datetime | None:
    """When the payout was paid, or ended without a payment."""
    events = WithdrawalEvent.objects.filter(withdrawal=scene.payout, at__gte=scene.began)
    first = events.filter(to_state__in=(*PAID, *NOT_PAID)).order_by("version").first()
    return None if first is None else first.at


def _how_it_ended(scene: Scene) -> list[str]:
    moves = AuditEvent.objects.filter(subject=f"{Withdrawal.name}:{scene.payout}", at__gte=scene.began).order_by("seq")
    ends = [event for event in moves if event.action.partition(".")[2] in _ENDS]
    telling = words.telling(ends)
    sentences = [_cover(change, scene) for change in _covers(scene)]
    for event in ends[:1]:
        text = _ENDS[event.action.partition(".")[2]].format(who=telling.who(event))
        sentences.append(f"{text}, after {spans.spoken(event.at - scene.began)}.")
    if not ends:
        sentences.append("Nobody has decided, and the payout still waits.")
    about = Q(subject=f"{Withdrawal.name}:{scene.payout}") | Q(action=_CONFIRMED)
    by_them = AuditEvent.objects.filter(about, at__gte=scene.began, actor__in=scene.away)
    if names := sorted(set(by_them.values_list("actor__username", flat=True))):
        sentences.append(f"Acted although absent: {', '.join(names)}.")
    return sentences


def _covers(scene: Scene) -> list[PersonChange]:
    """Roles that were given during the drill to people who could not approve when it began."""
    done = PersonChange.objects.filter(state=staff_states.DONE, updated_at__gte=scene.began)
    row = Withdrawal.objects.get(pk=scene.payout or 0)
    changes = done.exclude(person__in=scene.away).select_related("person").order_by("pk")
    return [change for change in changes if rules.may_decide(change.person, row)]


def _cover(change: PersonChange, scene: Scene) -> str:
    until = "without an end" if change.until is None else f"until {change.until:%Y-%m-%d %H:%M} UTC"
    after, name = spans.spoken(change.updated_at - scene.began), change.person.username
    if change.person.unconfirmed_since is None:
        return f"Cover: {name} may approve {until}, after {after}."
    return f"Cover: {name} has the role {until}, after {after}, but no treasurer confirmed them: no approval counts."


DRILL: Final = Drill(
    name="approvers-absent",
    title="The approvers are absent",
    happens="A payout is reserved and waits for approvals, and everybody who may approve it is absent. They play this: "
    "the desk would let them in. Nothing is paid; if nobody decides, the desk releases the money before the exchange's "
    "hour is over.",
    people="The others notice before the desk reminds them that approvals close soon. Administrators give a colleague "
    "the role of treasury with a last day, under People. Their approvals count once another treasurer has confirmed "
    "them, so a cover has to be arranged before the absence; without one the requester withdraws the request.",
    begin=_go_away,
    end=_come_back,
    alarms=_reminders,
    resolved=_over,
    subjects=(Withdrawal.name, PersonChange.name),
    findings=_how_it_ended,
    longest=timedelta(minutes=70),
    lasts=timedelta(minutes=70),
)
