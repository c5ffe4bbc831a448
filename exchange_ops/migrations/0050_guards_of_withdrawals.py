from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_withdrawal_moves_with_event": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_decision_latched": "exchange_ops_withdrawal",
    "exchange_ops_withdrawalevent_no_edit": "exchange_ops_withdrawalevent",
    "exchange_ops_withdrawalevent_no_removal": "exchange_ops_withdrawalevent",
}
SQLITE = {
    "exchange_ops_withdrawal_moves_with_event": (
        "CREATE TRIGGER exchange_ops_withdrawal_moves_with_event BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version OR NEW.decision IS NOT OLD.decision) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_withdrawalevent e WHERE e.withdrawal_id "
        "= NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state AND e.decision = "
        "NEW.decision)) BEGIN SELECT RAISE(ABORT, 'a withdrawal moves only together with the event of its new "
        "version'); END"
    ),
    "exchange_ops_withdrawal_decision_latched": (
        "CREATE TRIGGER exchange_ops_withdrawal_decision_latched BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "OLD.decision <> 'none' AND NEW.decision IS NOT OLD.decision AND NOT (OLD.decision = 'commit' AND "
        "OLD.put_count = 0 AND NEW.put_count = 0 AND (NEW.decision = 'rollback' OR NEW.decision = 'none' AND NEW.state "
        "= 'held' AND NEW.digest <> OLD.digest)) BEGIN SELECT RAISE(ABORT, 'the decision on a withdrawal is made "
        "once'); END"
    ),
    "exchange_ops_withdrawalevent_no_edit": (
        "CREATE TRIGGER exchange_ops_withdrawalevent_no_edit BEFORE UPDATE ON exchange_ops_withdrawalevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_withdrawalevent_no_removal": (
        "CREATE TRIGGER exchange_ops_withdrawalevent_no_removal BEFORE DELETE ON exchange_ops_withdrawalevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_withdrawal_moves_with_event": (
        "CREATE FUNCTION exchange_ops_withdrawal_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version OR NEW.decision IS "
        "DISTINCT FROM OLD.decision) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "exchange_ops_withdrawalevent e WHERE e.withdrawal_id = NEW.id AND e.version = NEW.version AND e.from_state = "
        "OLD.state AND e.to_state = NEW.state AND e.decision = NEW.decision)) THEN RAISE EXCEPTION 'a withdrawal moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_withdrawal_moves_with_event BEFORE UPDATE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_moves_with_event()"
    ),
    "exchange_ops_withdrawal_decision_latched": (
        "CREATE FUNCTION exchange_ops_withdrawal_decision_latched() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF OLD.decision <> 'none' AND NEW.decision IS DISTINCT FROM OLD.decision AND NOT (OLD.decision = 'commit' AND "
        "OLD.put_count = 0 AND NEW.put_count = 0 AND (NEW.decision = 'rollback' OR NEW.decision = 'none' AND NEW.state "
        "= 'held' AND NEW.digest <> OLD.digest)) THEN RAISE EXCEPTION 'the decision on a withdrawal is made once' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_decision_latched BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawal_decision_latched()"
    ),
    "exchange_ops_withdrawalevent_no_edit": (
        "CREATE FUNCTION exchange_ops_withdrawalevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawalevent_no_edit BEFORE UPDATE ON exchange_ops_withdrawalevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawalevent_no_edit()"
    ),
    "exchange_ops_withdrawalevent_no_removal": (
        "CREATE FUNCTION exchange_ops_withdrawalevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawalevent_no_removal BEFORE DELETE ON exchange_ops_withdrawalevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawalevent_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of withdrawals, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0049_fee_limits")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
