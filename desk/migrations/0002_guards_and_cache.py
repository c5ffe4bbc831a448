# ruff: noqa: S608  these statements are put together from constants of this module alone
from django.core.management import call_command
from django.db import migrations

ONLY_NEXT = "the audit trail takes only the next event of the chain"
NO_CHANGE = "the audit trail is never changed"

SQLITE = {
    "audit_no_update": f"""CREATE TRIGGER audit_no_update BEFORE UPDATE ON desk_auditevent
BEGIN SELECT RAISE(ABORT, '{NO_CHANGE}'); END""",
    "audit_no_delete": f"""CREATE TRIGGER audit_no_delete BEFORE DELETE ON desk_auditevent
BEGIN SELECT RAISE(ABORT, '{NO_CHANGE}'); END""",
    # Also stops INSERT OR REPLACE, whose hidden delete fires no delete trigger unless recursive triggers are on.
    "audit_only_next": f"""CREATE TRIGGER audit_only_next BEFORE INSERT ON desk_auditevent
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM desk_auditevent)
  OR NEW.prev IS NOT COALESCE((SELECT hash FROM desk_auditevent ORDER BY seq DESC LIMIT 1), '{"0" * 64}')
BEGIN SELECT RAISE(ABORT, '{ONLY_NEXT}'); END""",
}

POSTGRESQL_FUNCTIONS = {
    "desk_audit_refuse": f"""CREATE FUNCTION desk_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN RAISE EXCEPTION '{NO_CHANGE}' USING ERRCODE = 'integrity_constraint_violation'; END
$body$""",
    "desk_audit_only_next": f"""CREATE FUNCTION desk_audit_only_next() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE head record;
BEGIN
  SELECT seq, hash INTO head FROM desk_auditevent ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev <> COALESCE(head.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION '{ONLY_NEXT}' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$body$""",
}

POSTGRESQL = {
    "audit_no_change": """CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON desk_auditevent
FOR EACH ROW EXECUTE FUNCTION desk_audit_refuse()""",
    # Row triggers do not see TRUNCATE: without this one the owner of the table could empty it unnoticed.
    "audit_no_truncate": """CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON desk_auditevent
FOR EACH STATEMENT EXECUTE FUNCTION desk_audit_refuse()""",
    "audit_only_next": """CREATE TRIGGER audit_only_next BEFORE INSERT ON desk_auditevent
FOR EACH ROW EXECUTE FUNCTION desk_audit_only_next()""",
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
            cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON desk_auditevent")
        for name in POSTGRESQL_FUNCTIONS:
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")


def make_cache_table(apps, schema_editor):
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("desk", "0001_people_and_audit")]

    operations = [
        migrations.RunPython(install_triggers, remove_triggers),
        migrations.RunPython(make_cache_table, migrations.RunPython.noop),
    ]
