from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_bracket_moves_with_event": "exchange_ops_bracket",
    "exchange_ops_bracket_content_fixed": "exchange_ops_bracket",
    "exchange_ops_bracket_begins": "exchange_ops_bracket",
    "exchange_ops_bracketleg_closes": "exchange_ops_bracketleg",
    "exchange_ops_bracket_ends_once": "exchange_ops_bracket",
    "exchange_ops_bracketleg_no_edit": "exchange_ops_bracketleg",
    "exchange_ops_bracketevent_no_edit": "exchange_ops_bracketevent",
    "exchange_ops_bracket_no_removal": "exchange_ops_bracket",
    "exchange_ops_bracketleg_no_removal": "exchange_ops_bracketleg",
    "exchange_ops_bracketevent_no_removal": "exchange_ops_bracketevent",
}
SQLITE = {
    "exchange_ops_bracket_moves_with_event": (
        "CREATE TRIGGER exchange_ops_bracket_moves_with_event BEFORE UPDATE ON exchange_ops_bracket WHEN (NEW.state IS "
        "NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 "
        "FROM exchange_ops_bracketevent e WHERE e.bracket_id = NEW.id AND e.version = NEW.version AND e.from_state = "
        "OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a bracket moves only together with the "
        "event of its new version'); END"
    ),
    "exchange_ops_bracket_content_fixed": (
        "CREATE TRIGGER exchange_ops_bracket_content_fixed BEFORE UPDATE ON exchange_ops_bracket WHEN NEW.account_id "
        "IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.entry_id IS NOT OLD.entry_id OR NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT "
        "OLD.side OR NEW.margin IS NOT OLD.margin OR NEW.stop_price IS NOT OLD.stop_price OR NEW.take_price IS NOT "
        "OLD.take_price OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a "
        "bracket is never edited'); END"
    ),
    "exchange_ops_bracket_begins": (
        "CREATE TRIGGER exchange_ops_bracket_begins BEFORE INSERT ON exchange_ops_bracket WHEN NEW.state <> 'entering' "
        "OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a bracket begins as entering'); END"
    ),
    "exchange_ops_bracketleg_closes": (
        "CREATE TRIGGER exchange_ops_bracketleg_closes BEFORE INSERT ON exchange_ops_bracketleg WHEN NOT EXISTS "
        "(SELECT 1 FROM exchange_ops_bracket b JOIN exchange_ops_order o ON o.id = NEW.order_id WHERE b.id = "
        "NEW.bracket_id AND o.account_id = b.account_id AND o.symbol = b.symbol AND o.margin = b.margin AND o.side <> "
        "b.side AND b.state <> 'closed' AND b.state <> 'ending') BEGIN SELECT RAISE(ABORT, 'an order of a bracket "
        "closes what its entry opened'); END"
    ),
    "exchange_ops_bracket_ends_once": (
        "CREATE TRIGGER exchange_ops_bracket_ends_once BEFORE UPDATE ON exchange_ops_bracket WHEN (OLD.outcome <> '' "
        "AND NEW.outcome <> OLD.outcome) OR (OLD.ended_by <> '' AND NEW.ended_by <> OLD.ended_by) BEGIN SELECT "
        "RAISE(ABORT, 'a bracket ends once, in one way'); END"
    ),
    "exchange_ops_bracketleg_no_edit": (
        "CREATE TRIGGER exchange_ops_bracketleg_no_edit BEFORE UPDATE ON exchange_ops_bracketleg WHEN NEW.id IS NOT "
        "OLD.id OR NEW.bracket_id IS NOT OLD.bracket_id OR NEW.number IS NOT OLD.number OR NEW.role IS NOT OLD.role OR "
        "NEW.order_id IS NOT OLD.order_id OR NEW.created_at IS NOT OLD.created_at OR (OLD.settled_at IS NOT NULL AND "
        "NEW.settled_at IS NOT OLD.settled_at) BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_bracketevent_no_edit": (
        "CREATE TRIGGER exchange_ops_bracketevent_no_edit BEFORE UPDATE ON exchange_ops_bracketevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_bracket_no_removal": (
        "CREATE TRIGGER exchange_ops_bracket_no_removal BEFORE DELETE ON exchange_ops_bracket WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_bracketleg_no_removal": (
        "CREATE TRIGGER exchange_ops_bracketleg_no_removal BEFORE DELETE ON exchange_ops_bracketleg WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_bracketevent_no_removal": (
        "CREATE TRIGGER exchange_ops_bracketevent_no_removal BEFORE DELETE ON exchange_ops_bracketevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_bracket_moves_with_event": (
        "CREATE FUNCTION exchange_ops_bracket_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_bracketevent e WHERE e.bracket_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "bracket moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_bracket_moves_with_event BEFORE UPDATE ON exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracket_moves_with_event()"
    ),
    "exchange_ops_bracket_content_fixed": (
        "CREATE FUNCTION exchange_ops_bracket_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.entry_id IS DISTINCT FROM OLD.entry_id OR "
        "NEW.symbol IS DISTINCT FROM OLD.symbol OR NEW.side IS DISTINCT FROM OLD.side OR NEW.margin IS DISTINCT FROM "
        "OLD.margin OR NEW.stop_price IS DISTINCT FROM OLD.stop_price OR NEW.take_price IS DISTINCT FROM "
        "OLD.take_price OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in "
        "a bracket is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_bracket_content_fixed BEFORE UPDATE ON exchange_ops_bracket FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_bracket_content_fixed()"
    ),
    "exchange_ops_bracket_begins": (
        "CREATE FUNCTION exchange_ops_bracket_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state "
        "<> 'entering' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a bracket begins as entering' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_bracket_begins "
        "BEFORE INSERT ON exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracket_begins()"
    ),
    "exchange_ops_bracketleg_closes": (
        "CREATE FUNCTION exchange_ops_bracketleg_closes() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_bracket b JOIN exchange_ops_order o ON o.id = NEW.order_id WHERE b.id = "
        "NEW.bracket_id AND o.account_id = b.account_id AND o.symbol = b.symbol AND o.margin = b.margin AND o.side <> "
        "b.side AND b.state <> 'closed' AND b.state <> 'ending') THEN RAISE EXCEPTION 'an order of a bracket closes "
        "what its entry opened' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_bracketleg_closes BEFORE INSERT ON exchange_ops_bracketleg FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_bracketleg_closes()"
    ),
    "exchange_ops_bracket_ends_once": (
        "CREATE FUNCTION exchange_ops_bracket_ends_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.outcome <> '' AND NEW.outcome <> OLD.outcome) OR (OLD.ended_by <> '' AND NEW.ended_by <> OLD.ended_by) "
        "THEN RAISE EXCEPTION 'a bracket ends once, in one way' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_bracket_ends_once BEFORE UPDATE ON "
        "exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracket_ends_once()"
    ),
    "exchange_ops_bracketleg_no_edit": (
        "CREATE FUNCTION exchange_ops_bracketleg_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.id "
        "IS DISTINCT FROM OLD.id OR NEW.bracket_id IS DISTINCT FROM OLD.bracket_id OR NEW.number IS DISTINCT FROM "
        "OLD.number OR NEW.role IS DISTINCT FROM OLD.role OR NEW.order_id IS DISTINCT FROM OLD.order_id OR "
        "NEW.created_at IS DISTINCT FROM OLD.created_at OR (OLD.settled_at IS NOT NULL AND NEW.settled_at IS DISTINCT "
        "FROM OLD.settled_at) THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_bracketleg_no_edit BEFORE UPDATE ON exchange_ops_bracketleg FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracketleg_no_edit()"
    ),
    "exchange_ops_bracketevent_no_edit": (
        "CREATE FUNCTION exchange_ops_bracketevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_bracketevent_no_edit BEFORE UPDATE ON exchange_ops_bracketevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracketevent_no_edit()"
    ),
    "exchange_ops_bracket_no_removal": (
        "CREATE FUNCTION exchange_ops_bracket_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_bracket_no_removal BEFORE DELETE ON "
        "exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracket_no_removal()"
    ),
    "exchange_ops_bracketleg_no_removal": (
        "CREATE FUNCTION exchange_ops_bracketleg_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_bracketleg_no_removal BEFORE DELETE ON "
        "exchange_ops_bracketleg FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracketleg_no_removal()"
    ),
    "exchange_ops_bracketevent_no_removal": (
        "CREATE FUNCTION exchange_ops_bracketevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_bracketevent_no_removal BEFORE DELETE ON exchange_ops_bracketevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracketevent_no_removal()"
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
    """The guards of brackets, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0042_guards_of_orders")]

    operations = [migrations.RunPython(install)]
