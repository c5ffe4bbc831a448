from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_order_moves_with_event": "exchange_ops_order",
    "exchange_ops_orderevent_no_edit": "exchange_ops_orderevent",
    "exchange_ops_orderevent_no_removal": "exchange_ops_orderevent",
}
SQLITE = {
    "exchange_ops_order_moves_with_event": (
        "CREATE TRIGGER exchange_ops_order_moves_with_event BEFORE UPDATE ON exchange_ops_order WHEN (NEW.state IS NOT "
        "OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "exchange_ops_orderevent e WHERE e.order_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'an order moves only together with the event of its "
        "new version'); END"
    ),
    "exchange_ops_orderevent_no_edit": (
        "CREATE TRIGGER exchange_ops_orderevent_no_edit BEFORE UPDATE ON exchange_ops_orderevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_orderevent_no_removal": (
        "CREATE TRIGGER exchange_ops_orderevent_no_removal BEFORE DELETE ON exchange_ops_orderevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_order_moves_with_event": (
        "CREATE FUNCTION exchange_ops_order_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_orderevent e WHERE e.order_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'an order moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_moves_with_event BEFORE UPDATE ON "
        "exchange_ops_order FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_moves_with_event()"
    ),
    "exchange_ops_orderevent_no_edit": (
        "CREATE FUNCTION exchange_ops_orderevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderevent_no_edit BEFORE UPDATE ON exchange_ops_orderevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_orderevent_no_edit()"
    ),
    "exchange_ops_orderevent_no_removal": (
        "CREATE FUNCTION exchange_ops_orderevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_orderevent_no_removal BEFORE DELETE ON "
        "exchange_ops_orderevent FOR EACH ROW EXECUTE FUNCTION exchange_ops_orderevent_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of orders, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0078_orders_found_after_a_restore")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
