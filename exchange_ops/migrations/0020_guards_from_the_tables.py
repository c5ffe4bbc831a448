import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Each trigger that is made or taken away here, and its table.
TABLES = {
    "exchange_ops_addressrequest_begins": "exchange_ops_addressrequest",
    "exchange_ops_addressrequest_content_fixed": "exchange_ops_addressrequest",
    "exchange_ops_addressrequest_moves_with_event": "exchange_ops_addressrequest",
    "exchange_ops_addressrequest_no_removal": "exchange_ops_addressrequest",
    "exchange_ops_addressrequestevent_no_edit": "exchange_ops_addressrequestevent",
    "exchange_ops_addressrequestevent_no_removal": "exchange_ops_addressrequestevent",
    "exchange_ops_order_content_fixed": "exchange_ops_order",
    "exchange_ops_order_fills_once": "exchange_ops_order",
    "exchange_ops_order_one_number": "exchange_ops_order",
    "exchange_ops_subaccountaction_begins": "exchange_ops_subaccountaction",
    "exchange_ops_subaccountaction_content_fixed": "exchange_ops_subaccountaction",
    "exchange_ops_transfer_begins": "exchange_ops_transfer",
    "exchange_ops_transfer_begins_as_draft": "exchange_ops_transfer",
    "exchange_ops_transfer_content_fixed": "exchange_ops_transfer",
    "exchange_ops_transfer_fills_once": "exchange_ops_transfer",
    "exchange_ops_transfer_keeps_its_numbers": "exchange_ops_transfer",
    "exchange_ops_withdrawal_begins": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_begins_as_draft": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_content_fixed": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_fills_once": "exchange_ops_withdrawal",
    "exchange_ops_withdrawal_one_hold": "exchange_ops_withdrawal",
}
BEFORE_SQLITE = {
    "exchange_ops_order_content_fixed": (
        "CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order WHEN NEW.account_id "
        "IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.request_key IS NOT "
        "OLD.request_key OR NEW.client_order_id IS NOT OLD.client_order_id OR NEW.symbol IS NOT OLD.symbol OR "
        "NEW.side IS NOT OLD.side OR NEW.type IS NOT OLD.type OR NEW.time_in_force IS NOT OLD.time_in_force OR "
        "NEW.quantity IS NOT OLD.quantity OR NEW.price IS NOT OLD.price OR NEW.stop_price IS NOT OLD.stop_price OR "
        "NEW.expire_time IS NOT OLD.expire_time OR NEW.post_only IS NOT OLD.post_only OR NEW.strict_validate IS "
        "NOT OLD.strict_validate OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked "
        "for in an order is never edited'); END"
    ),
    "exchange_ops_order_one_number": (
        "CREATE TRIGGER exchange_ops_order_one_number BEFORE UPDATE ON exchange_ops_order WHEN OLD.exchange_id IS "
        "NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id BEGIN SELECT RAISE(ABORT, 'an order keeps the number "
        "the exchange gave it'); END"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON exchange_ops_subaccountaction WHEN "
        "NEW.version <> 1 OR NEW.state <> 'requested' OR NEW.attempt <> 0 BEGIN SELECT RAISE(ABORT, 'an action on "
        "a sub-account begins as requested'); END"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON exchange_ops_subaccountaction "
        "WHEN NEW.sub_account_id IS NOT OLD.sub_account_id OR NEW.kind IS NOT OLD.kind OR NEW.lane IS NOT OLD.lane "
        "OR NEW.wanted_payout IS NOT OLD.wanted_payout OR NEW.wanted_description IS NOT OLD.wanted_description OR "
        "NEW.reason IS NOT OLD.reason OR NEW.requested_by_id IS NOT OLD.requested_by_id OR NEW.request_key IS NOT "
        "OLD.request_key OR NEW.confirmation_id IS NOT OLD.confirmation_id OR NEW.digest IS NOT OLD.digest OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for a sub-account is never "
        "edited'); END"
    ),
    "exchange_ops_transfer_begins_as_draft": (
        "CREATE TRIGGER exchange_ops_transfer_begins_as_draft BEFORE INSERT ON exchange_ops_transfer WHEN "
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL BEGIN SELECT "
        "RAISE(ABORT, 'a transfer begins as a draft'); END"
    ),
    "exchange_ops_transfer_content_fixed": (
        "CREATE TRIGGER exchange_ops_transfer_content_fixed BEFORE UPDATE ON exchange_ops_transfer WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.request_key IS "
        "NOT OLD.request_key OR NEW.reissues_id IS NOT OLD.reissues_id OR NEW.kind IS NOT OLD.kind OR NEW.currency "
        "IS NOT OLD.currency OR NEW.amount IS NOT OLD.amount OR NEW.to_currency IS NOT OLD.to_currency OR "
        "NEW.identified_by IS NOT OLD.identified_by OR NEW.identifier IS NOT OLD.identifier OR NEW.subaccount_id "
        "IS NOT OLD.subaccount_id OR NEW.reason IS NOT OLD.reason OR NEW.created_at IS NOT OLD.created_at BEGIN "
        "SELECT RAISE(ABORT, 'what was asked for in a transfer is never edited'); END"
    ),
    "exchange_ops_transfer_keeps_its_numbers": (
        "CREATE TRIGGER exchange_ops_transfer_keeps_its_numbers BEFORE UPDATE ON exchange_ops_transfer WHEN "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id) OR (OLD.second_id IS NOT NULL "
        "AND NEW.second_id IS NOT OLD.second_id) BEGIN SELECT RAISE(ABORT, 'a transfer keeps the numbers the "
        "exchange gave it'); END"
    ),
    "exchange_ops_withdrawal_begins_as_draft": (
        "CREATE TRIGGER exchange_ops_withdrawal_begins_as_draft BEFORE INSERT ON exchange_ops_withdrawal WHEN "
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR "
        "NEW.delete_count <> 0 BEGIN SELECT RAISE(ABORT, 'a withdrawal begins as a draft'); END"
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
}
BEFORE_POSTGRESQL = {
    "exchange_ops_order_content_fixed": (
        "CREATE FUNCTION exchange_ops_order_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.request_key IS DISTINCT FROM OLD.request_key OR NEW.client_order_id IS DISTINCT FROM "
        "OLD.client_order_id OR NEW.symbol IS DISTINCT FROM OLD.symbol OR NEW.side IS DISTINCT FROM OLD.side OR "
        "NEW.type IS DISTINCT FROM OLD.type OR NEW.time_in_force IS DISTINCT FROM OLD.time_in_force OR "
        "NEW.quantity IS DISTINCT FROM OLD.quantity OR NEW.price IS DISTINCT FROM OLD.price OR NEW.stop_price IS "
        "DISTINCT FROM OLD.stop_price OR NEW.expire_time IS DISTINCT FROM OLD.expire_time OR NEW.post_only IS "
        "DISTINCT FROM OLD.post_only OR NEW.strict_validate IS DISTINCT FROM OLD.strict_validate OR NEW.created_at "
        "IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in an order is never edited' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_content_fixed()"
    ),
    "exchange_ops_order_one_number": (
        "CREATE FUNCTION exchange_ops_order_one_number() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id THEN RAISE EXCEPTION 'an "
        "order keeps the number the exchange gave it' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_one_number BEFORE UPDATE ON exchange_ops_order "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_one_number()"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE FUNCTION exchange_ops_subaccountaction_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.version <> 1 OR NEW.state <> 'requested' OR NEW.attempt <> 0 THEN RAISE EXCEPTION 'an action on a "
        "sub-account begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_begins()"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE FUNCTION exchange_ops_subaccountaction_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.sub_account_id IS DISTINCT FROM OLD.sub_account_id OR NEW.kind IS DISTINCT FROM OLD.kind OR "
        "NEW.lane IS DISTINCT FROM OLD.lane OR NEW.wanted_payout IS DISTINCT FROM OLD.wanted_payout OR "
        "NEW.wanted_description IS DISTINCT FROM OLD.wanted_description OR NEW.reason IS DISTINCT FROM OLD.reason "
        "OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR NEW.request_key IS DISTINCT FROM "
        "OLD.request_key OR NEW.confirmation_id IS DISTINCT FROM OLD.confirmation_id OR NEW.digest IS DISTINCT "
        "FROM OLD.digest OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked "
        "for a sub-account is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_content_fixed()"
    ),
    "exchange_ops_transfer_begins_as_draft": (
        "CREATE FUNCTION exchange_ops_transfer_begins_as_draft() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL THEN RAISE "
        "EXCEPTION 'a transfer begins as a draft' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN "
        "NEW; END $body$; CREATE TRIGGER exchange_ops_transfer_begins_as_draft BEFORE INSERT ON "
        "exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_begins_as_draft()"
    ),
    "exchange_ops_transfer_content_fixed": (
        "CREATE FUNCTION exchange_ops_transfer_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.request_key IS DISTINCT FROM OLD.request_key OR NEW.reissues_id IS DISTINCT FROM OLD.reissues_id OR "
        "NEW.kind IS DISTINCT FROM OLD.kind OR NEW.currency IS DISTINCT FROM OLD.currency OR NEW.amount IS "
        "DISTINCT FROM OLD.amount OR NEW.to_currency IS DISTINCT FROM OLD.to_currency OR NEW.identified_by IS "
        "DISTINCT FROM OLD.identified_by OR NEW.identifier IS DISTINCT FROM OLD.identifier OR NEW.subaccount_id IS "
        "DISTINCT FROM OLD.subaccount_id OR NEW.reason IS DISTINCT FROM OLD.reason OR NEW.created_at IS DISTINCT "
        "FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a transfer is never edited' USING ERRCODE "
        "= 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transfer_content_fixed BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transfer_content_fixed()"
    ),
    "exchange_ops_transfer_keeps_its_numbers": (
        "CREATE FUNCTION exchange_ops_transfer_keeps_its_numbers() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF (OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) OR "
        "(OLD.second_id IS NOT NULL AND NEW.second_id IS DISTINCT FROM OLD.second_id) THEN RAISE EXCEPTION 'a "
        "transfer keeps the numbers the exchange gave it' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_transfer_keeps_its_numbers BEFORE UPDATE ON "
        "exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_keeps_its_numbers()"
    ),
    "exchange_ops_withdrawal_begins_as_draft": (
        "CREATE FUNCTION exchange_ops_withdrawal_begins_as_draft() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR "
        "NEW.delete_count <> 0 THEN RAISE EXCEPTION 'a withdrawal begins as a draft' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_begins_as_draft BEFORE INSERT ON exchange_ops_withdrawal FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawal_begins_as_draft()"
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
}
SQLITE = {
    "exchange_ops_addressrequest_begins": (
        "CREATE TRIGGER exchange_ops_addressrequest_begins BEFORE INSERT ON exchange_ops_addressrequest WHEN "
        "NEW.state <> 'asked' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a request for an address begins as "
        "asked'); END"
    ),
    "exchange_ops_addressrequest_content_fixed": (
        "CREATE TRIGGER exchange_ops_addressrequest_content_fixed BEFORE UPDATE ON exchange_ops_addressrequest "
        "WHEN NEW.account_id IS NOT OLD.account_id OR NEW.currency IS NOT OLD.currency OR NEW.initiator_id IS NOT "
        "OLD.initiator_id OR NEW.initiated_via IS NOT OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key "
        "OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a request for an "
        "address is never edited'); END"
    ),
    "exchange_ops_addressrequest_moves_with_event": (
        "CREATE TRIGGER exchange_ops_addressrequest_moves_with_event BEFORE UPDATE ON exchange_ops_addressrequest "
        "WHEN (NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + "
        "1 AND EXISTS (SELECT 1 FROM exchange_ops_addressrequestevent e WHERE e.request_id = NEW.id AND e.version "
        "= NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a "
        "request for an address moves only together with the event of its new version'); END"
    ),
    "exchange_ops_addressrequest_no_removal": (
        "CREATE TRIGGER exchange_ops_addressrequest_no_removal BEFORE DELETE ON exchange_ops_addressrequest WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_addressrequestevent_no_edit": (
        "CREATE TRIGGER exchange_ops_addressrequestevent_no_edit BEFORE UPDATE ON exchange_ops_addressrequestevent "
        "WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_addressrequestevent_no_removal": (
        "CREATE TRIGGER exchange_ops_addressrequestevent_no_removal BEFORE DELETE ON "
        "exchange_ops_addressrequestevent WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never "
        "removed'); END"
    ),
    "exchange_ops_order_content_fixed": (
        "CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order WHEN NEW.account_id "
        "IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.client_order_id IS NOT "
        "OLD.client_order_id OR NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT OLD.side OR NEW.type IS NOT "
        "OLD.type OR NEW.time_in_force IS NOT OLD.time_in_force OR NEW.quantity IS NOT OLD.quantity OR NEW.price "
        "IS NOT OLD.price OR NEW.stop_price IS NOT OLD.stop_price OR NEW.expire_time IS NOT OLD.expire_time OR "
        "NEW.post_only IS NOT OLD.post_only OR NEW.strict_validate IS NOT OLD.strict_validate OR NEW.created_at IS "
        "NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in an order is never edited'); END"
    ),
    "exchange_ops_order_fills_once": (
        "CREATE TRIGGER exchange_ops_order_fills_once BEFORE UPDATE ON exchange_ops_order WHEN (OLD.exchange_id IS "
        "NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id) BEGIN SELECT RAISE(ABORT, 'an order keeps what it "
        "was given'); END"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON exchange_ops_subaccountaction WHEN "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.attempt <> 0 BEGIN SELECT RAISE(ABORT, 'an action on "
        "a sub-account begins as requested'); END"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON exchange_ops_subaccountaction "
        "WHEN NEW.sub_account_id IS NOT OLD.sub_account_id OR NEW.kind IS NOT OLD.kind OR NEW.lane IS NOT OLD.lane "
        "OR NEW.wanted_payout IS NOT OLD.wanted_payout OR NEW.wanted_description IS NOT OLD.wanted_description OR "
        "NEW.reason IS NOT OLD.reason OR NEW.requested_by_id IS NOT OLD.requested_by_id OR NEW.request_key IS NOT "
        "OLD.request_key OR NEW.confirmation_id IS NOT OLD.confirmation_id OR NEW.digest IS NOT OLD.digest OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in an action on a "
        "sub-account is never edited'); END"
    ),
    "exchange_ops_transfer_begins": (
        "CREATE TRIGGER exchange_ops_transfer_begins BEFORE INSERT ON exchange_ops_transfer WHEN NEW.state <> "
        "'draft' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL OR NEW.second_id IS NOT "
        "NULL BEGIN SELECT RAISE(ABORT, 'a transfer begins as draft'); END"
    ),
    "exchange_ops_transfer_content_fixed": (
        "CREATE TRIGGER exchange_ops_transfer_content_fixed BEFORE UPDATE ON exchange_ops_transfer WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS "
        "NOT OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.reissues_id IS NOT OLD.reissues_id "
        "OR NEW.kind IS NOT OLD.kind OR NEW.currency IS NOT OLD.currency OR NEW.amount IS NOT OLD.amount OR "
        "NEW.to_currency IS NOT OLD.to_currency OR NEW.identified_by IS NOT OLD.identified_by OR NEW.identifier IS "
        "NOT OLD.identifier OR NEW.subaccount_id IS NOT OLD.subaccount_id OR NEW.reason IS NOT OLD.reason OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a transfer is never "
        "edited'); END"
    ),
    "exchange_ops_transfer_fills_once": (
        "CREATE TRIGGER exchange_ops_transfer_fills_once BEFORE UPDATE ON exchange_ops_transfer WHEN "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id) OR (OLD.second_id IS NOT NULL "
        "AND NEW.second_id IS NOT OLD.second_id) BEGIN SELECT RAISE(ABORT, 'a transfer keeps what it was given'); "
        "END"
    ),
    "exchange_ops_withdrawal_begins": (
        "CREATE TRIGGER exchange_ops_withdrawal_begins BEFORE INSERT ON exchange_ops_withdrawal WHEN NEW.state <> "
        "'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR NEW.delete_count <> 0 OR "
        "NEW.exchange_id IS NOT NULL BEGIN SELECT RAISE(ABORT, 'a withdrawal begins as draft'); END"
    ),
    "exchange_ops_withdrawal_content_fixed": (
        "CREATE TRIGGER exchange_ops_withdrawal_content_fixed BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS "
        "NOT OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.currency IS NOT OLD.currency OR "
        "NEW.amount IS NOT OLD.amount OR NEW.include_fee IS NOT OLD.include_fee OR NEW.address IS NOT OLD.address "
        "OR NEW.payment_id IS NOT OLD.payment_id OR NEW.reason IS NOT OLD.reason OR NEW.created_at IS NOT "
        "OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a withdrawal is never edited'); END"
    ),
    "exchange_ops_withdrawal_fills_once": (
        "CREATE TRIGGER exchange_ops_withdrawal_fills_once BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id) BEGIN SELECT RAISE(ABORT, 'a "
        "withdrawal keeps what it was given'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_addressrequest_begins": (
        "CREATE FUNCTION exchange_ops_addressrequest_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'asked' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a request for an address begins as asked' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_begins BEFORE INSERT ON exchange_ops_addressrequest FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_addressrequest_begins()"
    ),
    "exchange_ops_addressrequest_content_fixed": (
        "CREATE FUNCTION exchange_ops_addressrequest_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.currency IS DISTINCT FROM OLD.currency OR "
        "NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR NEW.initiated_via IS DISTINCT FROM "
        "OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a request for an address is never edited' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_content_fixed BEFORE UPDATE ON exchange_ops_addressrequest FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_addressrequest_content_fixed()"
    ),
    "exchange_ops_addressrequest_moves_with_event": (
        "CREATE FUNCTION exchange_ops_addressrequest_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_addressrequestevent e WHERE "
        "e.request_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = "
        "NEW.state)) THEN RAISE EXCEPTION 'a request for an address moves only together with the event of its new "
        "version' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_moves_with_event BEFORE UPDATE ON exchange_ops_addressrequest FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_addressrequest_moves_with_event()"
    ),
    "exchange_ops_addressrequest_no_removal": (
        "CREATE FUNCTION exchange_ops_addressrequest_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_no_removal BEFORE DELETE ON exchange_ops_addressrequest FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_addressrequest_no_removal()"
    ),
    "exchange_ops_addressrequestevent_no_edit": (
        "CREATE FUNCTION exchange_ops_addressrequestevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequestevent_no_edit BEFORE UPDATE ON exchange_ops_addressrequestevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_addressrequestevent_no_edit()"
    ),
    "exchange_ops_addressrequestevent_no_removal": (
        "CREATE FUNCTION exchange_ops_addressrequestevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequestevent_no_removal BEFORE DELETE ON exchange_ops_addressrequestevent FOR EACH "
        "ROW EXECUTE FUNCTION exchange_ops_addressrequestevent_no_removal()"
    ),
    "exchange_ops_order_content_fixed": (
        "CREATE FUNCTION exchange_ops_order_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key "
        "OR NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.symbol IS DISTINCT FROM OLD.symbol OR "
        "NEW.side IS DISTINCT FROM OLD.side OR NEW.type IS DISTINCT FROM OLD.type OR NEW.time_in_force IS DISTINCT "
        "FROM OLD.time_in_force OR NEW.quantity IS DISTINCT FROM OLD.quantity OR NEW.price IS DISTINCT FROM "
        "OLD.price OR NEW.stop_price IS DISTINCT FROM OLD.stop_price OR NEW.expire_time IS DISTINCT FROM "
        "OLD.expire_time OR NEW.post_only IS DISTINCT FROM OLD.post_only OR NEW.strict_validate IS DISTINCT FROM "
        "OLD.strict_validate OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was "
        "asked for in an order is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN "
        "NEW; END $body$; CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order FOR "
        "EACH ROW EXECUTE FUNCTION exchange_ops_order_content_fixed()"
    ),
    "exchange_ops_order_fills_once": (
        "CREATE FUNCTION exchange_ops_order_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) THEN RAISE EXCEPTION "
        "'an order keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_order_fills_once BEFORE UPDATE ON exchange_ops_order FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_order_fills_once()"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE FUNCTION exchange_ops_subaccountaction_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.attempt <> 0 THEN RAISE EXCEPTION 'an action on a "
        "sub-account begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_begins()"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE FUNCTION exchange_ops_subaccountaction_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.sub_account_id IS DISTINCT FROM OLD.sub_account_id OR NEW.kind IS DISTINCT FROM OLD.kind OR "
        "NEW.lane IS DISTINCT FROM OLD.lane OR NEW.wanted_payout IS DISTINCT FROM OLD.wanted_payout OR "
        "NEW.wanted_description IS DISTINCT FROM OLD.wanted_description OR NEW.reason IS DISTINCT FROM OLD.reason "
        "OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR NEW.request_key IS DISTINCT FROM "
        "OLD.request_key OR NEW.confirmation_id IS DISTINCT FROM OLD.confirmation_id OR NEW.digest IS DISTINCT "
        "FROM OLD.digest OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked "
        "for in an action on a sub-account is never edited' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_content_fixed()"
    ),
    "exchange_ops_transfer_begins": (
        "CREATE FUNCTION exchange_ops_transfer_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL OR "
        "NEW.second_id IS NOT NULL THEN RAISE EXCEPTION 'a transfer begins as draft' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_transfer_begins BEFORE INSERT ON exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_transfer_begins()"
    ),
    "exchange_ops_transfer_content_fixed": (
        "CREATE FUNCTION exchange_ops_transfer_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key "
        "OR NEW.reissues_id IS DISTINCT FROM OLD.reissues_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.currency "
        "IS DISTINCT FROM OLD.currency OR NEW.amount IS DISTINCT FROM OLD.amount OR NEW.to_currency IS DISTINCT "
        "FROM OLD.to_currency OR NEW.identified_by IS DISTINCT FROM OLD.identified_by OR NEW.identifier IS "
        "DISTINCT FROM OLD.identifier OR NEW.subaccount_id IS DISTINCT FROM OLD.subaccount_id OR NEW.reason IS "
        "DISTINCT FROM OLD.reason OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was "
        "asked for in a transfer is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN "
        "NEW; END $body$; CREATE TRIGGER exchange_ops_transfer_content_fixed BEFORE UPDATE ON "
        "exchange_ops_transfer FOR EACH ROW EXECUTE FUNCTION exchange_ops_transfer_content_fixed()"
    ),
    "exchange_ops_transfer_fills_once": (
        "CREATE FUNCTION exchange_ops_transfer_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) OR (OLD.second_id IS "
        "NOT NULL AND NEW.second_id IS DISTINCT FROM OLD.second_id) THEN RAISE EXCEPTION 'a transfer keeps what it "
        "was given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER exchange_ops_transfer_fills_once BEFORE UPDATE ON exchange_ops_transfer FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_transfer_fills_once()"
    ),
    "exchange_ops_withdrawal_begins": (
        "CREATE FUNCTION exchange_ops_withdrawal_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR "
        "NEW.delete_count <> 0 OR NEW.exchange_id IS NOT NULL THEN RAISE EXCEPTION 'a withdrawal begins as draft' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_begins BEFORE INSERT ON exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_withdrawal_begins()"
    ),
    "exchange_ops_withdrawal_content_fixed": (
        "CREATE FUNCTION exchange_ops_withdrawal_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id "
        "OR NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM "
        "OLD.request_key OR NEW.currency IS DISTINCT FROM OLD.currency OR NEW.amount IS DISTINCT FROM OLD.amount "
        "OR NEW.include_fee IS DISTINCT FROM OLD.include_fee OR NEW.address IS DISTINCT FROM OLD.address OR "
        "NEW.payment_id IS DISTINCT FROM OLD.payment_id OR NEW.reason IS DISTINCT FROM OLD.reason OR "
        "NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a withdrawal "
        "is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER exchange_ops_withdrawal_content_fixed BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_withdrawal_content_fixed()"
    ),
    "exchange_ops_withdrawal_fills_once": (
        "CREATE FUNCTION exchange_ops_withdrawal_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) THEN RAISE EXCEPTION "
        "'a withdrawal keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN "
        "NEW; END $body$; CREATE TRIGGER exchange_ops_withdrawal_fills_once BEFORE UPDATE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_fills_once()"
    ),
}


def install(apps, schema_editor):
    _replace(schema_editor.connection, SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL)


def remove(apps, schema_editor):
    _replace(schema_editor.connection, BEFORE_SQLITE if schema_editor.connection.vendor == "sqlite" else BEFORE_POSTGRESQL)


def _replace(connection, texts):
    with connection.cursor() as cursor:
        for name, table in TABLES.items():
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")
        for statement in texts.values():
            cursor.execute(statement)


class Migration(migrations.Migration):
    """Requests for a new address have events; where a request came from is never edited; like rules have like names."""

    dependencies = [
        ("exchange_ops", "0019_asides_and_check_runs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AddressRequestEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("event", models.CharField(max_length=40)),
                ("from_state", models.CharField(blank=True, default="", max_length=20)),
                ("to_state", models.CharField(max_length=20)),
                ("evidence", models.JSONField(default=dict)),
                (
                    "audit_number",
                    models.BigIntegerField(help_text="number of the row of the audit trail written with it"),
                ),
                ("at", models.DateTimeField()),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="events", to="exchange_ops.addressrequest"
                    ),
                ),
            ],
            options={
                "ordering": ["version"],
                "constraints": [
                    models.UniqueConstraint(fields=("request", "version"), name="addressrequestevent_one_per_version"),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'asked')), models.Q(('event', 'sending'), ('from_state', 'asked'), ('to_state', 'sending')), models.Q(('event', 'not_sent'), ('from_state', 'asked'), ('to_state', 'not_sent')), models.Q(('event', 'made'), ('from_state', 'sending'), ('to_state', 'made')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'not_sent')), models.Q(('event', 'unknown'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'made'), ('from_state', 'unknown'), ('to_state', 'made')), models.Q(('event', 'absent'), ('from_state', 'unknown'), ('to_state', 'absent')), _connector="OR"),
                        name="addressrequestevent_is_a_move_of_the_table",
                    ),
                ],
            },
        ),
        migrations.RunPython(install, remove),
    ]
