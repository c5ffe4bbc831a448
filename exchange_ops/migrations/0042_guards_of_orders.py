from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_order_moves_with_event": "exchange_ops_order",
    "exchange_ops_order_content_fixed": "exchange_ops_order",
    "exchange_ops_order_fills_once": "exchange_ops_order",
    "exchange_ops_order_sent_once": "exchange_ops_order",
    "exchange_ops_order_begins": "exchange_ops_order",
    "exchange_ops_order_approved": "exchange_ops_order",
    "exchange_ops_orderapproval_not_yours": "exchange_ops_orderapproval",
    "exchange_ops_orderapproval_second_factor": "exchange_ops_orderapproval",
    "exchange_ops_order_margin_fixed": "exchange_ops_order",
    "exchange_ops_accounttrade_no_edit": "exchange_ops_accounttrade",
    "exchange_ops_orderevent_no_edit": "exchange_ops_orderevent",
    "exchange_ops_orderapproval_no_edit": "exchange_ops_orderapproval",
    "exchange_ops_order_no_removal": "exchange_ops_order",
    "exchange_ops_ordercall_no_removal": "exchange_ops_ordercall",
    "exchange_ops_orderevent_no_removal": "exchange_ops_orderevent",
    "exchange_ops_orderapproval_no_removal": "exchange_ops_orderapproval",
    "exchange_ops_accounttrade_no_removal": "exchange_ops_accounttrade",
}
SQLITE = {
    "exchange_ops_order_moves_with_event": (
        "CREATE TRIGGER exchange_ops_order_moves_with_event BEFORE UPDATE ON exchange_ops_order WHEN (NEW.state IS NOT "
        "OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "exchange_ops_orderevent e WHERE e.order_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'an order moves only together with the event of its "
        "new version'); END"
    ),
    "exchange_ops_order_content_fixed": (
        "CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order WHEN NEW.account_id IS "
        "NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT OLD.initiated_via "
        "OR NEW.request_key IS NOT OLD.request_key OR NEW.client_order_id IS NOT OLD.client_order_id OR "
        "NEW.replaces_id IS NOT OLD.replaces_id OR NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT OLD.side OR "
        "NEW.type IS NOT OLD.type OR NEW.time_in_force IS NOT OLD.time_in_force OR NEW.quantity IS NOT OLD.quantity OR "
        "NEW.price IS NOT OLD.price OR NEW.stop_price IS NOT OLD.stop_price OR NEW.expire_time IS NOT OLD.expire_time "
        "OR NEW.post_only IS NOT OLD.post_only OR NEW.strict_validate IS NOT OLD.strict_validate OR "
        "NEW.take_liquidity_markup IS NOT OLD.take_liquidity_markup OR NEW.provide_liquidity_markup IS NOT "
        "OLD.provide_liquidity_markup OR NEW.oversteps IS NOT OLD.oversteps OR NEW.digest IS NOT OLD.digest OR "
        "NEW.approve_until IS NOT OLD.approve_until OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, "
        "'what was asked for in an order is never edited'); END"
    ),
    "exchange_ops_order_fills_once": (
        "CREATE TRIGGER exchange_ops_order_fills_once BEFORE UPDATE ON exchange_ops_order WHEN (OLD.exchange_id IS NOT "
        "NULL AND NEW.exchange_id IS NOT OLD.exchange_id) BEGIN SELECT RAISE(ABORT, 'an order keeps what it was "
        "given'); END"
    ),
    "exchange_ops_order_sent_once": (
        "CREATE TRIGGER exchange_ops_order_sent_once BEFORE UPDATE ON exchange_ops_order WHEN NEW.sends < OLD.sends OR "
        "NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) BEGIN SELECT RAISE(ABORT, 'an order is sent once "
        "at most'); END"
    ),
    "exchange_ops_order_begins": (
        "CREATE TRIGGER exchange_ops_order_begins BEFORE INSERT ON exchange_ops_order WHEN NEW.version <> 1 OR "
        "NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.digest = '' AND NEW.state = 'requested') OR "
        "(NEW.initiator_id IS NOT NULL AND NEW.digest <> '' AND NEW.state = 'waiting') OR (NEW.initiator_id IS NULL "
        "AND NEW.state = 'placed')) BEGIN SELECT RAISE(ABORT, 'an order begins as requested here, waiting for an "
        "approval, or as seen at the exchange'); END"
    ),
    "exchange_ops_order_approved": (
        "CREATE TRIGGER exchange_ops_order_approved BEFORE UPDATE ON exchange_ops_order WHEN NEW.digest <> '' AND "
        "(NEW.state = 'requested' AND OLD.state <> 'requested' OR NEW.state = 'sending' AND OLD.state <> 'sending') "
        "AND NOT EXISTS (SELECT 1 FROM exchange_ops_orderapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND "
        "s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-order' WHERE a.order_id = NEW.id "
        "AND a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id) BEGIN SELECT "
        "RAISE(ABORT, 'an order that was to be approved is placed only with the approval of exactly this content'); END"
    ),
    "exchange_ops_orderapproval_not_yours": (
        "CREATE TRIGGER exchange_ops_orderapproval_not_yours BEFORE INSERT ON exchange_ops_orderapproval WHEN NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_order t WHERE t.id = NEW.order_id AND t.initiator_id = NEW.initiator_id "
        "AND t.initiator_id <> NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their own request'); END"
    ),
    "exchange_ops_orderapproval_second_factor": (
        "CREATE TRIGGER exchange_ops_orderapproval_second_factor BEFORE INSERT ON exchange_ops_orderapproval WHEN "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'approve-order' AND s.digest = NEW.digest) "
        "BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of this person, given for it'); END"
    ),
    "exchange_ops_order_margin_fixed": (
        "CREATE TRIGGER exchange_ops_order_margin_fixed BEFORE UPDATE ON exchange_ops_order WHEN NEW.margin IS NOT "
        "OLD.margin AND OLD.initiator_id IS NOT NULL BEGIN SELECT RAISE(ABORT, 'on margin or not is part of what was "
        "asked for in an order'); END"
    ),
    "exchange_ops_accounttrade_no_edit": (
        "CREATE TRIGGER exchange_ops_accounttrade_no_edit BEFORE UPDATE ON exchange_ops_accounttrade WHEN NEW.id IS "
        "NOT OLD.id OR NEW.account_id IS NOT OLD.account_id OR NEW.exchange_id IS NOT OLD.exchange_id OR "
        "NEW.exchange_order_id IS NOT OLD.exchange_order_id OR NEW.client_order_id IS NOT OLD.client_order_id OR "
        "NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT OLD.side OR NEW.quantity IS NOT OLD.quantity OR NEW.price IS "
        "NOT OLD.price OR NEW.fee IS NOT OLD.fee OR NEW.timestamp IS NOT OLD.timestamp OR NEW.read_at IS NOT "
        "OLD.read_at OR (OLD.taker IS NOT NULL AND NEW.taker IS NOT OLD.taker) OR (OLD.liquidation IS NOT NULL AND "
        "NEW.liquidation IS NOT OLD.liquidation) BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); "
        "END"
    ),
    "exchange_ops_orderevent_no_edit": (
        "CREATE TRIGGER exchange_ops_orderevent_no_edit BEFORE UPDATE ON exchange_ops_orderevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_orderapproval_no_edit": (
        "CREATE TRIGGER exchange_ops_orderapproval_no_edit BEFORE UPDATE ON exchange_ops_orderapproval WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_order_no_removal": (
        "CREATE TRIGGER exchange_ops_order_no_removal BEFORE DELETE ON exchange_ops_order WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_ordercall_no_removal": (
        "CREATE TRIGGER exchange_ops_ordercall_no_removal BEFORE DELETE ON exchange_ops_ordercall WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_orderevent_no_removal": (
        "CREATE TRIGGER exchange_ops_orderevent_no_removal BEFORE DELETE ON exchange_ops_orderevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_orderapproval_no_removal": (
        "CREATE TRIGGER exchange_ops_orderapproval_no_removal BEFORE DELETE ON exchange_ops_orderapproval WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_accounttrade_no_removal": (
        "CREATE TRIGGER exchange_ops_accounttrade_no_removal BEFORE DELETE ON exchange_ops_accounttrade WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
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
    "exchange_ops_order_content_fixed": (
        "CREATE FUNCTION exchange_ops_order_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR "
        "NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.replaces_id IS DISTINCT FROM OLD.replaces_id "
        "OR NEW.symbol IS DISTINCT FROM OLD.symbol OR NEW.side IS DISTINCT FROM OLD.side OR NEW.type IS DISTINCT FROM "
        "OLD.type OR NEW.time_in_force IS DISTINCT FROM OLD.time_in_force OR NEW.quantity IS DISTINCT FROM "
        "OLD.quantity OR NEW.price IS DISTINCT FROM OLD.price OR NEW.stop_price IS DISTINCT FROM OLD.stop_price OR "
        "NEW.expire_time IS DISTINCT FROM OLD.expire_time OR NEW.post_only IS DISTINCT FROM OLD.post_only OR "
        "NEW.strict_validate IS DISTINCT FROM OLD.strict_validate OR NEW.take_liquidity_markup IS DISTINCT FROM "
        "OLD.take_liquidity_markup OR NEW.provide_liquidity_markup IS DISTINCT FROM OLD.provide_liquidity_markup OR "
        "NEW.oversteps IS DISTINCT FROM OLD.oversteps OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.approve_until "
        "IS DISTINCT FROM OLD.approve_until OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION "
        "'what was asked for in an order is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_content_fixed()"
    ),
    "exchange_ops_order_fills_once": (
        "CREATE FUNCTION exchange_ops_order_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) THEN RAISE EXCEPTION 'an "
        "order keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_order_fills_once BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_order_fills_once()"
    ),
    "exchange_ops_order_sent_once": (
        "CREATE FUNCTION exchange_ops_order_sent_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.sends "
        "< OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) THEN RAISE EXCEPTION 'an order is "
        "sent once at most' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER exchange_ops_order_sent_once BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_sent_once()"
    ),
    "exchange_ops_order_begins": (
        "CREATE FUNCTION exchange_ops_order_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.version "
        "<> 1 OR NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.digest = '' AND NEW.state = 'requested') "
        "OR (NEW.initiator_id IS NOT NULL AND NEW.digest <> '' AND NEW.state = 'waiting') OR (NEW.initiator_id IS NULL "
        "AND NEW.state = 'placed')) THEN RAISE EXCEPTION 'an order begins as requested here, waiting for an approval, "
        "or as seen at the exchange' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_order_begins BEFORE INSERT ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_begins()"
    ),
    "exchange_ops_order_approved": (
        "CREATE FUNCTION exchange_ops_order_approved() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.digest "
        "<> '' AND (NEW.state = 'requested' AND OLD.state <> 'requested' OR NEW.state = 'sending' AND OLD.state <> "
        "'sending') AND NOT EXISTS (SELECT 1 FROM exchange_ops_orderapproval a JOIN desk_stepup s ON s.id = "
        "a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-order' WHERE "
        "a.order_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id) "
        "THEN RAISE EXCEPTION 'an order that was to be approved is placed only with the approval of exactly this "
        "content' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_order_approved BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_approved()"
    ),
    "exchange_ops_orderapproval_not_yours": (
        "CREATE FUNCTION exchange_ops_orderapproval_not_yours() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_order t WHERE t.id = NEW.order_id AND t.initiator_id = "
        "NEW.initiator_id AND t.initiator_id <> NEW.person_id) THEN RAISE EXCEPTION 'nobody decides on their own "
        "request' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_not_yours BEFORE INSERT ON exchange_ops_orderapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_orderapproval_not_yours()"
    ),
    "exchange_ops_orderapproval_second_factor": (
        "CREATE FUNCTION exchange_ops_orderapproval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'approve-order' AND s.digest = NEW.digest) THEN "
        "RAISE EXCEPTION 'a word counts only with a second factor of this person, given for it' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_second_factor BEFORE INSERT ON exchange_ops_orderapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_orderapproval_second_factor()"
    ),
    "exchange_ops_order_margin_fixed": (
        "CREATE FUNCTION exchange_ops_order_margin_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.margin IS DISTINCT FROM OLD.margin AND OLD.initiator_id IS NOT NULL THEN RAISE EXCEPTION 'on margin or "
        "not is part of what was asked for in an order' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_margin_fixed BEFORE UPDATE ON exchange_ops_order "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_margin_fixed()"
    ),
    "exchange_ops_accounttrade_no_edit": (
        "CREATE FUNCTION exchange_ops_accounttrade_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.id IS DISTINCT FROM OLD.id OR NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.exchange_id IS "
        "DISTINCT FROM OLD.exchange_id OR NEW.exchange_order_id IS DISTINCT FROM OLD.exchange_order_id OR "
        "NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.symbol IS DISTINCT FROM OLD.symbol OR "
        "NEW.side IS DISTINCT FROM OLD.side OR NEW.quantity IS DISTINCT FROM OLD.quantity OR NEW.price IS DISTINCT "
        "FROM OLD.price OR NEW.fee IS DISTINCT FROM OLD.fee OR NEW.timestamp IS DISTINCT FROM OLD.timestamp OR "
        "NEW.read_at IS DISTINCT FROM OLD.read_at OR (OLD.taker IS NOT NULL AND NEW.taker IS DISTINCT FROM OLD.taker) "
        "OR (OLD.liquidation IS NOT NULL AND NEW.liquidation IS DISTINCT FROM OLD.liquidation) THEN RAISE EXCEPTION "
        "'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_accounttrade_no_edit BEFORE UPDATE ON exchange_ops_accounttrade FOR "
        "EACH ROW EXECUTE FUNCTION exchange_ops_accounttrade_no_edit()"
    ),
    "exchange_ops_orderevent_no_edit": (
        "CREATE FUNCTION exchange_ops_orderevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderevent_no_edit BEFORE UPDATE ON exchange_ops_orderevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_orderevent_no_edit()"
    ),
    "exchange_ops_orderapproval_no_edit": (
        "CREATE FUNCTION exchange_ops_orderapproval_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_no_edit BEFORE UPDATE ON exchange_ops_orderapproval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_orderapproval_no_edit()"
    ),
    "exchange_ops_order_no_removal": (
        "CREATE FUNCTION exchange_ops_order_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_order_no_removal BEFORE DELETE ON "
        "exchange_ops_order FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_no_removal()"
    ),
    "exchange_ops_ordercall_no_removal": (
        "CREATE FUNCTION exchange_ops_ordercall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_ordercall_no_removal BEFORE DELETE ON "
        "exchange_ops_ordercall FOR EACH ROW EXECUTE FUNCTION exchange_ops_ordercall_no_removal()"
    ),
    "exchange_ops_orderevent_no_removal": (
        "CREATE FUNCTION exchange_ops_orderevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_orderevent_no_removal BEFORE DELETE ON "
        "exchange_ops_orderevent FOR EACH ROW EXECUTE FUNCTION exchange_ops_orderevent_no_removal()"
    ),
    "exchange_ops_orderapproval_no_removal": (
        "CREATE FUNCTION exchange_ops_orderapproval_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_no_removal BEFORE DELETE ON exchange_ops_orderapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_orderapproval_no_removal()"
    ),
    "exchange_ops_accounttrade_no_removal": (
        "CREATE FUNCTION exchange_ops_accounttrade_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_accounttrade_no_removal BEFORE DELETE ON exchange_ops_accounttrade FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_accounttrade_no_removal()"
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
    """The guards of orders, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0041_brackets")]

    operations = [migrations.RunPython(install)]
