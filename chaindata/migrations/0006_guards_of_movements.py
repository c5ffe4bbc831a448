from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "chaindata_chainmovement_moves_with_event": "chaindata_chainmovement",
    "chaindata_chainmovement_content_fixed": "chaindata_chainmovement",
    "chaindata_chainmovement_begins": "chaindata_chainmovement",
    "chaindata_chainmovementevent_no_edit": "chaindata_chainmovementevent",
    "chaindata_chainmovement_no_removal": "chaindata_chainmovement",
    "chaindata_chainmovementevent_no_removal": "chaindata_chainmovementevent",
}
SQLITE = {
    "chaindata_chainmovement_moves_with_event": (
        "CREATE TRIGGER chaindata_chainmovement_moves_with_event BEFORE UPDATE ON chaindata_chainmovement WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM chaindata_chainmovementevent e WHERE e.movement_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a movement of a watched "
        "address moves only together with the event of its new version'); END"
    ),
    "chaindata_chainmovement_content_fixed": (
        "CREATE TRIGGER chaindata_chainmovement_content_fixed BEFORE UPDATE ON chaindata_chainmovement WHEN "
        "NEW.watched_id IS NOT OLD.watched_id OR NEW.txid IS NOT OLD.txid OR NEW.change_sat IS NOT OLD.change_sat OR "
        "NEW.spends IS NOT OLD.spends OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was "
        "asked for in a movement of a watched address is never edited'); END"
    ),
    "chaindata_chainmovement_begins": (
        "CREATE TRIGGER chaindata_chainmovement_begins BEFORE INSERT ON chaindata_chainmovement WHEN NEW.state <> "
        "'seen' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a movement of a watched address begins as seen'); END"
    ),
    "chaindata_chainmovementevent_no_edit": (
        "CREATE TRIGGER chaindata_chainmovementevent_no_edit BEFORE UPDATE ON chaindata_chainmovementevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "chaindata_chainmovement_no_removal": (
        "CREATE TRIGGER chaindata_chainmovement_no_removal BEFORE DELETE ON chaindata_chainmovement WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_chainmovementevent_no_removal": (
        "CREATE TRIGGER chaindata_chainmovementevent_no_removal BEFORE DELETE ON chaindata_chainmovementevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "chaindata_chainmovement_moves_with_event": (
        "CREATE FUNCTION chaindata_chainmovement_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM chaindata_chainmovementevent e WHERE e.movement_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "movement of a watched address moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovement_moves_with_event BEFORE UPDATE ON chaindata_chainmovement FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainmovement_moves_with_event()"
    ),
    "chaindata_chainmovement_content_fixed": (
        "CREATE FUNCTION chaindata_chainmovement_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.watched_id IS DISTINCT FROM OLD.watched_id OR NEW.txid IS DISTINCT FROM OLD.txid OR NEW.change_sat IS "
        "DISTINCT FROM OLD.change_sat OR NEW.spends IS DISTINCT FROM OLD.spends OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a movement of a watched address is never edited' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovement_content_fixed BEFORE UPDATE ON chaindata_chainmovement FOR EACH ROW EXECUTE FUNCTION "
        "chaindata_chainmovement_content_fixed()"
    ),
    "chaindata_chainmovement_begins": (
        "CREATE FUNCTION chaindata_chainmovement_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'seen' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a movement of a watched address begins as seen' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovement_begins BEFORE INSERT ON chaindata_chainmovement FOR EACH ROW EXECUTE FUNCTION "
        "chaindata_chainmovement_begins()"
    ),
    "chaindata_chainmovementevent_no_edit": (
        "CREATE FUNCTION chaindata_chainmovementevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainmovementevent_no_edit BEFORE UPDATE ON chaindata_chainmovementevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainmovementevent_no_edit()"
    ),
    "chaindata_chainmovement_no_removal": (
        "CREATE FUNCTION chaindata_chainmovement_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER chaindata_chainmovement_no_removal BEFORE DELETE ON "
        "chaindata_chainmovement FOR EACH ROW EXECUTE FUNCTION chaindata_chainmovement_no_removal()"
    ),
    "chaindata_chainmovementevent_no_removal": (
        "CREATE FUNCTION chaindata_chainmovementevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_chainmovementevent_no_removal BEFORE DELETE ON chaindata_chainmovementevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainmovementevent_no_removal()"
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
    """The guards of movements, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("chaindata", "0005_guards_of_watched")]

    operations = [migrations.RunPython(install)]
