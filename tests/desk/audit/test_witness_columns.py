"""A version that witnesses other columns: rows that hold are witnessed anew, and what was forged before stays named."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from desk import sealing
from desk.apps import _renew_witnesses
from desk.audit import trail, triggers, witness_chain, witness_columns
from desk.models import ApiToken, Person, RowWitness
from desk.rows import witnessed
from tests.desk.audit import older_chains

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("migrations: rows are read by SQL of our own"),
]
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
USED = {"last_used_at": "says when it was last used"}
NAMED = USED | {"name": "a name for lists"}
LABEL = "desk.apitoken"


@pytest.fixture(autouse=True)
def heads(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def version() -> Iterator[Callable[..., None]]:
    """Declares by which columns tokens are not witnessed, as another version of the desk would."""
    declared = witnessed._tables[ApiToken]
    yield lambda loose: witnessed.register(ApiToken, loose=loose)
    witnessed.register(ApiToken, loose=declared.loose)


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def begin(*, stating: bool = True) -> None:
    """As a desk that begins with the version that is declared; without a statement, as one that began before any."""
    triggers.remove(connection)
    sql("DELETE FROM desk_rowwitness")
    triggers.install(connection)
    witness_chain.heads_path().unlink(missing_ok=True)
    if not stating:
        write(RowWitness(seq=1, prev=trail.NO_HEAD, at=NOW, content='{"rows":{}}'))
        for table in witnessed.tables():
            witnessed.note(table.model, table.model._base_manager.values_list("pk", flat=True))
        return
    older_chains.begin()


def write(entry: RowWitness, *, code: str = "") -> None:
    """Append an entry under the desk's key, or with a code that somebody lifted from another one."""
    entry.hash = witness_chain._hash(entry)
    entry.code = code or sealing.authenticate(entry.hash.encode(), context=witness_chain.CONTEXT)
    entry.save(force_insert=True)
    witness_chain.heads.append(witness_chain.heads_path(), seq=entry.seq, hash=entry.hash, at=entry.at)


def token(number: int) -> ApiToken:
    person, _ = Person.objects.get_or_create(username="robot")
    return ApiToken.objects.create(person=person, name=f"token {number}", digest=f"{number:064d}", created_at=NOW)


def named() -> set[int]:
    """The numbers of the tokens that are named; nothing else may be wrong."""
    findings = list(witness_chain.findings())
    assert all(finding.startswith(f"{LABEL} ") for finding in findings), findings
    return {int(finding.split()[1]) for finding in findings}


def forge(row: ApiToken, column: str, value: str) -> None:
    sql(f"UPDATE desk_apitoken SET {column} = %s WHERE id = %s", value, row.pk)


@pytest.mark.parametrize(
    ("before", "after"), [(NAMED, USED), (USED, NAMED)], ids=["a column is taken in", "a column is taken out"]
)
def test_rows_that_hold_are_witnessed_anew_and_forged_ones_stay_named(
    version: Callable[..., None], before: dict[str, str], after: dict[str, str]
) -> None:
    version(before)
    begin()
    holding, forged, renamed, filled, removed = token(1), token(2), token(3), token(4), token(5)
    ApiToken.objects.filter(pk=filled.pk).update(name="")
    forge(forged, "digest", "f" * 64)
    forge(renamed, "name", "forged")
    forge(filled, "name", "forged")
    sql("DELETE FROM desk_apitoken WHERE id = %s", removed.pk)
    before_it = {forged.pk, removed.pk} | ({renamed.pk, filled.pk} if before == USED else set())
    assert named() == before_it
    version(after)
    entries = RowWitness.objects.count()
    _renew_witnesses()
    assert named() == before_it
    assert RowWitness.objects.count() == entries + 2, "one entry of rows, one that states the columns"
    assert witness_columns.renew() == 0, "once"
    forge(holding, "name", "forged later")
    assert named() == before_it | ({holding.pk} if after == USED else set())
    ApiToken.objects.filter(pk=forged.pk).update(name="by the desk", digest="d" * 64)
    assert forged.pk not in named(), "what the desk writes is its own again"


def test_a_desk_from_before_any_statement_has_its_columns_from_a_migration(version: Callable[..., None]) -> None:
    version(NAMED)
    begin(stating=False)
    row, forged = token(1), token(2)
    forge(forged, "digest", "f" * 64)
    version(USED)
    assert witness_columns.renew() == 0, "by what its rows were witnessed nobody knows"
    assert named() == {row.pk, forged.pk}
    loose = {table.label: " ".join(table.loose) for table in witnessed.tables() if table.label != "desk.comment"}
    operation = witness_columns.statement(loose | {LABEL: "last_used_at name"})
    operation.code(apps, None)
    operation.code(apps, None)
    stating = RowWitness.objects.filter(content__startswith='{"columns"')
    assert json.loads(stating.get().content)["columns"][LABEL] == sorted(
        {field.attname for field in ApiToken._meta.concrete_fields} - {"id", "last_used_at", "name"}
    )
    assert witness_columns.renew() == 1
    assert named() == {forged.pk}
    forge(row, "name", "forged")
    assert named() == {row.pk, forged.pk}
    assert stating.count() == 2, "tables that were in no statement are stated as well"


def test_a_row_whose_entry_the_desk_did_not_write_is_not_witnessed_anew(version: Callable[..., None]) -> None:
    version(NAMED)
    begin()
    row = token(1)
    forge(row, "digest", "f" * 64)
    newest = RowWitness.objects.order_by("-seq")[0]
    (table,) = (table for table in witnessed.tables() if table.label == LABEL)
    content = trail.canonical({"rows": {LABEL: dict(table.witnesses([row.pk]))}})
    write(RowWitness(seq=newest.seq + 1, prev=newest.hash, at=NOW, content=content), code=newest.code)
    version(USED)
    _renew_witnesses()
    findings = "\n".join(witness_chain.findings())
    assert f"{LABEL} {row.pk} was altered outside the desk" in findings
    assert f"Row witness entry {newest.seq + 1} was not written by the desk" in findings


def test_rows_under_a_key_that_is_gone_are_vouched_for(version: Callable[..., None], settings: Any) -> None:
    older = settings.KEY_RING or Path(settings.KEY_RING_FILE).read_text()
    version(NAMED)
    begin()
    token(1)
    settings.KEY_RING = f"new:{'QkJC' * 10}QkI=,{older}"
    call_command("rotate_key_ring")
    settings.KEY_RING = settings.KEY_RING.partition(",")[0]
    version(USED)
    assert witness_columns.renew() == 1
    assert named() == set()


def test_a_column_that_is_gone_can_not_be_compared() -> None:
    begin(stating=False)
    token(1)
    witness_columns.state({LABEL: [*witnessed.columns()[LABEL], "colour"]})
    with pytest.raises(witness_columns.CannotRenew, match="colour"):
        witness_columns.renew()
    assert named() == set(), "nothing was written"
