from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_thawvote_second_factor": "exchange_ops_thawvote",
    "exchange_ops_thawvote_no_edit": "exchange_ops_thawvote",
    "exchange_ops_policyversion_no_edit": "exchange_ops_policyversion",
    "exchange_ops_quorumtier_no_edit": "exchange_ops_quorumtier",
    "exchange_ops_valuelimit_no_edit": "exchange_ops_valuelimit",
    "exchange_ops_freeze_no_removal": "exchange_ops_freeze",
    "exchange_ops_thawvote_no_removal": "exchange_ops_thawvote",
    "exchange_ops_policyversion_no_removal": "exchange_ops_policyversion",
    "exchange_ops_quorumtier_no_removal": "exchange_ops_quorumtier",
    "exchange_ops_valuelimit_no_removal": "exchange_ops_valuelimit",
}
SQLITE = {
    "exchange_ops_thawvote_second_factor": (
        "CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote WHEN NOT EXISTS "
        "(SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = "
        "NEW.at AND s.purpose = 'thaw-freeze') BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of "
        "this person, given for it'); END"
    ),
    "exchange_ops_thawvote_no_edit": (
        "CREATE TRIGGER exchange_ops_thawvote_no_edit BEFORE UPDATE ON exchange_ops_thawvote WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_policyversion_no_edit": (
        "CREATE TRIGGER exchange_ops_policyversion_no_edit BEFORE UPDATE ON exchange_ops_policyversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_quorumtier_no_edit": (
        "CREATE TRIGGER exchange_ops_quorumtier_no_edit BEFORE UPDATE ON exchange_ops_quorumtier WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_valuelimit_no_edit": (
        "CREATE TRIGGER exchange_ops_valuelimit_no_edit BEFORE UPDATE ON exchange_ops_valuelimit WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON exchange_ops_freeze WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_thawvote_no_removal": (
        "CREATE TRIGGER exchange_ops_thawvote_no_removal BEFORE DELETE ON exchange_ops_thawvote WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_policyversion_no_removal": (
        "CREATE TRIGGER exchange_ops_policyversion_no_removal BEFORE DELETE ON exchange_ops_policyversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_quorumtier_no_removal": (
        "CREATE TRIGGER exchange_ops_quorumtier_no_removal BEFORE DELETE ON exchange_ops_quorumtier WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_valuelimit_no_removal": (
        "CREATE TRIGGER exchange_ops_valuelimit_no_removal BEFORE DELETE ON exchange_ops_valuelimit WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_thawvote_second_factor": (
        "CREATE FUNCTION exchange_ops_thawvote_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NOT "
        "EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at "
        "= NEW.at AND s.purpose = 'thaw-freeze') THEN RAISE EXCEPTION 'a word counts only with a second factor of this "
        "person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_thawvote_second_factor()"
    ),
    "exchange_ops_thawvote_no_edit": (
        "CREATE FUNCTION exchange_ops_thawvote_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_thawvote_no_edit BEFORE UPDATE ON exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_thawvote_no_edit()"
    ),
    "exchange_ops_policyversion_no_edit": (
        "CREATE FUNCTION exchange_ops_policyversion_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policyversion_no_edit BEFORE UPDATE ON exchange_ops_policyversion FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_policyversion_no_edit()"
    ),
    "exchange_ops_quorumtier_no_edit": (
        "CREATE FUNCTION exchange_ops_quorumtier_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_quorumtier_no_edit BEFORE UPDATE ON exchange_ops_quorumtier FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_quorumtier_no_edit()"
    ),
    "exchange_ops_valuelimit_no_edit": (
        "CREATE FUNCTION exchange_ops_valuelimit_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_valuelimit_no_edit BEFORE UPDATE ON exchange_ops_valuelimit FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_valuelimit_no_edit()"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE FUNCTION exchange_ops_freeze_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON "
        "exchange_ops_freeze FOR EACH ROW EXECUTE FUNCTION exchange_ops_freeze_no_removal()"
    ),
    "exchange_ops_thawvote_no_removal": (
        "CREATE FUNCTION exchange_ops_thawvote_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_thawvote_no_removal BEFORE DELETE ON "
        "exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION exchange_ops_thawvote_no_removal()"
    ),
    "exchange_ops_policyversion_no_removal": (
        "CREATE FUNCTION exchange_ops_policyversion_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policyversion_no_removal BEFORE DELETE ON exchange_ops_policyversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policyversion_no_removal()"
    ),
    "exchange_ops_quorumtier_no_removal": (
        "CREATE FUNCTION exchange_ops_quorumtier_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_quorumtier_no_removal BEFORE DELETE ON "
        "exchange_ops_quorumtier FOR EACH ROW EXECUTE FUNCTION exchange_ops_quorumtier_no_removal()"
    ),
    "exchange_ops_valuelimit_no_removal": (
        "CREATE FUNCTION exchange_ops_valuelimit_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_valuelimit_no_removal BEFORE DELETE ON "
        "exchange_ops_valuelimit FOR EACH ROW EXECUTE FUNCTION exchange_ops_valuelimit_no_removal()"
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
    """The guards of policy, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0038_bounds_and_approvals_of_orders")]

    operations = [migrations.RunPython(install)]
