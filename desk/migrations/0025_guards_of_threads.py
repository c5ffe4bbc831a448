from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_attachment_no_edit": "desk_attachment",
    "desk_storedfile_no_edit": "desk_storedfile",
    "desk_attachment_no_removal": "desk_attachment",
    "desk_storedfile_no_removal": "desk_storedfile",
}
SQLITE = {
    "desk_attachment_no_edit": (
        "CREATE TRIGGER desk_attachment_no_edit BEFORE UPDATE ON desk_attachment WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'the history of money is never changed'); END"
    ),
    "desk_storedfile_no_edit": (
        "CREATE TRIGGER desk_storedfile_no_edit BEFORE UPDATE ON desk_storedfile WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'the history of money is never changed'); END"
    ),
    "desk_attachment_no_removal": (
        "CREATE TRIGGER desk_attachment_no_removal BEFORE DELETE ON desk_attachment WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_storedfile_no_removal": (
        "CREATE TRIGGER desk_storedfile_no_removal BEFORE DELETE ON desk_storedfile WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_attachment_no_edit": (
        "CREATE FUNCTION desk_attachment_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_attachment_no_edit BEFORE UPDATE ON desk_attachment FOR EACH "
        "ROW EXECUTE FUNCTION desk_attachment_no_edit()"
    ),
    "desk_storedfile_no_edit": (
        "CREATE FUNCTION desk_storedfile_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_storedfile_no_edit BEFORE UPDATE ON desk_storedfile FOR EACH "
        "ROW EXECUTE FUNCTION desk_storedfile_no_edit()"
    ),
    "desk_attachment_no_removal": (
        "CREATE FUNCTION desk_attachment_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_attachment_no_removal BEFORE DELETE ON desk_attachment FOR "
        "EACH ROW EXECUTE FUNCTION desk_attachment_no_removal()"
    ),
    "desk_storedfile_no_removal": (
        "CREATE FUNCTION desk_storedfile_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_storedfile_no_removal BEFORE DELETE ON desk_storedfile FOR "
        "EACH ROW EXECUTE FUNCTION desk_storedfile_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of threads, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0024_attachments")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
