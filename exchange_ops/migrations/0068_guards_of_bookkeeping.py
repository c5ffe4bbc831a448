from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_accountmapping_no_edit": "exchange_ops_accountmapping",
    "exchange_ops_accountmapping_no_removal": "exchange_ops_accountmapping",
}
SQLITE = {
    "exchange_ops_accountmapping_no_edit": (
        "CREATE TRIGGER exchange_ops_accountmapping_no_edit BEFORE UPDATE ON exchange_ops_accountmapping WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_accountmapping_no_removal": (
        "CREATE TRIGGER exchange_ops_accountmapping_no_removal BEFORE DELETE ON exchange_ops_accountmapping WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_accountmapping_no_edit": (
        "CREATE FUNCTION exchange_ops_accountmapping_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_accountmapping_no_edit BEFORE UPDATE ON exchange_ops_accountmapping FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_accountmapping_no_edit()"
    ),
    "exchange_ops_accountmapping_no_removal": (
        "CREATE FUNCTION exchange_ops_accountmapping_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_accountmapping_no_removal BEFORE DELETE ON exchange_ops_accountmapping FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_accountmapping_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of bookkeeping, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0067_account_mapping")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
