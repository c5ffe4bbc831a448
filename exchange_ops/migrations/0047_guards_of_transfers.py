from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_transfer_moves_with_event": "exchange_ops_transfer",
    "exchange_ops_transfer_content_fixed": "exchange_ops_transfer",
    "exchange_ops_transfer_begins": "exchange_ops_transfer",
    "exchange_ops_transfer_fills_once": "exchange_ops_transfer",
    "exchange_ops_transfer_attempts": "exchange_ops_transfer",
    "exchange_ops_transfer_quorum": "exchange_ops_transfer",
    "exchange_ops_transferapproval_not_yours": "exchange_ops_transferapproval",
    "exchange_ops_transferapproval_second_factor": "exchange_ops_transferapproval",
    "exchange_ops_transfercall_content_fixed": "exchange_ops_transfercall",
    "exchange_ops_transferevent_no_edit": "exchange_ops_transferevent",
    "exchange_ops_transferapproval_no_edit": "exchange_ops_transferapproval",
    "exchange_ops_transfer_no_removal": "exchange_ops_transfer",
    "exchange_ops_transfercall_no_removal": "exchange_ops_transfercall",
    "exchange_ops_transferevent_no_removal": "exchange_ops_transferevent",
    "exchange_ops_transferapproval_no_removal": "exchange_ops_transferapproval",
}
SQLITE = {
    "exchange_ops_transfer_moves_with_event": (
        "CREATE TRIGGER exchange_ops_transfer_moves_with_event BEFORE UPDATE ON exchange_ops_transfer WHEN (NEW.state "
        "IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT "
        "1 FROM exchange_ops_transferevent e WHERE e.transfer_id = NEW.id AND e.version = NEW.version AND e.from_state "
        "= OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a transfer moves only together with the "
        "event of its new version'); END"
    ),
    "exchange_ops_transfer_content_fixed": (
        "CREATE TRIGGER exchange_ops_transfer_content_fixed BEFORE UPDATE ON exchange_ops_transfer WHEN NEW.account_id "
        "IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.reissues_id IS NOT OLD.reissues_id OR "
        "NEW.kind IS NOT OLD.kind OR NEW.currency IS NOT OLD.currency OR NEW.amount IS NOT OLD.amount OR "
        "NEW.to_currency IS NOT OLD.to_currency OR NEW.identified_by IS NOT OLD.identified_by OR NEW.identifier IS NOT "
        "OLD.identifier OR NEW.subaccount_id IS NOT OLD.subaccount_id OR NEW.reason IS NOT OLD.reason OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a transfer is never "
        "edited'); END"
    ),
    "exchange_ops_transfer_begins": (
        "CREATE TRIGGER exchange_ops_transfer_begins BEFORE INSERT ON exchange_ops_transfer WHEN NEW.state <> 'draft' "
        "OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL OR NEW.second_id IS NOT NULL BEGIN "
        "SELECT RAISE(ABORT, 'a transfer begins as draft'); END"
    ),
    "exchange_ops_transfer_fills_once": (
        "CREATE TRIGGER exchange_ops_transfer_fills_once BEFORE UPDATE ON exchange_ops_transfer WHEN (OLD.exchange_id "
        "IS NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id) OR (OLD.second_id IS NOT NULL AND NEW.second_id IS "
        "NOT OLD.second_id) BEGIN SELECT RAISE(ABORT, 'a transfer keeps what it was given'); END"
    ),
    "exchange_ops_transfer_attempts": (
        "CREATE TRIGGER exchange_ops_transfer_attempts BEFORE UPDATE ON exchange_ops_transfer WHEN NEW.attempt <> "
        "OLD.attempt AND NOT (NEW.attempt = OLD.attempt + 1 AND NEW.state = 'sending') OR (NEW.state = 'sending' AND "
        "OLD.state <> 'sending' AND NEW.attempt <> OLD.attempt + 1) BEGIN SELECT RAISE(ABORT, 'an attempt of a "
        "transfer is spent once, when it begins to be sent'); END"
    ),
    "exchange_ops_transfer_quorum": (
        "CREATE TRIGGER exchange_ops_transfer_quorum BEFORE UPDATE ON exchange_ops_transfer WHEN NEW.state = 'sending' "
        "AND NEW.kind = 'to_user' AND (SELECT COUNT(DISTINCT a.person_id) FROM exchange_ops_transferapproval a JOIN "
        "desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose "
        "= 'approve-transfer' WHERE a.transfer_id = NEW.id AND a.digest = NEW.digest AND a.stage = 'review' AND "
        "a.verdict = 'approve') < NEW.quorum_required BEGIN SELECT RAISE(ABORT, 'money leaves for others only with "
        "every approval of exactly this content'); END"
    ),
    "exchange_ops_transferapproval_not_yours": (
        "CREATE TRIGGER exchange_ops_transferapproval_not_yours BEFORE INSERT ON exchange_ops_transferapproval WHEN "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_transfer t WHERE t.id = NEW.transfer_id AND t.initiator_id = "
        "NEW.initiator_id AND t.initiator_id <> NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their own "
        "request'); END"
    ),
    "exchange_ops_transferapproval_second_factor": (
        "CREATE TRIGGER exchange_ops_transferapproval_second_factor BEFORE INSERT ON exchange_ops_transferapproval "
        "WHEN NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = "
        "'approve-transfer' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = 'resolve-transfer')) "
        "BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of this person, given for it'); END"
    ),
    "exchange_ops_transfercall_content_fixed": (
        "CREATE TRIGGER exchange_ops_transfercall_content_fixed BEFORE UPDATE ON exchange_ops_transfercall WHEN "
        "NEW.transfer_id IS NOT OLD.transfer_id OR NEW.attempt IS NOT OLD.attempt OR NEW.fingerprint IS NOT "
        "OLD.fingerprint OR NEW.watermark IS NOT OLD.watermark OR NEW.created_from IS NOT OLD.created_from OR "
        "NEW.created_until IS NOT OLD.created_until OR NEW.send_by IS NOT OLD.send_by BEGIN SELECT RAISE(ABORT, 'what "
        "was known before a call is never edited'); END"
    ),
    "exchange_ops_transferevent_no_edit": (
        "CREATE TRIGGER exchange_ops_transferevent_no_edit BEFORE UPDATE ON exchange_ops_transferevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_transferapproval_no_edit": (
        "CREATE TRIGGER exchange_ops_transferapproval_no_edit BEFORE UPDATE ON exchange_ops_transferapproval WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_transfer_no_removal": (
        "CREATE TRIGGER exchange_ops_transfer_no_removal BEFORE DELETE ON exchange_ops_transfer WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_transfercall_no_removal": (
        "CREATE TRIGGER exchange_ops_transfercall_no_removal BEFORE DELETE ON exchange_ops_transfercall WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_transferevent_no_removal": (
        "CREATE TRIGGER exchange_ops_transferevent_no_removal BEFORE DELETE ON exchange_ops_transferevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_transferapproval_no_removal": (
        "CREATE TRIGGER exchange_ops_transferapproval_no_removal BEFORE DELETE ON exchange_ops_transferapproval WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_transfer_moves_with_event": (
        "CREATE FUNCTION exchange_ops_transfer_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_transferevent e WHERE e.transfer_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "transfer moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transfer_moves_with_event BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transfer_moves_with_event()"
    ),
    "exchange_ops_transfer_content_fixed": (
        "CREATE FUNCTION exchange_ops_transfer_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR "
        "NEW.reissues_id IS DISTINCT FROM OLD.reissues_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.currency IS "
        "DISTINCT FROM OLD.currency OR NEW.amount IS DISTINCT FROM OLD.amount OR NEW.to_currency IS DISTINCT FROM "
        "OLD.to_currency OR NEW.identified_by IS DISTINCT FROM OLD.identified_by OR NEW.identifier IS DISTINCT FROM "
        "OLD.identifier OR NEW.subaccount_id IS DISTINCT FROM OLD.subaccount_id OR NEW.reason IS DISTINCT FROM "
        "OLD.reason OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a "
        "transfer is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_transfer_content_fixed BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_transfer_content_fixed()"
    ),
    "exchange_ops_transfer_begins": (
        "CREATE FUNCTION exchange_ops_transfer_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state "
        "<> 'draft' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL OR NEW.second_id IS NOT "
        "NULL THEN RAISE EXCEPTION 'a transfer begins as draft' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_transfer_begins BEFORE INSERT ON "
        "exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_begins()"
    ),
    "exchange_ops_transfer_fills_once": (
        "CREATE FUNCTION exchange_ops_transfer_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) OR (OLD.second_id IS NOT "
        "NULL AND NEW.second_id IS DISTINCT FROM OLD.second_id) THEN RAISE EXCEPTION 'a transfer keeps what it was "
        "given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transfer_fills_once BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transfer_fills_once()"
    ),
    "exchange_ops_transfer_attempts": (
        "CREATE FUNCTION exchange_ops_transfer_attempts() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.attempt <> OLD.attempt AND NOT (NEW.attempt = OLD.attempt + 1 AND NEW.state = 'sending') OR (NEW.state = "
        "'sending' AND OLD.state <> 'sending' AND NEW.attempt <> OLD.attempt + 1) THEN RAISE EXCEPTION 'an attempt of "
        "a transfer is spent once, when it begins to be sent' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_transfer_attempts BEFORE UPDATE ON "
        "exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_attempts()"
    ),
    "exchange_ops_transfer_quorum": (
        "CREATE FUNCTION exchange_ops_transfer_quorum() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state "
        "= 'sending' AND NEW.kind = 'to_user' AND (SELECT COUNT(DISTINCT a.person_id) FROM "
        "exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id "
        "AND s.digest = a.digest AND s.purpose = 'approve-transfer' WHERE a.transfer_id = NEW.id AND a.digest = "
        "NEW.digest AND a.stage = 'review' AND a.verdict = 'approve') < NEW.quorum_required THEN RAISE EXCEPTION "
        "'money leaves for others only with every approval of exactly this content' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_transfer_quorum "
        "BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_quorum()"
    ),
    "exchange_ops_transferapproval_not_yours": (
        "CREATE FUNCTION exchange_ops_transferapproval_not_yours() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_transfer t WHERE t.id = NEW.transfer_id AND t.initiator_id = "
        "NEW.initiator_id AND t.initiator_id <> NEW.person_id) THEN RAISE EXCEPTION 'nobody decides on their own "
        "request' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transferapproval_not_yours BEFORE INSERT ON exchange_ops_transferapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_transferapproval_not_yours()"
    ),
    "exchange_ops_transferapproval_second_factor": (
        "CREATE FUNCTION exchange_ops_transferapproval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
        "AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = "
        "'approve-transfer' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = 'resolve-transfer')) "
        "THEN RAISE EXCEPTION 'a word counts only with a second factor of this person, given for it' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transferapproval_second_factor BEFORE INSERT ON exchange_ops_transferapproval FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_transferapproval_second_factor()"
    ),
    "exchange_ops_transfercall_content_fixed": (
        "CREATE FUNCTION exchange_ops_transfercall_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.transfer_id IS DISTINCT FROM OLD.transfer_id OR NEW.attempt IS DISTINCT FROM OLD.attempt OR "
        "NEW.fingerprint IS DISTINCT FROM OLD.fingerprint OR NEW.watermark IS DISTINCT FROM OLD.watermark OR "
        "NEW.created_from IS DISTINCT FROM OLD.created_from OR NEW.created_until IS DISTINCT FROM OLD.created_until OR "
        "NEW.send_by IS DISTINCT FROM OLD.send_by THEN RAISE EXCEPTION 'what was known before a call is never edited' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transfercall_content_fixed BEFORE UPDATE ON exchange_ops_transfercall FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_transfercall_content_fixed()"
    ),
    "exchange_ops_transferevent_no_edit": (
        "CREATE FUNCTION exchange_ops_transferevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transferevent_no_edit BEFORE UPDATE ON exchange_ops_transferevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transferevent_no_edit()"
    ),
    "exchange_ops_transferapproval_no_edit": (
        "CREATE FUNCTION exchange_ops_transferapproval_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transferapproval_no_edit BEFORE UPDATE ON exchange_ops_transferapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_transferapproval_no_edit()"
    ),
    "exchange_ops_transfer_no_removal": (
        "CREATE FUNCTION exchange_ops_transfer_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_transfer_no_removal BEFORE DELETE ON "
        "exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_no_removal()"
    ),
    "exchange_ops_transfercall_no_removal": (
        "CREATE FUNCTION exchange_ops_transfercall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_transfercall_no_removal BEFORE DELETE ON exchange_ops_transfercall FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transfercall_no_removal()"
    ),
    "exchange_ops_transferevent_no_removal": (
        "CREATE FUNCTION exchange_ops_transferevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_transferevent_no_removal BEFORE DELETE ON exchange_ops_transferevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_transferevent_no_removal()"
    ),
    "exchange_ops_transferapproval_no_removal": (
        "CREATE FUNCTION exchange_ops_transferapproval_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_transferapproval_no_removal BEFORE DELETE ON exchange_ops_transferapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_transferapproval_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """The guards of transfers, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0046_transfers_lapse")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
