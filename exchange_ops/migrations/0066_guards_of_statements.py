from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_statementsignature_second_factor": "exchange_ops_statementsignature",
    "exchange_ops_signedstatement_no_edit": "exchange_ops_signedstatement",
    "exchange_ops_statementsignature_no_edit": "exchange_ops_statementsignature",
    "exchange_ops_signedstatement_no_removal": "exchange_ops_signedstatement",
    "exchange_ops_statementsignature_no_removal": "exchange_ops_statementsignature",
}
SQLITE = {
    "exchange_ops_statementsignature_second_factor": (
        "CREATE TRIGGER exchange_ops_statementsignature_second_factor BEFORE INSERT ON exchange_ops_statementsignature "
        "WHEN NOT EXISTS (SELECT 1 FROM desk_stepup s JOIN exchange_ops_signedstatement t ON t.id = NEW.statement_id "
        "WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = "
        "'sign-statement' AND s.digest = t.digest) BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor "
        "of this person, given for it'); END"
    ),
    "exchange_ops_signedstatement_no_edit": (
        "CREATE TRIGGER exchange_ops_signedstatement_no_edit BEFORE UPDATE ON exchange_ops_signedstatement WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_statementsignature_no_edit": (
        "CREATE TRIGGER exchange_ops_statementsignature_no_edit BEFORE UPDATE ON exchange_ops_statementsignature WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_signedstatement_no_removal": (
        "CREATE TRIGGER exchange_ops_signedstatement_no_removal BEFORE DELETE ON exchange_ops_signedstatement WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_statementsignature_no_removal": (
        "CREATE TRIGGER exchange_ops_statementsignature_no_removal BEFORE DELETE ON exchange_ops_statementsignature "
        "WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_statementsignature_second_factor": (
        "CREATE FUNCTION exchange_ops_statementsignature_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NOT EXISTS (SELECT 1 FROM desk_stepup s JOIN exchange_ops_signedstatement t ON t.id = "
        "NEW.statement_id WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND "
        "s.purpose = 'sign-statement' AND s.digest = t.digest) THEN RAISE EXCEPTION 'a word counts only with a second "
        "factor of this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_statementsignature_second_factor BEFORE INSERT ON "
        "exchange_ops_statementsignature FOR EACH ROW EXECUTE FUNCTION exchange_ops_statementsignature_second_factor()"
    ),
    "exchange_ops_signedstatement_no_edit": (
        "CREATE FUNCTION exchange_ops_signedstatement_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_signedstatement_no_edit BEFORE UPDATE ON exchange_ops_signedstatement FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_signedstatement_no_edit()"
    ),
    "exchange_ops_statementsignature_no_edit": (
        "CREATE FUNCTION exchange_ops_statementsignature_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_statementsignature_no_edit BEFORE UPDATE ON exchange_ops_statementsignature FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_statementsignature_no_edit()"
    ),
    "exchange_ops_signedstatement_no_removal": (
        "CREATE FUNCTION exchange_ops_signedstatement_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_signedstatement_no_removal BEFORE DELETE ON exchange_ops_signedstatement FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_signedstatement_no_removal()"
    ),
    "exchange_ops_statementsignature_no_removal": (
        "CREATE FUNCTION exchange_ops_statementsignature_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_statementsignature_no_removal BEFORE DELETE ON exchange_ops_statementsignature FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_statementsignature_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of statements, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0065_signed_statements")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
