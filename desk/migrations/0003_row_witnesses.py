# ruff: noqa: S608  these statements are put together from constants of this module alone
from django.db import migrations, models

ONLY_NEXT = "the row entries take only the next of the chain"
NO_CHANGE = "the row entries are never changed"

SQLITE = {
    "rowwitness_no_update": f"""CREATE TRIGGER rowwitness_no_update BEFORE UPDATE ON desk_rowwitness
BEGIN SELECT RAISE(ABORT, '{NO_CHANGE}'); END""",
    "rowwitness_no_delete": f"""CREATE TRIGGER rowwitness_no_delete BEFORE DELETE ON desk_rowwitness
BEGIN SELECT RAISE(ABORT, '{NO_CHANGE}'); END""",
    "rowwitness_only_next": f"""CREATE TRIGGER rowwitness_only_next BEFORE INSERT ON desk_rowwitness
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM desk_rowwitness)
  OR NEW.prev IS NOT COALESCE((SELECT hash FROM desk_rowwitness ORDER BY seq DESC LIMIT 1), '{"0" * 64}')
BEGIN SELECT RAISE(ABORT, '{ONLY_NEXT}'); END""",
}
POSTGRESQL_FUNCTIONS = {
    "desk_rows_refuse": f"""CREATE FUNCTION desk_rows_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN RAISE EXCEPTION '{NO_CHANGE}' USING ERRCODE = 'integrity_constraint_violation'; END
$body$""",
    "desk_rows_only_next": f"""CREATE FUNCTION desk_rows_only_next() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE head record;
BEGIN
  SELECT seq, hash INTO head FROM desk_rowwitness ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev <> COALESCE(head.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION '{ONLY_NEXT}' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$body$""",
}
POSTGRESQL = {
    "rowwitness_no_change": """CREATE TRIGGER rowwitness_no_change BEFORE UPDATE OR DELETE ON desk_rowwitness
FOR EACH ROW EXECUTE FUNCTION desk_rows_refuse()""",
    "rowwitness_no_truncate": """CREATE TRIGGER rowwitness_no_truncate BEFORE TRUNCATE ON desk_rowwitness
FOR EACH STATEMENT EXECUTE FUNCTION desk_rows_refuse()""",
    "rowwitness_only_next": """CREATE TRIGGER rowwitness_only_next BEFORE INSERT ON desk_rowwitness
FOR EACH ROW EXECUTE FUNCTION desk_rows_only_next()""",
}


def install_triggers(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "sqlite":
            statements = [*SQLITE.values()]
        else:
            statements = [*POSTGRESQL_FUNCTIONS.values(), *POSTGRESQL.values()]
        for statement in statements:
            cursor.execute(statement)


def remove_triggers(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "sqlite":
            for name in SQLITE:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            return
        for name in POSTGRESQL:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON desk_rowwitness")
        for name in POSTGRESQL_FUNCTIONS:
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")


class Migration(migrations.Migration):
    """Rows that are there already are witnessed by the desk's own code right after the migrations (`desk.apps`)."""

    dependencies = [("desk", "0002_guards_and_cache")]

    operations = [
        migrations.AlterModelManagers(name="person", managers=[]),
        # Without a default, so that SQLite adds the column and leaves the table, and what refers to it, alone.
        migrations.AddField("stepup", "mac", models.CharField(max_length=110, null=True)),
        migrations.CreateModel(
            name="RowWitness",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                ("prev", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("code", models.CharField(max_length=110)),
                ("at", models.DateTimeField()),
                ("rules", models.BooleanField(default=False)),
                ("content", models.TextField()),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("rules", True)), fields=["seq"], name="rowwitness_of_rules")
                ],
                "constraints": [models.CheckConstraint(condition=models.Q(("seq__gte", 1)), name="rowwitness_from_one")],
            },
        ),
        migrations.RunPython(install_triggers, remove_triggers),
    ]
