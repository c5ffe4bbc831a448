from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_recordchoice_second_factor": "exchange_ops_recordchoice",
    "exchange_ops_ledgeraside_not_settled_at_first": "exchange_ops_ledgeraside",
    "exchange_ops_ledgeraside_settled_by_two": "exchange_ops_ledgeraside",
    "exchange_ops_ledgeraside_record_stays": "exchange_ops_ledgeraside",
    "exchange_ops_recordchoice_no_edit": "exchange_ops_recordchoice",
    "exchange_ops_ledgeraside_no_removal": "exchange_ops_ledgeraside",
    "exchange_ops_recordchoice_no_removal": "exchange_ops_recordchoice",
}
SQLITE = {
    "exchange_ops_recordchoice_second_factor": (
        "CREATE TRIGGER exchange_ops_recordchoice_second_factor BEFORE INSERT ON exchange_ops_recordchoice WHEN NOT "
        "EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at "
        "= NEW.at AND s.purpose = 'settle-record' AND s.digest = NEW.digest) BEGIN SELECT RAISE(ABORT, 'a word counts "
        "only with a second factor of this person, given for it'); END"
    ),
    "exchange_ops_ledgeraside_not_settled_at_first": (
        "CREATE TRIGGER exchange_ops_ledgeraside_not_settled_at_first BEFORE INSERT ON exchange_ops_ledgeraside WHEN "
        "NEW.settled_as <> '' BEGIN SELECT RAISE(ABORT, 'two people choose which record holds, once'); END"
    ),
    "exchange_ops_ledgeraside_settled_by_two": (
        "CREATE TRIGGER exchange_ops_ledgeraside_settled_by_two BEFORE UPDATE ON exchange_ops_ledgeraside WHEN "
        "NEW.settled_as <> OLD.settled_as AND (OLD.settled_as <> '' OR (SELECT COUNT(DISTINCT c.person_id) FROM "
        "exchange_ops_recordchoice c WHERE c.aside_id = NEW.id AND c.holds = NEW.settled_as) < 2) BEGIN SELECT "
        "RAISE(ABORT, 'two people choose which record holds, once'); END"
    ),
    "exchange_ops_ledgeraside_record_stays": (
        "CREATE TRIGGER exchange_ops_ledgeraside_record_stays BEFORE UPDATE ON exchange_ops_ledgeraside WHEN "
        "NEW.content <> OLD.content OR NEW.fingerprint <> OLD.fingerprint OR NEW.exchange_id <> OLD.exchange_id OR "
        "NEW.\"index\" IS NOT OLD.\"index\" OR NEW.account_id <> OLD.account_id OR (OLD.settled_as <> '' AND "
        "NEW.cleared_at IS NULL) BEGIN SELECT RAISE(ABORT, 'a record of the exchange stays as it was read'); END"
    ),
    "exchange_ops_recordchoice_no_edit": (
        "CREATE TRIGGER exchange_ops_recordchoice_no_edit BEFORE UPDATE ON exchange_ops_recordchoice WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_ledgeraside_no_removal": (
        "CREATE TRIGGER exchange_ops_ledgeraside_no_removal BEFORE DELETE ON exchange_ops_ledgeraside WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_recordchoice_no_removal": (
        "CREATE TRIGGER exchange_ops_recordchoice_no_removal BEFORE DELETE ON exchange_ops_recordchoice WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_recordchoice_second_factor": (
        "CREATE FUNCTION exchange_ops_recordchoice_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND "
        "s.at = NEW.at AND s.purpose = 'settle-record' AND s.digest = NEW.digest) THEN RAISE EXCEPTION 'a word counts "
        "only with a second factor of this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_recordchoice_second_factor BEFORE INSERT ON "
        "exchange_ops_recordchoice FOR EACH ROW EXECUTE FUNCTION exchange_ops_recordchoice_second_factor()"
    ),
    "exchange_ops_ledgeraside_not_settled_at_first": (
        "CREATE FUNCTION exchange_ops_ledgeraside_not_settled_at_first() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.settled_as <> '' THEN RAISE EXCEPTION 'two people choose which record holds, once' USING ERRCODE "
        "= 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgeraside_not_settled_at_first BEFORE INSERT ON exchange_ops_ledgeraside FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_ledgeraside_not_settled_at_first()"
    ),
    "exchange_ops_ledgeraside_settled_by_two": (
        "CREATE FUNCTION exchange_ops_ledgeraside_settled_by_two() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.settled_as <> OLD.settled_as AND (OLD.settled_as <> '' OR (SELECT COUNT(DISTINCT c.person_id) FROM "
        "exchange_ops_recordchoice c WHERE c.aside_id = NEW.id AND c.holds = NEW.settled_as) < 2) THEN RAISE EXCEPTION "
        "'two people choose which record holds, once' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN "
        "NEW; END $body$; CREATE TRIGGER exchange_ops_ledgeraside_settled_by_two BEFORE UPDATE ON "
        "exchange_ops_ledgeraside FOR EACH ROW EXECUTE FUNCTION exchange_ops_ledgeraside_settled_by_two()"
    ),
    "exchange_ops_ledgeraside_record_stays": (
        "CREATE FUNCTION exchange_ops_ledgeraside_record_stays() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.content <> OLD.content OR NEW.fingerprint <> OLD.fingerprint OR NEW.exchange_id <> OLD.exchange_id OR "
        "NEW.\"index\" IS DISTINCT FROM OLD.\"index\" OR NEW.account_id <> OLD.account_id OR (OLD.settled_as <> '' AND "
        "NEW.cleared_at IS NULL) THEN RAISE EXCEPTION 'a record of the exchange stays as it was read' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgeraside_record_stays BEFORE UPDATE ON exchange_ops_ledgeraside FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_ledgeraside_record_stays()"
    ),
    "exchange_ops_recordchoice_no_edit": (
        "CREATE FUNCTION exchange_ops_recordchoice_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_recordchoice_no_edit BEFORE UPDATE ON exchange_ops_recordchoice FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_recordchoice_no_edit()"
    ),
    "exchange_ops_ledgeraside_no_removal": (
        "CREATE FUNCTION exchange_ops_ledgeraside_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_ledgeraside_no_removal BEFORE DELETE ON "
        "exchange_ops_ledgeraside FOR EACH ROW EXECUTE FUNCTION exchange_ops_ledgeraside_no_removal()"
    ),
    "exchange_ops_recordchoice_no_removal": (
        "CREATE FUNCTION exchange_ops_recordchoice_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_recordchoice_no_removal BEFORE DELETE ON exchange_ops_recordchoice FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_recordchoice_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of ledger, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0052_record_choices")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
