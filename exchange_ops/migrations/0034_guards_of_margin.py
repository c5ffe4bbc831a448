from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_marginaction_moves_with_event": "exchange_ops_marginaction",
    "exchange_ops_marginaction_content_fixed": "exchange_ops_marginaction",
    "exchange_ops_marginaction_begins": "exchange_ops_marginaction",
    "exchange_ops_marginaction_fills_once": "exchange_ops_marginaction",
    "exchange_ops_marginaction_sent_once": "exchange_ops_marginaction",
    "exchange_ops_marginactionevent_no_edit": "exchange_ops_marginactionevent",
    "exchange_ops_marginreport_no_edit": "exchange_ops_marginreport",
    "exchange_ops_marginaction_no_removal": "exchange_ops_marginaction",
    "exchange_ops_marginactioncall_no_removal": "exchange_ops_marginactioncall",
    "exchange_ops_marginactionevent_no_removal": "exchange_ops_marginactionevent",
    "exchange_ops_marginreport_no_removal": "exchange_ops_marginreport",
}
SQLITE = {
    "exchange_ops_marginaction_moves_with_event": (
        "CREATE TRIGGER exchange_ops_marginaction_moves_with_event BEFORE UPDATE ON exchange_ops_marginaction WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM exchange_ops_marginactionevent e WHERE e.action_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a margin action moves "
        "only together with the event of its new version'); END"
    ),
    "exchange_ops_marginaction_content_fixed": (
        "CREATE TRIGGER exchange_ops_marginaction_content_fixed BEFORE UPDATE ON exchange_ops_marginaction WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.client_order_id IS NOT OLD.client_order_id "
        "OR NEW.kind IS NOT OLD.kind OR NEW.symbol IS NOT OLD.symbol OR NEW.amount IS NOT OLD.amount OR NEW.side IS "
        "NOT OLD.side OR NEW.quantity IS NOT OLD.quantity OR NEW.order_type IS NOT OLD.order_type OR NEW.price IS NOT "
        "OLD.price OR NEW.position_id IS NOT OLD.position_id OR NEW.confirmed IS NOT OLD.confirmed OR NEW.created_at "
        "IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a margin action is never edited'); END"
    ),
    "exchange_ops_marginaction_begins": (
        "CREATE TRIGGER exchange_ops_marginaction_begins BEFORE INSERT ON exchange_ops_marginaction WHEN NEW.state <> "
        "'requested' OR NEW.version <> 1 OR NEW.sends <> 0 OR NEW.exchange_order_id IS NOT NULL BEGIN SELECT "
        "RAISE(ABORT, 'a margin action begins as requested'); END"
    ),
    "exchange_ops_marginaction_fills_once": (
        "CREATE TRIGGER exchange_ops_marginaction_fills_once BEFORE UPDATE ON exchange_ops_marginaction WHEN "
        "(OLD.exchange_order_id IS NOT NULL AND NEW.exchange_order_id IS NOT OLD.exchange_order_id) BEGIN SELECT "
        "RAISE(ABORT, 'a margin action keeps what it was given'); END"
    ),
    "exchange_ops_marginaction_sent_once": (
        "CREATE TRIGGER exchange_ops_marginaction_sent_once BEFORE UPDATE ON exchange_ops_marginaction WHEN NEW.sends "
        "< OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) OR (NEW.state = 'sending' AND "
        "NEW.sends <> 1) BEGIN SELECT RAISE(ABORT, 'a margin action is sent once at most'); END"
    ),
    "exchange_ops_marginactionevent_no_edit": (
        "CREATE TRIGGER exchange_ops_marginactionevent_no_edit BEFORE UPDATE ON exchange_ops_marginactionevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_marginreport_no_edit": (
        "CREATE TRIGGER exchange_ops_marginreport_no_edit BEFORE UPDATE ON exchange_ops_marginreport WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_marginaction_no_removal": (
        "CREATE TRIGGER exchange_ops_marginaction_no_removal BEFORE DELETE ON exchange_ops_marginaction WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginactioncall_no_removal": (
        "CREATE TRIGGER exchange_ops_marginactioncall_no_removal BEFORE DELETE ON exchange_ops_marginactioncall WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginactionevent_no_removal": (
        "CREATE TRIGGER exchange_ops_marginactionevent_no_removal BEFORE DELETE ON exchange_ops_marginactionevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginreport_no_removal": (
        "CREATE TRIGGER exchange_ops_marginreport_no_removal BEFORE DELETE ON exchange_ops_marginreport WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_marginaction_moves_with_event": (
        "CREATE FUNCTION exchange_ops_marginaction_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_marginactionevent e WHERE e.action_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "margin action moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginaction_moves_with_event BEFORE UPDATE ON exchange_ops_marginaction FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_marginaction_moves_with_event()"
    ),
    "exchange_ops_marginaction_content_fixed": (
        "CREATE FUNCTION exchange_ops_marginaction_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR "
        "NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.symbol "
        "IS DISTINCT FROM OLD.symbol OR NEW.amount IS DISTINCT FROM OLD.amount OR NEW.side IS DISTINCT FROM OLD.side "
        "OR NEW.quantity IS DISTINCT FROM OLD.quantity OR NEW.order_type IS DISTINCT FROM OLD.order_type OR NEW.price "
        "IS DISTINCT FROM OLD.price OR NEW.position_id IS DISTINCT FROM OLD.position_id OR NEW.confirmed IS DISTINCT "
        "FROM OLD.confirmed OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for "
        "in a margin action is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_marginaction_content_fixed BEFORE UPDATE ON exchange_ops_marginaction FOR "
        "EACH ROW EXECUTE FUNCTION exchange_ops_marginaction_content_fixed()"
    ),
    "exchange_ops_marginaction_begins": (
        "CREATE FUNCTION exchange_ops_marginaction_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.sends <> 0 OR NEW.exchange_order_id IS NOT NULL THEN "
        "RAISE EXCEPTION 'a margin action begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_marginaction_begins BEFORE INSERT ON "
        "exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_marginaction_begins()"
    ),
    "exchange_ops_marginaction_fills_once": (
        "CREATE FUNCTION exchange_ops_marginaction_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_order_id IS NOT NULL AND NEW.exchange_order_id IS DISTINCT FROM OLD.exchange_order_id) THEN "
        "RAISE EXCEPTION 'a margin action keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_marginaction_fills_once BEFORE UPDATE ON "
        "exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_marginaction_fills_once()"
    ),
    "exchange_ops_marginaction_sent_once": (
        "CREATE FUNCTION exchange_ops_marginaction_sent_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) OR (NEW.state = "
        "'sending' AND NEW.sends <> 1) THEN RAISE EXCEPTION 'a margin action is sent once at most' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginaction_sent_once BEFORE UPDATE ON exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginaction_sent_once()"
    ),
    "exchange_ops_marginactionevent_no_edit": (
        "CREATE FUNCTION exchange_ops_marginactionevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginactionevent_no_edit BEFORE UPDATE ON exchange_ops_marginactionevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_marginactionevent_no_edit()"
    ),
    "exchange_ops_marginreport_no_edit": (
        "CREATE FUNCTION exchange_ops_marginreport_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginreport_no_edit BEFORE UPDATE ON exchange_ops_marginreport FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginreport_no_edit()"
    ),
    "exchange_ops_marginaction_no_removal": (
        "CREATE FUNCTION exchange_ops_marginaction_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginaction_no_removal BEFORE DELETE ON exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginaction_no_removal()"
    ),
    "exchange_ops_marginactioncall_no_removal": (
        "CREATE FUNCTION exchange_ops_marginactioncall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginactioncall_no_removal BEFORE DELETE ON exchange_ops_marginactioncall FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_marginactioncall_no_removal()"
    ),
    "exchange_ops_marginactionevent_no_removal": (
        "CREATE FUNCTION exchange_ops_marginactionevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginactionevent_no_removal BEFORE DELETE ON exchange_ops_marginactionevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_marginactionevent_no_removal()"
    ),
    "exchange_ops_marginreport_no_removal": (
        "CREATE FUNCTION exchange_ops_marginreport_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginreport_no_removal BEFORE DELETE ON exchange_ops_marginreport FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginreport_no_removal()"
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
    """The guards of margin, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0033_margin_actions")]

    operations = [migrations.RunPython(install)]
