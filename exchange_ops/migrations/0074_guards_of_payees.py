from django.db import migrations

from desk.database.operations import ReplaceTriggers

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_payee_moves_with_event": "exchange_ops_payee",
    "exchange_ops_payee_content_fixed": "exchange_ops_payee",
    "exchange_ops_payee_begins": "exchange_ops_payee",
    "exchange_ops_payee_quorum": "exchange_ops_payee",
    "exchange_ops_payeeapproval_not_yours": "exchange_ops_payeeapproval",
    "exchange_ops_payeeevent_no_edit": "exchange_ops_payeeevent",
    "exchange_ops_payee_no_removal": "exchange_ops_payee",
    "exchange_ops_payeeevent_no_removal": "exchange_ops_payeeevent",
}
SQLITE = {
    "exchange_ops_payee_moves_with_event": (
        "CREATE TRIGGER exchange_ops_payee_moves_with_event BEFORE UPDATE ON exchange_ops_payee WHEN (NEW.state IS NOT "
        "OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "exchange_ops_payeeevent e WHERE e.payee_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a payee moves only together with the event of its new "
        "version'); END"
    ),
    "exchange_ops_payee_content_fixed": (
        "CREATE TRIGGER exchange_ops_payee_content_fixed BEFORE UPDATE ON exchange_ops_payee WHEN NEW.account_id IS "
        "NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.title IS NOT OLD.title OR NEW.owner IS "
        "NOT OLD.owner OR NEW.in_group IS NOT OLD.in_group OR NEW.currency IS NOT OLD.currency OR NEW.address IS NOT "
        "OLD.address OR NEW.payment_id IS NOT OLD.payment_id OR NEW.supplier IS NOT OLD.supplier OR NEW.evidence IS "
        "NOT OLD.evidence OR NEW.digest IS NOT OLD.digest OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT "
        "RAISE(ABORT, 'what was asked for in a payee is never edited'); END"
    ),
    "exchange_ops_payee_begins": (
        "CREATE TRIGGER exchange_ops_payee_begins BEFORE INSERT ON exchange_ops_payee WHEN NEW.state <> 'review' OR "
        "NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a payee begins as review'); END"
    ),
    "exchange_ops_payee_quorum": (
        "CREATE TRIGGER exchange_ops_payee_quorum BEFORE UPDATE ON exchange_ops_payee WHEN NEW.state = 'cooling' AND "
        "OLD.state <> 'cooling' AND (SELECT COUNT(DISTINCT a.person_id) FROM exchange_ops_payeeapproval a JOIN "
        "desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose "
        "= 'approve-payee' WHERE a.payee_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve') < 2 BEGIN "
        "SELECT RAISE(ABORT, 'a payee needs every approval of exactly this content'); END"
    ),
    "exchange_ops_payeeapproval_not_yours": (
        "CREATE TRIGGER exchange_ops_payeeapproval_not_yours BEFORE INSERT ON exchange_ops_payeeapproval WHEN NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_payee p WHERE p.id = NEW.payee_id AND p.initiator_id = NEW.initiator_id "
        "AND p.initiator_id <> NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their own request'); END"
    ),
    "exchange_ops_payeeevent_no_edit": (
        "CREATE TRIGGER exchange_ops_payeeevent_no_edit BEFORE UPDATE ON exchange_ops_payeeevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_payee_no_removal": (
        "CREATE TRIGGER exchange_ops_payee_no_removal BEFORE DELETE ON exchange_ops_payee WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_payeeevent_no_removal": (
        "CREATE TRIGGER exchange_ops_payeeevent_no_removal BEFORE DELETE ON exchange_ops_payeeevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_payee_moves_with_event": (
        "CREATE FUNCTION exchange_ops_payee_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_payeeevent e WHERE e.payee_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a payee moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_payee_moves_with_event BEFORE UPDATE ON "
        "exchange_ops_payee FOR EACH ROW EXECUTE FUNCTION exchange_ops_payee_moves_with_event()"
    ),
    "exchange_ops_payee_content_fixed": (
        "CREATE FUNCTION exchange_ops_payee_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.title IS DISTINCT FROM OLD.title OR NEW.owner IS DISTINCT FROM OLD.owner OR NEW.in_group IS DISTINCT FROM "
        "OLD.in_group OR NEW.currency IS DISTINCT FROM OLD.currency OR NEW.address IS DISTINCT FROM OLD.address OR "
        "NEW.payment_id IS DISTINCT FROM OLD.payment_id OR NEW.supplier IS DISTINCT FROM OLD.supplier OR NEW.evidence "
        "IS DISTINCT FROM OLD.evidence OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a payee is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payee_content_fixed BEFORE UPDATE ON exchange_ops_payee FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_payee_content_fixed()"
    ),
    "exchange_ops_payee_begins": (
        "CREATE FUNCTION exchange_ops_payee_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state <> "
        "'review' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a payee begins as review' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_payee_begins "
        "BEFORE INSERT ON exchange_ops_payee FOR EACH ROW EXECUTE FUNCTION exchange_ops_payee_begins()"
    ),
    "exchange_ops_payee_quorum": (
        "CREATE FUNCTION exchange_ops_payee_quorum() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state = "
        "'cooling' AND OLD.state <> 'cooling' AND (SELECT COUNT(DISTINCT a.person_id) FROM exchange_ops_payeeapproval "
        "a JOIN desk_stepup s ON s.id = a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest AND "
        "s.purpose = 'approve-payee' WHERE a.payee_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve') < "
        "2 THEN RAISE EXCEPTION 'a payee needs every approval of exactly this content' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_payee_quorum "
        "BEFORE UPDATE ON exchange_ops_payee FOR EACH ROW EXECUTE FUNCTION exchange_ops_payee_quorum()"
    ),
    "exchange_ops_payeeapproval_not_yours": (
        "CREATE FUNCTION exchange_ops_payeeapproval_not_yours() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_payee p WHERE p.id = NEW.payee_id AND p.initiator_id = "
        "NEW.initiator_id AND p.initiator_id <> NEW.person_id) THEN RAISE EXCEPTION 'nobody decides on their own "
        "request' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payeeapproval_not_yours BEFORE INSERT ON exchange_ops_payeeapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_payeeapproval_not_yours()"
    ),
    "exchange_ops_payeeevent_no_edit": (
        "CREATE FUNCTION exchange_ops_payeeevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_payeeevent_no_edit BEFORE UPDATE ON exchange_ops_payeeevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_payeeevent_no_edit()"
    ),
    "exchange_ops_payee_no_removal": (
        "CREATE FUNCTION exchange_ops_payee_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_payee_no_removal BEFORE DELETE ON "
        "exchange_ops_payee FOR EACH ROW EXECUTE FUNCTION exchange_ops_payee_no_removal()"
    ),
    "exchange_ops_payeeevent_no_removal": (
        "CREATE FUNCTION exchange_ops_payeeevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_payeeevent_no_removal BEFORE DELETE ON "
        "exchange_ops_payeeevent FOR EACH ROW EXECUTE FUNCTION exchange_ops_payeeevent_no_removal()"
    ),
}


class Migration(migrations.Migration):
    """Guards of payees, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0073_payee_renewals")]

    operations = [ReplaceTriggers(TABLES, SQLITE, POSTGRESQL)]
