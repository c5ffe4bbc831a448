from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_policychange_moves_with_event": "exchange_ops_policychange",
    "exchange_ops_policychange_content_fixed": "exchange_ops_policychange",
    "exchange_ops_policychange_begins": "exchange_ops_policychange",
    "exchange_ops_policychangeevent_no_edit": "exchange_ops_policychangeevent",
    "exchange_ops_policychange_no_removal": "exchange_ops_policychange",
    "exchange_ops_policychangeevent_no_removal": "exchange_ops_policychangeevent",
}
SQLITE = {
    "exchange_ops_policychange_moves_with_event": (
        "CREATE TRIGGER exchange_ops_policychange_moves_with_event BEFORE UPDATE ON exchange_ops_policychange WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM exchange_ops_policychangeevent e WHERE e.change_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a change of the rules "
        "moves only together with the event of its new version'); END"
    ),
    "exchange_ops_policychange_content_fixed": (
        "CREATE TRIGGER exchange_ops_policychange_content_fixed BEFORE UPDATE ON exchange_ops_policychange WHEN "
        "NEW.base IS NOT OLD.base OR NEW.content IS NOT OLD.content OR NEW.reason IS NOT OLD.reason OR NEW.digest IS "
        "NOT OLD.digest OR NEW.is_looser IS NOT OLD.is_looser OR NEW.proposed_by_id IS NOT OLD.proposed_by_id OR "
        "NEW.proposed_with_id IS NOT OLD.proposed_with_id OR NEW.expires_at IS NOT OLD.expires_at OR NEW.created_at IS "
        "NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a change of the rules is never edited'); "
        "END"
    ),
    "exchange_ops_policychange_begins": (
        "CREATE TRIGGER exchange_ops_policychange_begins BEFORE INSERT ON exchange_ops_policychange WHEN NEW.state <> "
        "'proposed' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a change of the rules begins as proposed'); END"
    ),
    "exchange_ops_policychangeevent_no_edit": (
        "CREATE TRIGGER exchange_ops_policychangeevent_no_edit BEFORE UPDATE ON exchange_ops_policychangeevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_policychange_no_removal": (
        "CREATE TRIGGER exchange_ops_policychange_no_removal BEFORE DELETE ON exchange_ops_policychange WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_policychangeevent_no_removal": (
        "CREATE TRIGGER exchange_ops_policychangeevent_no_removal BEFORE DELETE ON exchange_ops_policychangeevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_policychange_moves_with_event": (
        "CREATE FUNCTION exchange_ops_policychange_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_policychangeevent e WHERE e.change_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "change of the rules moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_moves_with_event BEFORE UPDATE ON exchange_ops_policychange FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policychange_moves_with_event()"
    ),
    "exchange_ops_policychange_content_fixed": (
        "CREATE FUNCTION exchange_ops_policychange_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.base IS DISTINCT FROM OLD.base OR NEW.content IS DISTINCT FROM OLD.content OR NEW.reason IS DISTINCT FROM "
        "OLD.reason OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.is_looser IS DISTINCT FROM OLD.is_looser OR "
        "NEW.proposed_by_id IS DISTINCT FROM OLD.proposed_by_id OR NEW.proposed_with_id IS DISTINCT FROM "
        "OLD.proposed_with_id OR NEW.expires_at IS DISTINCT FROM OLD.expires_at OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a change of the rules is never edited' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_content_fixed BEFORE UPDATE ON exchange_ops_policychange FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policychange_content_fixed()"
    ),
    "exchange_ops_policychange_begins": (
        "CREATE FUNCTION exchange_ops_policychange_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'proposed' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a change of the rules begins as proposed' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_begins BEFORE INSERT ON exchange_ops_policychange FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_policychange_begins()"
    ),
    "exchange_ops_policychangeevent_no_edit": (
        "CREATE FUNCTION exchange_ops_policychangeevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychangeevent_no_edit BEFORE UPDATE ON exchange_ops_policychangeevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policychangeevent_no_edit()"
    ),
    "exchange_ops_policychange_no_removal": (
        "CREATE FUNCTION exchange_ops_policychange_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_no_removal BEFORE DELETE ON exchange_ops_policychange FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_policychange_no_removal()"
    ),
    "exchange_ops_policychangeevent_no_removal": (
        "CREATE FUNCTION exchange_ops_policychangeevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policychangeevent_no_removal BEFORE DELETE ON exchange_ops_policychangeevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_policychangeevent_no_removal()"
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
    """The guards of policy changes, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0024_guards_of_policy")]

    operations = [migrations.RunPython(install)]
