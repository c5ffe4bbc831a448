from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_comment_no_edit": "desk_comment",
    "desk_comment_no_removal": "desk_comment",
}
SQLITE = {
    "desk_comment_no_edit": (
        "CREATE TRIGGER desk_comment_no_edit BEFORE UPDATE ON desk_comment WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'the "
        "history of money is never changed'); END"
    ),
    "desk_comment_no_removal": (
        "CREATE TRIGGER desk_comment_no_removal BEFORE DELETE ON desk_comment WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_comment_no_edit": (
        "CREATE FUNCTION desk_comment_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN RAISE "
        "EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER desk_comment_no_edit BEFORE UPDATE ON desk_comment FOR EACH ROW "
        "EXECUTE FUNCTION desk_comment_no_edit()"
    ),
    "desk_comment_no_removal": (
        "CREATE FUNCTION desk_comment_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_comment_no_removal BEFORE DELETE ON desk_comment FOR EACH ROW "
        "EXECUTE FUNCTION desk_comment_no_removal()"
    ),
}


def install(apps, schema_editor):
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        for name, table in TABLES.items():
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")
        for statement in (SQLITE if connection.vendor == "sqlite" else POSTGRESQL).values():
            cursor.execute(statement)


class Migration(migrations.Migration):
    """The guards of threads, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0006_guards_of_incidents")]

    operations = [migrations.RunPython(install)]
