from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_personchange_moves_with_event": "desk_personchange",
    "desk_personchange_content_fixed": "desk_personchange",
    "desk_personchange_begins": "desk_personchange",
    "desk_personchangeevent_no_edit": "desk_personchangeevent",
    "desk_personchange_no_removal": "desk_personchange",
    "desk_invitation_no_removal": "desk_invitation",
    "desk_personchangeevent_no_removal": "desk_personchangeevent",
}
SQLITE = {
    "desk_personchange_moves_with_event": (
        "CREATE TRIGGER desk_personchange_moves_with_event BEFORE UPDATE ON desk_personchange WHEN (NEW.state IS NOT "
        "OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "desk_personchangeevent e WHERE e.change_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a change of a person moves only together with the "
        "event of its new version'); END"
    ),
    "desk_personchange_content_fixed": (
        "CREATE TRIGGER desk_personchange_content_fixed BEFORE UPDATE ON desk_personchange WHEN NEW.person_id IS NOT "
        "OLD.person_id OR NEW.kind IS NOT OLD.kind OR NEW.wanted IS NOT OLD.wanted OR NEW.before IS NOT OLD.before OR "
        "NEW.reason IS NOT OLD.reason OR NEW.digest IS NOT OLD.digest OR NEW.requested_by_id IS NOT "
        "OLD.requested_by_id OR NEW.requested_with_id IS NOT OLD.requested_with_id OR NEW.alone IS NOT OLD.alone OR "
        "NEW.expires_at IS NOT OLD.expires_at OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what "
        "was asked for in a change of a person is never edited'); END"
    ),
    "desk_personchange_begins": (
        "CREATE TRIGGER desk_personchange_begins BEFORE INSERT ON desk_personchange WHEN NEW.state <> 'requested' OR "
        "NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a change of a person begins as requested'); END"
    ),
    "desk_personchangeevent_no_edit": (
        "CREATE TRIGGER desk_personchangeevent_no_edit BEFORE UPDATE ON desk_personchangeevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_personchange_no_removal": (
        "CREATE TRIGGER desk_personchange_no_removal BEFORE DELETE ON desk_personchange WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_invitation_no_removal": (
        "CREATE TRIGGER desk_invitation_no_removal BEFORE DELETE ON desk_invitation WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_personchangeevent_no_removal": (
        "CREATE TRIGGER desk_personchangeevent_no_removal BEFORE DELETE ON desk_personchangeevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_personchange_moves_with_event": (
        "CREATE FUNCTION desk_personchange_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM desk_personchangeevent e WHERE e.change_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a change of a "
        "person moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchange_moves_with_event BEFORE UPDATE ON desk_personchange FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchange_moves_with_event()"
    ),
    "desk_personchange_content_fixed": (
        "CREATE FUNCTION desk_personchange_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.person_id IS DISTINCT FROM OLD.person_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.wanted IS DISTINCT "
        "FROM OLD.wanted OR NEW.before IS DISTINCT FROM OLD.before OR NEW.reason IS DISTINCT FROM OLD.reason OR "
        "NEW.digest IS DISTINCT FROM OLD.digest OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR "
        "NEW.requested_with_id IS DISTINCT FROM OLD.requested_with_id OR NEW.alone IS DISTINCT FROM OLD.alone OR "
        "NEW.expires_at IS DISTINCT FROM OLD.expires_at OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE "
        "EXCEPTION 'what was asked for in a change of a person is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchange_content_fixed BEFORE UPDATE ON desk_personchange FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchange_content_fixed()"
    ),
    "desk_personchange_begins": (
        "CREATE FUNCTION desk_personchange_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state <> "
        "'requested' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a change of a person begins as requested' USING ERRCODE "
        "= 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER desk_personchange_begins "
        "BEFORE INSERT ON desk_personchange FOR EACH ROW EXECUTE FUNCTION desk_personchange_begins()"
    ),
    "desk_personchangeevent_no_edit": (
        "CREATE FUNCTION desk_personchangeevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchangeevent_no_edit BEFORE UPDATE ON desk_personchangeevent FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchangeevent_no_edit()"
    ),
    "desk_personchange_no_removal": (
        "CREATE FUNCTION desk_personchange_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_personchange_no_removal BEFORE DELETE ON desk_personchange "
        "FOR EACH ROW EXECUTE FUNCTION desk_personchange_no_removal()"
    ),
    "desk_invitation_no_removal": (
        "CREATE FUNCTION desk_invitation_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_invitation_no_removal BEFORE DELETE ON desk_invitation FOR "
        "EACH ROW EXECUTE FUNCTION desk_invitation_no_removal()"
    ),
    "desk_personchangeevent_no_removal": (
        "CREATE FUNCTION desk_personchangeevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER desk_personchangeevent_no_removal BEFORE DELETE ON "
        "desk_personchangeevent FOR EACH ROW EXECUTE FUNCTION desk_personchangeevent_no_removal()"
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
    """The guards of staff, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0013_roles_by_account")]

    operations = [migrations.RunPython(install)]
