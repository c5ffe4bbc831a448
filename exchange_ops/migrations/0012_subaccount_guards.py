from django.db import migrations

TABLES = {
    "exchange_ops_subaccountaction_moves_with_event": "exchange_ops_subaccountaction",
    "exchange_ops_subaccountaction_content_fixed": "exchange_ops_subaccountaction",
    "exchange_ops_subaccountaction_begins": "exchange_ops_subaccountaction",
    "exchange_ops_subaccountevent_no_edit": "exchange_ops_subaccountevent",
    "exchange_ops_subaccountaction_no_removal": "exchange_ops_subaccountaction",
    "exchange_ops_subaccountcall_no_removal": "exchange_ops_subaccountcall",
    "exchange_ops_subaccountevent_no_removal": "exchange_ops_subaccountevent",
}
SQLITE = {
    "exchange_ops_subaccountaction_moves_with_event": (
        "CREATE TRIGGER exchange_ops_subaccountaction_moves_with_event BEFORE UPDATE ON "
        "exchange_ops_subaccountaction WHEN (NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_subaccountevent e WHERE e.action_id "
        "= NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN "
        "SELECT RAISE(ABORT, 'an action on a sub-account moves only together with the event of its new version'); "
        "END"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON exchange_ops_subaccountaction "
        "WHEN NEW.sub_account_id IS NOT OLD.sub_account_id OR NEW.kind IS NOT OLD.kind OR NEW.lane IS NOT OLD.lane "
        "OR NEW.wanted_payout IS NOT OLD.wanted_payout OR NEW.wanted_description IS NOT OLD.wanted_description OR "
        "NEW.reason IS NOT OLD.reason OR NEW.requested_by_id IS NOT OLD.requested_by_id OR NEW.request_key IS NOT "
        "OLD.request_key OR NEW.confirmation_id IS NOT OLD.confirmation_id OR NEW.digest IS NOT OLD.digest OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for a sub-account is never "
        "edited'); END"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON exchange_ops_subaccountaction WHEN "
        "NEW.version <> 1 OR NEW.state <> 'requested' OR NEW.attempt <> 0 BEGIN SELECT RAISE(ABORT, 'an action on "
        "a sub-account begins as requested'); END"
    ),
    "exchange_ops_subaccountevent_no_edit": (
        "CREATE TRIGGER exchange_ops_subaccountevent_no_edit BEFORE UPDATE ON exchange_ops_subaccountevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_subaccountaction_no_removal": (
        "CREATE TRIGGER exchange_ops_subaccountaction_no_removal BEFORE DELETE ON exchange_ops_subaccountaction "
        "WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_subaccountcall_no_removal": (
        "CREATE TRIGGER exchange_ops_subaccountcall_no_removal BEFORE DELETE ON exchange_ops_subaccountcall WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_subaccountevent_no_removal": (
        "CREATE TRIGGER exchange_ops_subaccountevent_no_removal BEFORE DELETE ON exchange_ops_subaccountevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_subaccountaction_moves_with_event": (
        "CREATE FUNCTION exchange_ops_subaccountaction_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS "
        "$body$ BEGIN IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND "
        "NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_subaccountevent e WHERE "
        "e.action_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = "
        "NEW.state)) THEN RAISE EXCEPTION 'an action on a sub-account moves only together with the event of its "
        "new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER exchange_ops_subaccountaction_moves_with_event BEFORE UPDATE ON exchange_ops_subaccountaction FOR "
        "EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_moves_with_event()"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE FUNCTION exchange_ops_subaccountaction_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.sub_account_id IS DISTINCT FROM OLD.sub_account_id OR NEW.kind IS DISTINCT FROM OLD.kind OR "
        "NEW.lane IS DISTINCT FROM OLD.lane OR NEW.wanted_payout IS DISTINCT FROM OLD.wanted_payout OR "
        "NEW.wanted_description IS DISTINCT FROM OLD.wanted_description OR NEW.reason IS DISTINCT FROM OLD.reason "
        "OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR NEW.request_key IS DISTINCT FROM "
        "OLD.request_key OR NEW.confirmation_id IS DISTINCT FROM OLD.confirmation_id OR NEW.digest IS DISTINCT "
        "FROM OLD.digest OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked "
        "for a sub-account is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_content_fixed()"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE FUNCTION exchange_ops_subaccountaction_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.version <> 1 OR NEW.state <> 'requested' OR NEW.attempt <> 0 THEN RAISE EXCEPTION 'an action on a "
        "sub-account begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_begins()"
    ),
    "exchange_ops_subaccountevent_no_edit": (
        "CREATE FUNCTION exchange_ops_subaccountevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountevent_no_edit BEFORE UPDATE ON exchange_ops_subaccountevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_subaccountevent_no_edit()"
    ),
    "exchange_ops_subaccountaction_no_removal": (
        "CREATE FUNCTION exchange_ops_subaccountaction_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountaction_no_removal BEFORE DELETE ON exchange_ops_subaccountaction FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_subaccountaction_no_removal()"
    ),
    "exchange_ops_subaccountcall_no_removal": (
        "CREATE FUNCTION exchange_ops_subaccountcall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountcall_no_removal BEFORE DELETE ON exchange_ops_subaccountcall FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_subaccountcall_no_removal()"
    ),
    "exchange_ops_subaccountevent_no_removal": (
        "CREATE FUNCTION exchange_ops_subaccountevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountevent_no_removal BEFORE DELETE ON exchange_ops_subaccountevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_subaccountevent_no_removal()"
    ),
}


def install_triggers(apps, schema_editor):
    texts = SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL
    with schema_editor.connection.cursor() as cursor:
        for statement in texts.values():
            cursor.execute(statement)


def remove_triggers(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for name, table in TABLES.items():
            if schema_editor.connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0011_deposit_addresses")]

    operations = [migrations.RunPython(install_triggers, remove_triggers)]
