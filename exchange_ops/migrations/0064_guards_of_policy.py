from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_freeze_scope_kept": "exchange_ops_freeze",
    "exchange_ops_freeze_no_removal": "exchange_ops_freeze",
}
SQLITE = {
    "exchange_ops_freeze_scope_kept": (
        "CREATE TRIGGER exchange_ops_freeze_scope_kept BEFORE UPDATE ON exchange_ops_freeze WHEN NEW.kind IS NOT "
        "OLD.kind OR NEW.account_id IS NOT OLD.account_id OR NEW.currency IS NOT OLD.currency OR NEW.address IS NOT "
        "OLD.address OR NEW.destination IS NOT OLD.destination BEGIN SELECT RAISE(ABORT, 'the history of money is "
        "never changed'); END"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON exchange_ops_freeze WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_freeze_scope_kept": (
        "CREATE FUNCTION exchange_ops_freeze_scope_kept() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.kind "
        "IS DISTINCT FROM OLD.kind OR NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.currency IS DISTINCT FROM "
        "OLD.currency OR NEW.address IS DISTINCT FROM OLD.address OR NEW.destination IS DISTINCT FROM OLD.destination "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_freeze_scope_kept BEFORE UPDATE ON exchange_ops_freeze FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_freeze_scope_kept()"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE FUNCTION exchange_ops_freeze_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON "
        "exchange_ops_freeze FOR EACH ROW EXECUTE FUNCTION exchange_ops_freeze_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of policy, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0063_freeze_scopes")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
