"""A forger who can write into every table, but has neither the keys nor the files of heads, is named.

The cases are made from the registry: every column of every witnessed table, and a row removed and inserted, with every
trigger, check and reference of the database out of the way.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models, transaction

from desk import audit_check, sealing
from desk.audit import installed_guards, trail, triggers, witness_chain
from desk.models import ApiToken, AuditEvent, Person, RowWitness, StepUp
from desk.people import stepup
from desk.rows import witnessed
from desk.rows.witnessed import Table
from exchange_ops.policy import vote_replay
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from tests.desk.audit import older_chains

pytestmark = pytest.mark.engine("guards: forged rows")
NOW = datetime(2026, 11, 20, 12, 0, 5, 250000, tzinfo=UTC)
TABLES = {table.label: table for table in witnessed.tables()}


@pytest.fixture(autouse=True)
def heads(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / witness_chain.HEADS_FILE


@pytest.fixture
def unguarded(db: None) -> Iterator[None]:
    """Until the end of the test, and undone then: no trigger, no check, no reference that would stop a forger."""
    with transaction.atomic():
        _lay_down_arms()
        yield
        transaction.set_rollback(True)
    if connection.vendor == "sqlite":
        sql("PRAGMA ignore_check_constraints=OFF")


def _lay_down_arms() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints=ON")
            cursor.execute("PRAGMA defer_foreign_keys=ON")
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in cursor.fetchall():
                cursor.execute(f'DROP TRIGGER "{name}"')
        else:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(
                "SELECT conrelid::regclass::text, conname FROM pg_constraint "
                "WHERE contype = 'c' AND connamespace = current_schema()::regnamespace AND conrelid <> 0"
            )
            for table, name in cursor.fetchall():
                cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')


def value_of(field: Any, number: int) -> Any:
    """A value that the column takes, different for every number."""
    if field.choices:
        return str(field.choices[number % len(field.choices)][0])
    if isinstance(field, models.ForeignKey):
        return value_of(field.target_field, number)
    kinds: dict[type, Callable[[], Any]] = {
        models.BooleanField: lambda: bool(number % 2),
        models.DateTimeField: lambda: NOW + timedelta(seconds=number),
        models.DateField: lambda: date(2026, 1, 1) + timedelta(days=number),
        models.TimeField: lambda: time(number // 60 % 24, number % 60),
        models.DecimalField: lambda: Decimal(number) + Decimal("0.5"),
        models.JSONField: lambda: {"of": [number, None, "text"]},
        models.PositiveSmallIntegerField: lambda: number % 30_000,
        models.IntegerField: lambda: number,
        models.UUIDField: lambda: UUID(int=number),
        models.TextField: lambda: f"text {number}",
        models.CharField: lambda: f"t{number}"[-field.max_length :],
    }
    return next(make() for kind, make in kinds.items() if isinstance(field, kind))


def made(table: Table, number: int) -> Any:
    """A row that the desk itself writes, with something in every column."""
    fields = [field for field in table.model._meta.concrete_fields if not field.primary_key]
    row = table.model(pk=number, **{field.attname: value_of(field, number) for field in fields})
    row.save(force_insert=True)
    witness_chain.write_noted()
    return row


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def forge(table: Table, column: str, key: Any, value: Any) -> None:
    """One column of one row, past the desk."""
    field = next(field for field in table.model._meta.concrete_fields if field.attname == column)
    written = field.get_db_prep_save(value, connection)
    name = connection.ops.quote_name(field.column)
    sql(
        f'UPDATE "{table.model._meta.db_table}" SET {name} = %s WHERE "{table.model._meta.pk.column}" = %s',
        written,
        key,
    )


def named(table: Table) -> list[str]:
    return [finding for finding in audit_check.verify(replay=True) if finding.startswith(f"{table.label} ")]


# Every column, every row --------------------------------------------------------------------------------


@pytest.mark.parametrize("label", TABLES)
def test_every_changed_column_is_named(unguarded: None, label: str) -> None:
    """Each by itself as the replay compares rows, and all of them at once by the whole of `verify_audit --replay`."""
    table, key, entries = TABLES[label], 700_002, {}
    row = made(table, key)
    assert list(witness_chain._chain(entries, {})) == []
    for column, value in forgeries(table, row):
        with transaction.atomic():
            forge(table, column, key, value)
            (sentence,) = (
                found for found in witness_chain._compared(table, entries[label]) if found.startswith(f"{label} {key} ")
            )
            assert sentence.startswith(f"{label} {key} was altered outside the desk: {column} changed")
            transaction.set_rollback(True)
    for column, value in dict(forgeries(table, row)).items():
        forge(table, column, key, value)
    (sentence,) = named(table)
    assert f"desk: {', '.join(sorted(table.columns))} changed" in sentence


def forgeries(table: Table, row: Any) -> Iterator[tuple[str, Any]]:
    """Every witnessed column with each value that a forger may put there; the last of a column is never the old one."""
    for field in table.model._meta.concrete_fields:
        if field.attname not in table.columns:
            continue
        for value in (None if field.null else value_of(field, 700_004), value_of(field, 700_001)):
            if value != getattr(row, field.attname):
                yield field.attname, value


@pytest.mark.parametrize("label", TABLES)
def test_a_removed_and_an_inserted_row_are_named(unguarded: None, label: str) -> None:
    table = TABLES[label]
    made(table, 700_001)
    name, key = table.model._meta.db_table, table.model._meta.pk.column
    with transaction.atomic():
        sql(f'DELETE FROM "{name}" WHERE "{key}" = 700001')
        (sentence,) = named(table)
        assert sentence.startswith(f"{label} 700001 was removed")
        transaction.set_rollback(True)
    made(table, 700_002)
    with transaction.atomic():
        # The forger's row is one that the desk wrote once: only that it is there again is wrong.
        sql(f'CREATE TEMPORARY TABLE lifted AS SELECT * FROM "{name}" WHERE "{key}" = 700002')
        sql(f'DELETE FROM "{name}" WHERE "{key}" = 700002')
        witnessed.note(table.model, [700_002])
        witness_chain.write_noted()
        assert named(table) == []
        sql(f'INSERT INTO "{name}" SELECT * FROM lifted')
        (sentence,) = named(table)
        assert sentence == f"{label} 700002 was not written by the desk: no entry records it."
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_every_table_and_column_is_witnessed_or_has_a_reason() -> None:
    every = {model._meta.label_lower for model in apps.get_models(include_auto_created=True)}
    idle = witnessed.idle()
    assert every == TABLES.keys() | idle.keys(), "a table is neither witnessed nor said to decide nothing"
    assert not TABLES.keys() & idle.keys()
    assert all(len(reason) > 10 for reason in idle.values())
    for table in TABLES.values():
        names = {field.attname for field in table.model._meta.concrete_fields if not field.primary_key}
        assert names == set(table.columns) | table.loose.keys(), table.label
        assert table.columns, table.label
        assert all(len(reason) > 10 for reason in table.loose.values()), table.label


# The chain of entries itself --------------------------------------------------------------------------------


def token(number: int) -> ApiToken:
    person, _ = Person.objects.get_or_create(username="robot")
    return ApiToken.objects.create(person=person, name=f"token {number}", digest=f"{number:064d}", created_at=NOW)


@contextmanager
def without_guards() -> Iterator[None]:
    triggers.remove(connection)
    try:
        yield
    finally:
        triggers.install(connection)


def problems() -> str:
    return "\n".join(witness_chain.findings())


@pytest.mark.django_db(transaction=True)
def test_a_commit_writes_one_entry_and_its_head(heads: Path) -> None:
    before = RowWitness.objects.count()
    with transaction.atomic():
        first, second = token(1), token(2)
        ApiToken.objects.filter(pk=first.pk).update(name="renamed")
    assert RowWitness.objects.count() == before + 1
    newest = RowWitness.objects.order_by("-seq")[0]
    assert f'"{second.pk}"' in newest.content
    assert heads.read_text().splitlines()[-1].split()[:2] == [str(newest.seq), newest.hash]
    assert problems() == ""


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_leaves_no_entry() -> None:
    before = RowWitness.objects.count()
    with transaction.atomic():
        token(1)
        transaction.set_rollback(True)
    assert RowWitness.objects.count() == before
    assert connection.unwitnessed == {}
    token(3)
    assert problems() == ""


@pytest.mark.django_db(transaction=True)
def test_a_change_of_what_decides_nothing_costs_no_entry() -> None:
    row = token(1)
    before = RowWitness.objects.count()
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=NOW)
    row.save(update_fields=["last_used_at"])
    assert RowWitness.objects.count() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("column", ["prev", "hash", "code", "content", "at", "rules", "seq"])
def test_a_changed_entry_is_named(column: str) -> None:
    for number in range(3):
        token(number)
    entry = RowWitness.objects.order_by("-seq")[1]
    changes: dict[str, Any] = {
        "at": NOW,
        "rules": True,
        "seq": entry.seq + 100,
        "content": entry.content.replace("token", "taken").replace(":", ": "),
        "code": RowWitness.objects.order_by("-seq")[0].code,
    }
    with without_guards():
        RowWitness.objects.filter(seq=entry.seq).update(**{column: changes.get(column, "f" * 64)})
    assert "Row witness entry" in problems()


@pytest.mark.django_db(transaction=True)
def test_a_forged_entry_with_right_hashes_is_named() -> None:
    row = token(1)
    sql("UPDATE desk_apitoken SET name = 'forged' WHERE id = %s", row.pk)
    newest = RowWitness.objects.order_by("-seq")[0]
    table = TABLES["desk.apitoken"]
    content = trail.canonical({"rows": {table.label: dict(table.witnesses([row.pk]))}})
    forged = RowWitness(seq=newest.seq + 1, prev=newest.hash, at=NOW, content=content, code=newest.code)
    forged.hash = witness_chain._hash(forged)
    forged.save(force_insert=True)
    assert f"Row witness entry {forged.seq} was not written by the desk" in problems()


@pytest.mark.django_db(transaction=True)
def test_taking_back_the_newest_entries_with_their_rows_shows_in_the_file() -> None:
    token(1)
    with transaction.atomic():
        row = token(2)
    with without_guards():
        newest = RowWitness.objects.order_by("-seq")[0]
        sql("DELETE FROM desk_rowwitness WHERE seq = %s", newest.seq)
        sql("DELETE FROM desk_apitoken WHERE id = %s", row.pk)
    assert f"ends at event {newest.seq - 1}" in problems()
    assert "later events were deleted" in problems()


# Keys, and rows from before --------------------------------------------------------------------------------


NEW = "new:" + "QkJC" * 10 + "QkI="


@pytest.mark.django_db(transaction=True)
def test_after_a_rotation_the_older_key_can_go(settings: Any) -> None:
    older = settings.KEY_RING or Path(settings.KEY_RING_FILE).read_text()
    token(1)
    settings.KEY_RING = f"{NEW},{older}"
    token(2)
    call_command("rotate_key_ring")
    call_command("rotate_key_ring")
    assert RowWitness.objects.filter(content__startswith='{"vouched"').count() == 1
    settings.KEY_RING = NEW
    assert problems() == ""
    assert not witness_chain.has_foreign_rows(PolicyVersion, QuorumTier), "the rules stand by an entry of the older key"
    settings.KEY_RING = older
    assert "code does not verify" in problems()


@pytest.mark.django_db(transaction=True)
def test_no_newer_key_is_put_over_entries_that_do_not_hold(settings: Any) -> None:
    token(1)
    newest = RowWitness.objects.order_by("-seq")[0]
    with without_guards():
        sql("UPDATE desk_rowwitness SET content = '{}' WHERE seq = %s", newest.seq)
    settings.KEY_RING = NEW
    with pytest.raises(witness_chain.CannotVouch):
        witness_chain.vouch_all(sealing.rotate)


@pytest.mark.django_db(transaction=True)
def test_confirmations_from_before_rest_on_the_first_entry(make_person: Callable[..., Any]) -> None:
    """As on a desk that was there before its rows were witnessed."""
    person = make_person("treasury")
    columns = {"purpose": "p", "digest": "d", "session_digest": "s", "at": NOW}
    old = StepUp.objects.create(person=person, kind="totp", totp_step=1, **columns)
    with without_guards():
        sql("DELETE FROM desk_rowwitness")
    witness_chain.heads_path().unlink()
    older_chains.begin()
    assert problems() == ""
    assert witness_chain.confirmations_before() == old.pk
    new = StepUp.objects.create(person=person, kind="totp", totp_step=2, **columns)
    assert witness_chain.confirmations_before() == old.pk
    purpose = {"person_id": person.pk, "purpose": "p"}
    assert not stepup.proves(old, digests={"d"}, **purpose), "it counts for nothing that is still open"
    assert vote_replay.Confirmations().prove(old.pk, **purpose)
    assert not vote_replay.Confirmations().prove(new.pk, **purpose)


# The guards --------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_every_trigger_of_this_version_is_installed_and_none_besides() -> None:
    assert list(installed_guards.findings()) == []
    assert len(installed_guards.declarations(connection.vendor)) > 60


@pytest.mark.django_db
def test_each_dropped_trigger_and_each_new_one_is_named() -> None:
    for name, guard in installed_guards.declarations(connection.vendor).items():
        with transaction.atomic():
            sql(f"DROP TRIGGER {name}" + ("" if connection.vendor == "sqlite" else f" ON {guard.table}"))
            (sentence,) = installed_guards.findings()
            assert sentence == f"Trigger {name} on table {guard.table} is missing, changed or disabled."
            transaction.set_rollback(True)
    if connection.vendor == "sqlite":
        sql("CREATE TRIGGER helpful AFTER INSERT ON exchange_ops_approval BEGIN SELECT 1; END")
    else:
        sql("ALTER TABLE exchange_ops_approval DISABLE TRIGGER exchange_ops_approval_second_factor")
        (sentence,) = installed_guards.findings()
        assert "exchange_ops_approval_second_factor" in sentence
        sql("ALTER TABLE exchange_ops_approval ENABLE TRIGGER exchange_ops_approval_second_factor")
        sql(
            "CREATE TRIGGER helpful AFTER INSERT ON exchange_ops_approval "
            "FOR EACH ROW EXECUTE FUNCTION exchange_ops_approval_second_factor()"
        )
    assert list(installed_guards.findings()) == [
        "The table exchange_ops_approval has a trigger helpful that this version does not use."
    ]


# People --------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_role_given_past_the_desk_is_named(make_person: Callable[..., Any]) -> None:
    person, other = make_person("operator"), make_person("treasury")
    group = other.groups.get()
    assert problems() == ""
    sql("INSERT INTO desk_person_groups (person_id, group_id) VALUES (%s, %s)", person.pk, group.pk)
    assert f"desk.person {person.pk} was altered outside the desk: roles changed" in problems()
    sql("DELETE FROM desk_person_groups WHERE person_id = %s AND group_id = %s", person.pk, group.pk)
    sql("UPDATE auth_group SET name = 'of forgers' WHERE id = %s", group.pk)
    assert f"desk.person {other.pk} was altered outside the desk: roles changed" in problems()


@pytest.mark.django_db(transaction=True)
def test_roles_given_by_the_desk_are_its_own(make_person: Callable[..., Any]) -> None:
    person = make_person("operator", "treasury")
    group = person.groups.get(name="treasury")
    person.groups.remove(group)
    group.user_set.add(person)
    group.user_set.clear()
    group.name = "adviser"
    group.save()
    group.delete()
    assert problems() == ""


@pytest.mark.django_db(transaction=True)
def test_an_event_appended_past_the_desk_is_named() -> None:
    with transaction.atomic():
        trail.record(actor=None, action="a", subject="s:1", before={}, after={}, now=NOW)
    forged = AuditEvent(seq=AuditEvent.objects.count() + 1, prev=trail.head(), at=NOW, action="b", subject="s:2")
    forged.before_text = forged.after_text = "{}"
    forged.hash = trail.hash_of(forged)
    columns = list(AuditEvent._meta.concrete_fields)
    names = ", ".join(f'"{field.column}"' for field in columns)
    values = [field.get_db_prep_save(getattr(forged, field.attname), connection) for field in columns]
    sql(f"INSERT INTO desk_auditevent ({names}) VALUES ({', '.join(['%s'] * len(columns))})", *values)
    assert f"desk.auditevent {forged.seq} was not written by the desk" in problems()


@pytest.mark.django_db(transaction=True)
def test_what_the_desk_writes_while_the_check_reads_is_no_finding() -> None:
    """Rows, events and heads of others that come after the entries were read, and before the rows are."""
    others: list[Thread] = []

    def meanwhile(execute: Any, question: str, *arguments: Any) -> Any:
        facts = execute(question, *arguments)
        if not others and question.startswith("SELECT") and "desk_rowwitness" in question:
            others.append(Thread(target=_work_on, args=("meanwhile",)))
            others[0].start()
            others[0].join(20)
        return facts

    _work_on("before")
    with connection.execute_wrapper(meanwhile):
        found = audit_check.verify(replay=True)
    assert found == []
    assert AuditEvent.objects.filter(action="a.thing", subject="x:meanwhile").exists()
    assert audit_check.verify(replay=True) == []


def _work_on(name: str) -> None:
    try:
        with transaction.atomic():
            Person.objects.create_user(name, password="a long enough one")
            trail.record(actor=None, action="a.thing", subject=f"x:{name}", before={}, after={}, now=NOW)
    finally:
        connection.close()
