from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_payoutschedule_of_its_template": "exchange_ops_payoutschedule",
    "exchange_ops_payoutoccurrence_in_turn": "exchange_ops_payoutoccurrence",
    "exchange_ops_payoutoccurrence_of_its_schedule": "exchange_ops_payoutoccurrence",
    "exchange_ops_payoutschedule_no_edit": "exchange_ops_payoutschedule",
    "exchange_ops_payoutoccurrence_no_edit": "exchange_ops_payoutoccurrence",
    "exchange_ops_payoutscheduleend_no_edit": "exchange_ops_payoutscheduleend",
    "exchange_ops_payoutschedule_no_removal": "exchange_ops_payoutschedule",
    "exchange_ops_payoutoccurrence_no_removal": "exchange_ops_payoutoccurrence",
    "exchange_ops_payoutscheduleend_no_removal": "exchange_ops_payoutscheduleend",
}
SQLITE = {
    "exchange_ops_payoutschedule_of_its_template": (
        "CREATE TRIGGER exchange_ops_payoutschedule_of_its_template BEFORE INSERT ON exchange_ops_payoutschedule WHEN "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_payouttemplate t WHERE t.id = NEW.template_id AND t.account_id = "
        "NEW.account_id AND NOT EXISTS (SELECT 1 FROM exchange_ops_payouttemplateend e WHERE e.template_id = t.id)) "
        "BEGIN SELECT RAISE(ABORT, 'a schedule is of a template of its account that is offered'); END"
    ),
    "exchange_ops_payoutoccurrence_in_turn": (
        "CREATE TRIGGER exchange_ops_payoutoccurrence_in_turn BEFORE INSERT ON exchange_ops_payoutoccurrence WHEN NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_payoutschedule s WHERE s.id = NEW.schedule_id AND NEW.number <= s.planned) "
        "OR NEW.number <> 1 + (SELECT COUNT(*) FROM exchange_ops_payoutoccurrence o WHERE o.schedule_id = "
        "NEW.schedule_id) OR EXISTS (SELECT 1 FROM exchange_ops_payoutscheduleend e WHERE e.schedule_id = "
        "NEW.schedule_id) BEGIN SELECT RAISE(ABORT, 'the occurrences of a schedule come to their end one after the "
        "other'); END"
    ),
    "exchange_ops_payoutoccurrence_of_its_schedule": (
        "CREATE TRIGGER exchange_ops_payoutoccurrence_of_its_schedule BEFORE INSERT ON exchange_ops_payoutoccurrence "
        "WHEN NEW.withdrawal_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w JOIN "
        "exchange_ops_payoutschedule s ON s.account_id = w.account_id AND s.person_id = w.initiator_id JOIN "
        "exchange_ops_payouttemplate t ON t.id = s.template_id AND t.currency = w.currency AND t.amount = w.amount AND "
        "t.include_fee = w.include_fee AND t.address = w.address AND t.payment_id = w.payment_id WHERE w.id = "
        "NEW.withdrawal_id AND s.id = NEW.schedule_id AND w.initiated_via = 'schedule') BEGIN SELECT RAISE(ABORT, "
        "'what a schedule requests is the payout of its template, by who set it up'); END"
    ),
    "exchange_ops_payoutschedule_no_edit": (
        "CREATE TRIGGER exchange_ops_payoutschedule_no_edit BEFORE UPDATE ON exchange_ops_payoutschedule WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_payoutoccurrence_no_edit": (
        "CREATE TRIGGER exchange_ops_payoutoccurrence_no_edit BEFORE UPDATE ON exchange_ops_payoutoccurrence WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_payoutscheduleend_no_edit": (
        "CREATE TRIGGER exchange_ops_payoutscheduleend_no_edit BEFORE UPDATE ON exchange_ops_payoutscheduleend WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_payoutschedule_no_removal": (
        "CREATE TRIGGER exchange_ops_payoutschedule_no_removal BEFORE DELETE ON exchange_ops_payoutschedule WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_payoutoccurrence_no_removal": (
        "CREATE TRIGGER exchange_ops_payoutoccurrence_no_removal BEFORE DELETE ON exchange_ops_payoutoccurrence WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_payoutscheduleend_no_removal": (
        "CREATE TRIGGER exchange_ops_payoutscheduleend_no_removal BEFORE DELETE ON exchange_ops_payoutscheduleend WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_payoutschedule_of_its_template": (
        "CREATE FUNCTION exchange_ops_payoutschedule_of_its_template() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NOT EXISTS (SELECT 1 FROM exchange_ops_payouttemplate t WHERE t.id = NEW.template_id AND "
        "t.account_id = NEW.account_id AND NOT EXISTS (SELECT 1 FROM exchange_ops_payouttemplateend e WHERE "
        "e.template_id = t.id)) THEN RAISE EXCEPTION 'a schedule is of a template of its account that is offered' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutschedule_of_its_template BEFORE INSERT ON exchange_ops_payoutschedule FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutschedule_of_its_template()"
    ),
    "exchange_ops_payoutoccurrence_in_turn": (
        "CREATE FUNCTION exchange_ops_payoutoccurrence_in_turn() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_payoutschedule s WHERE s.id = NEW.schedule_id AND NEW.number <= "
        "s.planned) OR NEW.number <> 1 + (SELECT COUNT(*) FROM exchange_ops_payoutoccurrence o WHERE o.schedule_id = "
        "NEW.schedule_id) OR EXISTS (SELECT 1 FROM exchange_ops_payoutscheduleend e WHERE e.schedule_id = "
        "NEW.schedule_id) THEN RAISE EXCEPTION 'the occurrences of a schedule come to their end one after the other' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutoccurrence_in_turn BEFORE INSERT ON exchange_ops_payoutoccurrence FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutoccurrence_in_turn()"
    ),
    "exchange_ops_payoutoccurrence_of_its_schedule": (
        "CREATE FUNCTION exchange_ops_payoutoccurrence_of_its_schedule() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.withdrawal_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w JOIN "
        "exchange_ops_payoutschedule s ON s.account_id = w.account_id AND s.person_id = w.initiator_id JOIN "
        "exchange_ops_payouttemplate t ON t.id = s.template_id AND t.currency = w.currency AND t.amount = w.amount AND "
        "t.include_fee = w.include_fee AND t.address = w.address AND t.payment_id = w.payment_id WHERE w.id = "
        "NEW.withdrawal_id AND s.id = NEW.schedule_id AND w.initiated_via = 'schedule') THEN RAISE EXCEPTION 'what a "
        "schedule requests is the payout of its template, by who set it up' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutoccurrence_of_its_schedule BEFORE INSERT ON exchange_ops_payoutoccurrence FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_payoutoccurrence_of_its_schedule()"
    ),
    "exchange_ops_payoutschedule_no_edit": (
        "CREATE FUNCTION exchange_ops_payoutschedule_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutschedule_no_edit BEFORE UPDATE ON exchange_ops_payoutschedule FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutschedule_no_edit()"
    ),
    "exchange_ops_payoutoccurrence_no_edit": (
        "CREATE FUNCTION exchange_ops_payoutoccurrence_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutoccurrence_no_edit BEFORE UPDATE ON exchange_ops_payoutoccurrence FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutoccurrence_no_edit()"
    ),
    "exchange_ops_payoutscheduleend_no_edit": (
        "CREATE FUNCTION exchange_ops_payoutscheduleend_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutscheduleend_no_edit BEFORE UPDATE ON exchange_ops_payoutscheduleend FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutscheduleend_no_edit()"
    ),
    "exchange_ops_payoutschedule_no_removal": (
        "CREATE FUNCTION exchange_ops_payoutschedule_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutschedule_no_removal BEFORE DELETE ON exchange_ops_payoutschedule FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutschedule_no_removal()"
    ),
    "exchange_ops_payoutoccurrence_no_removal": (
        "CREATE FUNCTION exchange_ops_payoutoccurrence_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutoccurrence_no_removal BEFORE DELETE ON exchange_ops_payoutoccurrence FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutoccurrence_no_removal()"
    ),
    "exchange_ops_payoutscheduleend_no_removal": (
        "CREATE FUNCTION exchange_ops_payoutscheduleend_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutscheduleend_no_removal BEFORE DELETE ON exchange_ops_payoutscheduleend FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_payoutscheduleend_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of payout_schedules, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0071_payout_schedules")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
