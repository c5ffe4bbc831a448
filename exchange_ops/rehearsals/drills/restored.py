"""The drill in which a backup is restored over a payout that was paid after it: the desk would pay it once more."""

import contextlib
import shutil
import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings

from desk import clock
from desk.restores import backups, settling, states
from desk.restores.models import Restore, RestoreWord
from desk.restores.room import FELL_BACK
from desk.restores.waiting import GO_ON
from exchange_ops.rehearsals import spans
from exchange_ops.rehearsals.drills import payments
from exchange_ops.rehearsals.drills.sandbox_control import CannotControl
from exchange_ops.rehearsals.drills.scene import LONGEST, CannotDrill, Drill, Scene
from exchange_ops.withdrawals.models import Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.states import NOT_PAID, PAID, QUEUED

_ALWAYS: Final = 1_000_000
_WAITS_S: Final = LONGEST.total_seconds()  # for each thing that people do before the restore
_FOLDER: Final = "drills"
_ROWS: Final = "desk.sqlite3"  # a rehearsal has no other database


def _restore_over_a_payment(scene: Scene) -> None:
    if settling.current() is not None:
        raise CannotDrill(
            "An earlier restore is not completed yet: two treasurers have to decide first, under Needs action. "
            "Nothing was done."
        )
    # The exchange has too many calls to reserve anything, so the payout waits, and the backup has it so.
    scene.control.fault("create_withdrawal", "rate_limit", times=_ALWAYS)
    scene.say("An operator requests a payout now. Where the rules ask for approval first, treasury approves it.")
    folder = _back_up(scene)
    scene.control.clear_faults()
    row = Withdrawal.objects.get(pk=scene.payout or 0)
    scene.say(f"A backup was made, in which {row.reference} is not sent yet. Now it goes on: treasury approves it.")
    scene.wait_until(lambda: _state(scene) in {*PAID, *NOT_PAID}, seconds=_WAITS_S)
    if _state(scene) not in PAID:
        raise CannotDrill(f"{row.reference} was not paid, so there is nothing to practise. Nothing was restored.")
    scene.say(
        f"{row.reference} is paid. Stop the rehearsal now, with Ctrl-C in its terminal: the drill restores the backup "
        "once it is stopped."
    )
    if not scene.wait_until(lambda: not backups.is_running(), seconds=_WAITS_S):
        raise CannotDrill("The rehearsal was not stopped. Nothing was restored.")
    try:
        manifest = backups.put_back(folder, now=clock.now(), over_rows=True)
    except backups.CannotRestore as problem:
        raise CannotDrill(f"{problem} Nothing was restored.") from None
    made_at = datetime.fromisoformat(manifest.made_at)
    scene.say(
        f"The desk is restored to its state at {made_at:%H:%M:%S} UTC. Start the rehearsal again, as before. It sends "
        "nothing until two treasurers have decided."
    )


def _waiting(scene: Scene) -> Withdrawal | None:
    """The payout that the exchange did not reserve anything for, since the drill began."""
    events = WithdrawalEvent.objects.filter(event="hold_not_sent", at__gte=scene.began, withdrawal__state=QUEUED)
    event = events.select_related("withdrawal").order_by("pk").first()
    return None if event is None else event.withdrawal


def _back_up(scene: Scene) -> Path:
    """A backup in which the payout waits to be sent: one in which the desk was just trying to is made again."""
    folders: list[Path] = []

    def has_it_waiting() -> bool:
        row, now = _waiting(scene), clock.now()
        if row is None:
            return False
        folder = settings.DATA_DIR / _FOLDER / f"backup-{now:%Y%m%dT%H%M%S%f}"
        backups.back_up(folder, now=now)
        if _state_in(folder, row.pk) != QUEUED:
            shutil.rmtree(folder)
            return False
        scene.payout = row.pk
        folders.append(folder)
        return True

    try:
        if scene.wait_until(has_it_waiting, seconds=_WAITS_S):
            return folders[0]
    except backups.CannotBackUp as problem:
        raise CannotDrill(f"{problem} Nothing was restored.") from None
    raise CannotDrill("No payout waited to be sent, so no backup was made. Nothing was restored.")


def _state_in(folder: Path, number: int) -> str:
    table = Withdrawal._meta.db_table
    with contextlib.closing(sqlite3.connect(f"file:{folder / _ROWS}?mode=ro", uri=True)) as copy:
        row = copy.execute(f'SELECT state FROM "{table}" WHERE id = ?', [number]).fetchone()  # noqa: S608  # our own
    return "" if row is None else str(row[0])


def _state(scene: Scene) -> str:
    return str(Withdrawal.objects.values_list("state", flat=True).get(pk=scene.payout or 0))


def _clear(scene: Scene) -> None:
    with contextlib.suppress(CannotControl):  # it is stopped in the middle, and starts without faults
        scene.control.clear_faults()


def _restore(scene: Scene) -> Restore | None:
    return Restore.objects.filter(created_at__gte=scene.began).order_by("pk").first()


def _restored_at(scene: Scene) -> datetime:
    row = _restore(scene)
    return scene.began if row is None else row.created_at


def _sends_again(scene: Scene) -> datetime | None:
    row = _restore(scene)
    event = None if row is None else row.events.filter(to_state=states.SETTLED).first()
    return None if event is None else event.at


def _decisions(scene: Scene) -> list[str]:
    row = _restore(scene)
    if row is None:
        return ["Nothing was restored."]
    words = list(RestoreWord.objects.filter(restore=row).select_related("person").order_by("pk"))
    first = [word for number, word in enumerate(words) if word.person_id not in {w.person_id for w in words[:number]}]
    sentences = [
        f"{place} treasurer to decide: {word.person.username}, after {spans.spoken(word.at - row.created_at)}."
        for place, word in zip(("First", "Second"), first, strict=False)
    ]
    if len(first) < settling.PEOPLE:
        sentences.append(f"Treasurers who decided: {len(first)} of {settling.PEOPLE}.")
    at = _sends_again(scene)
    if at is None:
        sentences.append("The desk still sends nothing.")
    else:
        sentences.append(f"The desk sends again after {spans.spoken(at - row.created_at)}.")
        sentences += _verdict(scene, words[-1])
    return [*sentences, *payments.paid_twice(scene)]


def _verdict(scene: Scene, word: RestoreWord) -> list[str]:
    """What was decided about the payout that is paid, where the restore had it among what waits."""
    subject = f"{Withdrawal.name}:{scene.payout}"
    if subject not in word.verdicts:
        return []
    reference = Withdrawal.objects.get(pk=scene.payout or 0).reference
    if word.verdicts[subject] == GO_ON:
        return [f"{reference} was continued although it is paid: approving it would pay it twice. Reject it."]
    return [f"{reference} was cancelled, as it is paid already."]


DRILL: Final = Drill(
    name="backup-restored",
    title="A backup is restored",
    happens="A payout is paid after a backup, and the backup is restored: the desk has forgotten the payment and would "
    "pay once more. It sends nothing until two treasurers have decided on everything that waits. You stop the "
    "rehearsal and start it again when the drill says so.",
    people="Two treasurers compare what waits, under Needs action, with what the exchange's ledger shows since, cancel "
    "what is paid already and continue the rest, both the same. Nobody requests anything again before.",
    begin=_restore_over_a_payment,
    end=_clear,
    kinds=(FELL_BACK,),
    resolved=_sends_again,
    subjects=(Restore.name,),
    starts=_restored_at,
    findings=_decisions,
    longest=timedelta(hours=2),
    lasts=timedelta(hours=2),
)
