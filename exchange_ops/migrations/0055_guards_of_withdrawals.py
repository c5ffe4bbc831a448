from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_approval_second_factor": "exchange_ops_approval",
}
SQLITE = {
    "exchange_ops_approval_second_factor": (
        "CREATE TRIGGER exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval WHEN NEW.verdict <> "
        "'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = "
        "NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND (s.purpose = 'approve-withdrawal' OR "
        "NEW.stage = 'release' AND s.purpose = 'approve-held-withdrawal') AND s.digest = NEW.digest OR NEW.stage = "
        "'resolution' AND s.purpose = 'resolve-withdrawal')) BEGIN SELECT RAISE(ABORT, 'a word counts only with a "
        "second factor of this person, given for it'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_approval_second_factor": (
        "CREATE FUNCTION exchange_ops_approval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND (s.purpose = "
        "'approve-withdrawal' OR NEW.stage = 'release' AND s.purpose = 'approve-held-withdrawal') AND s.digest = "
        "NEW.digest OR NEW.stage = 'resolution' AND s.purpose = 'resolve-withdrawal')) THEN RAISE EXCEPTION 'a word "
        "counts only with a second factor of this person, given for it' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_approval_second_factor()"
    ),
}


class Migration(migrations.Migration):
    """Guards of withdrawals, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0054_labels_of_trading")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
