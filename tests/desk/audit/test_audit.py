"""The audit trail: written with the change, in one chain, and every later touch of it shows."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from desk import audit_check
from desk.audit import trail, triggers
from desk.models import AuditEvent
from wire.values import Secret

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("guards: a trail that may only grow")]
NOW = datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture(autouse=True)
def heads(settings: Any, tmp_path: Path, one_room: Callable[..., None]) -> Path:
    """A folder of its own for the heads of this test, and no replays but those that it declares."""
    one_room()
    settings.DATA_DIR = tmp_path
    return tmp_path / "audit-heads.log"


def write(number: int = 1, **changes: Any) -> AuditEvent:
    """One event like those of a withdrawal."""
    content: dict[str, Any] = {
        "actor": None,
        "action": "withdrawal.moved",
        "subject": f"withdrawal:{number}",
        "before": {"state": "HELD"},
        "after": {"state": "COMMITTING", "amount": Decimal("1.50")},
        "now": NOW + timedelta(seconds=number),
        "session_key": "the session key",
        "request_id": "request-0001",
    }
    with transaction.atomic():
        return trail.record(**{**content, **changes})


@pytest.fixture
def five() -> None:
    for number in range(1, 6):
        write(number)


@pytest.fixture
def unguarded() -> Iterator[None]:
    """What somebody with all rights on the database can do: take the triggers away, and put them back afterwards."""
    triggers.remove(connection)
    yield
    triggers.remove(connection)
    triggers.install(connection)


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def findings(*, replay: bool = False) -> str:
    return "\n".join(audit_check.verify(replay=replay))


def test_events_form_a_chain_that_holds(five: None, heads: Path) -> None:
    events = list(AuditEvent.objects.all())
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert [event.prev for event in events] == [trail.NO_HEAD, *(event.hash for event in events[:-1])]
    assert events[0].after == {"state": "COMMITTING", "amount": "1.50"}
    assert audit_check.verify() == []
    assert heads.read_text().splitlines()[-1].split()[:2] == ["5", events[-1].hash]
    assert heads.stat().st_mode & 0o077 == 0


def test_the_session_key_itself_is_not_kept(five: None) -> None:
    event = AuditEvent.objects.get(seq=1)
    assert event.session_digest == trail.digest_of("the session key")
    assert "the session key" not in str(vars(event))


def test_an_event_outside_a_transaction_is_refused() -> None:
    with pytest.raises(trail.CannotRecord):
        trail.record(actor=None, action="a", subject="s:1", before={}, after={}, now=NOW)
    assert not AuditEvent.objects.exists()


def test_an_event_vanishes_with_its_change_and_leaves_no_gap(heads: Path) -> None:
    write(1)
    with transaction.atomic():
        trail.record(actor=None, action="a", subject="s:1", before={}, after={}, now=NOW)
        transaction.set_rollback(True)
    write(2)
    assert list(AuditEvent.objects.values_list("seq", flat=True)) == [1, 2]
    assert len(heads.read_text().splitlines()) == 2
    assert audit_check.verify() == []


@pytest.mark.parametrize(
    "content",
    [
        {"amount": 0.1},
        {"key": Secret("do not keep me")},
        {"n": Decimal("NaN")},
        {1: "one"},
        {"deep": [{"f": 1.5}]},
        {"b": b"x"},
    ],
)
def test_what_has_no_exact_text_is_refused(content: dict[Any, Any]) -> None:
    with pytest.raises(TypeError):
        write(1, after=content)
    assert not AuditEvent.objects.exists()


def test_odd_texts_survive_exactly() -> None:
    odd = {
        "ключ": "\x00 null, \u2028 line, \ud800 half, 'quote' \"double\" \\ back",
        "nested": {"z": [None, True, -1], "a": {}},
    }
    write(1, before=odd, after={"at": NOW, "many": {"b", "a"}})
    event = AuditEvent.objects.get()
    assert event.before == odd
    assert event.after == {"at": "2026-11-20T12:30:15.123456+00:00", "many": ["a", "b"]}
    assert audit_check.verify() == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE desk_auditevent SET action = 'x' WHERE seq = 2",
        "DELETE FROM desk_auditevent WHERE seq = 2",
        "DELETE FROM desk_auditevent",
    ],
)
def test_the_database_refuses_changes(five: None, statement: str) -> None:
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        sql(statement)
    assert AuditEvent.objects.count() == 5


def test_the_database_refuses_to_empty_or_replace(five: None) -> None:
    columns = "seq, prev, hash, at, actor_id, session_digest, action, subject, before_text, after_text, request_id"
    if connection.vendor == "postgresql":
        statement = "TRUNCATE desk_auditevent"
    else:
        sql("PRAGMA recursive_triggers=OFF")  # the worst case: the hidden delete of REPLACE then fires no trigger
        statement = (
            f"INSERT OR REPLACE INTO desk_auditevent ({columns}) SELECT seq, prev, hash, at, actor_id, session_digest, "
            "'other', subject, before_text, after_text, request_id FROM desk_auditevent WHERE seq = 2"
        )
    try:
        with pytest.raises(DatabaseError), transaction.atomic():
            sql(statement)
    finally:
        if connection.vendor == "sqlite":
            sql("PRAGMA recursive_triggers=ON")
    assert AuditEvent.objects.get(seq=2).action == "withdrawal.moved"
    assert audit_check.verify() == []


@pytest.mark.parametrize(
    ("seq", "prev"), [(7, "head"), (5, "head"), (6, "0" * 64), (0, "head"), (-1, "head"), (6, "f" * 64)]
)
def test_the_database_takes_only_the_next_link(five: None, seq: int, prev: str) -> None:
    event = AuditEvent(seq=seq, prev=trail.head() if prev == "head" else prev, at=NOW, action="a", subject="s:1")
    event.before_text = event.after_text = "{}"
    event.hash = trail.hash_of(event)
    with pytest.raises(DatabaseError), transaction.atomic():
        event.save(force_insert=True)
    assert AuditEvent.objects.count() == 5


def _changed(value: Any) -> Iterator[Any]:
    """Every value that differs from this one in one byte or one bit."""
    if isinstance(value, datetime):
        yield value + timedelta(microseconds=1)
        yield value - timedelta(days=1)
    elif isinstance(value, str):
        for place in range(len(value)):
            yield value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]
        yield "x" + value[:-1]
        yield value[:-1]
    elif value is None:
        yield 7
    else:
        yield value + 1000


@pytest.mark.parametrize(
    "column",
    [
        "prev",
        "hash",
        "at",
        "actor_id",
        "session_digest",
        "action",
        "subject",
        "before_text",
        "after_text",
        "request_id",
    ],
)
def test_a_flip_in_any_place_of_any_column_shows(five: None, unguarded: None, column: str) -> None:
    original = AuditEvent.objects.get(seq=3)
    for changed in _changed(getattr(original, column)):
        AuditEvent.objects.filter(seq=3).update(**{column: changed})
        problems = list(audit_check._chain({}))
        assert any("3" in problem or "4" in problem for problem in problems), (column, changed)
    AuditEvent.objects.filter(seq=3).update(**{column: getattr(original, column)})
    assert list(audit_check._chain({})) == []


@pytest.mark.parametrize(
    ("column", "garbage"), [("at", "garbage"), ("at", b"\xff"), ("seq", 2.5), ("after_text", b"\xff")]
)
def test_columns_that_can_not_be_read_are_a_finding(five: None, unguarded: None, column: str, garbage: Any) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL refuses values of the wrong type")
    sql(f"UPDATE desk_auditevent SET {column} = %s WHERE seq = 3", garbage)
    assert findings() != ""


def test_a_missing_guard_shows(five: None, unguarded: None) -> None:
    assert findings().count("Trigger ") == 6
    triggers.install(connection)
    assert audit_check.verify() == []
    if connection.vendor == "postgresql":
        sql("ALTER TABLE desk_auditevent DISABLE TRIGGER audit_no_truncate")
    else:
        sql("DROP TRIGGER audit_no_delete")
        sql("CREATE TRIGGER audit_no_delete BEFORE DELETE ON desk_auditevent WHEN 0 BEGIN SELECT 1; END")
    assert findings().count("Trigger ") == 1


def test_a_weakened_guard_function_shows(five: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite keeps the whole guard in the trigger")
    sql(
        "CREATE OR REPLACE FUNCTION desk_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$body$ BEGIN RETURN NULL; END $body$"
    )
    assert findings().count("Trigger ") == 2


def test_a_removed_event_shows(five: None, unguarded: None) -> None:
    AuditEvent.objects.filter(seq=3).delete()
    triggers.install(connection)
    found = findings()
    assert "Event 3 is missing" in found
    assert "Event 4 does not link to the previous event" in found


def test_swapped_events_show(five: None, unguarded: None) -> None:
    sql("UPDATE desk_auditevent SET seq = 100 WHERE seq = 2")
    sql("UPDATE desk_auditevent SET seq = 2 WHERE seq = 4")
    sql("UPDATE desk_auditevent SET seq = 4 WHERE seq = 100")
    found = findings()
    assert "Event 2 was changed" in found
    assert "Event 4 was changed" in found


def test_a_tail_cut_off_shows_through_the_kept_heads(five: None, unguarded: None) -> None:
    AuditEvent.objects.filter(seq__gte=4).delete()
    triggers.install(connection)
    assert list(audit_check._chain({})) == [], "the chain alone can't tell"
    assert "The trail ends at event 3, but line 4 of the heads file records event 4" in findings()


def test_a_fork_with_right_hashes_shows_through_the_kept_heads(five: None, unguarded: None, heads: Path) -> None:
    kept = heads.read_text()
    AuditEvent.objects.filter(seq__gte=4).delete()
    write(4, after={"state": "ROLLING_BACK"})
    write(5)
    heads.write_text(kept)
    triggers.install(connection)
    assert list(audit_check._chain({})) == [], "the forked chain is well formed"
    assert "Event 4 does not match line 4 of the heads file" in findings()


def test_an_emptied_table_shows(five: None, unguarded: None) -> None:
    AuditEvent.objects.all().delete()
    triggers.install(connection)
    assert "The trail ends at event 0" in findings()


def test_tampering_with_the_heads_shows(five: None, heads: Path) -> None:
    lines = heads.read_text().splitlines(keepends=True)
    heads.write_text("".join([*lines[:2], "garbage\n", *lines[3:]]))
    assert "Line 3 of the heads file was changed" in findings()
    heads.unlink()
    assert "heads file is missing" in findings()


def test_a_head_cut_short_by_a_crash_is_no_finding(five: None, heads: Path) -> None:
    with heads.open("a") as file:
        file.write("6 abc")
    assert audit_check.verify() == []


def test_a_head_that_can_not_be_written_does_not_undo_the_change(settings: Any) -> None:
    settings.DATA_DIR = "/proc/no-such-folder"
    write(1)
    assert AuditEvent.objects.count() == 1


def test_replay_reports_what_differs(five: None, one_room: Callable[..., None]) -> None:
    seen: list[str] = []

    def compare(events: Iterator[AuditEvent]) -> Iterator[str]:
        seen.extend(event.subject for event in events)
        yield "Withdrawal 3 says SENT, its events say COMMITTING."

    write(6, subject="person:1")
    one_room(replays={"withdrawal": compare})
    assert audit_check.verify() == []
    assert findings(replay=True) == "Withdrawal 3 says SENT, its events say COMMITTING."
    assert seen == [f"withdrawal:{number}" for number in range(1, 6)]


def test_a_replay_that_falls_over_is_a_finding(five: None, one_room: Callable[..., None]) -> None:
    one_room(replays={"withdrawal": lambda events: iter([str(1 // 0)])})
    assert "The replay of withdrawal stopped: ZeroDivisionError" in findings(replay=True)


def test_the_command_tells_by_its_exit_status(five: None, unguarded: None, capsys: pytest.CaptureFixture[str]) -> None:
    triggers.install(connection)
    call_command("verify_audit", "--replay")
    assert "intact: 5 events" in capsys.readouterr().out
    triggers.remove(connection)
    AuditEvent.objects.filter(seq=2).update(action="forged")
    with pytest.raises(SystemExit) as ended:
        call_command("verify_audit")
    assert ended.value.code == 1
    assert "Event 2 was changed" in capsys.readouterr().out


def test_many_writers_at_once_lose_nothing() -> None:
    errors: list[BaseException] = []

    def write_many(first: int) -> None:
        try:
            for number in range(first, first + 10):
                write(number)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write_many, args=(first,)) for first in range(100, 500, 100)]
    _run(threads)
    assert not errors
    assert AuditEvent.objects.count() == 40
    assert audit_check.verify() == []


def _run(threads: list[threading.Thread]) -> None:
    act: list[Callable[[], None]] = [thread.start for thread in threads] + [thread.join for thread in threads]
    for step in act:
        step()


def test_erasing_a_person_keeps_the_chain_whole(make_person: Callable[..., Any]) -> None:
    person = make_person("auditor", username="leaving")
    write(1, actor=person)
    gone = person.pk
    person.delete()
    event = AuditEvent.objects.select_related("actor").get(subject="withdrawal:1")
    assert (event.actor_id, event.actor) == (gone, None)
    assert audit_check.verify() == []
