import django.db.models.deletion
from django.db import migrations, models


STANDINGS = ("unseen", "absent", "wrong", "not_proven", "waiting", "left", "proven")

TABLES = {
    "exchange_ops_withdrawal_moves_with_event": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_decision_latched": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_content_fixed": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_one_hold": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_one_verb": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_begins_as_draft": "exchange_ops_withdrawal",
    "exchange_ops_approval_not_by_the_initiator": "exchange_ops_approval",
    "exchange_ops_approval_second_factor": "exchange_ops_approval",
    "exchange_ops_thawvote_second_factor": "exchange_ops_thawvote",
    "exchange_ops_withdrawalevent_no_edit": "exchange_ops_withdrawalevent",
    "exchange_ops_approval_no_edit": "exchange_ops_approval",
    "exchange_ops_thawvote_no_edit": "exchange_ops_thawvote",
    "exchange_ops_ledgerversion_no_edit": "exchange_ops_ledgerversion",
    "exchange_ops_policyversion_no_edit": "exchange_ops_policyversion",
    "exchange_ops_quorumtier_no_edit": "exchange_ops_quorumtier",
    "exchange_ops_withdrawal_no_removal": "exchange_ops_withdrawal",
    "exchange_ops_externalcall_no_removal": "exchange_ops_externalcall",
    "exchange_ops_freeze_no_removal": "exchange_ops_freeze",
    "exchange_ops_ledgerentry_no_removal": "exchange_ops_ledgerentry",
    "exchange_ops_withdrawalevent_no_removal": "exchange_ops_withdrawalevent",
    "exchange_ops_approval_no_removal": "exchange_ops_approval",
    "exchange_ops_thawvote_no_removal": "exchange_ops_thawvote",
    "exchange_ops_ledgerversion_no_removal": "exchange_ops_ledgerversion",
    "exchange_ops_policyversion_no_removal": "exchange_ops_policyversion",
    "exchange_ops_quorumtier_no_removal": "exchange_ops_quorumtier",
}
SQLITE = {
    "exchange_ops_withdrawal_moves_with_event": (
        "CREATE TRIGGER exchange_ops_withdrawal_moves_with_event BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version OR NEW.decision IS NOT OLD.decision) AND "
        "NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_withdrawalevent e WHERE "
        "e.withdrawal_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = "
        "NEW.state AND e.decision = NEW.decision)) BEGIN SELECT RAISE(ABORT, 'a withdrawal moves only together "
        "with the event of its new version'); END"
    ),
    "exchange_ops_withdrawal_decision_latched": (
        "CREATE TRIGGER exchange_ops_withdrawal_decision_latched BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "OLD.decision <> 'none' AND NEW.decision IS NOT OLD.decision AND NOT (OLD.decision = 'commit' AND "
        "NEW.decision = 'rollback' AND OLD.put_count = 0 AND NEW.put_count = 0) BEGIN SELECT RAISE(ABORT, 'the "
        "decision on a withdrawal is made once'); END"
    ),
    "exchange_ops_withdrawal_content_fixed": (
        "CREATE TRIGGER exchange_ops_withdrawal_content_fixed BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.request_key IS "
        "NOT OLD.request_key OR NEW.currency IS NOT OLD.currency OR NEW.amount IS NOT OLD.amount OR "
        "NEW.include_fee IS NOT OLD.include_fee OR NEW.address IS NOT OLD.address OR NEW.payment_id IS NOT "
        "OLD.payment_id OR NEW.reason IS NOT OLD.reason OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT "
        "RAISE(ABORT, 'what was asked for is never edited'); END"
    ),
    "exchange_ops_withdrawal_one_hold": (
        "CREATE TRIGGER exchange_ops_withdrawal_one_hold BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id BEGIN SELECT RAISE(ABORT, 'a "
        "withdrawal keeps the number the exchange gave it'); END"
    ),
    "exchange_ops_withdrawal_one_verb": (
        "CREATE TRIGGER exchange_ops_withdrawal_one_verb BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "NEW.put_count < OLD.put_count OR NEW.delete_count < OLD.delete_count OR (NEW.put_count > 0 AND "
        "NEW.delete_count > 0) OR (NEW.put_count > OLD.put_count AND NEW.decision <> 'commit') OR "
        "(NEW.delete_count > OLD.delete_count AND NEW.decision <> 'rollback') BEGIN SELECT RAISE(ABORT, 'a hold is "
        "told to be paid or to be released, never both'); END"
    ),
    "exchange_ops_withdrawal_begins_as_draft": (
        "CREATE TRIGGER exchange_ops_withdrawal_begins_as_draft BEFORE INSERT ON exchange_ops_withdrawal WHEN "
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR "
        "NEW.delete_count <> 0 BEGIN SELECT RAISE(ABORT, 'a withdrawal begins as a draft'); END"
    ),
    "exchange_ops_approval_not_by_the_initiator": (
        "CREATE TRIGGER exchange_ops_approval_not_by_the_initiator BEFORE INSERT ON exchange_ops_approval WHEN NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id AND w.initiator_id = "
        "NEW.initiator_id AND w.initiator_id <> NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their "
        "own request'); END"
    ),
    "exchange_ops_approval_second_factor": (
        "CREATE TRIGGER exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval WHEN "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = "
        "'approve-withdrawal' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = "
        "'resolve-withdrawal')) BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of this person, "
        "given for it'); END"
    ),
    "exchange_ops_thawvote_second_factor": (
        "CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote WHEN NOT EXISTS "
        "(SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = "
        "NEW.at AND s.purpose = 'thaw-freeze') BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor "
        "of this person, given for it'); END"
    ),
    "exchange_ops_withdrawalevent_no_edit": (
        "CREATE TRIGGER exchange_ops_withdrawalevent_no_edit BEFORE UPDATE ON exchange_ops_withdrawalevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_approval_no_edit": (
        "CREATE TRIGGER exchange_ops_approval_no_edit BEFORE UPDATE ON exchange_ops_approval WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_thawvote_no_edit": (
        "CREATE TRIGGER exchange_ops_thawvote_no_edit BEFORE UPDATE ON exchange_ops_thawvote WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_ledgerversion_no_edit": (
        "CREATE TRIGGER exchange_ops_ledgerversion_no_edit BEFORE UPDATE ON exchange_ops_ledgerversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_policyversion_no_edit": (
        "CREATE TRIGGER exchange_ops_policyversion_no_edit BEFORE UPDATE ON exchange_ops_policyversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_quorumtier_no_edit": (
        "CREATE TRIGGER exchange_ops_quorumtier_no_edit BEFORE UPDATE ON exchange_ops_quorumtier WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_withdrawal_no_removal": (
        "CREATE TRIGGER exchange_ops_withdrawal_no_removal BEFORE DELETE ON exchange_ops_withdrawal WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_externalcall_no_removal": (
        "CREATE TRIGGER exchange_ops_externalcall_no_removal BEFORE DELETE ON exchange_ops_externalcall WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON exchange_ops_freeze WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_ledgerentry_no_removal": (
        "CREATE TRIGGER exchange_ops_ledgerentry_no_removal BEFORE DELETE ON exchange_ops_ledgerentry WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_withdrawalevent_no_removal": (
        "CREATE TRIGGER exchange_ops_withdrawalevent_no_removal BEFORE DELETE ON exchange_ops_withdrawalevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_approval_no_removal": (
        "CREATE TRIGGER exchange_ops_approval_no_removal BEFORE DELETE ON exchange_ops_approval WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_thawvote_no_removal": (
        "CREATE TRIGGER exchange_ops_thawvote_no_removal BEFORE DELETE ON exchange_ops_thawvote WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_ledgerversion_no_removal": (
        "CREATE TRIGGER exchange_ops_ledgerversion_no_removal BEFORE DELETE ON exchange_ops_ledgerversion WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_policyversion_no_removal": (
        "CREATE TRIGGER exchange_ops_policyversion_no_removal BEFORE DELETE ON exchange_ops_policyversion WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_quorumtier_no_removal": (
        "CREATE TRIGGER exchange_ops_quorumtier_no_removal BEFORE DELETE ON exchange_ops_quorumtier WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_withdrawal_moves_with_event": (
        "CREATE FUNCTION exchange_ops_withdrawal_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version OR "
        "NEW.decision IS DISTINCT FROM OLD.decision) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 "
        "FROM exchange_ops_withdrawalevent e WHERE e.withdrawal_id = NEW.id AND e.version = NEW.version AND "
        "e.from_state = OLD.state AND e.to_state = NEW.state AND e.decision = NEW.decision)) THEN RAISE EXCEPTION "
        "'a withdrawal moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_moves_with_event BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawal_moves_with_event()"
    ),
    "exchange_ops_withdrawal_decision_latched": (
        "CREATE FUNCTION exchange_ops_withdrawal_decision_latched() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF OLD.decision <> 'none' AND NEW.decision IS DISTINCT FROM OLD.decision AND NOT (OLD.decision = "
        "'commit' AND NEW.decision = 'rollback' AND OLD.put_count = 0 AND NEW.put_count = 0) THEN RAISE EXCEPTION "
        "'the decision on a withdrawal is made once' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_withdrawal_decision_latched BEFORE UPDATE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_decision_latched()"
    ),
    "exchange_ops_withdrawal_content_fixed": (
        "CREATE FUNCTION exchange_ops_withdrawal_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id "
        "OR NEW.request_key IS DISTINCT FROM OLD.request_key OR NEW.currency IS DISTINCT FROM OLD.currency OR "
        "NEW.amount IS DISTINCT FROM OLD.amount OR NEW.include_fee IS DISTINCT FROM OLD.include_fee OR NEW.address "
        "IS DISTINCT FROM OLD.address OR NEW.payment_id IS DISTINCT FROM OLD.payment_id OR NEW.reason IS DISTINCT "
        "FROM OLD.reason OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked "
        "for is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_withdrawal_content_fixed BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH "
        "ROW EXECUTE FUNCTION exchange_ops_withdrawal_content_fixed()"
    ),
    "exchange_ops_withdrawal_one_hold": (
        "CREATE FUNCTION exchange_ops_withdrawal_one_hold() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id THEN RAISE EXCEPTION 'a "
        "withdrawal keeps the number the exchange gave it' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_withdrawal_one_hold BEFORE UPDATE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_one_hold()"
    ),
    "exchange_ops_withdrawal_one_verb": (
        "CREATE FUNCTION exchange_ops_withdrawal_one_verb() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.put_count < OLD.put_count OR NEW.delete_count < OLD.delete_count OR (NEW.put_count > 0 AND "
        "NEW.delete_count > 0) OR (NEW.put_count > OLD.put_count AND NEW.decision <> 'commit') OR "
        "(NEW.delete_count > OLD.delete_count AND NEW.decision <> 'rollback') THEN RAISE EXCEPTION 'a hold is told "
        "to be paid or to be released, never both' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_withdrawal_one_verb BEFORE UPDATE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_one_verb()"
    ),
    "exchange_ops_withdrawal_begins_as_draft": (
        "CREATE FUNCTION exchange_ops_withdrawal_begins_as_draft() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR "
        "NEW.delete_count <> 0 THEN RAISE EXCEPTION 'a withdrawal begins as a draft' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_begins_as_draft BEFORE INSERT ON exchange_ops_withdrawal FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawal_begins_as_draft()"
    ),
    "exchange_ops_approval_not_by_the_initiator": (
        "CREATE FUNCTION exchange_ops_approval_not_by_the_initiator() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id AND "
        "w.initiator_id = NEW.initiator_id AND w.initiator_id <> NEW.person_id) THEN RAISE EXCEPTION 'nobody "
        "decides on their own request' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_approval_not_by_the_initiator BEFORE INSERT ON exchange_ops_approval "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_approval_not_by_the_initiator()"
    ),
    "exchange_ops_approval_second_factor": (
        "CREATE FUNCTION exchange_ops_approval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = "
        "'approve-withdrawal' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = "
        "'resolve-withdrawal')) THEN RAISE EXCEPTION 'a word counts only with a second factor of this person, "
        "given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_approval_second_factor()"
    ),
    "exchange_ops_thawvote_second_factor": (
        "CREATE FUNCTION exchange_ops_thawvote_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
        "AND s.at = NEW.at AND s.purpose = 'thaw-freeze') THEN RAISE EXCEPTION 'a word counts only with a second "
        "factor of this person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN "
        "NEW; END $body$; CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON "
        "exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION exchange_ops_thawvote_second_factor()"
    ),
    "exchange_ops_withdrawalevent_no_edit": (
        "CREATE FUNCTION exchange_ops_withdrawalevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawalevent_no_edit BEFORE UPDATE ON exchange_ops_withdrawalevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawalevent_no_edit()"
    ),
    "exchange_ops_approval_no_edit": (
        "CREATE FUNCTION exchange_ops_approval_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_approval_no_edit BEFORE UPDATE ON exchange_ops_approval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_approval_no_edit()"
    ),
    "exchange_ops_thawvote_no_edit": (
        "CREATE FUNCTION exchange_ops_thawvote_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_thawvote_no_edit BEFORE UPDATE ON exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_thawvote_no_edit()"
    ),
    "exchange_ops_ledgerversion_no_edit": (
        "CREATE FUNCTION exchange_ops_ledgerversion_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgerversion_no_edit BEFORE UPDATE ON exchange_ops_ledgerversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_ledgerversion_no_edit()"
    ),
    "exchange_ops_policyversion_no_edit": (
        "CREATE FUNCTION exchange_ops_policyversion_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policyversion_no_edit BEFORE UPDATE ON exchange_ops_policyversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policyversion_no_edit()"
    ),
    "exchange_ops_quorumtier_no_edit": (
        "CREATE FUNCTION exchange_ops_quorumtier_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_quorumtier_no_edit BEFORE UPDATE ON exchange_ops_quorumtier FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_quorumtier_no_edit()"
    ),
    "exchange_ops_withdrawal_no_removal": (
        "CREATE FUNCTION exchange_ops_withdrawal_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_no_removal BEFORE DELETE ON exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_withdrawal_no_removal()"
    ),
    "exchange_ops_externalcall_no_removal": (
        "CREATE FUNCTION exchange_ops_externalcall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_externalcall_no_removal BEFORE DELETE ON exchange_ops_externalcall FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_externalcall_no_removal()"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE FUNCTION exchange_ops_freeze_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_freeze_no_removal BEFORE DELETE ON exchange_ops_freeze FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_freeze_no_removal()"
    ),
    "exchange_ops_ledgerentry_no_removal": (
        "CREATE FUNCTION exchange_ops_ledgerentry_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgerentry_no_removal BEFORE DELETE ON exchange_ops_ledgerentry FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_ledgerentry_no_removal()"
    ),
    "exchange_ops_withdrawalevent_no_removal": (
        "CREATE FUNCTION exchange_ops_withdrawalevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawalevent_no_removal BEFORE DELETE ON exchange_ops_withdrawalevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_withdrawalevent_no_removal()"
    ),
    "exchange_ops_approval_no_removal": (
        "CREATE FUNCTION exchange_ops_approval_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_approval_no_removal BEFORE DELETE ON exchange_ops_approval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_approval_no_removal()"
    ),
    "exchange_ops_thawvote_no_removal": (
        "CREATE FUNCTION exchange_ops_thawvote_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_thawvote_no_removal BEFORE DELETE ON exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_thawvote_no_removal()"
    ),
    "exchange_ops_ledgerversion_no_removal": (
        "CREATE FUNCTION exchange_ops_ledgerversion_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgerversion_no_removal BEFORE DELETE ON exchange_ops_ledgerversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_ledgerversion_no_removal()"
    ),
    "exchange_ops_policyversion_no_removal": (
        "CREATE FUNCTION exchange_ops_policyversion_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policyversion_no_removal BEFORE DELETE ON exchange_ops_policyversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policyversion_no_removal()"
    ),
    "exchange_ops_quorumtier_no_removal": (
        "CREATE FUNCTION exchange_ops_quorumtier_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_quorumtier_no_removal BEFORE DELETE ON exchange_ops_quorumtier FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_quorumtier_no_removal()"
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
    """What the chain proves it can take back, so a proven payout has ways out; and what was seen of each payout there.

    A table that gets another constraint loses its triggers on one of the engines: all of them are taken away and put
    back.
    """

    dependencies = [("exchange_ops", "0014_told_by_streams")]

    operations = [
        migrations.RunPython(remove_triggers, install_triggers),
        migrations.RemoveConstraint(
            model_name="withdrawalevent",
            name="withdrawalevent_is_a_move_of_the_table",
        ),
        migrations.AddConstraint(
            model_name="withdrawalevent",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'draft')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'queued')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'review')), models.Q(('event', 'checks_failed'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'approval_recorded'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'quorum_reached'), ('from_state', 'review'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'review')), models.Q(('event', 'hold_claimed'), ('from_state', 'queued'), ('to_state', 'holding')), models.Q(('event', 'hold_accepted'), ('from_state', 'holding'), ('to_state', 'held')), models.Q(('event', 'hold_refused'), ('from_state', 'holding'), ('to_state', 'refused')), models.Q(('event', 'hold_not_sent'), ('from_state', 'holding'), ('to_state', 'queued')), models.Q(('event', 'hold_unknown'), ('from_state', 'holding'), ('to_state', 'hold_unknown')), models.Q(('event', 'hold_adopted'), ('from_state', 'hold_unknown'), ('to_state', 'held')), models.Q(('event', 'hold_not_found'), ('from_state', 'hold_unknown'), ('to_state', 'lapsed')), models.Q(('event', 'hold_ambiguous'), ('from_state', 'hold_unknown'), ('to_state', 'investigate')), models.Q(('event', 'echo_agrees'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'echo_differs'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'executed_without_us'), ('from_state', 'held'), ('to_state', 'investigate')), models.Q(('event', 'executed_without_us'), ('from_state', 'committing'), ('to_state', 'investigate')), models.Q(('event', 'approval_recorded'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'quorum_reached'), ('from_state', 'held'), ('to_state', 'committing')), models.Q(('event', 'rejected'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'cancelled'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'time_over'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'policy_changed'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'fee_drifted'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'ended_at_exchange'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'recalled'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'echo_differs'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'commit_claimed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_confirmed'), ('from_state', 'committing'), ('to_state', 'committed')), models.Q(('event', 'commit_unconfirmed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_stopped'), ('from_state', 'committing'), ('to_state', 'commit_unknown')), models.Q(('event', 'commit_confirmed'), ('from_state', 'commit_unknown'), ('to_state', 'committed')), models.Q(('event', 'commit_not_carried_out'), ('from_state', 'commit_unknown'), ('to_state', 'expired')), models.Q(('event', 'still_unclear'), ('from_state', 'commit_unknown'), ('to_state', 'investigate')), models.Q(('event', 'rollback_claimed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'released'), ('from_state', 'rolling_back'), ('to_state', 'rolled_back')), models.Q(('event', 'rollback_unconfirmed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'escalated'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'paid_anyway'), ('from_state', 'rolling_back'), ('to_state', 'investigate')), models.Q(('event', 'hash_seen'), ('from_state', 'committed'), ('to_state', 'sent')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'sent'), ('to_state', 'settled')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'committed'), ('to_state', 'settled')), models.Q(('event', 'proven'), ('from_state', 'settled'), ('to_state', 'verified')), models.Q(('event', 'proof_lost'), ('from_state', 'sent'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'committed'), ('to_state', 'failed')), models.Q(('event', 'exchange_failed'), ('from_state', 'sent'), ('to_state', 'failed')), models.Q(('event', 'cancelled'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'rejected'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'queued'), ('to_state', 'cancelled')), models.Q(('event', 'resolution_recorded'), ('from_state', 'investigate'), ('to_state', 'investigate')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'resolution_recorded'), ('from_state', 'disputed'), ('to_state', 'disputed')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'proven_again'), ('from_state', 'disputed'), ('to_state', 'verified')), _connector='OR'), name='withdrawalevent_is_a_move_of_the_table'),
        ),
        migrations.RunPython(install_triggers, remove_triggers),
        migrations.CreateModel(
            name="PayoutProof",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("txid", models.CharField(max_length=64)),
                ("wanted_sat", models.BigIntegerField()),
                (
                    "standing",
                    models.CharField(choices=[(name, name) for name in STANDINGS], default="unseen", max_length=12),
                ),
                ("sentence", models.CharField(blank=True, default="", max_length=500)),
                ("checks", models.JSONField(default=list)),
                ("output", models.PositiveIntegerField(null=True)),
                ("block_hash", models.CharField(blank=True, default="", max_length=64)),
                ("height", models.BigIntegerField(null=True)),
                ("depth", models.PositiveIntegerField(default=0)),
                ("tip_hash", models.CharField(blank=True, default="", max_length=64)),
                ("absent_since", models.DateTimeField(null=True)),
                ("final_at", models.DateTimeField(null=True)),
                ("looked_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(blank=True, default="", max_length=300)),
                ("next_look_at", models.DateTimeField(null=True)),
                (
                    "withdrawal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proof",
                        to="exchange_ops.withdrawal",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["next_look_at"], name="payoutproof_due")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("standing__in", STANDINGS)), name="payoutproof_known_standing"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("standing", "proven"), _negated=True),
                            models.Q(("depth__gte", 1), models.Q(("block_hash", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="payoutproof_has_a_block",
                    ),
                ],
            },
        ),
    ]
