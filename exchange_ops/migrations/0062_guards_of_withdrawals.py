from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_payoutbatchline_of_its_batch": "exchange_ops_payoutbatchline",
    "exchange_ops_payoutbatch_no_edit": "exchange_ops_payoutbatch",
    "exchange_ops_payoutbatchline_no_edit": "exchange_ops_payoutbatchline",
    "exchange_ops_payoutbatch_no_removal": "exchange_ops_payoutbatch",
    "exchange_ops_payoutbatchline_no_removal": "exchange_ops_payoutbatchline",
}
SQLITE = {
    "exchange_ops_payoutbatchline_of_its_batch": (
        "CREATE TRIGGER exchange_ops_payoutbatchline_of_its_batch BEFORE INSERT ON exchange_ops_payoutbatchline WHEN "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w JOIN exchange_ops_payoutbatch b ON b.account_id = "
        "w.account_id AND b.initiator_id = w.initiator_id WHERE w.id = NEW.withdrawal_id AND b.id = NEW.batch_id) "
        "BEGIN SELECT RAISE(ABORT, 'a line of a batch is a payout of the same account and requester'); END"
    ),
    "exchange_ops_payoutbatch_no_edit": (
        "CREATE TRIGGER exchange_ops_payoutbatch_no_edit BEFORE UPDATE ON exchange_ops_payoutbatch WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_payoutbatchline_no_edit": (
        "CREATE TRIGGER exchange_ops_payoutbatchline_no_edit BEFORE UPDATE ON exchange_ops_payoutbatchline WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_payoutbatch_no_removal": (
        "CREATE TRIGGER exchange_ops_payoutbatch_no_removal BEFORE DELETE ON exchange_ops_payoutbatch WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_payoutbatchline_no_removal": (
        "CREATE TRIGGER exchange_ops_payoutbatchline_no_removal BEFORE DELETE ON exchange_ops_payoutbatchline WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_payoutbatchline_of_its_batch": (
        "CREATE FUNCTION exchange_ops_payoutbatchline_of_its_batch() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w JOIN exchange_ops_payoutbatch b ON b.account_id = "
        "w.account_id AND b.initiator_id = w.initiator_id WHERE w.id = NEW.withdrawal_id AND b.id = NEW.batch_id) THEN "
        "RAISE EXCEPTION 'a line of a batch is a payout of the same account and requester' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutbatchline_of_its_batch BEFORE INSERT ON exchange_ops_payoutbatchline FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutbatchline_of_its_batch()"
    ),
    "exchange_ops_payoutbatch_no_edit": (
        "CREATE FUNCTION exchange_ops_payoutbatch_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutbatch_no_edit BEFORE UPDATE ON exchange_ops_payoutbatch FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_payoutbatch_no_edit()"
    ),
    "exchange_ops_payoutbatchline_no_edit": (
        "CREATE FUNCTION exchange_ops_payoutbatchline_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutbatchline_no_edit BEFORE UPDATE ON exchange_ops_payoutbatchline FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutbatchline_no_edit()"
    ),
    "exchange_ops_payoutbatch_no_removal": (
        "CREATE FUNCTION exchange_ops_payoutbatch_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_payoutbatch_no_removal BEFORE DELETE ON "
        "exchange_ops_payoutbatch FOR EACH ROW EXECUTE FUNCTION exchange_ops_payoutbatch_no_removal()"
    ),
    "exchange_ops_payoutbatchline_no_removal": (
        "CREATE FUNCTION exchange_ops_payoutbatchline_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_payoutbatchline_no_removal BEFORE DELETE ON exchange_ops_payoutbatchline FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payoutbatchline_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of withdrawals, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0061_payout_batches")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
