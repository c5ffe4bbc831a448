from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_transfer_quorum": "exchange_ops_transfer",
}
SQLITE = {
    "exchange_ops_transfer_quorum": (
        "CREATE TRIGGER exchange_ops_transfer_quorum BEFORE UPDATE ON exchange_ops_transfer WHEN NEW.state = 'sending' "
        "AND NEW.kind = 'to_user' AND ((SELECT COUNT(DISTINCT a.person_id) FROM exchange_ops_transferapproval a JOIN "
        "desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose "
        "= 'approve-transfer' WHERE a.transfer_id = NEW.id AND a.digest = NEW.digest AND a.stage = 'review' AND "
        "a.verdict = 'approve') < NEW.quorum_required OR (EXISTS (SELECT 1 FROM json_each(NEW.group_needs) e WHERE "
        "(SELECT COUNT(DISTINCT a.person_id) FROM exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = "
        "a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest WHERE a.transfer_id = NEW.id AND "
        "a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id AND s.purpose = "
        "'approve-transfer' AND a.stage = 'review' AND a.person_id IN (SELECT CAST(m.value AS INTEGER) FROM "
        "json_each(json_extract(e.value, '$[2]')) m)) < CAST(json_extract(e.value, '$[1]') AS INTEGER)) OR (SELECT "
        "COUNT(DISTINCT a.person_id) FROM exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = "
        "a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest WHERE a.transfer_id = NEW.id AND "
        "a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id AND s.purpose = "
        "'approve-transfer' AND a.stage = 'review' AND a.person_id IN (SELECT CAST(m.value AS INTEGER) FROM "
        "json_each(NEW.group_needs) e, json_each(json_extract(e.value, '$[2]')) m)) < (SELECT "
        "COALESCE(SUM(CAST(json_extract(e.value, '$[1]') AS INTEGER)), 0) FROM json_each(NEW.group_needs) e))) BEGIN "
        "SELECT RAISE(ABORT, 'money leaves for others only with every approval of exactly this content'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_transfer_quorum": (
        "CREATE FUNCTION exchange_ops_transfer_quorum() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state "
        "= 'sending' AND NEW.kind = 'to_user' AND ((SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id "
        "AND s.digest = a.digest AND s.purpose = 'approve-transfer' WHERE a.transfer_id = NEW.id AND a.digest = "
        "NEW.digest AND a.stage = 'review' AND a.verdict = 'approve') < NEW.quorum_required OR (EXISTS (SELECT 1 FROM "
        "jsonb_array_elements(NEW.group_needs) e WHERE (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id "
        "AND s.digest = a.digest WHERE a.transfer_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND "
        "a.person_id <> NEW.initiator_id AND s.purpose = 'approve-transfer' AND a.stage = 'review' AND a.person_id IN "
        "(SELECT CAST(m.value AS INTEGER) FROM jsonb_array_elements(jsonb_extract_path(e.value, '2')) m)) < "
        "CAST(jsonb_extract_path(e.value, '1') AS INTEGER)) OR (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id "
        "AND s.digest = a.digest WHERE a.transfer_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND "
        "a.person_id <> NEW.initiator_id AND s.purpose = 'approve-transfer' AND a.stage = 'review' AND a.person_id IN "
        "(SELECT CAST(m.value AS INTEGER) FROM jsonb_array_elements(NEW.group_needs) e, "
        "jsonb_array_elements(jsonb_extract_path(e.value, '2')) m)) < (SELECT "
        "COALESCE(SUM(CAST(jsonb_extract_path(e.value, '1') AS INTEGER)), 0) FROM "
        "jsonb_array_elements(NEW.group_needs) e))) THEN RAISE EXCEPTION 'money leaves for others only with every "
        "approval of exactly this content' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_transfer_quorum BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_transfer_quorum()"
    ),
}


class Migration(migrations.Migration):
    """Guards of transfers, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0076_guards_of_withdrawals")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
