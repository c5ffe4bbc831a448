from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_restore_moves_with_event": "desk_restore",
    "desk_restore_content_fixed": "desk_restore",
    "desk_restore_begins": "desk_restore",
    "desk_restore_by_two": "desk_restore",
    "desk_restoreword_second_factor": "desk_restoreword",
    "desk_restoreevent_no_edit": "desk_restoreevent",
    "desk_restoreword_no_edit": "desk_restoreword",
    "desk_restore_no_removal": "desk_restore",
    "desk_restoreevent_no_removal": "desk_restoreevent",
    "desk_restoreword_no_removal": "desk_restoreword",
}
SQLITE = {
    "desk_restore_moves_with_event": (
        "CREATE TRIGGER desk_restore_moves_with_event BEFORE UPDATE ON desk_restore WHEN (NEW.state IS NOT OLD.state "
        "OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "desk_restoreevent e WHERE e.restore_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND "
        "e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a restore moves only together with the event of its new "
        "version'); END"
    ),
    "desk_restore_content_fixed": (
        "CREATE TRIGGER desk_restore_content_fixed BEFORE UPDATE ON desk_restore WHEN NEW.sign IS NOT OLD.sign OR "
        "NEW.newest IS NOT OLD.newest OR NEW.as_of IS NOT OLD.as_of OR NEW.created_at IS NOT OLD.created_at BEGIN "
        "SELECT RAISE(ABORT, 'what was asked for in a restore is never edited'); END"
    ),
    "desk_restore_begins": (
        "CREATE TRIGGER desk_restore_begins BEFORE INSERT ON desk_restore WHEN NEW.state <> 'open' OR NEW.version <> 1 "
        "BEGIN SELECT RAISE(ABORT, 'a restore begins as open'); END"
    ),
    "desk_restore_by_two": (
        "CREATE TRIGGER desk_restore_by_two BEFORE UPDATE ON desk_restore WHEN NEW.state = 'settled' AND (SELECT "
        "COUNT(DISTINCT w.person_id) FROM desk_restoreword w JOIN desk_stepup s ON s.id = w.confirmation_id AND "
        "s.person_id = w.person_id AND s.digest = w.digest AND s.purpose = 'settle-restore' WHERE w.restore_id = "
        "NEW.id) < 2 BEGIN SELECT RAISE(ABORT, 'a restore is settled by the words of two people'); END"
    ),
    "desk_restoreword_second_factor": (
        "CREATE TRIGGER desk_restoreword_second_factor BEFORE INSERT ON desk_restoreword WHEN NOT EXISTS (SELECT 1 "
        "FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND "
        "s.purpose = 'settle-restore' AND s.digest = NEW.digest) BEGIN SELECT RAISE(ABORT, 'a word counts only with a "
        "second factor of this person, given for it'); END"
    ),
    "desk_restoreevent_no_edit": (
        "CREATE TRIGGER desk_restoreevent_no_edit BEFORE UPDATE ON desk_restoreevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_restoreword_no_edit": (
        "CREATE TRIGGER desk_restoreword_no_edit BEFORE UPDATE ON desk_restoreword WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_restore_no_removal": (
        "CREATE TRIGGER desk_restore_no_removal BEFORE DELETE ON desk_restore WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'rows about money are never removed'); END"
    ),
    "desk_restoreevent_no_removal": (
        "CREATE TRIGGER desk_restoreevent_no_removal BEFORE DELETE ON desk_restoreevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_restoreword_no_removal": (
        "CREATE TRIGGER desk_restoreword_no_removal BEFORE DELETE ON desk_restoreword WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_restore_moves_with_event": (
        "CREATE FUNCTION desk_restore_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM desk_restoreevent e WHERE e.restore_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a restore moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER desk_restore_moves_with_event BEFORE UPDATE ON desk_restore FOR EACH "
        "ROW EXECUTE FUNCTION desk_restore_moves_with_event()"
    ),
    "desk_restore_content_fixed": (
        "CREATE FUNCTION desk_restore_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.sign IS "
        "DISTINCT FROM OLD.sign OR NEW.newest IS DISTINCT FROM OLD.newest OR NEW.as_of IS DISTINCT FROM OLD.as_of OR "
        "NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a restore is never "
        "edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_restore_content_fixed BEFORE UPDATE ON desk_restore FOR EACH ROW EXECUTE FUNCTION "
        "desk_restore_content_fixed()"
    ),
    "desk_restore_begins": (
        "CREATE FUNCTION desk_restore_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state <> 'open' "
        "OR NEW.version <> 1 THEN RAISE EXCEPTION 'a restore begins as open' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER desk_restore_begins BEFORE "
        "INSERT ON desk_restore FOR EACH ROW EXECUTE FUNCTION desk_restore_begins()"
    ),
    "desk_restore_by_two": (
        "CREATE FUNCTION desk_restore_by_two() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state = "
        "'settled' AND (SELECT COUNT(DISTINCT w.person_id) FROM desk_restoreword w JOIN desk_stepup s ON s.id = "
        "w.confirmation_id AND s.person_id = w.person_id AND s.digest = w.digest AND s.purpose = 'settle-restore' "
        "WHERE w.restore_id = NEW.id) < 2 THEN RAISE EXCEPTION 'a restore is settled by the words of two people' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_restore_by_two BEFORE UPDATE ON desk_restore FOR EACH ROW EXECUTE FUNCTION desk_restore_by_two()"
    ),
    "desk_restoreword_second_factor": (
        "CREATE FUNCTION desk_restoreword_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NOT "
        "EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at "
        "= NEW.at AND s.purpose = 'settle-restore' AND s.digest = NEW.digest) THEN RAISE EXCEPTION 'a word counts only "
        "with a second factor of this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER desk_restoreword_second_factor BEFORE INSERT ON desk_restoreword FOR "
        "EACH ROW EXECUTE FUNCTION desk_restoreword_second_factor()"
    ),
    "desk_restoreevent_no_edit": (
        "CREATE FUNCTION desk_restoreevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_restoreevent_no_edit BEFORE UPDATE ON desk_restoreevent FOR "
        "EACH ROW EXECUTE FUNCTION desk_restoreevent_no_edit()"
    ),
    "desk_restoreword_no_edit": (
        "CREATE FUNCTION desk_restoreword_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_restoreword_no_edit BEFORE UPDATE ON desk_restoreword FOR "
        "EACH ROW EXECUTE FUNCTION desk_restoreword_no_edit()"
    ),
    "desk_restore_no_removal": (
        "CREATE FUNCTION desk_restore_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_restore_no_removal BEFORE DELETE ON desk_restore FOR EACH ROW "
        "EXECUTE FUNCTION desk_restore_no_removal()"
    ),
    "desk_restoreevent_no_removal": (
        "CREATE FUNCTION desk_restoreevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_restoreevent_no_removal BEFORE DELETE ON desk_restoreevent "
        "FOR EACH ROW EXECUTE FUNCTION desk_restoreevent_no_removal()"
    ),
    "desk_restoreword_no_removal": (
        "CREATE FUNCTION desk_restoreword_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_restoreword_no_removal BEFORE DELETE ON desk_restoreword FOR "
        "EACH ROW EXECUTE FUNCTION desk_restoreword_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """The guards of restores, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0017_restores")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
