from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_withdrawal_group_needs": "exchange_ops_withdrawal",
}
SQLITE = {
    "exchange_ops_withdrawal_group_needs": (
        "CREATE TRIGGER exchange_ops_withdrawal_group_needs BEFORE UPDATE ON exchange_ops_withdrawal WHEN NEW.decision "
        "= 'commit' AND (OLD.decision <> 'commit' OR NEW.put_count > OLD.put_count) AND (EXISTS (SELECT 1 FROM "
        "json_each(NEW.group_needs) e WHERE (SELECT COUNT(DISTINCT a.person_id) FROM exchange_ops_approval a JOIN "
        "desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest WHERE "
        "a.withdrawal_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> "
        "NEW.initiator_id AND (s.purpose = 'approve-withdrawal' OR s.purpose = 'approve-held-withdrawal' AND a.stage = "
        "'release') AND a.stage <> 'resolution' AND a.person_id IN (SELECT CAST(m.value AS INTEGER) FROM "
        "json_each(json_extract(e.value, '$[2]')) m)) < CAST(json_extract(e.value, '$[1]') AS INTEGER)) OR (SELECT "
        "COUNT(DISTINCT a.person_id) FROM exchange_ops_approval a JOIN desk_stepup s ON s.id = a.confirmation_id AND "
        "s.person_id = a.person_id AND s.digest = a.digest WHERE a.withdrawal_id = NEW.id AND a.digest = NEW.digest "
        "AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id AND (s.purpose = 'approve-withdrawal' OR "
        "s.purpose = 'approve-held-withdrawal' AND a.stage = 'release') AND a.stage <> 'resolution' AND a.person_id IN "
        "(SELECT CAST(m.value AS INTEGER) FROM json_each(NEW.group_needs) e, json_each(json_extract(e.value, '$[2]')) "
        "m)) < (SELECT COALESCE(SUM(CAST(json_extract(e.value, '$[1]') AS INTEGER)), 0) FROM "
        "json_each(NEW.group_needs) e)) BEGIN SELECT RAISE(ABORT, 'a payout is ordered only with the approvals of "
        "every group that it needs'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_withdrawal_group_needs": (
        "CREATE FUNCTION exchange_ops_withdrawal_group_needs() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.decision = 'commit' AND (OLD.decision <> 'commit' OR NEW.put_count > OLD.put_count) AND (EXISTS (SELECT 1 "
        "FROM jsonb_array_elements(NEW.group_needs) e WHERE (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_approval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND "
        "s.digest = a.digest WHERE a.withdrawal_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND "
        "a.person_id <> NEW.initiator_id AND (s.purpose = 'approve-withdrawal' OR s.purpose = "
        "'approve-held-withdrawal' AND a.stage = 'release') AND a.stage <> 'resolution' AND a.person_id IN (SELECT "
        "CAST(m.value AS INTEGER) FROM jsonb_array_elements(jsonb_extract_path(e.value, '2')) m)) < "
        "CAST(jsonb_extract_path(e.value, '1') AS INTEGER)) OR (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_approval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND "
        "s.digest = a.digest WHERE a.withdrawal_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND "
        "a.person_id <> NEW.initiator_id AND (s.purpose = 'approve-withdrawal' OR s.purpose = "
        "'approve-held-withdrawal' AND a.stage = 'release') AND a.stage <> 'resolution' AND a.person_id IN (SELECT "
        "CAST(m.value AS INTEGER) FROM jsonb_array_elements(NEW.group_needs) e, "
        "jsonb_array_elements(jsonb_extract_path(e.value, '2')) m)) < (SELECT "
        "COALESCE(SUM(CAST(jsonb_extract_path(e.value, '1') AS INTEGER)), 0) FROM "
        "jsonb_array_elements(NEW.group_needs) e)) THEN RAISE EXCEPTION 'a payout is ordered only with the approvals "
        "of every group that it needs' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_withdrawal_group_needs BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH "
        "ROW EXECUTE FUNCTION exchange_ops_withdrawal_group_needs()"
    ),
}


class Migration(migrations.Migration):
    """Guards of withdrawals, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0075_approval_groups")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
