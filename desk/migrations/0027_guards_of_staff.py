from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_personchange_content_fixed": "desk_personchange",
}
SQLITE = {
    "desk_personchange_content_fixed": (
        "CREATE TRIGGER desk_personchange_content_fixed BEFORE UPDATE ON desk_personchange WHEN NEW.person_id IS NOT "
        "OLD.person_id OR NEW.kind IS NOT OLD.kind OR NEW.wanted IS NOT OLD.wanted OR NEW.before IS NOT OLD.before OR "
        "NEW.until IS NOT OLD.until OR NEW.reason IS NOT OLD.reason OR NEW.digest IS NOT OLD.digest OR "
        "NEW.requested_by_id IS NOT OLD.requested_by_id OR NEW.requested_with_id IS NOT OLD.requested_with_id OR "
        "NEW.alone IS NOT OLD.alone OR NEW.expires_at IS NOT OLD.expires_at OR NEW.created_at IS NOT OLD.created_at "
        "BEGIN SELECT RAISE(ABORT, 'what was asked for in a change of a person is never edited'); END"
    ),
}
POSTGRESQL = {
    "desk_personchange_content_fixed": (
        "CREATE FUNCTION desk_personchange_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.person_id IS DISTINCT FROM OLD.person_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.wanted IS DISTINCT "
        "FROM OLD.wanted OR NEW.before IS DISTINCT FROM OLD.before OR NEW.until IS DISTINCT FROM OLD.until OR "
        "NEW.reason IS DISTINCT FROM OLD.reason OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.requested_by_id IS "
        "DISTINCT FROM OLD.requested_by_id OR NEW.requested_with_id IS DISTINCT FROM OLD.requested_with_id OR "
        "NEW.alone IS DISTINCT FROM OLD.alone OR NEW.expires_at IS DISTINCT FROM OLD.expires_at OR NEW.created_at IS "
        "DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a change of a person is never "
        "edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchange_content_fixed BEFORE UPDATE ON desk_personchange FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchange_content_fixed()"
    ),
}


class Migration(migrations.Migration):
    """Guards of staff, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0026_roles_for_some_time")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
