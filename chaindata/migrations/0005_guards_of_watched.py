from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "chaindata_watchedaddress_moves_with_event": "chaindata_watchedaddress",
    "chaindata_watchedaddress_content_fixed": "chaindata_watchedaddress",
    "chaindata_watchedaddress_begins": "chaindata_watchedaddress",
    "chaindata_watchedaddressevent_no_edit": "chaindata_watchedaddressevent",
    "chaindata_watchedaddress_no_removal": "chaindata_watchedaddress",
    "chaindata_watchedaddressevent_no_removal": "chaindata_watchedaddressevent",
}
SQLITE = {
    "chaindata_watchedaddress_moves_with_event": (
        "CREATE TRIGGER chaindata_watchedaddress_moves_with_event BEFORE UPDATE ON chaindata_watchedaddress WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM chaindata_watchedaddressevent e WHERE e.watched_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a watched address moves "
        "only together with the event of its new version'); END"
    ),
    "chaindata_watchedaddress_content_fixed": (
        "CREATE TRIGGER chaindata_watchedaddress_content_fixed BEFORE UPDATE ON chaindata_watchedaddress WHEN "
        "NEW.address IS NOT OLD.address OR NEW.title IS NOT OLD.title OR NEW.purpose IS NOT OLD.purpose OR NEW.note IS "
        "NOT OLD.note OR NEW.added_by_id IS NOT OLD.added_by_id OR NEW.from_height IS NOT OLD.from_height OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a watched address is "
        "never edited'); END"
    ),
    "chaindata_watchedaddress_begins": (
        "CREATE TRIGGER chaindata_watchedaddress_begins BEFORE INSERT ON chaindata_watchedaddress WHEN NEW.state <> "
        "'watched' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a watched address begins as watched'); END"
    ),
    "chaindata_watchedaddressevent_no_edit": (
        "CREATE TRIGGER chaindata_watchedaddressevent_no_edit BEFORE UPDATE ON chaindata_watchedaddressevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "chaindata_watchedaddress_no_removal": (
        "CREATE TRIGGER chaindata_watchedaddress_no_removal BEFORE DELETE ON chaindata_watchedaddress WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_watchedaddressevent_no_removal": (
        "CREATE TRIGGER chaindata_watchedaddressevent_no_removal BEFORE DELETE ON chaindata_watchedaddressevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "chaindata_watchedaddress_moves_with_event": (
        "CREATE FUNCTION chaindata_watchedaddress_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM chaindata_watchedaddressevent e WHERE e.watched_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "watched address moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddress_moves_with_event BEFORE UPDATE ON chaindata_watchedaddress FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddress_moves_with_event()"
    ),
    "chaindata_watchedaddress_content_fixed": (
        "CREATE FUNCTION chaindata_watchedaddress_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.address IS DISTINCT FROM OLD.address OR NEW.title IS DISTINCT FROM OLD.title OR NEW.purpose IS DISTINCT "
        "FROM OLD.purpose OR NEW.note IS DISTINCT FROM OLD.note OR NEW.added_by_id IS DISTINCT FROM OLD.added_by_id OR "
        "NEW.from_height IS DISTINCT FROM OLD.from_height OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE "
        "EXCEPTION 'what was asked for in a watched address is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddress_content_fixed BEFORE UPDATE ON chaindata_watchedaddress FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddress_content_fixed()"
    ),
    "chaindata_watchedaddress_begins": (
        "CREATE FUNCTION chaindata_watchedaddress_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'watched' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a watched address begins as watched' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddress_begins BEFORE INSERT ON chaindata_watchedaddress FOR EACH ROW EXECUTE FUNCTION "
        "chaindata_watchedaddress_begins()"
    ),
    "chaindata_watchedaddressevent_no_edit": (
        "CREATE FUNCTION chaindata_watchedaddressevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddressevent_no_edit BEFORE UPDATE ON chaindata_watchedaddressevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddressevent_no_edit()"
    ),
    "chaindata_watchedaddress_no_removal": (
        "CREATE FUNCTION chaindata_watchedaddress_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER chaindata_watchedaddress_no_removal BEFORE DELETE ON "
        "chaindata_watchedaddress FOR EACH ROW EXECUTE FUNCTION chaindata_watchedaddress_no_removal()"
    ),
    "chaindata_watchedaddressevent_no_removal": (
        "CREATE FUNCTION chaindata_watchedaddressevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_watchedaddressevent_no_removal BEFORE DELETE ON chaindata_watchedaddressevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_watchedaddressevent_no_removal()"
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
    """The guards of watched, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("chaindata", "0004_watched_addresses")]

    operations = [migrations.RunPython(install)]
