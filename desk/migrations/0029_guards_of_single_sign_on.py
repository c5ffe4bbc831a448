from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_companyaccount_second_factor": "desk_companyaccount",
    "desk_companyaccount_one_person": "desk_companyaccount",
    "desk_companyaccount_no_edit": "desk_companyaccount",
    "desk_companyaccountend_no_edit": "desk_companyaccountend",
    "desk_companyaccount_no_removal": "desk_companyaccount",
    "desk_companyaccountend_no_removal": "desk_companyaccountend",
}
SQLITE = {
    "desk_companyaccount_second_factor": (
        "CREATE TRIGGER desk_companyaccount_second_factor BEFORE INSERT ON desk_companyaccount WHEN NOT EXISTS (SELECT "
        "1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at AND "
        "s.purpose = 'connect-company-account') BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of "
        "this person, given for it'); END"
    ),
    "desk_companyaccount_one_person": (
        "CREATE TRIGGER desk_companyaccount_one_person BEFORE INSERT ON desk_companyaccount WHEN EXISTS (SELECT 1 FROM "
        "desk_companyaccount a WHERE a.id <> NEW.id AND a.issuer = NEW.issuer AND (a.subject = NEW.subject OR "
        "a.person_id = NEW.person_id) AND NOT EXISTS (SELECT 1 FROM desk_companyaccountend e WHERE e.account_id = "
        "a.id)) BEGIN SELECT RAISE(ABORT, 'a company account signs in one person, and a person has one'); END"
    ),
    "desk_companyaccount_no_edit": (
        "CREATE TRIGGER desk_companyaccount_no_edit BEFORE UPDATE ON desk_companyaccount WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_companyaccountend_no_edit": (
        "CREATE TRIGGER desk_companyaccountend_no_edit BEFORE UPDATE ON desk_companyaccountend WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_companyaccount_no_removal": (
        "CREATE TRIGGER desk_companyaccount_no_removal BEFORE DELETE ON desk_companyaccount WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_companyaccountend_no_removal": (
        "CREATE TRIGGER desk_companyaccountend_no_removal BEFORE DELETE ON desk_companyaccountend WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_companyaccount_second_factor": (
        "CREATE FUNCTION desk_companyaccount_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NOT "
        "EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at "
        "= NEW.at AND s.purpose = 'connect-company-account') THEN RAISE EXCEPTION 'a word counts only with a second "
        "factor of this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER desk_companyaccount_second_factor BEFORE INSERT ON desk_companyaccount FOR EACH "
        "ROW EXECUTE FUNCTION desk_companyaccount_second_factor()"
    ),
    "desk_companyaccount_one_person": (
        "CREATE FUNCTION desk_companyaccount_one_person() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF EXISTS "
        "(SELECT 1 FROM desk_companyaccount a WHERE a.id <> NEW.id AND a.issuer = NEW.issuer AND (a.subject = "
        "NEW.subject OR a.person_id = NEW.person_id) AND NOT EXISTS (SELECT 1 FROM desk_companyaccountend e WHERE "
        "e.account_id = a.id)) THEN RAISE EXCEPTION 'a company account signs in one person, and a person has one' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_companyaccount_one_person BEFORE INSERT ON desk_companyaccount FOR EACH ROW EXECUTE FUNCTION "
        "desk_companyaccount_one_person()"
    ),
    "desk_companyaccount_no_edit": (
        "CREATE FUNCTION desk_companyaccount_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_companyaccount_no_edit BEFORE UPDATE ON desk_companyaccount "
        "FOR EACH ROW EXECUTE FUNCTION desk_companyaccount_no_edit()"
    ),
    "desk_companyaccountend_no_edit": (
        "CREATE FUNCTION desk_companyaccountend_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_companyaccountend_no_edit BEFORE UPDATE ON desk_companyaccountend FOR EACH ROW EXECUTE FUNCTION "
        "desk_companyaccountend_no_edit()"
    ),
    "desk_companyaccount_no_removal": (
        "CREATE FUNCTION desk_companyaccount_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER desk_companyaccount_no_removal BEFORE DELETE ON "
        "desk_companyaccount FOR EACH ROW EXECUTE FUNCTION desk_companyaccount_no_removal()"
    ),
    "desk_companyaccountend_no_removal": (
        "CREATE FUNCTION desk_companyaccountend_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER desk_companyaccountend_no_removal BEFORE DELETE ON "
        "desk_companyaccountend FOR EACH ROW EXECUTE FUNCTION desk_companyaccountend_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of single_sign_on, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0028_company_accounts")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
