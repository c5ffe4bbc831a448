import desk.fields
import django.db.models.deletion
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels, InstallTriggers

# The triggers as the last of the migrations that are replaced here left them.
SQLITE = {
    "exchange_ops_withdrawal_moves_with_event": (
        "CREATE TRIGGER exchange_ops_withdrawal_moves_with_event BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version OR NEW.decision IS NOT OLD.decision) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_withdrawalevent e WHERE e.withdrawal_id "
        "= NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state AND e.decision = "
        "NEW.decision)) BEGIN SELECT RAISE(ABORT, 'a withdrawal moves only together with the event of its new "
        "version'); END"
    ),
    "exchange_ops_withdrawal_content_fixed": (
        "CREATE TRIGGER exchange_ops_withdrawal_content_fixed BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.currency IS NOT OLD.currency OR NEW.amount "
        "IS NOT OLD.amount OR NEW.include_fee IS NOT OLD.include_fee OR NEW.address IS NOT OLD.address OR "
        "NEW.payment_id IS NOT OLD.payment_id OR NEW.reason IS NOT OLD.reason OR NEW.created_at IS NOT OLD.created_at "
        "BEGIN SELECT RAISE(ABORT, 'what was asked for in a withdrawal is never edited'); END"
    ),
    "exchange_ops_withdrawal_begins": (
        "CREATE TRIGGER exchange_ops_withdrawal_begins BEFORE INSERT ON exchange_ops_withdrawal WHEN NEW.state <> "
        "'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR NEW.delete_count <> 0 OR "
        "NEW.exchange_id IS NOT NULL BEGIN SELECT RAISE(ABORT, 'a withdrawal begins as draft'); END"
    ),
    "exchange_ops_withdrawal_fills_once": (
        "CREATE TRIGGER exchange_ops_withdrawal_fills_once BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS NOT OLD.exchange_id) BEGIN SELECT RAISE(ABORT, 'a "
        "withdrawal keeps what it was given'); END"
    ),
    "exchange_ops_withdrawal_decision_latched": (
        "CREATE TRIGGER exchange_ops_withdrawal_decision_latched BEFORE UPDATE ON exchange_ops_withdrawal WHEN "
        "OLD.decision <> 'none' AND NEW.decision IS NOT OLD.decision AND NOT (OLD.decision = 'commit' AND NEW.decision "
        "= 'rollback' AND OLD.put_count = 0 AND NEW.put_count = 0) BEGIN SELECT RAISE(ABORT, 'the decision on a "
        "withdrawal is made once'); END"
    ),
    "exchange_ops_withdrawal_one_verb": (
        "CREATE TRIGGER exchange_ops_withdrawal_one_verb BEFORE UPDATE ON exchange_ops_withdrawal WHEN NEW.put_count < "
        "OLD.put_count OR NEW.delete_count < OLD.delete_count OR (NEW.put_count > 0 AND NEW.delete_count > 0) OR "
        "(NEW.put_count > OLD.put_count AND NEW.decision <> 'commit') OR (NEW.delete_count > OLD.delete_count AND "
        "NEW.decision <> 'rollback') BEGIN SELECT RAISE(ABORT, 'a hold is told to be paid or to be released, never "
        "both'); END"
    ),
    "exchange_ops_approval_not_by_the_initiator": (
        "CREATE TRIGGER exchange_ops_approval_not_by_the_initiator BEFORE INSERT ON exchange_ops_approval WHEN NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id AND w.initiator_id = "
        "NEW.initiator_id AND w.initiator_id <> NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their own "
        "request'); END"
    ),
    "exchange_ops_approval_second_factor": (
        "CREATE TRIGGER exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval WHEN NEW.verdict <> "
        "'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = "
        "NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = 'approve-withdrawal' AND "
        "s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = 'resolve-withdrawal')) BEGIN SELECT "
        "RAISE(ABORT, 'a word counts only with a second factor of this person, given for it'); END"
    ),
    "exchange_ops_holdreleasevote_is_confirmed": (
        "CREATE TRIGGER exchange_ops_holdreleasevote_is_confirmed BEFORE INSERT ON exchange_ops_holdreleasevote WHEN "
        "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND "
        "s.purpose = 'release-hold' AND s.digest = NEW.digest) BEGIN SELECT RAISE(ABORT, 'a release is ordered with a "
        "second factor of the person for exactly this hold'); END"
    ),
    "exchange_ops_holdreleasevote_not_by_the_initiator": (
        "CREATE TRIGGER exchange_ops_holdreleasevote_not_by_the_initiator BEFORE INSERT ON "
        "exchange_ops_holdreleasevote WHEN EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = "
        "NEW.withdrawal_id AND w.initiator_id = NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their own "
        "request'); END"
    ),
    "exchange_ops_withdrawalevent_no_edit": (
        "CREATE TRIGGER exchange_ops_withdrawalevent_no_edit BEFORE UPDATE ON exchange_ops_withdrawalevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_approval_no_edit": (
        "CREATE TRIGGER exchange_ops_approval_no_edit BEFORE UPDATE ON exchange_ops_approval WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_holdreleasevote_no_edit": (
        "CREATE TRIGGER exchange_ops_holdreleasevote_no_edit BEFORE UPDATE ON exchange_ops_holdreleasevote WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_withdrawal_no_removal": (
        "CREATE TRIGGER exchange_ops_withdrawal_no_removal BEFORE DELETE ON exchange_ops_withdrawal WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_externalcall_no_removal": (
        "CREATE TRIGGER exchange_ops_externalcall_no_removal BEFORE DELETE ON exchange_ops_externalcall WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_withdrawalevent_no_removal": (
        "CREATE TRIGGER exchange_ops_withdrawalevent_no_removal BEFORE DELETE ON exchange_ops_withdrawalevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_approval_no_removal": (
        "CREATE TRIGGER exchange_ops_approval_no_removal BEFORE DELETE ON exchange_ops_approval WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_holdreleasevote_no_removal": (
        "CREATE TRIGGER exchange_ops_holdreleasevote_no_removal BEFORE DELETE ON exchange_ops_holdreleasevote WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
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
    "exchange_ops_order_moves_with_event": (
        "CREATE TRIGGER exchange_ops_order_moves_with_event BEFORE UPDATE ON exchange_ops_order WHEN (NEW.state IS NOT "
        "OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "exchange_ops_orderevent e WHERE e.order_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'an order moves only together with the event of its "
        "new version'); END"
    ),
    "exchange_ops_order_content_fixed": (
        "CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order WHEN NEW.account_id IS "
        "NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT OLD.initiated_via "
        "OR NEW.request_key IS NOT OLD.request_key OR NEW.client_order_id IS NOT OLD.client_order_id OR "
        "NEW.replaces_id IS NOT OLD.replaces_id OR NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT OLD.side OR "
        "NEW.type IS NOT OLD.type OR NEW.time_in_force IS NOT OLD.time_in_force OR NEW.quantity IS NOT OLD.quantity OR "
        "NEW.price IS NOT OLD.price OR NEW.stop_price IS NOT OLD.stop_price OR NEW.expire_time IS NOT OLD.expire_time "
        "OR NEW.post_only IS NOT OLD.post_only OR NEW.strict_validate IS NOT OLD.strict_validate OR "
        "NEW.take_liquidity_markup IS NOT OLD.take_liquidity_markup OR NEW.provide_liquidity_markup IS NOT "
        "OLD.provide_liquidity_markup OR NEW.oversteps IS NOT OLD.oversteps OR NEW.digest IS NOT OLD.digest OR "
        "NEW.approve_until IS NOT OLD.approve_until OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, "
        "'what was asked for in an order is never edited'); END"
    ),
    "exchange_ops_order_fills_once": (
        "CREATE TRIGGER exchange_ops_order_fills_once BEFORE UPDATE ON exchange_ops_order WHEN (OLD.exchange_id IS NOT "
        "NULL AND NEW.exchange_id IS NOT OLD.exchange_id) BEGIN SELECT RAISE(ABORT, 'an order keeps what it was "
        "given'); END"
    ),
    "exchange_ops_order_sent_once": (
        "CREATE TRIGGER exchange_ops_order_sent_once BEFORE UPDATE ON exchange_ops_order WHEN NEW.sends < OLD.sends OR "
        "NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) BEGIN SELECT RAISE(ABORT, 'an order is sent once "
        "at most'); END"
    ),
    "exchange_ops_order_begins": (
        "CREATE TRIGGER exchange_ops_order_begins BEFORE INSERT ON exchange_ops_order WHEN NEW.version <> 1 OR "
        "NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.digest = '' AND NEW.state = 'requested') OR "
        "(NEW.initiator_id IS NOT NULL AND NEW.digest <> '' AND NEW.state = 'waiting') OR (NEW.initiator_id IS NULL "
        "AND NEW.state = 'placed')) BEGIN SELECT RAISE(ABORT, 'an order begins as requested here, waiting for an "
        "approval, or as seen at the exchange'); END"
    ),
    "exchange_ops_order_approved": (
        "CREATE TRIGGER exchange_ops_order_approved BEFORE UPDATE ON exchange_ops_order WHEN NEW.digest <> '' AND "
        "(NEW.state = 'requested' AND OLD.state <> 'requested' OR NEW.state = 'sending' AND OLD.state <> 'sending') "
        "AND NOT EXISTS (SELECT 1 FROM exchange_ops_orderapproval a JOIN desk_stepup s ON s.id = a.confirmation_id AND "
        "s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-order' WHERE a.order_id = NEW.id "
        "AND a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id) BEGIN SELECT "
        "RAISE(ABORT, 'an order that was to be approved is placed only with the approval of exactly this content'); END"
    ),
    "exchange_ops_orderapproval_not_yours": (
        "CREATE TRIGGER exchange_ops_orderapproval_not_yours BEFORE INSERT ON exchange_ops_orderapproval WHEN NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_order t WHERE t.id = NEW.order_id AND t.initiator_id = NEW.initiator_id "
        "AND t.initiator_id <> NEW.person_id) BEGIN SELECT RAISE(ABORT, 'nobody decides on their own request'); END"
    ),
    "exchange_ops_orderapproval_second_factor": (
        "CREATE TRIGGER exchange_ops_orderapproval_second_factor BEFORE INSERT ON exchange_ops_orderapproval WHEN "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'approve-order' AND s.digest = NEW.digest) "
        "BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of this person, given for it'); END"
    ),
    "exchange_ops_order_margin_fixed": (
        "CREATE TRIGGER exchange_ops_order_margin_fixed BEFORE UPDATE ON exchange_ops_order WHEN NEW.margin IS NOT "
        "OLD.margin AND OLD.initiator_id IS NOT NULL BEGIN SELECT RAISE(ABORT, 'on margin or not is part of what was "
        "asked for in an order'); END"
    ),
    "exchange_ops_accounttrade_no_edit": (
        "CREATE TRIGGER exchange_ops_accounttrade_no_edit BEFORE UPDATE ON exchange_ops_accounttrade WHEN NEW.id IS "
        "NOT OLD.id OR NEW.account_id IS NOT OLD.account_id OR NEW.exchange_id IS NOT OLD.exchange_id OR "
        "NEW.exchange_order_id IS NOT OLD.exchange_order_id OR NEW.client_order_id IS NOT OLD.client_order_id OR "
        "NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT OLD.side OR NEW.quantity IS NOT OLD.quantity OR NEW.price IS "
        "NOT OLD.price OR NEW.fee IS NOT OLD.fee OR NEW.timestamp IS NOT OLD.timestamp OR NEW.read_at IS NOT "
        "OLD.read_at OR (OLD.taker IS NOT NULL AND NEW.taker IS NOT OLD.taker) OR (OLD.liquidation IS NOT NULL AND "
        "NEW.liquidation IS NOT OLD.liquidation) BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); "
        "END"
    ),
    "exchange_ops_orderevent_no_edit": (
        "CREATE TRIGGER exchange_ops_orderevent_no_edit BEFORE UPDATE ON exchange_ops_orderevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_orderapproval_no_edit": (
        "CREATE TRIGGER exchange_ops_orderapproval_no_edit BEFORE UPDATE ON exchange_ops_orderapproval WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_order_no_removal": (
        "CREATE TRIGGER exchange_ops_order_no_removal BEFORE DELETE ON exchange_ops_order WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_ordercall_no_removal": (
        "CREATE TRIGGER exchange_ops_ordercall_no_removal BEFORE DELETE ON exchange_ops_ordercall WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_orderevent_no_removal": (
        "CREATE TRIGGER exchange_ops_orderevent_no_removal BEFORE DELETE ON exchange_ops_orderevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_orderapproval_no_removal": (
        "CREATE TRIGGER exchange_ops_orderapproval_no_removal BEFORE DELETE ON exchange_ops_orderapproval WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_accounttrade_no_removal": (
        "CREATE TRIGGER exchange_ops_accounttrade_no_removal BEFORE DELETE ON exchange_ops_accounttrade WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_bracket_moves_with_event": (
        "CREATE TRIGGER exchange_ops_bracket_moves_with_event BEFORE UPDATE ON exchange_ops_bracket WHEN (NEW.state IS "
        "NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 "
        "FROM exchange_ops_bracketevent e WHERE e.bracket_id = NEW.id AND e.version = NEW.version AND e.from_state = "
        "OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a bracket moves only together with the "
        "event of its new version'); END"
    ),
    "exchange_ops_bracket_content_fixed": (
        "CREATE TRIGGER exchange_ops_bracket_content_fixed BEFORE UPDATE ON exchange_ops_bracket WHEN NEW.account_id "
        "IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.entry_id IS NOT OLD.entry_id OR NEW.symbol IS NOT OLD.symbol OR NEW.side IS NOT "
        "OLD.side OR NEW.margin IS NOT OLD.margin OR NEW.stop_price IS NOT OLD.stop_price OR NEW.take_price IS NOT "
        "OLD.take_price OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a "
        "bracket is never edited'); END"
    ),
    "exchange_ops_bracket_begins": (
        "CREATE TRIGGER exchange_ops_bracket_begins BEFORE INSERT ON exchange_ops_bracket WHEN NEW.state <> 'entering' "
        "OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a bracket begins as entering'); END"
    ),
    "exchange_ops_bracketleg_closes": (
        "CREATE TRIGGER exchange_ops_bracketleg_closes BEFORE INSERT ON exchange_ops_bracketleg WHEN NOT EXISTS "
        "(SELECT 1 FROM exchange_ops_bracket b JOIN exchange_ops_order o ON o.id = NEW.order_id WHERE b.id = "
        "NEW.bracket_id AND o.account_id = b.account_id AND o.symbol = b.symbol AND o.margin = b.margin AND o.side <> "
        "b.side AND b.state <> 'closed' AND b.state <> 'ending') BEGIN SELECT RAISE(ABORT, 'an order of a bracket "
        "closes what its entry opened'); END"
    ),
    "exchange_ops_bracket_ends_once": (
        "CREATE TRIGGER exchange_ops_bracket_ends_once BEFORE UPDATE ON exchange_ops_bracket WHEN (OLD.outcome <> '' "
        "AND NEW.outcome <> OLD.outcome) OR (OLD.ended_by <> '' AND NEW.ended_by <> OLD.ended_by) BEGIN SELECT "
        "RAISE(ABORT, 'a bracket ends once, in one way'); END"
    ),
    "exchange_ops_bracketleg_no_edit": (
        "CREATE TRIGGER exchange_ops_bracketleg_no_edit BEFORE UPDATE ON exchange_ops_bracketleg WHEN NEW.id IS NOT "
        "OLD.id OR NEW.bracket_id IS NOT OLD.bracket_id OR NEW.number IS NOT OLD.number OR NEW.role IS NOT OLD.role OR "
        "NEW.order_id IS NOT OLD.order_id OR NEW.created_at IS NOT OLD.created_at OR (OLD.settled_at IS NOT NULL AND "
        "NEW.settled_at IS NOT OLD.settled_at) BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_bracketevent_no_edit": (
        "CREATE TRIGGER exchange_ops_bracketevent_no_edit BEFORE UPDATE ON exchange_ops_bracketevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_bracket_no_removal": (
        "CREATE TRIGGER exchange_ops_bracket_no_removal BEFORE DELETE ON exchange_ops_bracket WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_bracketleg_no_removal": (
        "CREATE TRIGGER exchange_ops_bracketleg_no_removal BEFORE DELETE ON exchange_ops_bracketleg WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_bracketevent_no_removal": (
        "CREATE TRIGGER exchange_ops_bracketevent_no_removal BEFORE DELETE ON exchange_ops_bracketevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginaction_moves_with_event": (
        "CREATE TRIGGER exchange_ops_marginaction_moves_with_event BEFORE UPDATE ON exchange_ops_marginaction WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM exchange_ops_marginactionevent e WHERE e.action_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a margin action moves "
        "only together with the event of its new version'); END"
    ),
    "exchange_ops_marginaction_content_fixed": (
        "CREATE TRIGGER exchange_ops_marginaction_content_fixed BEFORE UPDATE ON exchange_ops_marginaction WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.initiator_id IS NOT OLD.initiator_id OR NEW.initiated_via IS NOT "
        "OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR NEW.client_order_id IS NOT OLD.client_order_id "
        "OR NEW.kind IS NOT OLD.kind OR NEW.symbol IS NOT OLD.symbol OR NEW.amount IS NOT OLD.amount OR NEW.side IS "
        "NOT OLD.side OR NEW.quantity IS NOT OLD.quantity OR NEW.order_type IS NOT OLD.order_type OR NEW.price IS NOT "
        "OLD.price OR NEW.position_id IS NOT OLD.position_id OR NEW.confirmed IS NOT OLD.confirmed OR NEW.created_at "
        "IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a margin action is never edited'); END"
    ),
    "exchange_ops_marginaction_begins": (
        "CREATE TRIGGER exchange_ops_marginaction_begins BEFORE INSERT ON exchange_ops_marginaction WHEN NEW.state <> "
        "'requested' OR NEW.version <> 1 OR NEW.sends <> 0 OR NEW.exchange_order_id IS NOT NULL BEGIN SELECT "
        "RAISE(ABORT, 'a margin action begins as requested'); END"
    ),
    "exchange_ops_marginaction_fills_once": (
        "CREATE TRIGGER exchange_ops_marginaction_fills_once BEFORE UPDATE ON exchange_ops_marginaction WHEN "
        "(OLD.exchange_order_id IS NOT NULL AND NEW.exchange_order_id IS NOT OLD.exchange_order_id) BEGIN SELECT "
        "RAISE(ABORT, 'a margin action keeps what it was given'); END"
    ),
    "exchange_ops_marginaction_sent_once": (
        "CREATE TRIGGER exchange_ops_marginaction_sent_once BEFORE UPDATE ON exchange_ops_marginaction WHEN NEW.sends "
        "< OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) OR (NEW.state = 'sending' AND "
        "NEW.sends <> 1) BEGIN SELECT RAISE(ABORT, 'a margin action is sent once at most'); END"
    ),
    "exchange_ops_marginactionevent_no_edit": (
        "CREATE TRIGGER exchange_ops_marginactionevent_no_edit BEFORE UPDATE ON exchange_ops_marginactionevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_marginreport_no_edit": (
        "CREATE TRIGGER exchange_ops_marginreport_no_edit BEFORE UPDATE ON exchange_ops_marginreport WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_marginaction_no_removal": (
        "CREATE TRIGGER exchange_ops_marginaction_no_removal BEFORE DELETE ON exchange_ops_marginaction WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginactioncall_no_removal": (
        "CREATE TRIGGER exchange_ops_marginactioncall_no_removal BEFORE DELETE ON exchange_ops_marginactioncall WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginactionevent_no_removal": (
        "CREATE TRIGGER exchange_ops_marginactionevent_no_removal BEFORE DELETE ON exchange_ops_marginactionevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_marginreport_no_removal": (
        "CREATE TRIGGER exchange_ops_marginreport_no_removal BEFORE DELETE ON exchange_ops_marginreport WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_subaccountaction_moves_with_event": (
        "CREATE TRIGGER exchange_ops_subaccountaction_moves_with_event BEFORE UPDATE ON exchange_ops_subaccountaction "
        "WHEN (NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 "
        "AND EXISTS (SELECT 1 FROM exchange_ops_subaccountevent e WHERE e.action_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'an action on "
        "a sub-account moves only together with the event of its new version'); END"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON exchange_ops_subaccountaction "
        "WHEN NEW.sub_account_id IS NOT OLD.sub_account_id OR NEW.kind IS NOT OLD.kind OR NEW.lane IS NOT OLD.lane OR "
        "NEW.wanted_payout IS NOT OLD.wanted_payout OR NEW.wanted_description IS NOT OLD.wanted_description OR "
        "NEW.reason IS NOT OLD.reason OR NEW.requested_by_id IS NOT OLD.requested_by_id OR NEW.request_key IS NOT "
        "OLD.request_key OR NEW.confirmation_id IS NOT OLD.confirmation_id OR NEW.digest IS NOT OLD.digest OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in an action on a "
        "sub-account is never edited'); END"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON exchange_ops_subaccountaction WHEN "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.attempt <> 0 BEGIN SELECT RAISE(ABORT, 'an action on a "
        "sub-account begins as requested'); END"
    ),
    "exchange_ops_subaccountevent_no_edit": (
        "CREATE TRIGGER exchange_ops_subaccountevent_no_edit BEFORE UPDATE ON exchange_ops_subaccountevent WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_subaccountaction_no_removal": (
        "CREATE TRIGGER exchange_ops_subaccountaction_no_removal BEFORE DELETE ON exchange_ops_subaccountaction WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_subaccountcall_no_removal": (
        "CREATE TRIGGER exchange_ops_subaccountcall_no_removal BEFORE DELETE ON exchange_ops_subaccountcall WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_subaccountevent_no_removal": (
        "CREATE TRIGGER exchange_ops_subaccountevent_no_removal BEFORE DELETE ON exchange_ops_subaccountevent WHEN 1 = "
        "1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_addressrequest_moves_with_event": (
        "CREATE TRIGGER exchange_ops_addressrequest_moves_with_event BEFORE UPDATE ON exchange_ops_addressrequest WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM exchange_ops_addressrequestevent e WHERE e.request_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a request "
        "for an address moves only together with the event of its new version'); END"
    ),
    "exchange_ops_addressrequest_content_fixed": (
        "CREATE TRIGGER exchange_ops_addressrequest_content_fixed BEFORE UPDATE ON exchange_ops_addressrequest WHEN "
        "NEW.account_id IS NOT OLD.account_id OR NEW.currency IS NOT OLD.currency OR NEW.initiator_id IS NOT "
        "OLD.initiator_id OR NEW.initiated_via IS NOT OLD.initiated_via OR NEW.request_key IS NOT OLD.request_key OR "
        "NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a request for an "
        "address is never edited'); END"
    ),
    "exchange_ops_addressrequest_begins": (
        "CREATE TRIGGER exchange_ops_addressrequest_begins BEFORE INSERT ON exchange_ops_addressrequest WHEN NEW.state "
        "<> 'asked' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a request for an address begins as asked'); END"
    ),
    "exchange_ops_addressrequestevent_no_edit": (
        "CREATE TRIGGER exchange_ops_addressrequestevent_no_edit BEFORE UPDATE ON exchange_ops_addressrequestevent "
        "WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_addressrequest_no_removal": (
        "CREATE TRIGGER exchange_ops_addressrequest_no_removal BEFORE DELETE ON exchange_ops_addressrequest WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_addressrequestevent_no_removal": (
        "CREATE TRIGGER exchange_ops_addressrequestevent_no_removal BEFORE DELETE ON exchange_ops_addressrequestevent "
        "WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_thawvote_second_factor": (
        "CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote WHEN NOT EXISTS "
        "(SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = "
        "NEW.at AND s.purpose = 'thaw-freeze') BEGIN SELECT RAISE(ABORT, 'a word counts only with a second factor of "
        "this person, given for it'); END"
    ),
    "exchange_ops_thawvote_no_edit": (
        "CREATE TRIGGER exchange_ops_thawvote_no_edit BEFORE UPDATE ON exchange_ops_thawvote WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_policyversion_no_edit": (
        "CREATE TRIGGER exchange_ops_policyversion_no_edit BEFORE UPDATE ON exchange_ops_policyversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_quorumtier_no_edit": (
        "CREATE TRIGGER exchange_ops_quorumtier_no_edit BEFORE UPDATE ON exchange_ops_quorumtier WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_valuelimit_no_edit": (
        "CREATE TRIGGER exchange_ops_valuelimit_no_edit BEFORE UPDATE ON exchange_ops_valuelimit WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON exchange_ops_freeze WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_thawvote_no_removal": (
        "CREATE TRIGGER exchange_ops_thawvote_no_removal BEFORE DELETE ON exchange_ops_thawvote WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_policyversion_no_removal": (
        "CREATE TRIGGER exchange_ops_policyversion_no_removal BEFORE DELETE ON exchange_ops_policyversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_quorumtier_no_removal": (
        "CREATE TRIGGER exchange_ops_quorumtier_no_removal BEFORE DELETE ON exchange_ops_quorumtier WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_valuelimit_no_removal": (
        "CREATE TRIGGER exchange_ops_valuelimit_no_removal BEFORE DELETE ON exchange_ops_valuelimit WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_policychange_moves_with_event": (
        "CREATE TRIGGER exchange_ops_policychange_moves_with_event BEFORE UPDATE ON exchange_ops_policychange WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM exchange_ops_policychangeevent e WHERE e.change_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a change of the rules "
        "moves only together with the event of its new version'); END"
    ),
    "exchange_ops_policychange_content_fixed": (
        "CREATE TRIGGER exchange_ops_policychange_content_fixed BEFORE UPDATE ON exchange_ops_policychange WHEN "
        "NEW.base IS NOT OLD.base OR NEW.content IS NOT OLD.content OR NEW.reason IS NOT OLD.reason OR NEW.digest IS "
        "NOT OLD.digest OR NEW.is_looser IS NOT OLD.is_looser OR NEW.proposed_by_id IS NOT OLD.proposed_by_id OR "
        "NEW.proposed_with_id IS NOT OLD.proposed_with_id OR NEW.expires_at IS NOT OLD.expires_at OR NEW.created_at IS "
        "NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a change of the rules is never edited'); "
        "END"
    ),
    "exchange_ops_policychange_begins": (
        "CREATE TRIGGER exchange_ops_policychange_begins BEFORE INSERT ON exchange_ops_policychange WHEN NEW.state <> "
        "'proposed' OR NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a change of the rules begins as proposed'); END"
    ),
    "exchange_ops_policychangeevent_no_edit": (
        "CREATE TRIGGER exchange_ops_policychangeevent_no_edit BEFORE UPDATE ON exchange_ops_policychangeevent WHEN 1 "
        "= 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_policychange_no_removal": (
        "CREATE TRIGGER exchange_ops_policychange_no_removal BEFORE DELETE ON exchange_ops_policychange WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_policychangeevent_no_removal": (
        "CREATE TRIGGER exchange_ops_policychangeevent_no_removal BEFORE DELETE ON exchange_ops_policychangeevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_ledgerversion_no_edit": (
        "CREATE TRIGGER exchange_ops_ledgerversion_no_edit BEFORE UPDATE ON exchange_ops_ledgerversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "exchange_ops_ledgerentry_no_removal": (
        "CREATE TRIGGER exchange_ops_ledgerentry_no_removal BEFORE DELETE ON exchange_ops_ledgerentry WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_ledgerversion_no_removal": (
        "CREATE TRIGGER exchange_ops_ledgerversion_no_removal BEFORE DELETE ON exchange_ops_ledgerversion WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "exchange_ops_account_place_fixed": (
        "CREATE TRIGGER exchange_ops_account_place_fixed BEFORE UPDATE ON exchange_ops_account WHEN NEW.place IS NOT "
        "OLD.place BEGIN SELECT RAISE(ABORT, 'an account stays at its exchange: its ledger and its keys belong "
        "there'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_withdrawal_moves_with_event": (
        "CREATE FUNCTION exchange_ops_withdrawal_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version OR NEW.decision IS "
        "DISTINCT FROM OLD.decision) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "exchange_ops_withdrawalevent e WHERE e.withdrawal_id = NEW.id AND e.version = NEW.version AND e.from_state = "
        "OLD.state AND e.to_state = NEW.state AND e.decision = NEW.decision)) THEN RAISE EXCEPTION 'a withdrawal moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_withdrawal_moves_with_event BEFORE UPDATE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_moves_with_event()"
    ),
    "exchange_ops_withdrawal_content_fixed": (
        "CREATE FUNCTION exchange_ops_withdrawal_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR "
        "NEW.currency IS DISTINCT FROM OLD.currency OR NEW.amount IS DISTINCT FROM OLD.amount OR NEW.include_fee IS "
        "DISTINCT FROM OLD.include_fee OR NEW.address IS DISTINCT FROM OLD.address OR NEW.payment_id IS DISTINCT FROM "
        "OLD.payment_id OR NEW.reason IS DISTINCT FROM OLD.reason OR NEW.created_at IS DISTINCT FROM OLD.created_at "
        "THEN RAISE EXCEPTION 'what was asked for in a withdrawal is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_content_fixed BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_withdrawal_content_fixed()"
    ),
    "exchange_ops_withdrawal_begins": (
        "CREATE FUNCTION exchange_ops_withdrawal_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' OR NEW.put_count <> 0 OR NEW.delete_count "
        "<> 0 OR NEW.exchange_id IS NOT NULL THEN RAISE EXCEPTION 'a withdrawal begins as draft' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawal_begins BEFORE INSERT ON exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_withdrawal_begins()"
    ),
    "exchange_ops_withdrawal_fills_once": (
        "CREATE FUNCTION exchange_ops_withdrawal_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) THEN RAISE EXCEPTION 'a "
        "withdrawal keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_withdrawal_fills_once BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH "
        "ROW EXECUTE FUNCTION exchange_ops_withdrawal_fills_once()"
    ),
    "exchange_ops_withdrawal_decision_latched": (
        "CREATE FUNCTION exchange_ops_withdrawal_decision_latched() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF OLD.decision <> 'none' AND NEW.decision IS DISTINCT FROM OLD.decision AND NOT (OLD.decision = 'commit' AND "
        "NEW.decision = 'rollback' AND OLD.put_count = 0 AND NEW.put_count = 0) THEN RAISE EXCEPTION 'the decision on "
        "a withdrawal is made once' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_withdrawal_decision_latched BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_withdrawal_decision_latched()"
    ),
    "exchange_ops_withdrawal_one_verb": (
        "CREATE FUNCTION exchange_ops_withdrawal_one_verb() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.put_count < OLD.put_count OR NEW.delete_count < OLD.delete_count OR (NEW.put_count > 0 AND "
        "NEW.delete_count > 0) OR (NEW.put_count > OLD.put_count AND NEW.decision <> 'commit') OR (NEW.delete_count > "
        "OLD.delete_count AND NEW.decision <> 'rollback') THEN RAISE EXCEPTION 'a hold is told to be paid or to be "
        "released, never both' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_withdrawal_one_verb BEFORE UPDATE ON exchange_ops_withdrawal FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawal_one_verb()"
    ),
    "exchange_ops_approval_not_by_the_initiator": (
        "CREATE FUNCTION exchange_ops_approval_not_by_the_initiator() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id AND w.initiator_id = "
        "NEW.initiator_id AND w.initiator_id <> NEW.person_id) THEN RAISE EXCEPTION 'nobody decides on their own "
        "request' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_approval_not_by_the_initiator BEFORE INSERT ON exchange_ops_approval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_approval_not_by_the_initiator()"
    ),
    "exchange_ops_approval_second_factor": (
        "CREATE FUNCTION exchange_ops_approval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' AND s.purpose = "
        "'approve-withdrawal' AND s.digest = NEW.digest OR NEW.stage = 'resolution' AND s.purpose = "
        "'resolve-withdrawal')) THEN RAISE EXCEPTION 'a word counts only with a second factor of this person, given "
        "for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_approval_second_factor BEFORE INSERT ON exchange_ops_approval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_approval_second_factor()"
    ),
    "exchange_ops_holdreleasevote_is_confirmed": (
        "CREATE FUNCTION exchange_ops_holdreleasevote_is_confirmed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
        "AND s.purpose = 'release-hold' AND s.digest = NEW.digest) THEN RAISE EXCEPTION 'a release is ordered with a "
        "second factor of the person for exactly this hold' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_holdreleasevote_is_confirmed BEFORE INSERT ON "
        "exchange_ops_holdreleasevote FOR EACH ROW EXECUTE FUNCTION exchange_ops_holdreleasevote_is_confirmed()"
    ),
    "exchange_ops_holdreleasevote_not_by_the_initiator": (
        "CREATE FUNCTION exchange_ops_holdreleasevote_not_by_the_initiator() RETURNS trigger LANGUAGE plpgsql AS "
        "$body$ BEGIN IF EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id AND "
        "w.initiator_id = NEW.person_id) THEN RAISE EXCEPTION 'nobody decides on their own request' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_holdreleasevote_not_by_the_initiator BEFORE INSERT ON exchange_ops_holdreleasevote FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_holdreleasevote_not_by_the_initiator()"
    ),
    "exchange_ops_withdrawalevent_no_edit": (
        "CREATE FUNCTION exchange_ops_withdrawalevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
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
    "exchange_ops_holdreleasevote_no_edit": (
        "CREATE FUNCTION exchange_ops_holdreleasevote_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_holdreleasevote_no_edit BEFORE UPDATE ON exchange_ops_holdreleasevote FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_holdreleasevote_no_edit()"
    ),
    "exchange_ops_withdrawal_no_removal": (
        "CREATE FUNCTION exchange_ops_withdrawal_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_withdrawal_no_removal BEFORE DELETE ON "
        "exchange_ops_withdrawal FOR EACH ROW EXECUTE FUNCTION exchange_ops_withdrawal_no_removal()"
    ),
    "exchange_ops_externalcall_no_removal": (
        "CREATE FUNCTION exchange_ops_externalcall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_externalcall_no_removal BEFORE DELETE ON exchange_ops_externalcall FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_externalcall_no_removal()"
    ),
    "exchange_ops_withdrawalevent_no_removal": (
        "CREATE FUNCTION exchange_ops_withdrawalevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_withdrawalevent_no_removal BEFORE DELETE ON exchange_ops_withdrawalevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_withdrawalevent_no_removal()"
    ),
    "exchange_ops_approval_no_removal": (
        "CREATE FUNCTION exchange_ops_approval_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_approval_no_removal BEFORE DELETE ON "
        "exchange_ops_approval FOR EACH ROW EXECUTE FUNCTION exchange_ops_approval_no_removal()"
    ),
    "exchange_ops_holdreleasevote_no_removal": (
        "CREATE FUNCTION exchange_ops_holdreleasevote_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_holdreleasevote_no_removal BEFORE DELETE ON exchange_ops_holdreleasevote FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_holdreleasevote_no_removal()"
    ),
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
    "exchange_ops_order_moves_with_event": (
        "CREATE FUNCTION exchange_ops_order_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_orderevent e WHERE e.order_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'an order moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_moves_with_event BEFORE UPDATE ON "
        "exchange_ops_order FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_moves_with_event()"
    ),
    "exchange_ops_order_content_fixed": (
        "CREATE FUNCTION exchange_ops_order_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR "
        "NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.replaces_id IS DISTINCT FROM OLD.replaces_id "
        "OR NEW.symbol IS DISTINCT FROM OLD.symbol OR NEW.side IS DISTINCT FROM OLD.side OR NEW.type IS DISTINCT FROM "
        "OLD.type OR NEW.time_in_force IS DISTINCT FROM OLD.time_in_force OR NEW.quantity IS DISTINCT FROM "
        "OLD.quantity OR NEW.price IS DISTINCT FROM OLD.price OR NEW.stop_price IS DISTINCT FROM OLD.stop_price OR "
        "NEW.expire_time IS DISTINCT FROM OLD.expire_time OR NEW.post_only IS DISTINCT FROM OLD.post_only OR "
        "NEW.strict_validate IS DISTINCT FROM OLD.strict_validate OR NEW.take_liquidity_markup IS DISTINCT FROM "
        "OLD.take_liquidity_markup OR NEW.provide_liquidity_markup IS DISTINCT FROM OLD.provide_liquidity_markup OR "
        "NEW.oversteps IS DISTINCT FROM OLD.oversteps OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.approve_until "
        "IS DISTINCT FROM OLD.approve_until OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION "
        "'what was asked for in an order is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_content_fixed BEFORE UPDATE ON exchange_ops_order "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_content_fixed()"
    ),
    "exchange_ops_order_fills_once": (
        "CREATE FUNCTION exchange_ops_order_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id IS DISTINCT FROM OLD.exchange_id) THEN RAISE EXCEPTION 'an "
        "order keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_order_fills_once BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_order_fills_once()"
    ),
    "exchange_ops_order_sent_once": (
        "CREATE FUNCTION exchange_ops_order_sent_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.sends "
        "< OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) THEN RAISE EXCEPTION 'an order is "
        "sent once at most' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE "
        "TRIGGER exchange_ops_order_sent_once BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_sent_once()"
    ),
    "exchange_ops_order_begins": (
        "CREATE FUNCTION exchange_ops_order_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.version "
        "<> 1 OR NEW.sends <> 0 OR NOT ((NEW.initiator_id IS NOT NULL AND NEW.digest = '' AND NEW.state = 'requested') "
        "OR (NEW.initiator_id IS NOT NULL AND NEW.digest <> '' AND NEW.state = 'waiting') OR (NEW.initiator_id IS NULL "
        "AND NEW.state = 'placed')) THEN RAISE EXCEPTION 'an order begins as requested here, waiting for an approval, "
        "or as seen at the exchange' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_order_begins BEFORE INSERT ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_begins()"
    ),
    "exchange_ops_order_approved": (
        "CREATE FUNCTION exchange_ops_order_approved() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.digest "
        "<> '' AND (NEW.state = 'requested' AND OLD.state <> 'requested' OR NEW.state = 'sending' AND OLD.state <> "
        "'sending') AND NOT EXISTS (SELECT 1 FROM exchange_ops_orderapproval a JOIN desk_stepup s ON s.id = "
        "a.confirmation_id AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-order' WHERE "
        "a.order_id = NEW.id AND a.digest = NEW.digest AND a.verdict = 'approve' AND a.person_id <> NEW.initiator_id) "
        "THEN RAISE EXCEPTION 'an order that was to be approved is placed only with the approval of exactly this "
        "content' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_order_approved BEFORE UPDATE ON exchange_ops_order FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_order_approved()"
    ),
    "exchange_ops_orderapproval_not_yours": (
        "CREATE FUNCTION exchange_ops_orderapproval_not_yours() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NOT EXISTS (SELECT 1 FROM exchange_ops_order t WHERE t.id = NEW.order_id AND t.initiator_id = "
        "NEW.initiator_id AND t.initiator_id <> NEW.person_id) THEN RAISE EXCEPTION 'nobody decides on their own "
        "request' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_not_yours BEFORE INSERT ON exchange_ops_orderapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_orderapproval_not_yours()"
    ),
    "exchange_ops_orderapproval_second_factor": (
        "CREATE FUNCTION exchange_ops_orderapproval_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND "
        "s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'approve-order' AND s.digest = NEW.digest) THEN "
        "RAISE EXCEPTION 'a word counts only with a second factor of this person, given for it' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_second_factor BEFORE INSERT ON exchange_ops_orderapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_orderapproval_second_factor()"
    ),
    "exchange_ops_order_margin_fixed": (
        "CREATE FUNCTION exchange_ops_order_margin_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.margin IS DISTINCT FROM OLD.margin AND OLD.initiator_id IS NOT NULL THEN RAISE EXCEPTION 'on margin or "
        "not is part of what was asked for in an order' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_order_margin_fixed BEFORE UPDATE ON exchange_ops_order "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_margin_fixed()"
    ),
    "exchange_ops_accounttrade_no_edit": (
        "CREATE FUNCTION exchange_ops_accounttrade_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.id IS DISTINCT FROM OLD.id OR NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.exchange_id IS "
        "DISTINCT FROM OLD.exchange_id OR NEW.exchange_order_id IS DISTINCT FROM OLD.exchange_order_id OR "
        "NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.symbol IS DISTINCT FROM OLD.symbol OR "
        "NEW.side IS DISTINCT FROM OLD.side OR NEW.quantity IS DISTINCT FROM OLD.quantity OR NEW.price IS DISTINCT "
        "FROM OLD.price OR NEW.fee IS DISTINCT FROM OLD.fee OR NEW.timestamp IS DISTINCT FROM OLD.timestamp OR "
        "NEW.read_at IS DISTINCT FROM OLD.read_at OR (OLD.taker IS NOT NULL AND NEW.taker IS DISTINCT FROM OLD.taker) "
        "OR (OLD.liquidation IS NOT NULL AND NEW.liquidation IS DISTINCT FROM OLD.liquidation) THEN RAISE EXCEPTION "
        "'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; "
        "END $body$; CREATE TRIGGER exchange_ops_accounttrade_no_edit BEFORE UPDATE ON exchange_ops_accounttrade FOR "
        "EACH ROW EXECUTE FUNCTION exchange_ops_accounttrade_no_edit()"
    ),
    "exchange_ops_orderevent_no_edit": (
        "CREATE FUNCTION exchange_ops_orderevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderevent_no_edit BEFORE UPDATE ON exchange_ops_orderevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_orderevent_no_edit()"
    ),
    "exchange_ops_orderapproval_no_edit": (
        "CREATE FUNCTION exchange_ops_orderapproval_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_no_edit BEFORE UPDATE ON exchange_ops_orderapproval FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_orderapproval_no_edit()"
    ),
    "exchange_ops_order_no_removal": (
        "CREATE FUNCTION exchange_ops_order_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_order_no_removal BEFORE DELETE ON "
        "exchange_ops_order FOR EACH ROW EXECUTE FUNCTION exchange_ops_order_no_removal()"
    ),
    "exchange_ops_ordercall_no_removal": (
        "CREATE FUNCTION exchange_ops_ordercall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_ordercall_no_removal BEFORE DELETE ON "
        "exchange_ops_ordercall FOR EACH ROW EXECUTE FUNCTION exchange_ops_ordercall_no_removal()"
    ),
    "exchange_ops_orderevent_no_removal": (
        "CREATE FUNCTION exchange_ops_orderevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_orderevent_no_removal BEFORE DELETE ON "
        "exchange_ops_orderevent FOR EACH ROW EXECUTE FUNCTION exchange_ops_orderevent_no_removal()"
    ),
    "exchange_ops_orderapproval_no_removal": (
        "CREATE FUNCTION exchange_ops_orderapproval_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_orderapproval_no_removal BEFORE DELETE ON exchange_ops_orderapproval FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_orderapproval_no_removal()"
    ),
    "exchange_ops_accounttrade_no_removal": (
        "CREATE FUNCTION exchange_ops_accounttrade_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_accounttrade_no_removal BEFORE DELETE ON exchange_ops_accounttrade FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_accounttrade_no_removal()"
    ),
    "exchange_ops_bracket_moves_with_event": (
        "CREATE FUNCTION exchange_ops_bracket_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_bracketevent e WHERE e.bracket_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "bracket moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_bracket_moves_with_event BEFORE UPDATE ON exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracket_moves_with_event()"
    ),
    "exchange_ops_bracket_content_fixed": (
        "CREATE FUNCTION exchange_ops_bracket_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.entry_id IS DISTINCT FROM OLD.entry_id OR "
        "NEW.symbol IS DISTINCT FROM OLD.symbol OR NEW.side IS DISTINCT FROM OLD.side OR NEW.margin IS DISTINCT FROM "
        "OLD.margin OR NEW.stop_price IS DISTINCT FROM OLD.stop_price OR NEW.take_price IS DISTINCT FROM "
        "OLD.take_price OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in "
        "a bracket is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_bracket_content_fixed BEFORE UPDATE ON exchange_ops_bracket FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_bracket_content_fixed()"
    ),
    "exchange_ops_bracket_begins": (
        "CREATE FUNCTION exchange_ops_bracket_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state "
        "<> 'entering' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a bracket begins as entering' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_bracket_begins "
        "BEFORE INSERT ON exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracket_begins()"
    ),
    "exchange_ops_bracketleg_closes": (
        "CREATE FUNCTION exchange_ops_bracketleg_closes() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NOT "
        "EXISTS (SELECT 1 FROM exchange_ops_bracket b JOIN exchange_ops_order o ON o.id = NEW.order_id WHERE b.id = "
        "NEW.bracket_id AND o.account_id = b.account_id AND o.symbol = b.symbol AND o.margin = b.margin AND o.side <> "
        "b.side AND b.state <> 'closed' AND b.state <> 'ending') THEN RAISE EXCEPTION 'an order of a bracket closes "
        "what its entry opened' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_bracketleg_closes BEFORE INSERT ON exchange_ops_bracketleg FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_bracketleg_closes()"
    ),
    "exchange_ops_bracket_ends_once": (
        "CREATE FUNCTION exchange_ops_bracket_ends_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.outcome <> '' AND NEW.outcome <> OLD.outcome) OR (OLD.ended_by <> '' AND NEW.ended_by <> OLD.ended_by) "
        "THEN RAISE EXCEPTION 'a bracket ends once, in one way' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_bracket_ends_once BEFORE UPDATE ON "
        "exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracket_ends_once()"
    ),
    "exchange_ops_bracketleg_no_edit": (
        "CREATE FUNCTION exchange_ops_bracketleg_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.id "
        "IS DISTINCT FROM OLD.id OR NEW.bracket_id IS DISTINCT FROM OLD.bracket_id OR NEW.number IS DISTINCT FROM "
        "OLD.number OR NEW.role IS DISTINCT FROM OLD.role OR NEW.order_id IS DISTINCT FROM OLD.order_id OR "
        "NEW.created_at IS DISTINCT FROM OLD.created_at OR (OLD.settled_at IS NOT NULL AND NEW.settled_at IS DISTINCT "
        "FROM OLD.settled_at) THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_bracketleg_no_edit BEFORE UPDATE ON exchange_ops_bracketleg FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracketleg_no_edit()"
    ),
    "exchange_ops_bracketevent_no_edit": (
        "CREATE FUNCTION exchange_ops_bracketevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_bracketevent_no_edit BEFORE UPDATE ON exchange_ops_bracketevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracketevent_no_edit()"
    ),
    "exchange_ops_bracket_no_removal": (
        "CREATE FUNCTION exchange_ops_bracket_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_bracket_no_removal BEFORE DELETE ON "
        "exchange_ops_bracket FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracket_no_removal()"
    ),
    "exchange_ops_bracketleg_no_removal": (
        "CREATE FUNCTION exchange_ops_bracketleg_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_bracketleg_no_removal BEFORE DELETE ON "
        "exchange_ops_bracketleg FOR EACH ROW EXECUTE FUNCTION exchange_ops_bracketleg_no_removal()"
    ),
    "exchange_ops_bracketevent_no_removal": (
        "CREATE FUNCTION exchange_ops_bracketevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_bracketevent_no_removal BEFORE DELETE ON exchange_ops_bracketevent FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_bracketevent_no_removal()"
    ),
    "exchange_ops_marginaction_moves_with_event": (
        "CREATE FUNCTION exchange_ops_marginaction_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_marginactionevent e WHERE e.action_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "margin action moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginaction_moves_with_event BEFORE UPDATE ON exchange_ops_marginaction FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_marginaction_moves_with_event()"
    ),
    "exchange_ops_marginaction_content_fixed": (
        "CREATE FUNCTION exchange_ops_marginaction_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR "
        "NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR NEW.request_key IS DISTINCT FROM OLD.request_key OR "
        "NEW.client_order_id IS DISTINCT FROM OLD.client_order_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.symbol "
        "IS DISTINCT FROM OLD.symbol OR NEW.amount IS DISTINCT FROM OLD.amount OR NEW.side IS DISTINCT FROM OLD.side "
        "OR NEW.quantity IS DISTINCT FROM OLD.quantity OR NEW.order_type IS DISTINCT FROM OLD.order_type OR NEW.price "
        "IS DISTINCT FROM OLD.price OR NEW.position_id IS DISTINCT FROM OLD.position_id OR NEW.confirmed IS DISTINCT "
        "FROM OLD.confirmed OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for "
        "in a margin action is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_marginaction_content_fixed BEFORE UPDATE ON exchange_ops_marginaction FOR "
        "EACH ROW EXECUTE FUNCTION exchange_ops_marginaction_content_fixed()"
    ),
    "exchange_ops_marginaction_begins": (
        "CREATE FUNCTION exchange_ops_marginaction_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.sends <> 0 OR NEW.exchange_order_id IS NOT NULL THEN "
        "RAISE EXCEPTION 'a margin action begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_marginaction_begins BEFORE INSERT ON "
        "exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_marginaction_begins()"
    ),
    "exchange_ops_marginaction_fills_once": (
        "CREATE FUNCTION exchange_ops_marginaction_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(OLD.exchange_order_id IS NOT NULL AND NEW.exchange_order_id IS DISTINCT FROM OLD.exchange_order_id) THEN "
        "RAISE EXCEPTION 'a margin action keeps what it was given' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN NEW; END $body$; CREATE TRIGGER exchange_ops_marginaction_fills_once BEFORE UPDATE ON "
        "exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_marginaction_fills_once()"
    ),
    "exchange_ops_marginaction_sent_once": (
        "CREATE FUNCTION exchange_ops_marginaction_sent_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) OR (NEW.state = "
        "'sending' AND NEW.sends <> 1) THEN RAISE EXCEPTION 'a margin action is sent once at most' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginaction_sent_once BEFORE UPDATE ON exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginaction_sent_once()"
    ),
    "exchange_ops_marginactionevent_no_edit": (
        "CREATE FUNCTION exchange_ops_marginactionevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginactionevent_no_edit BEFORE UPDATE ON exchange_ops_marginactionevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_marginactionevent_no_edit()"
    ),
    "exchange_ops_marginreport_no_edit": (
        "CREATE FUNCTION exchange_ops_marginreport_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_marginreport_no_edit BEFORE UPDATE ON exchange_ops_marginreport FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginreport_no_edit()"
    ),
    "exchange_ops_marginaction_no_removal": (
        "CREATE FUNCTION exchange_ops_marginaction_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginaction_no_removal BEFORE DELETE ON exchange_ops_marginaction FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginaction_no_removal()"
    ),
    "exchange_ops_marginactioncall_no_removal": (
        "CREATE FUNCTION exchange_ops_marginactioncall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginactioncall_no_removal BEFORE DELETE ON exchange_ops_marginactioncall FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_marginactioncall_no_removal()"
    ),
    "exchange_ops_marginactionevent_no_removal": (
        "CREATE FUNCTION exchange_ops_marginactionevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginactionevent_no_removal BEFORE DELETE ON exchange_ops_marginactionevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_marginactionevent_no_removal()"
    ),
    "exchange_ops_marginreport_no_removal": (
        "CREATE FUNCTION exchange_ops_marginreport_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_marginreport_no_removal BEFORE DELETE ON exchange_ops_marginreport FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_marginreport_no_removal()"
    ),
    "exchange_ops_subaccountaction_moves_with_event": (
        "CREATE FUNCTION exchange_ops_subaccountaction_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_subaccountevent e WHERE e.action_id = "
        "NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE "
        "EXCEPTION 'an action on a sub-account moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountaction_moves_with_event BEFORE UPDATE ON exchange_ops_subaccountaction FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_subaccountaction_moves_with_event()"
    ),
    "exchange_ops_subaccountaction_content_fixed": (
        "CREATE FUNCTION exchange_ops_subaccountaction_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF NEW.sub_account_id IS DISTINCT FROM OLD.sub_account_id OR NEW.kind IS DISTINCT FROM OLD.kind OR "
        "NEW.lane IS DISTINCT FROM OLD.lane OR NEW.wanted_payout IS DISTINCT FROM OLD.wanted_payout OR "
        "NEW.wanted_description IS DISTINCT FROM OLD.wanted_description OR NEW.reason IS DISTINCT FROM OLD.reason OR "
        "NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR NEW.request_key IS DISTINCT FROM OLD.request_key "
        "OR NEW.confirmation_id IS DISTINCT FROM OLD.confirmation_id OR NEW.digest IS DISTINCT FROM OLD.digest OR "
        "NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for in an action on a "
        "sub-account is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_subaccountaction_content_fixed BEFORE UPDATE ON "
        "exchange_ops_subaccountaction FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_content_fixed()"
    ),
    "exchange_ops_subaccountaction_begins": (
        "CREATE FUNCTION exchange_ops_subaccountaction_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.attempt <> 0 THEN RAISE EXCEPTION 'an action on a "
        "sub-account begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER exchange_ops_subaccountaction_begins BEFORE INSERT ON exchange_ops_subaccountaction "
        "FOR EACH ROW EXECUTE FUNCTION exchange_ops_subaccountaction_begins()"
    ),
    "exchange_ops_subaccountevent_no_edit": (
        "CREATE FUNCTION exchange_ops_subaccountevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountevent_no_edit BEFORE UPDATE ON exchange_ops_subaccountevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_subaccountevent_no_edit()"
    ),
    "exchange_ops_subaccountaction_no_removal": (
        "CREATE FUNCTION exchange_ops_subaccountaction_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountaction_no_removal BEFORE DELETE ON exchange_ops_subaccountaction FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_subaccountaction_no_removal()"
    ),
    "exchange_ops_subaccountcall_no_removal": (
        "CREATE FUNCTION exchange_ops_subaccountcall_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountcall_no_removal BEFORE DELETE ON exchange_ops_subaccountcall FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_subaccountcall_no_removal()"
    ),
    "exchange_ops_subaccountevent_no_removal": (
        "CREATE FUNCTION exchange_ops_subaccountevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_subaccountevent_no_removal BEFORE DELETE ON exchange_ops_subaccountevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_subaccountevent_no_removal()"
    ),
    "exchange_ops_addressrequest_moves_with_event": (
        "CREATE FUNCTION exchange_ops_addressrequest_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_addressrequestevent e WHERE "
        "e.request_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) "
        "THEN RAISE EXCEPTION 'a request for an address moves only together with the event of its new version' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_moves_with_event BEFORE UPDATE ON exchange_ops_addressrequest FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_addressrequest_moves_with_event()"
    ),
    "exchange_ops_addressrequest_content_fixed": (
        "CREATE FUNCTION exchange_ops_addressrequest_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.currency IS DISTINCT FROM OLD.currency OR "
        "NEW.initiator_id IS DISTINCT FROM OLD.initiator_id OR NEW.initiated_via IS DISTINCT FROM OLD.initiated_via OR "
        "NEW.request_key IS DISTINCT FROM OLD.request_key OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE "
        "EXCEPTION 'what was asked for in a request for an address is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_content_fixed BEFORE UPDATE ON exchange_ops_addressrequest FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_addressrequest_content_fixed()"
    ),
    "exchange_ops_addressrequest_begins": (
        "CREATE FUNCTION exchange_ops_addressrequest_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'asked' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a request for an address begins as asked' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_begins BEFORE INSERT ON exchange_ops_addressrequest FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_addressrequest_begins()"
    ),
    "exchange_ops_addressrequestevent_no_edit": (
        "CREATE FUNCTION exchange_ops_addressrequestevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequestevent_no_edit BEFORE UPDATE ON exchange_ops_addressrequestevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_addressrequestevent_no_edit()"
    ),
    "exchange_ops_addressrequest_no_removal": (
        "CREATE FUNCTION exchange_ops_addressrequest_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequest_no_removal BEFORE DELETE ON exchange_ops_addressrequest FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_addressrequest_no_removal()"
    ),
    "exchange_ops_addressrequestevent_no_removal": (
        "CREATE FUNCTION exchange_ops_addressrequestevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_addressrequestevent_no_removal BEFORE DELETE ON exchange_ops_addressrequestevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_addressrequestevent_no_removal()"
    ),
    "exchange_ops_thawvote_second_factor": (
        "CREATE FUNCTION exchange_ops_thawvote_second_factor() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NOT "
        "EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at "
        "= NEW.at AND s.purpose = 'thaw-freeze') THEN RAISE EXCEPTION 'a word counts only with a second factor of this "
        "person, given for it' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_thawvote_second_factor BEFORE INSERT ON exchange_ops_thawvote FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_thawvote_second_factor()"
    ),
    "exchange_ops_thawvote_no_edit": (
        "CREATE FUNCTION exchange_ops_thawvote_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_thawvote_no_edit BEFORE UPDATE ON exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_thawvote_no_edit()"
    ),
    "exchange_ops_policyversion_no_edit": (
        "CREATE FUNCTION exchange_ops_policyversion_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policyversion_no_edit BEFORE UPDATE ON exchange_ops_policyversion FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_policyversion_no_edit()"
    ),
    "exchange_ops_quorumtier_no_edit": (
        "CREATE FUNCTION exchange_ops_quorumtier_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_quorumtier_no_edit BEFORE UPDATE ON exchange_ops_quorumtier FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_quorumtier_no_edit()"
    ),
    "exchange_ops_valuelimit_no_edit": (
        "CREATE FUNCTION exchange_ops_valuelimit_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_valuelimit_no_edit BEFORE UPDATE ON exchange_ops_valuelimit FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_valuelimit_no_edit()"
    ),
    "exchange_ops_freeze_no_removal": (
        "CREATE FUNCTION exchange_ops_freeze_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_freeze_no_removal BEFORE DELETE ON "
        "exchange_ops_freeze FOR EACH ROW EXECUTE FUNCTION exchange_ops_freeze_no_removal()"
    ),
    "exchange_ops_thawvote_no_removal": (
        "CREATE FUNCTION exchange_ops_thawvote_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_thawvote_no_removal BEFORE DELETE ON "
        "exchange_ops_thawvote FOR EACH ROW EXECUTE FUNCTION exchange_ops_thawvote_no_removal()"
    ),
    "exchange_ops_policyversion_no_removal": (
        "CREATE FUNCTION exchange_ops_policyversion_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policyversion_no_removal BEFORE DELETE ON exchange_ops_policyversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policyversion_no_removal()"
    ),
    "exchange_ops_quorumtier_no_removal": (
        "CREATE FUNCTION exchange_ops_quorumtier_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_quorumtier_no_removal BEFORE DELETE ON "
        "exchange_ops_quorumtier FOR EACH ROW EXECUTE FUNCTION exchange_ops_quorumtier_no_removal()"
    ),
    "exchange_ops_valuelimit_no_removal": (
        "CREATE FUNCTION exchange_ops_valuelimit_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_valuelimit_no_removal BEFORE DELETE ON "
        "exchange_ops_valuelimit FOR EACH ROW EXECUTE FUNCTION exchange_ops_valuelimit_no_removal()"
    ),
    "exchange_ops_policychange_moves_with_event": (
        "CREATE FUNCTION exchange_ops_policychange_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_policychangeevent e WHERE e.change_id = NEW.id AND "
        "e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a "
        "change of the rules moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_moves_with_event BEFORE UPDATE ON exchange_ops_policychange FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policychange_moves_with_event()"
    ),
    "exchange_ops_policychange_content_fixed": (
        "CREATE FUNCTION exchange_ops_policychange_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.base IS DISTINCT FROM OLD.base OR NEW.content IS DISTINCT FROM OLD.content OR NEW.reason IS DISTINCT FROM "
        "OLD.reason OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.is_looser IS DISTINCT FROM OLD.is_looser OR "
        "NEW.proposed_by_id IS DISTINCT FROM OLD.proposed_by_id OR NEW.proposed_with_id IS DISTINCT FROM "
        "OLD.proposed_with_id OR NEW.expires_at IS DISTINCT FROM OLD.expires_at OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a change of the rules is never edited' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_content_fixed BEFORE UPDATE ON exchange_ops_policychange FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policychange_content_fixed()"
    ),
    "exchange_ops_policychange_begins": (
        "CREATE FUNCTION exchange_ops_policychange_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'proposed' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a change of the rules begins as proposed' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_begins BEFORE INSERT ON exchange_ops_policychange FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_policychange_begins()"
    ),
    "exchange_ops_policychangeevent_no_edit": (
        "CREATE FUNCTION exchange_ops_policychangeevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_policychangeevent_no_edit BEFORE UPDATE ON exchange_ops_policychangeevent FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_policychangeevent_no_edit()"
    ),
    "exchange_ops_policychange_no_removal": (
        "CREATE FUNCTION exchange_ops_policychange_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policychange_no_removal BEFORE DELETE ON exchange_ops_policychange FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_policychange_no_removal()"
    ),
    "exchange_ops_policychangeevent_no_removal": (
        "CREATE FUNCTION exchange_ops_policychangeevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_policychangeevent_no_removal BEFORE DELETE ON exchange_ops_policychangeevent FOR EACH ROW "
        "EXECUTE FUNCTION exchange_ops_policychangeevent_no_removal()"
    ),
    "exchange_ops_ledgerversion_no_edit": (
        "CREATE FUNCTION exchange_ops_ledgerversion_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgerversion_no_edit BEFORE UPDATE ON exchange_ops_ledgerversion FOR EACH ROW EXECUTE FUNCTION "
        "exchange_ops_ledgerversion_no_edit()"
    ),
    "exchange_ops_ledgerentry_no_removal": (
        "CREATE FUNCTION exchange_ops_ledgerentry_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = "
        "1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER exchange_ops_ledgerentry_no_removal BEFORE DELETE ON "
        "exchange_ops_ledgerentry FOR EACH ROW EXECUTE FUNCTION exchange_ops_ledgerentry_no_removal()"
    ),
    "exchange_ops_ledgerversion_no_removal": (
        "CREATE FUNCTION exchange_ops_ledgerversion_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 "
        "= 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "exchange_ops_ledgerversion_no_removal BEFORE DELETE ON exchange_ops_ledgerversion FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_ledgerversion_no_removal()"
    ),
    "exchange_ops_account_place_fixed": (
        "CREATE FUNCTION exchange_ops_account_place_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.place IS DISTINCT FROM OLD.place THEN RAISE EXCEPTION 'an account stays at its exchange: its ledger and "
        "its keys belong there' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_account_place_fixed BEFORE UPDATE ON exchange_ops_account FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_account_place_fixed()"
    ),
}


class Migration(migrations.Migration):
    """All tables and triggers as version 0.7.0 had them; an older database passes through that version first."""

    initial = True
    dependencies = [
        ("desk", "0001_squashed_0016_keyed_requests"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='Account',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=80, unique=True)),
                    ('quote_currency', models.CharField(default='USD', max_length=20)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('place', models.CharField(default='default', max_length=40)),
                ],
            ),
            migrations.CreateModel(
                name='Currency',
                fields=[
                    ('code', models.CharField(max_length=20, primary_key=True, serialize=False)),
                    ('full_name', models.CharField(blank=True, default='', max_length=120)),
                    ('crypto', models.BooleanField(default=True)),
                    ('payin_enabled', models.BooleanField(default=False)),
                    ('payin_payment_id', models.BooleanField(default=False)),
                    ('payin_confirmations', models.PositiveIntegerField(default=0)),
                    ('payout_enabled', models.BooleanField(default=False)),
                    ('payout_is_payment_id', models.BooleanField(default=False)),
                    ('transfer_enabled', models.BooleanField(default=False)),
                    ('delisted', models.BooleanField(default=False)),
                    ('payout_fee', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('payout_minimal_amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('precision_payout', models.PositiveSmallIntegerField(null=True)),
                    ('precision_transfer', models.PositiveSmallIntegerField(null=True)),
                    ('low_processing_time_s', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('high_processing_time_s', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('avg_processing_time_s', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('read_at', models.DateTimeField()),
                ],
                options={
                    'verbose_name_plural': 'currencies',
                },
            ),
            migrations.CreateModel(
                name='Lease',
                fields=[
                    ('name', models.CharField(max_length=40, primary_key=True, serialize=False)),
                    ('holder', models.CharField(blank=True, default='', max_length=80)),
                    ('until', models.DateTimeField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Symbol',
                fields=[
                    ('code', models.CharField(max_length=40, primary_key=True, serialize=False)),
                    ('base_currency', models.CharField(db_index=True, max_length=20)),
                    ('quote_currency', models.CharField(db_index=True, max_length=20)),
                    ('quantity_increment', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('tick_size', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('take_liquidity_rate', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('provide_liquidity_rate', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fee_currency', models.CharField(max_length=20)),
                    ('margin_trading', models.BooleanField(default=False)),
                    ('max_initial_leverage', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('read_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Ticker',
                fields=[
                    ('symbol', models.CharField(max_length=40, primary_key=True, serialize=False)),
                    ('ask', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('bid', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('last', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('open', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('low', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('high', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('volume', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('volume_quote', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('timestamp', models.DateTimeField()),
                    ('read_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='FollowerState',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60, unique=True)),
                    ('connected', models.BooleanField(default=False)),
                    ('connected_at', models.DateTimeField(null=True)),
                    ('heard_at', models.DateTimeField(null=True)),
                    ('beat_at', models.DateTimeField(null=True)),
                    ('reconnects', models.PositiveIntegerField(default=0)),
                    ('gaps_closed', models.PositiveIntegerField(default=0)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='followers', to='exchange_ops.account')),
                    ('message_at', models.DateTimeField(null=True)),
                    ('lag_ms', models.PositiveIntegerField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Freeze',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.CharField(max_length=500)),
                    ('frozen_at', models.DateTimeField()),
                    ('thawed_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='freezes', to='exchange_ops.account')),
                    ('frozen_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('thawed_at__isnull', True)), fields=('account',), name='freeze_one_active_per_account')],
                },
            ),
            migrations.CreateModel(
                name='LedgerAside',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('exchange_id', models.CharField(blank=True, default='', max_length=80)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('reason', models.CharField(max_length=300)),
                    ('content', models.TextField(blank=True, default='')),
                    ('source', models.CharField(max_length=10)),
                    ('first_seen_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                    ('cleared_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger_asides', to='exchange_ops.account')),
                    ('index', models.BigIntegerField(null=True)),
                    ('after_index', models.BigIntegerField(null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'fingerprint'), name='ledgeraside_one_per_content')],
                },
            ),
            migrations.CreateModel(
                name='Transfer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('initiated_via', models.CharField(default='page', max_length=10)),
                    ('request_key', models.CharField(max_length=80)),
                    ('kind', models.CharField(choices=[('bank_to_trading', 'From bank to trading account'), ('trading_to_bank', 'From trading to bank account'), ('to_user', 'To another user of the exchange'), ('convert', 'Convert to another network'), ('to_subaccount', 'To a sub-account'), ('from_subaccount', 'From a sub-account')], max_length=20)),
                    ('currency', models.CharField(max_length=20)),
                    ('amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('to_currency', models.CharField(blank=True, default='', max_length=20)),
                    ('by', models.CharField(blank=True, db_column='identified_by', default='', max_length=10)),
                    ('identifier', models.CharField(blank=True, default='', max_length=254)),
                    ('subaccount_id', models.BigIntegerField(null=True)),
                    ('reason', models.CharField(max_length=500)),
                    ('digest', models.CharField(blank=True, default='', max_length=64)),
                    ('policy_version', models.PositiveIntegerField(default=0)),
                    ('policy_trace', models.JSONField(default=list)),
                    ('quorum_required', models.PositiveSmallIntegerField(default=0)),
                    ('lookalikes', models.JSONField(default=list)),
                    ('quote_value', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('quote_currency', models.CharField(blank=True, default='', max_length=20)),
                    ('quote_at', models.DateTimeField(null=True)),
                    ('state', models.CharField(choices=[('draft', 'Being checked'), ('review', 'Waiting for approvals'), ('approved', 'Waiting to be sent'), ('sending', 'Being sent'), ('unknown', 'Outcome unknown'), ('done', 'Moved'), ('refused', 'Refused by the exchange'), ('not_seen', 'Not seen, waiting for a decision'), ('investigate', 'Review by two people'), ('closed', 'Closed, not moved'), ('cancelled', 'Cancelled'), ('rejected', 'Rejected'), ('resolved_moved', 'Closed by two people: moved'), ('resolved_not_moved', 'Closed by two people: not moved')], default='draft', max_length=20)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('decided_at', models.DateTimeField(null=True)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('exchange_id', models.CharField(max_length=80, null=True)),
                    ('second_id', models.CharField(max_length=80, null=True)),
                    ('ledger_seen_at', models.DateTimeField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('looks', models.PositiveIntegerField(default=0)),
                    ('lease_epoch', models.PositiveIntegerField(default=0)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='exchange_ops.account')),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to=settings.AUTH_USER_MODEL)),
                    ('reissues', models.OneToOneField(help_text='the older one it replaces', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reissued_as', to='exchange_ops.transfer')),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='transfer_due'), models.Index(fields=['account', '-created_at'], name='transfer_newest'), models.Index(fields=['account', 'updated_at', 'id'], name='transfer_by_change'), models.Index(fields=['account', 'currency', 'amount', 'id'], name='transfer_by_amount')],
                    'constraints': [models.UniqueConstraint(fields=('initiator', 'request_key'), name='transfer_one_per_request_key'), models.UniqueConstraint(fields=('account', 'exchange_id'), name='transfer_one_per_exchange_id'), models.UniqueConstraint(fields=('account', 'second_id'), name='transfer_one_per_second_id'), models.UniqueConstraint(condition=models.Q(('state__in', ('sending', 'unknown'))), fields=('account', 'kind', 'currency'), name='transfer_one_in_a_lane'), models.CheckConstraint(condition=models.Q(('state__in', ('draft', 'review', 'approved', 'sending', 'unknown', 'done', 'refused', 'not_seen', 'investigate', 'closed', 'cancelled', 'rejected', 'resolved_moved', 'resolved_not_moved'))), name='transfer_known_state'), models.CheckConstraint(condition=models.Q(('kind__in', ('bank_to_trading', 'trading_to_bank', 'to_user', 'convert', 'to_subaccount', 'from_subaccount'))), name='transfer_known_kind'), models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='transfer_amount_is_positive'), models.CheckConstraint(condition=models.Q(models.Q(('by__in', ('email', 'username')), ('kind', 'to_user'), models.Q(('identifier', ''), _negated=True)), models.Q(models.Q(('kind', 'to_user'), _negated=True), ('by', ''), ('identifier', '')), _connector='OR'), name='transfer_names_the_other_user'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'convert'), models.Q(('to_currency', ''), _negated=True), models.Q(('to_currency', models.F('currency')), _negated=True)), models.Q(models.Q(('kind', 'convert'), _negated=True), ('to_currency', '')), _connector='OR'), name='transfer_names_the_other_currency'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('to_subaccount', 'from_subaccount')), ('subaccount_id__isnull', False)), models.Q(models.Q(('kind__in', ('to_subaccount', 'from_subaccount')), _negated=True), ('subaccount_id__isnull', True)), _connector='OR'), name='transfer_names_the_sub_account'), models.CheckConstraint(condition=models.Q(models.Q(('exchange_id', ''), _negated=True), models.Q(('second_id', ''), _negated=True)), name='transfer_exchange_id_is_not_blank'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), ('exchange_id__isnull', False), _connector='OR'), name='transfer_done_has_a_transaction'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('to_user',)), _negated=True), models.Q(('state__in', ('review', 'approved', 'sending', 'unknown', 'done')), _negated=True), ('quorum_required__gte', 1), _connector='OR'), name='transfer_to_others_needs_an_approval'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ('sending', 'unknown', 'done', 'refused', 'not_seen', 'investigate', 'closed')), _negated=True), ('attempt__gte', 1), _connector='OR'), name='transfer_sent_has_an_attempt')],
                },
            ),
            migrations.CreateModel(
                name='Withdrawal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('initiated_via', models.CharField(default='page', max_length=10)),
                    ('request_key', models.CharField(max_length=80)),
                    ('currency', models.CharField(max_length=20)),
                    ('amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('include_fee', models.BooleanField(default=False)),
                    ('address', models.CharField(max_length=256)),
                    ('payment_id', models.CharField(blank=True, default='', max_length=256)),
                    ('reason', models.CharField(blank=True, default='', max_length=500)),
                    ('digest', models.CharField(blank=True, default='', max_length=64)),
                    ('policy_version', models.PositiveIntegerField(default=0)),
                    ('policy_trace', models.JSONField(default=list)),
                    ('quorum_required', models.PositiveSmallIntegerField(default=0)),
                    ('mode', models.CharField(choices=[('hold_then_approve', 'hold_then_approve'), ('approve_then_hold', 'approve_then_hold')], default='hold_then_approve', max_length=20)),
                    ('state', models.CharField(choices=[('draft', 'Being checked'), ('review', 'Waiting for approvals before the hold'), ('queued', 'Waiting to be reserved'), ('holding', 'Reserving the money'), ('hold_unknown', 'Reservation unknown'), ('held', 'Reserved, waiting for approvals'), ('committing', 'Approved, being paid'), ('commit_unknown', 'Payment unknown'), ('committed', 'Accepted by the exchange, awaiting broadcast'), ('sent', 'On its way'), ('settled', 'Paid'), ('verified', 'Paid and proven'), ('disputed', 'Paid, but the records disagree'), ('rolling_back', 'Being released'), ('rolled_back', 'Funds released, not paid'), ('refused', 'Refused by the exchange'), ('lapsed', 'Lapsed, not paid'), ('expired', 'Expired, not paid'), ('cancelled', 'Cancelled'), ('failed', 'Failed at the exchange'), ('investigate', 'Review by two people'), ('resolved_paid', 'Closed by two people: paid'), ('resolved_not_paid', 'Closed by two people: not paid')], default='draft', max_length=20)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('decision', models.CharField(choices=[('none', 'none'), ('commit', 'commit'), ('rollback', 'rollback')], default='none', max_length=10)),
                    ('decided_at', models.DateTimeField(null=True)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('tag', models.CharField(blank=True, default='', max_length=40)),
                    ('exchange_id', models.CharField(max_length=80, null=True)),
                    ('exchange_status', models.CharField(blank=True, default='', max_length=40)),
                    ('exchange_index', models.BigIntegerField(null=True)),
                    ('exchange_error_code', models.CharField(blank=True, default='', max_length=80)),
                    ('hash', models.CharField(blank=True, default='', max_length=256)),
                    ('confirmations', models.IntegerField(null=True)),
                    ('fee_estimate', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('fee_estimated_at', models.DateTimeField(null=True)),
                    ('fee', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('echo', models.JSONField(default=list)),
                    ('echo_ok', models.BooleanField(null=True)),
                    ('quote_value', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('quote_currency', models.CharField(blank=True, default='', max_length=20)),
                    ('quote_at', models.DateTimeField(null=True)),
                    ('window_from', models.DateTimeField(null=True)),
                    ('closes_at', models.DateTimeField(null=True)),
                    ('approve_until', models.DateTimeField(null=True)),
                    ('rollback_at', models.DateTimeField(null=True)),
                    ('put_stop_at', models.DateTimeField(null=True)),
                    ('put_count', models.PositiveIntegerField(default=0)),
                    ('delete_count', models.PositiveIntegerField(default=0)),
                    ('lease_epoch', models.PositiveIntegerField(default=0)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='withdrawals', to='exchange_ops.account')),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='withdrawals', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='withdrawal_due'), models.Index(fields=['account', '-created_at'], name='withdrawal_newest'), models.Index(fields=['tag'], name='withdrawal_by_tag'), models.Index(fields=['account', 'updated_at', 'id'], name='withdrawal_by_change'), models.Index(fields=['account', 'currency', 'amount', 'id'], name='withdrawal_by_amount'), models.Index(fields=['account', 'currency', 'address'], name='withdrawal_by_address'), models.Index(fields=['hash'], name='withdrawal_by_hash')],
                    'constraints': [models.UniqueConstraint(fields=('initiator', 'request_key'), name='withdrawal_one_per_request_key'), models.UniqueConstraint(fields=('account', 'exchange_id'), name='withdrawal_one_per_exchange_id'), models.UniqueConstraint(condition=models.Q(('state__in', ('holding', 'hold_unknown'))), fields=('account', 'currency', 'amount', 'address', 'payment_id'), name='withdrawal_one_equal_hold_in_flight'), models.CheckConstraint(condition=models.Q(models.Q(('decision', 'none'), ('state', 'draft')), models.Q(('decision', 'none'), ('state', 'review')), models.Q(('decision', 'none'), ('state', 'queued')), models.Q(('decision', 'none'), ('state', 'holding')), models.Q(('decision', 'none'), ('state', 'hold_unknown')), models.Q(('decision', 'none'), ('state', 'held')), models.Q(('decision', 'commit'), ('state', 'committing')), models.Q(('decision', 'commit'), ('state', 'commit_unknown')), models.Q(('decision', 'commit'), ('state', 'committed')), models.Q(('decision', 'commit'), ('state', 'sent')), models.Q(('decision', 'commit'), ('state', 'settled')), models.Q(('decision', 'commit'), ('state', 'verified')), models.Q(('decision', 'commit'), ('state', 'disputed')), models.Q(('decision', 'rollback'), ('state', 'rolling_back')), models.Q(('decision', 'rollback'), ('state', 'rolled_back')), models.Q(('decision', 'none'), ('state', 'refused')), models.Q(('decision', 'none'), ('state', 'lapsed')), models.Q(('decision', 'commit'), ('state', 'expired')), models.Q(('decision', 'none'), ('state', 'cancelled')), models.Q(('decision', 'commit'), ('state', 'failed')), models.Q(('decision', 'none'), ('state', 'investigate')), models.Q(('decision', 'commit'), ('state', 'investigate')), models.Q(('decision', 'rollback'), ('state', 'investigate')), models.Q(('decision', 'none'), ('state', 'resolved_paid')), models.Q(('decision', 'commit'), ('state', 'resolved_paid')), models.Q(('decision', 'rollback'), ('state', 'resolved_paid')), models.Q(('decision', 'none'), ('state', 'resolved_not_paid')), models.Q(('decision', 'commit'), ('state', 'resolved_not_paid')), models.Q(('decision', 'rollback'), ('state', 'resolved_not_paid')), _connector='OR'), name='withdrawal_state_and_decision_agree'), models.CheckConstraint(condition=models.Q(('amount__gt', Decimal('0'))), name='withdrawal_amount_is_positive'), models.CheckConstraint(condition=models.Q(('exchange_id', ''), _negated=True), name='withdrawal_exchange_id_is_not_blank'), models.CheckConstraint(condition=models.Q(('decision', 'none'), ('decided_at__isnull', False), _connector='OR'), name='withdrawal_decision_has_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'committing'), _negated=True), ('exchange_id__isnull', False), _connector='OR'), name='withdrawal_commit_needs_a_hold')],
                },
            ),
            migrations.CreateModel(
                name='LedgerEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('exchange_id', models.CharField(max_length=80)),
                    ('index', models.BigIntegerField()),
                    ('type', models.CharField(max_length=40)),
                    ('sub_type', models.CharField(blank=True, default='', max_length=40)),
                    ('status', models.CharField(max_length=40)),
                    ('currency', models.CharField(max_length=20)),
                    ('amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fee', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('address', models.CharField(blank=True, default='', max_length=256)),
                    ('payment_id', models.CharField(blank=True, default='', max_length=256)),
                    ('hash', models.CharField(blank=True, default='', max_length=256)),
                    ('confirmations', models.IntegerField(null=True)),
                    ('public_comment', models.CharField(blank=True, default='', max_length=255)),
                    ('error_code', models.CharField(blank=True, default='', max_length=80)),
                    ('senders', models.JSONField(default=list)),
                    ('offchain_id', models.JSONField(default=list)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('first_seen_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                    ('foreign', models.BooleanField(default=False)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger_entries', to='exchange_ops.account')),
                    ('withdrawal', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ledger_entries', to='exchange_ops.withdrawal')),
                    ('transfer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ledger_entries', to='exchange_ops.transfer')),
                ],
                options={
                    'verbose_name_plural': 'ledger entries',
                    'indexes': [models.Index(fields=['account', '-index'], name='ledgerentry_by_index'), models.Index(fields=['account', 'type', 'status'], name='ledgerentry_by_type_status'), models.Index(fields=['public_comment'], name='ledgerentry_by_comment'), models.Index(condition=models.Q(('foreign', True)), fields=['account'], name='ledgerentry_foreign'), models.Index(fields=['account', 'currency', '-index'], name='ledgerentry_by_currency'), models.Index(fields=['account', 'updated_at', 'id'], name='ledgerentry_by_change'), models.Index(fields=['account', 'type', 'updated_at', 'id'], name='ledgerentry_by_kind_change'), models.Index(fields=['account', 'currency', 'amount', 'id'], name='ledgerentry_by_amount'), models.Index(condition=models.Q(('type', 'payout')), fields=['account', 'currency', 'address', 'payment_id', 'id'], name='ledgerentry_by_destination'), models.Index(condition=models.Q(('type', 'payin')), fields=['account', 'currency', 'address'], name='ledgerentry_by_paid_in'), models.Index(fields=['hash'], name='ledgerentry_by_hash')],
                    'constraints': [models.UniqueConstraint(fields=('account', 'exchange_id'), name='ledgerentry_one_per_exchange_id')],
                },
            ),
            migrations.CreateModel(
                name='LedgerVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('index', models.BigIntegerField()),
                    ('status', models.CharField(max_length=40)),
                    ('content', models.JSONField()),
                    ('source', models.CharField(max_length=10)),
                    ('seen_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exchange_ops.account')),
                    ('entry', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='exchange_ops.ledgerentry')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'index'), name='ledgerversion_one_per_index')],
                },
            ),
            migrations.CreateModel(
                name='PolicyVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField(unique=True)),
                    ('note', models.CharField(blank=True, default='', max_length=300)),
                    ('value_max_age_s', models.PositiveIntegerField(default=300)),
                    ('published_at', models.DateTimeField()),
                    ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('price_distance', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('price_beyond', models.CharField(choices=[('confirm', 'is confirmed by name'), ('approve', 'needs an approval'), ('refuse', 'is refused')], default='refuse', max_length=10)),
                ],
            ),
            migrations.CreateModel(
                name='QuorumTier',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(default='USD', max_length=20)),
                    ('up_to', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('approvals', models.PositiveSmallIntegerField()),
                    ('mode', models.CharField(choices=[('hold_then_approve', 'hold first'), ('approve_then_hold', 'approve first')], max_length=20)),
                    ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tiers', to='exchange_ops.policyversion')),
                    ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('approvals__gte', 1)), name='quorumtier_needs_an_approval'), models.UniqueConstraint(condition=models.Q(('account__isnull', True)), fields=('policy', 'up_to'), name='quorumtier_one_per_limit'), models.UniqueConstraint(condition=models.Q(('account__isnull', True), ('up_to__isnull', True)), fields=('policy',), name='quorumtier_one_for_the_rest'), models.UniqueConstraint(condition=models.Q(('account__isnull', False)), fields=('policy', 'account', 'up_to'), name='quorumtier_one_per_limit_of_an_account'), models.UniqueConstraint(condition=models.Q(('account__isnull', False), ('up_to__isnull', True)), fields=('policy', 'account'), name='quorumtier_one_for_the_rest_of_an_account')],
                },
            ),
            migrations.CreateModel(
                name='ThawVote',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.CharField(max_length=500)),
                    ('at', models.DateTimeField()),
                    ('confirmation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('freeze', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='votes', to='exchange_ops.freeze')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('freeze', 'person'), name='thawvote_one_per_person'), models.UniqueConstraint(condition=models.Q(('confirmation__isnull', False)), fields=('confirmation',), name='thawvote_one_per_second_factor')],
                },
            ),
            migrations.CreateModel(
                name='Watermark',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=40)),
                    ('index', models.BigIntegerField(default=0)),
                    ('moved_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='watermarks', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'name'), name='watermark_one_per_name')],
                },
            ),
            migrations.CreateModel(
                name='ExternalCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=10)),
                    ('attempt', models.PositiveIntegerField()),
                    ('epoch', models.PositiveIntegerField()),
                    ('tag', models.CharField(blank=True, default='', max_length=40)),
                    ('exchange_id', models.CharField(blank=True, default='', max_length=80)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('watermark', models.BigIntegerField(default=0)),
                    ('balances', models.JSONField(default=dict)),
                    ('prepared_at', models.DateTimeField()),
                    ('send_by', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('outcome', models.CharField(choices=[('prepared', 'prepared'), ('sent', 'sent'), ('accepted', 'accepted'), ('refused', 'refused'), ('not_sent', 'not_sent'), ('unknown', 'unknown'), ('found', 'found'), ('absent', 'absent')], default='prepared', max_length=10)),
                    ('http_status', models.PositiveIntegerField(null=True)),
                    ('error_code', models.IntegerField(null=True)),
                    ('detail', models.CharField(blank=True, default='', max_length=500)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exchange_ops.account')),
                    ('withdrawal', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='exchange_ops.withdrawal')),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['tag'], name='externalcall_by_tag')],
                    'constraints': [models.UniqueConstraint(fields=('withdrawal', 'kind', 'attempt'), name='externalcall_one_per_attempt'), models.CheckConstraint(condition=models.Q(('outcome__in', ('prepared', 'sent', 'accepted', 'refused', 'not_sent', 'unknown', 'found', 'absent'))), name='externalcall_known_outcome')],
                },
            ),
            migrations.CreateModel(
                name='Approval',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('stage', models.CharField(max_length=10)),
                    ('verdict', models.CharField(max_length=10)),
                    ('comment', models.CharField(blank=True, default='', max_length=500)),
                    ('at', models.DateTimeField()),
                    ('confirmation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='approvals', to=settings.AUTH_USER_MODEL)),
                    ('withdrawal', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='approvals', to='exchange_ops.withdrawal')),
                ],
                options={
                    'ordering': ['at', 'id'],
                    'constraints': [models.UniqueConstraint(fields=('withdrawal', 'digest', 'stage', 'person', 'verdict'), name='approval_one_word_per_person'), models.CheckConstraint(condition=models.Q(('person', models.F('initiator')), _negated=True), name='approval_never_by_the_initiator'), models.CheckConstraint(condition=models.Q(('verdict', 'reject'), ('confirmation__isnull', False), _connector='OR'), name='approval_needs_a_second_factor'), models.UniqueConstraint(condition=models.Q(('confirmation__isnull', False)), fields=('confirmation',), name='approval_one_per_second_factor')],
                },
            ),
            migrations.CreateModel(
                name='WithdrawalEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('decision', models.CharField(choices=[('none', 'none'), ('commit', 'commit'), ('rollback', 'rollback')], max_length=10)),
                    ('evidence', models.JSONField(default=dict)),
                    ('changes', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('withdrawal', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.withdrawal')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('withdrawal', 'version'), name='withdrawalevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'draft')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'queued')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'review')), models.Q(('event', 'checks_failed'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'approval_recorded'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'quorum_reached'), ('from_state', 'review'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'review')), models.Q(('event', 'hold_claimed'), ('from_state', 'queued'), ('to_state', 'holding')), models.Q(('event', 'hold_accepted'), ('from_state', 'holding'), ('to_state', 'held')), models.Q(('event', 'hold_refused'), ('from_state', 'holding'), ('to_state', 'refused')), models.Q(('event', 'hold_not_sent'), ('from_state', 'holding'), ('to_state', 'queued')), models.Q(('event', 'hold_unknown'), ('from_state', 'holding'), ('to_state', 'hold_unknown')), models.Q(('event', 'hold_adopted'), ('from_state', 'hold_unknown'), ('to_state', 'held')), models.Q(('event', 'hold_not_found'), ('from_state', 'hold_unknown'), ('to_state', 'lapsed')), models.Q(('event', 'hold_ambiguous'), ('from_state', 'hold_unknown'), ('to_state', 'investigate')), models.Q(('event', 'echo_agrees'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'echo_differs'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'executed_without_us'), ('from_state', 'held'), ('to_state', 'investigate')), models.Q(('event', 'executed_without_us'), ('from_state', 'committing'), ('to_state', 'investigate')), models.Q(('event', 'approval_recorded'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'quorum_reached'), ('from_state', 'held'), ('to_state', 'committing')), models.Q(('event', 'rejected'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'cancelled'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'time_over'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'policy_changed'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'fee_drifted'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'ended_at_exchange'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'recalled'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'time_over'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'echo_differs'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'commit_claimed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_confirmed'), ('from_state', 'committing'), ('to_state', 'committed')), models.Q(('event', 'commit_unconfirmed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_stopped'), ('from_state', 'committing'), ('to_state', 'commit_unknown')), models.Q(('event', 'commit_confirmed'), ('from_state', 'commit_unknown'), ('to_state', 'committed')), models.Q(('event', 'commit_not_carried_out'), ('from_state', 'commit_unknown'), ('to_state', 'expired')), models.Q(('event', 'still_unclear'), ('from_state', 'commit_unknown'), ('to_state', 'investigate')), models.Q(('event', 'rollback_claimed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'released'), ('from_state', 'rolling_back'), ('to_state', 'rolled_back')), models.Q(('event', 'rollback_unconfirmed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'escalated'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'paid_anyway'), ('from_state', 'rolling_back'), ('to_state', 'investigate')), models.Q(('event', 'hash_seen'), ('from_state', 'committed'), ('to_state', 'sent')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'sent'), ('to_state', 'settled')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'committed'), ('to_state', 'settled')), models.Q(('event', 'proven'), ('from_state', 'settled'), ('to_state', 'verified')), models.Q(('event', 'proof_lost'), ('from_state', 'sent'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'committed'), ('to_state', 'failed')), models.Q(('event', 'exchange_failed'), ('from_state', 'sent'), ('to_state', 'failed')), models.Q(('event', 'cancelled'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'rejected'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'queued'), ('to_state', 'cancelled')), models.Q(('event', 'resolution_recorded'), ('from_state', 'investigate'), ('to_state', 'investigate')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'resolution_recorded'), ('from_state', 'disputed'), ('to_state', 'disputed')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'proven_again'), ('from_state', 'disputed'), ('to_state', 'verified')), _connector='OR'), name='withdrawalevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='AddressCheck',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('address', models.CharField(max_length=256)),
                    ('is_own', models.BooleanField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='address_checks', to='exchange_ops.account')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'currency', 'address'), name='addresscheck_one_row')],
                },
            ),
            migrations.CreateModel(
                name='ApiKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('label', models.CharField(max_length=80)),
                    ('login', models.CharField(max_length=200)),
                    ('sealed_secret', models.TextField(default='')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('fingerprint', models.CharField(blank=True, default='', max_length=64)),
                    ('last_four', models.CharField(blank=True, default='', max_length=4)),
                    ('rights', models.JSONField(default=list)),
                    ('active', models.BooleanField(default=True)),
                    ('created_at', models.DateTimeField()),
                    ('retired_at', models.DateTimeField(null=True)),
                    ('last_used_at', models.DateTimeField(null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=300)),
                    ('last_problem_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='exchange_ops.account')),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('kept_at', models.DateTimeField(null=True)),
                    ('observed', models.JSONField(default=dict)),
                    ('probe_asked_at', models.DateTimeField(null=True)),
                    ('probe_problem', models.CharField(blank=True, default='', max_length=300)),
                    ('probed_at', models.DateTimeField(null=True)),
                    ('replaces', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='successors', to='exchange_ops.apikey')),
                    ('request_key', models.CharField(max_length=80, null=True, unique=True)),
                    ('same_account', models.BooleanField(null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('retired_at', None)), fields=('account', 'login'), name='apikey_one_live_row_per_login'), models.UniqueConstraint(condition=models.Q(('active', False), ('kept_at', None), ('retired_at', None)), fields=('replaces',), name='apikey_one_successor_waits'), models.CheckConstraint(condition=models.Q(('active', False), models.Q(('kept_at', None), ('retired_at', None)), _connector='OR'), name='apikey_in_use_or_not')],
                },
            ),
            migrations.CreateModel(
                name='Balance',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('wallet', models.CharField(choices=[('bank', 'bank'), ('trading', 'trading')], max_length=10)),
                    ('available', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('reserved', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('read_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='balances', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'currency', 'wallet'), name='balance_one_per_wallet')],
                },
            ),
            migrations.CreateModel(
                name='ClockReading',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('skew_ms', models.BigIntegerField()),
                    ('read_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='clock_readings', to='exchange_ops.account')),
                ],
                options={
                    'indexes': [models.Index(fields=['account', '-read_at'], name='clockreading_newest')],
                },
            ),
            migrations.CreateModel(
                name='FeeEstimate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fee', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fee_estimates', to='exchange_ops.account')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'currency', 'amount'), name='feeestimate_one_row')],
                },
            ),
            migrations.CreateModel(
                name='Fact',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=80)),
                    ('value', models.JSONField()),
                    ('noted_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='facts', to='exchange_ops.account')),
                ],
                options={
                    'indexes': [models.Index(fields=['account', 'name', '-noted_at'], name='fact_newest')],
                },
            ),
            migrations.CreateModel(
                name='SubAccount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('exchange_id', models.BigIntegerField()),
                    ('email', models.CharField(max_length=254)),
                    ('status', models.CharField(max_length=40)),
                    ('closed_as', models.CharField(blank=True, default='', max_length=10)),
                    ('observed_at', models.DateTimeField()),
                    ('missing_since', models.DateTimeField(null=True)),
                    ('settings_shown', models.BooleanField(null=True)),
                    ('payout_enabled', models.BooleanField(null=True)),
                    ('description', models.CharField(blank=True, default='', max_length=255)),
                    ('settings_at', models.DateTimeField(null=True)),
                    ('balances_asked_at', models.DateTimeField(null=True)),
                    ('balances_tried_at', models.DateTimeField(null=True)),
                    ('balances_at', models.DateTimeField(null=True)),
                    ('balances_problem', models.CharField(blank=True, default='', max_length=300)),
                    ('wanted', models.CharField(blank=True, default='', max_length=10)),
                    ('wanted_payout', models.BooleanField(null=True)),
                    ('wanted_description', models.CharField(max_length=255, null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='subaccounts', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'exchange_id'), name='subaccount_one_row'), models.CheckConstraint(condition=models.Q(('wanted__in', ('', 'active', 'frozen'))), name='subaccount_known_wish'), models.CheckConstraint(condition=models.Q(('closed_as__in', ('', 'frozen', 'disabled'))), name='subaccount_known_end')],
                },
            ),
            migrations.CreateModel(
                name='SubAccountAction',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('freeze', 'Freeze'), ('activate', 'Activate'), ('settings', 'Change payout settings')], max_length=10)),
                    ('lane', models.CharField(max_length=10)),
                    ('wanted_payout', models.BooleanField(null=True)),
                    ('wanted_description', models.CharField(max_length=255, null=True)),
                    ('reason', models.CharField(max_length=500)),
                    ('request_key', models.CharField(max_length=80)),
                    ('digest', models.CharField(max_length=64)),
                    ('before', models.JSONField(default=dict)),
                    ('state', models.CharField(choices=[('requested', 'Waiting to be sent'), ('sending', 'Being sent'), ('accepted', 'Accepted, not seen yet'), ('unknown', 'Outcome unknown'), ('done', 'Done and seen'), ('refused', 'Refused by the exchange'), ('not_done', 'Not done'), ('cancelled', 'Taken back')], default='requested', max_length=20)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('looks', models.PositiveIntegerField(default=0)),
                    ('answer', models.CharField(blank=True, default='', max_length=10)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('confirmation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('sub_account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='actions', to='exchange_ops.subaccount')),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='subaccountaction_due'), models.Index(fields=['sub_account', '-id'], name='subaccountaction_newest')],
                    'constraints': [models.UniqueConstraint(fields=('requested_by', 'request_key', 'sub_account'), name='subaccountaction_one_per_request_key'), models.UniqueConstraint(condition=models.Q(('state__in', ('requested', 'sending', 'accepted', 'unknown'))), fields=('sub_account', 'kind'), name='subaccountaction_one_open_of_a_kind'), models.UniqueConstraint(condition=models.Q(('state__in', ('sending', 'accepted', 'unknown'))), fields=('sub_account', 'lane'), name='subaccountaction_one_call_in_a_lane'), models.CheckConstraint(condition=models.Q(('kind', 'settings'), ('confirmation__isnull', False), _connector='OR'), name='subaccountaction_status_needs_a_second_factor'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'settings'), _negated=True), ('wanted_payout__isnull', False), ('wanted_description__isnull', False), _connector='OR'), name='subaccountaction_settings_change_something')],
                },
            ),
            migrations.CreateModel(
                name='SubAccountAddress',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('address', models.CharField(blank=True, default='', max_length=256)),
                    ('payment_id', models.CharField(blank=True, default='', max_length=256)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('sub_account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='addresses', to='exchange_ops.subaccount')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('sub_account', 'currency'), name='subaccountaddress_one_row')],
                },
            ),
            migrations.CreateModel(
                name='SubAccountBalance',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('wallet', models.CharField(max_length=10)),
                    ('available', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('reserved', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('sub_account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='balances', to='exchange_ops.subaccount')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('sub_account', 'currency', 'wallet'), name='subaccountbalance_one_row')],
                },
            ),
            migrations.CreateModel(
                name='SubAccountCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempt', models.PositiveIntegerField()),
                    ('version', models.PositiveIntegerField(help_text='version of the action that this call belongs to')),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('prepared_at', models.DateTimeField()),
                    ('send_by', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('outcome', models.CharField(choices=[('prepared', 'prepared'), ('sent', 'sent'), ('accepted', 'accepted'), ('refused', 'refused'), ('not_sent', 'not_sent'), ('unknown', 'unknown'), ('found', 'found'), ('absent', 'absent')], default='prepared', max_length=10)),
                    ('http_status', models.PositiveIntegerField(null=True)),
                    ('error_code', models.IntegerField(null=True)),
                    ('detail', models.CharField(blank=True, default='', max_length=500)),
                    ('action', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='exchange_ops.subaccountaction')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('action', 'attempt'), name='subaccountcall_one_per_attempt'), models.CheckConstraint(condition=models.Q(('outcome__in', ('prepared', 'sent', 'accepted', 'refused', 'not_sent', 'unknown', 'found', 'absent'))), name='subaccountcall_known_outcome')],
                },
            ),
            migrations.CreateModel(
                name='SubAccountEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=20)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('action', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.subaccountaction')),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('action', 'version'), name='subaccountevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'claimed'), ('from_state', 'requested'), ('to_state', 'sending')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'accepted')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'requested')), models.Q(('event', 'lost'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'seen'), ('from_state', 'accepted'), ('to_state', 'done')), models.Q(('event', 'seen_unchanged'), ('from_state', 'accepted'), ('to_state', 'not_done')), models.Q(('event', 'seen'), ('from_state', 'unknown'), ('to_state', 'done')), models.Q(('event', 'seen_unchanged'), ('from_state', 'unknown'), ('to_state', 'requested')), models.Q(('event', 'seen_unchanged'), ('from_state', 'unknown'), ('to_state', 'not_done')), models.Q(('event', 'taken_back'), ('from_state', 'requested'), ('to_state', 'cancelled')), _connector='OR'), name='subaccountevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='SubAccountReading',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('asked_at', models.DateTimeField(null=True)),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=500)),
                    ('account', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='subaccount_reading', to='exchange_ops.account')),
                    ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='AccountTrade',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('exchange_id', models.BigIntegerField()),
                    ('exchange_order_id', models.BigIntegerField()),
                    ('client_order_id', models.CharField(blank=True, default='', max_length=64)),
                    ('symbol', models.CharField(max_length=40)),
                    ('side', models.CharField(max_length=10)),
                    ('quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fee', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('taker', models.BooleanField(null=True)),
                    ('liquidation', models.BooleanField(null=True)),
                    ('timestamp', models.DateTimeField()),
                    ('read_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trades', to='exchange_ops.account')),
                ],
                options={
                    'indexes': [models.Index(fields=['account', 'exchange_order_id'], name='accounttrade_by_order'), models.Index(fields=['account', 'timestamp', 'id'], name='accounttrade_by_moment'), models.Index(fields=['account', 'symbol', 'timestamp', 'id'], name='accounttrade_by_symbol')],
                    'constraints': [models.UniqueConstraint(fields=('account', 'exchange_id'), name='accounttrade_one_per_exchange_id')],
                },
            ),
            migrations.CreateModel(
                name='MarginAccount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('symbol', models.CharField(max_length=40)),
                    ('leverage', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('margin_balance', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('margin_balance_orders', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('margin_balance_required', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('read_at', models.DateTimeField()),
                    ('gone_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='margin_accounts', to='exchange_ops.account')),
                    ('reason', models.CharField(blank=True, default='', max_length=40)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'symbol'), name='marginaccount_one_per_symbol')],
                },
            ),
            migrations.CreateModel(
                name='MarginPosition',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('symbol', models.CharField(max_length=40)),
                    ('exchange_id', models.BigIntegerField()),
                    ('quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('price_entry', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('pnl', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('price_margin_call', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('price_liquidation', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('read_at', models.DateTimeField()),
                    ('gone_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='margin_positions', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'symbol'), name='marginposition_one_per_symbol')],
                },
            ),
            migrations.CreateModel(
                name='Order',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('initiated_via', models.CharField(default='page', max_length=10)),
                    ('request_key', models.CharField(blank=True, default='', max_length=80)),
                    ('client_order_id', models.CharField(max_length=64)),
                    ('exchange_id', models.BigIntegerField(null=True)),
                    ('symbol', models.CharField(max_length=40)),
                    ('side', models.CharField(max_length=10)),
                    ('type', models.CharField(max_length=20)),
                    ('time_in_force', models.CharField(max_length=10)),
                    ('quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('stop_price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('expire_time', models.DateTimeField(null=True)),
                    ('post_only', models.BooleanField(default=False)),
                    ('strict_validate', models.BooleanField(default=True)),
                    ('margin', models.BooleanField(default=False)),
                    ('status', models.CharField(blank=True, default='', max_length=40)),
                    ('cum_quantity', desk.fields.ExactDecimalField(decimal_places=24, default=Decimal('0'), max_digits=60)),
                    ('average_price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('exchange_created_at', models.DateTimeField(null=True)),
                    ('exchange_updated_at', models.DateTimeField(null=True)),
                    ('active', models.BooleanField(default=False)),
                    ('missing_since', models.DateTimeField(null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('state', models.CharField(choices=[('waiting', 'Waiting for approval'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn'), ('lapsed', 'Approval expired'), ('requested', 'About to be sent'), ('sending', 'Being placed'), ('placed', 'Placed'), ('refused', 'Refused by the exchange'), ('not_sent', 'Not sent'), ('unknown', 'Unknown, being looked for'), ('found', 'Placed, found by its id'), ('not_seen', 'Not seen at the exchange'), ('cancelling', 'Being cancelled'), ('replacing', 'Being replaced')], max_length=12)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('sends', models.PositiveSmallIntegerField(default=0)),
                    ('cancels', models.PositiveIntegerField(default=0)),
                    ('looks', models.PositiveIntegerField(default=0)),
                    ('sent_from', models.DateTimeField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('lease_epoch', models.PositiveIntegerField(default=0)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='exchange_ops.account')),
                    ('initiator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to=settings.AUTH_USER_MODEL)),
                    ('cancel_together', models.BooleanField(default=False, help_text='cancelled by the one call for all open orders of its symbol')),
                    ('provide_liquidity_markup', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('replaces', models.ForeignKey(help_text='the order that it replaces', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='replacements', to='exchange_ops.order')),
                    ('take_liquidity_markup', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('approve_until', models.DateTimeField(null=True)),
                    ('decided_at', models.DateTimeField(null=True)),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('digest', models.CharField(blank=True, default='', help_text='what an approver signs; empty where none is needed', max_length=64)),
                    ('oversteps', models.JSONField(default=list, help_text='bounds of the rules that it went beyond, each as it was confirmed by name')),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='order_due'), models.Index(fields=['account', 'active'], name='order_active'), models.Index(fields=['account', 'client_order_id'], name='order_by_client_id'), models.Index(fields=['account', 'symbol', 'id'], name='order_by_symbol'), models.Index(fields=['account', 'created_at'], name='order_by_moment')],
                    'constraints': [models.UniqueConstraint(fields=('initiator', 'request_key'), name='order_one_per_request_key'), models.UniqueConstraint(fields=('account', 'exchange_id'), name='order_one_per_exchange_id'), models.UniqueConstraint(condition=models.Q(('initiator__isnull', False)), fields=('account', 'client_order_id'), name='order_one_per_client_order_id'), models.CheckConstraint(condition=models.Q(('sends__lte', 1)), name='order_is_sent_at_most_once'), models.CheckConstraint(condition=models.Q(('initiator__isnull', False), ('exchange_id__isnull', False), _connector='OR'), name='order_is_ours_or_theirs'), models.CheckConstraint(condition=models.Q(('initiator__isnull', True), ('quantity__gt', Decimal('0')), _connector='OR'), name='order_quantity_is_positive'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['placed', 'found', 'cancelling', 'replacing']), _negated=True), ('exchange_id__isnull', False), _connector='OR'), name='order_at_the_exchange_has_its_number'), models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'declined', 'withdrawn', 'lapsed', 'requested', 'sending', 'placed', 'refused', 'not_sent', 'unknown', 'found', 'not_seen', 'cancelling', 'replacing'])), name='order_known_state'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['waiting', 'declined', 'withdrawn', 'lapsed']), _negated=True), ('approve_until__isnull', False), _connector='OR'), name='order_that_waits_has_a_deadline'), models.CheckConstraint(condition=models.Q(models.Q(('approve_until__isnull', True), ('digest', '')), models.Q(models.Q(('digest', ''), _negated=True), ('approve_until__isnull', False)), _connector='OR'), name='order_for_approval_has_a_digest')],
                },
            ),
            migrations.CreateModel(
                name='OrderCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=10)),
                    ('attempt', models.PositiveIntegerField()),
                    ('epoch', models.PositiveIntegerField()),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('prepared_at', models.DateTimeField()),
                    ('send_by', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('outcome', models.CharField(choices=[('prepared', 'prepared'), ('sent', 'sent'), ('accepted', 'accepted'), ('refused', 'refused'), ('not_sent', 'not_sent'), ('unknown', 'unknown'), ('found', 'found'), ('absent', 'absent')], default='prepared', max_length=10)),
                    ('error_code', models.IntegerField(null=True)),
                    ('detail', models.CharField(blank=True, default='', max_length=500)),
                    ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='exchange_ops.order')),
                    ('way', models.CharField(choices=[('rest', 'REST'), ('socket', 'trading socket')], default='rest', max_length=6)),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('order', 'kind', 'attempt'), name='ordercall_one_per_attempt'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'place'), _negated=True), ('attempt', 1), _connector='OR'), name='ordercall_places_once'), models.CheckConstraint(condition=models.Q(('outcome__in', ('prepared', 'sent', 'accepted', 'refused', 'not_sent', 'unknown', 'found', 'absent'))), name='ordercall_known_outcome')],
                },
            ),
            migrations.CreateModel(
                name='OrderEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(null=True)),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=12)),
                    ('to_state', models.CharField(max_length=12)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it', null=True)),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.order')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('order', 'version'), name='orderevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'seen_elsewhere'), ('from_state', ''), ('to_state', 'placed')), models.Q(('event', 'claimed'), ('from_state', 'requested'), ('to_state', 'sending')), models.Q(('event', 'stopped'), ('from_state', 'requested'), ('to_state', 'not_sent')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'placed')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'not_sent')), models.Q(('event', 'answer_lost'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'found'), ('from_state', 'unknown'), ('to_state', 'found')), models.Q(('event', 'not_seen'), ('from_state', 'unknown'), ('to_state', 'not_seen')), models.Q(('event', 'found'), ('from_state', 'not_seen'), ('to_state', 'found')), models.Q(('event', 'found'), ('from_state', 'refused'), ('to_state', 'found')), models.Q(('event', 'found'), ('from_state', 'not_sent'), ('to_state', 'found')), models.Q(('event', 'cancel_asked'), ('from_state', 'placed'), ('to_state', 'cancelling')), models.Q(('event', 'cancel_asked'), ('from_state', 'found'), ('to_state', 'cancelling')), models.Q(('event', 'cancel_claimed'), ('from_state', 'cancelling'), ('to_state', 'cancelling')), models.Q(('event', 'cancel_unconfirmed'), ('from_state', 'cancelling'), ('to_state', 'cancelling')), models.Q(('event', 'cancel_confirmed'), ('from_state', 'cancelling'), ('to_state', 'placed')), models.Q(('event', 'cancel_refused'), ('from_state', 'cancelling'), ('to_state', 'placed')), models.Q(('event', 'replace_asked'), ('from_state', 'placed'), ('to_state', 'replacing')), models.Q(('event', 'replace_asked'), ('from_state', 'found'), ('to_state', 'replacing')), models.Q(('event', 'replaced'), ('from_state', 'replacing'), ('to_state', 'placed')), models.Q(('event', 'replace_ended'), ('from_state', 'replacing'), ('to_state', 'placed')), models.Q(('event', 'cancel_asked'), ('from_state', 'replacing'), ('to_state', 'cancelling')), models.Q(('event', 'approval_asked'), ('from_state', ''), ('to_state', 'waiting')), models.Q(('event', 'quorum_reached'), ('from_state', 'waiting'), ('to_state', 'requested')), models.Q(('event', 'declined'), ('from_state', 'waiting'), ('to_state', 'declined')), models.Q(('event', 'withdrawn'), ('from_state', 'waiting'), ('to_state', 'withdrawn')), models.Q(('event', 'lapsed'), ('from_state', 'waiting'), ('to_state', 'lapsed')), models.Q(('event', 'asked_by_bracket'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'observed'), ('version__isnull', True)), _connector='OR'), name='orderevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='OrderReading',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('account', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='order_reading', to='exchange_ops.account')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='BookSnapshot',
                fields=[
                    ('symbol', models.CharField(max_length=40, primary_key=True, serialize=False)),
                    ('timestamp', models.DateTimeField()),
                    ('ask', models.JSONField()),
                    ('bid', models.JSONField()),
                    ('read_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Candle',
                fields=[
                    ('pk', models.CompositePrimaryKey('symbol', 'period', 'timestamp', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('symbol', models.CharField(max_length=40)),
                    ('period', models.CharField(max_length=3)),
                    ('timestamp', models.DateTimeField()),
                    ('open', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('close', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('min', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('max', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('volume', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('volume_quote', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('read_at', models.DateTimeField()),
                ],
                options={
                    'indexes': [models.Index(fields=['period', 'timestamp'], name='candle_by_age')],
                },
            ),
            migrations.CreateModel(
                name='MarketLook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('symbol', models.CharField(max_length=40)),
                    ('period', models.CharField(max_length=3)),
                    ('asked_at', models.DateTimeField(db_index=True)),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('candles_read_at', models.DateTimeField(null=True)),
                    ('trades_read_at', models.DateTimeField(null=True)),
                    ('book_read_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('symbol', 'period'), name='marketlook_one_row')],
                },
            ),
            migrations.CreateModel(
                name='PublicTrade',
                fields=[
                    ('pk', models.CompositePrimaryKey('symbol', 'trade_id', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('symbol', models.CharField(max_length=40)),
                    ('trade_id', models.BigIntegerField()),
                    ('price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('side', models.CharField(max_length=20)),
                    ('timestamp', models.DateTimeField()),
                    ('read_at', models.DateTimeField()),
                ],
                options={
                    'indexes': [models.Index(fields=['timestamp'], name='publictrade_by_age')],
                },
            ),
            migrations.CreateModel(
                name='TransferApproval',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('stage', models.CharField(max_length=10)),
                    ('verdict', models.CharField(max_length=10)),
                    ('comment', models.CharField(blank=True, default='', max_length=500)),
                    ('at', models.DateTimeField()),
                    ('confirmation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='transfer_approvals', to=settings.AUTH_USER_MODEL)),
                    ('transfer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='approvals', to='exchange_ops.transfer')),
                ],
                options={
                    'ordering': ['at', 'id'],
                    'constraints': [models.UniqueConstraint(fields=('transfer', 'digest', 'stage', 'person', 'verdict'), name='transferapproval_one_word_per_person'), models.CheckConstraint(condition=models.Q(('person', models.F('initiator')), _negated=True), name='transferapproval_never_by_the_initiator'), models.CheckConstraint(condition=models.Q(('verdict', 'reject'), ('confirmation__isnull', False), _connector='OR'), name='transferapproval_needs_a_second_factor'), models.UniqueConstraint(condition=models.Q(('confirmation__isnull', False)), fields=('confirmation',), name='transferapproval_one_per_second_factor')],
                },
            ),
            migrations.CreateModel(
                name='TransferCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempt', models.PositiveIntegerField()),
                    ('epoch', models.PositiveIntegerField()),
                    ('operation', models.CharField(max_length=40)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('watermark', models.BigIntegerField(default=0)),
                    ('balances', models.JSONField(default=dict)),
                    ('expected', models.JSONField(default=dict)),
                    ('created_from', models.DateTimeField()),
                    ('created_until', models.DateTimeField()),
                    ('prepared_at', models.DateTimeField()),
                    ('send_by', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('outcome', models.CharField(choices=[('prepared', 'prepared'), ('sent', 'sent'), ('accepted', 'accepted'), ('refused', 'refused'), ('not_sent', 'not_sent'), ('unknown', 'unknown'), ('found', 'found'), ('absent', 'absent')], default='prepared', max_length=10)),
                    ('exchange_id', models.CharField(blank=True, default='', max_length=80)),
                    ('second_id', models.CharField(blank=True, default='', max_length=80)),
                    ('error_code', models.IntegerField(null=True)),
                    ('detail', models.CharField(blank=True, default='', max_length=500)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exchange_ops.account')),
                    ('transfer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='exchange_ops.transfer')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('transfer', 'attempt'), name='transfercall_one_per_attempt'), models.UniqueConstraint(condition=models.Q(('outcome', 'not_sent'), _negated=True), fields=('transfer',), name='transfercall_sent_once_at_most'), models.CheckConstraint(condition=models.Q(('outcome__in', ('prepared', 'sent', 'accepted', 'refused', 'not_sent', 'unknown', 'found', 'absent'))), name='transfercall_known_outcome')],
                },
            ),
            migrations.CreateModel(
                name='TransferEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('changes', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('transfer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.transfer')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('transfer', 'version'), name='transferevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'draft')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'review')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'approved')), models.Q(('event', 'approval_recorded'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'quorum_reached'), ('from_state', 'review'), ('to_state', 'approved')), models.Q(('event', 'judged_again'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'judged_again'), ('from_state', 'approved'), ('to_state', 'review')), models.Q(('event', 'judged_again'), ('from_state', 'approved'), ('to_state', 'approved')), models.Q(('event', 'rejected'), ('from_state', 'review'), ('to_state', 'rejected')), models.Q(('event', 'cancelled'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'approved'), ('to_state', 'cancelled')), models.Q(('event', 'send_claimed'), ('from_state', 'approved'), ('to_state', 'sending')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'done')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'approved')), models.Q(('event', 'outcome_unknown'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'found'), ('from_state', 'unknown'), ('to_state', 'done')), models.Q(('event', 'ambiguous'), ('from_state', 'unknown'), ('to_state', 'investigate')), models.Q(('event', 'not_found'), ('from_state', 'unknown'), ('to_state', 'not_seen')), models.Q(('event', 'closed'), ('from_state', 'not_seen'), ('to_state', 'closed')), models.Q(('event', 'issued_anew'), ('from_state', 'not_seen'), ('to_state', 'closed')), models.Q(('event', 'appeared_late'), ('from_state', 'not_seen'), ('to_state', 'investigate')), models.Q(('event', 'appeared_late'), ('from_state', 'closed'), ('to_state', 'investigate')), models.Q(('event', 'listed'), ('from_state', 'done'), ('to_state', 'done')), models.Q(('event', 'not_listed'), ('from_state', 'done'), ('to_state', 'investigate')), models.Q(('event', 'listed_differently'), ('from_state', 'done'), ('to_state', 'investigate')), models.Q(('event', 'listed'), ('from_state', 'investigate'), ('to_state', 'done')), models.Q(('event', 'resolution_recorded'), ('from_state', 'investigate'), ('to_state', 'investigate')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_moved')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_not_moved')), _connector='OR'), name='transferevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='DepositAddress',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('address', models.CharField(max_length=256)),
                    ('payment_id', models.CharField(blank=True, default='', max_length=256)),
                    ('public_key', models.CharField(blank=True, default='', max_length=256)),
                    ('is_current', models.BooleanField(default=False)),
                    ('place', models.PositiveSmallIntegerField(null=True)),
                    ('first_seen_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deposit_addresses', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'currency', 'address', 'payment_id'), name='depositaddress_one_row'), models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('account', 'currency'), name='depositaddress_one_current')],
                },
            ),
            migrations.CreateModel(
                name='AddressRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('initiated_via', models.CharField(default='page', max_length=10)),
                    ('request_key', models.CharField(max_length=80)),
                    ('state', models.CharField(choices=[('asked', 'Waiting to be asked for'), ('sending', 'Being asked for'), ('unknown', 'Answer lost'), ('made', 'New address made'), ('refused', 'Refused by the exchange'), ('not_sent', 'Not asked'), ('absent', 'No new address seen')], default='asked', max_length=10)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('known', models.JSONField(default=list)),
                    ('looks', models.PositiveIntegerField(default=0)),
                    ('send_by', models.DateTimeField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('error_code', models.IntegerField(null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='address_requests', to='exchange_ops.account')),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('made', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='requests', to='exchange_ops.depositaddress')),
                ],
                options={
                    'indexes': [models.Index(fields=['account', 'currency', '-created_at'], name='addressrequest_newest')],
                    'constraints': [models.UniqueConstraint(fields=('initiator', 'request_key'), name='addressrequest_one_per_request_key'), models.UniqueConstraint(condition=models.Q(('state__in', ('asked', 'sending', 'unknown'))), fields=('account', 'currency'), name='addressrequest_one_open'), models.CheckConstraint(condition=models.Q(('state__in', ('asked', 'sending', 'unknown', 'made', 'refused', 'not_sent', 'absent'))), name='addressrequest_known_state'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'made'), _negated=True), ('made__isnull', False), _connector='OR'), name='addressrequest_made_has_an_address')],
                },
            ),
            migrations.CreateModel(
                name='AddressBook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=20)),
                    ('used', models.JSONField(default=list)),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='address_books', to='exchange_ops.account')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'currency'), name='addressbook_one_row')],
                },
            ),
            migrations.CreateModel(
                name='PayoutProof',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('txid', models.CharField(max_length=64)),
                    ('wanted_sat', models.BigIntegerField()),
                    ('standing', models.CharField(choices=[('unseen', 'unseen'), ('absent', 'absent'), ('wrong', 'wrong'), ('not_proven', 'not_proven'), ('waiting', 'waiting'), ('left', 'left'), ('proven', 'proven')], default='unseen', max_length=12)),
                    ('sentence', models.CharField(blank=True, default='', max_length=500)),
                    ('checks', models.JSONField(default=list)),
                    ('output', models.PositiveIntegerField(null=True)),
                    ('block_hash', models.CharField(blank=True, default='', max_length=64)),
                    ('height', models.BigIntegerField(null=True)),
                    ('depth', models.PositiveIntegerField(default=0)),
                    ('tip_hash', models.CharField(blank=True, default='', max_length=64)),
                    ('absent_since', models.DateTimeField(null=True)),
                    ('final_at', models.DateTimeField(null=True)),
                    ('looked_at', models.DateTimeField(null=True)),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('next_look_at', models.DateTimeField(null=True)),
                    ('withdrawal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='proof', to='exchange_ops.withdrawal')),
                ],
                options={
                    'indexes': [models.Index(fields=['next_look_at'], name='payoutproof_due')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('standing__in', ('unseen', 'absent', 'wrong', 'not_proven', 'waiting', 'left', 'proven'))), name='payoutproof_known_standing'), models.CheckConstraint(condition=models.Q(models.Q(('standing', 'proven'), _negated=True), models.Q(('depth__gte', 1), models.Q(('block_hash', ''), _negated=True)), _connector='OR'), name='payoutproof_has_a_block')],
                },
            ),
            migrations.CreateModel(
                name='HoldReleaseVote',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('reason', models.CharField(max_length=500)),
                    ('at', models.DateTimeField()),
                    ('confirmation', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('withdrawal', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='release_votes', to='exchange_ops.withdrawal')),
                ],
                options={
                    'ordering': ['at', 'id'],
                    'constraints': [models.UniqueConstraint(fields=('withdrawal', 'person'), name='holdreleasevote_one_per_person')],
                },
            ),
            migrations.CreateModel(
                name='CheckRun',
                fields=[
                    ('name', models.CharField(max_length=60, primary_key=True, serialize=False)),
                    ('tried_at', models.DateTimeField(null=True)),
                    ('ran_at', models.DateTimeField(null=True)),
                    ('took_ms', models.PositiveIntegerField(default=0)),
                    ('held', models.BooleanField(null=True)),
                    ('findings', models.JSONField(default=list)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                ],
            ),
            migrations.CreateModel(
                name='AddressRequestEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('request', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.addressrequest')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('request', 'version'), name='addressrequestevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'asked')), models.Q(('event', 'sending'), ('from_state', 'asked'), ('to_state', 'sending')), models.Q(('event', 'not_sent'), ('from_state', 'asked'), ('to_state', 'not_sent')), models.Q(('event', 'made'), ('from_state', 'sending'), ('to_state', 'made')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'not_sent')), models.Q(('event', 'unknown'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'made'), ('from_state', 'unknown'), ('to_state', 'made')), models.Q(('event', 'absent'), ('from_state', 'unknown'), ('to_state', 'absent')), _connector='OR'), name='addressrequestevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='PolicyChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('base', models.PositiveIntegerField()),
                    ('content', models.JSONField()),
                    ('reason', models.CharField(max_length=300)),
                    ('digest', models.CharField(max_length=64)),
                    ('is_looser', models.BooleanField()),
                    ('expires_at', models.DateTimeField()),
                    ('comment', models.CharField(blank=True, default='', max_length=300)),
                    ('in_force_at', models.DateTimeField(null=True)),
                    ('version_number', models.PositiveIntegerField(null=True)),
                    ('state', models.CharField(choices=[('proposed', 'Needs a second person'), ('agreed', 'In force later'), ('published', 'Published'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('expired', 'Expired'), ('overtaken', 'Overtaken')], max_length=20)),
                    ('agreed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('agreed_with', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposed_with', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'agreed', 'published', 'rejected', 'withdrawn', 'expired', 'overtaken'])), name='policychange_known_state'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['agreed', 'published']), _negated=True), models.Q(('agreed_with__isnull', False), ('agreed_by__isnull', False), models.Q(('agreed_by', models.F('proposed_by')), _negated=True)), _connector='OR'), name='policychange_agreed_by_two'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'published'), _negated=True), ('version_number__isnull', False), _connector='OR'), name='policychange_published_as_a_version'), models.UniqueConstraint(condition=models.Q(('version_number__isnull', False)), fields=('version_number',), name='policychange_one_per_version')],
                },
            ),
            migrations.CreateModel(
                name='PolicyChangeEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('change', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.policychange')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('change', 'version'), name='policychangeevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'proposed'), ('from_state', ''), ('to_state', 'proposed')), models.Q(('event', 'published'), ('from_state', 'proposed'), ('to_state', 'published')), models.Q(('event', 'agreed'), ('from_state', 'proposed'), ('to_state', 'agreed')), models.Q(('event', 'rejected'), ('from_state', 'proposed'), ('to_state', 'rejected')), models.Q(('event', 'withdrawn'), ('from_state', 'proposed'), ('to_state', 'withdrawn')), models.Q(('event', 'expired'), ('from_state', 'proposed'), ('to_state', 'expired')), models.Q(('event', 'overtaken'), ('from_state', 'proposed'), ('to_state', 'overtaken')), models.Q(('event', 'published'), ('from_state', 'agreed'), ('to_state', 'published')), models.Q(('event', 'rejected'), ('from_state', 'agreed'), ('to_state', 'rejected')), models.Q(('event', 'withdrawn'), ('from_state', 'agreed'), ('to_state', 'withdrawn')), models.Q(('event', 'overtaken'), ('from_state', 'agreed'), ('to_state', 'overtaken')), _connector='OR'), name='policychangeevent_is_a_move')],
                },
            ),
            migrations.CreateModel(
                name='ValueLimit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('order', 'Order'), ('transfer', 'Transfer'), ('open', 'Open orders')], max_length=10)),
                    ('most', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exchange_ops.account')),
                    ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('policy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='limits', to='exchange_ops.policyversion')),
                    ('beyond', models.CharField(choices=[('confirm', 'is confirmed by name'), ('approve', 'needs an approval'), ('refuse', 'is refused')], default='refuse', max_length=10)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('most__gt', 0)), name='valuelimit_above_zero'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'transfer'), _negated=True), ('beyond', 'refuse'), _connector='OR'), name='valuelimit_refuses_transfers')],
                },
            ),
            migrations.CreateModel(
                name='ConsoleCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('request_key', models.UUIDField()),
                    ('service', models.CharField(max_length=20)),
                    ('operation', models.CharField(max_length=60)),
                    ('arguments', models.JSONField(default=dict)),
                    ('state', models.CharField(choices=[('waiting', 'Waiting to be sent'), ('sending', 'Being sent'), ('answered', 'Answered'), ('refused', 'Refused'), ('failed', 'No answer')], default='waiting', max_length=10)),
                    ('asked_at', models.DateTimeField(db_index=True)),
                    ('claimed_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('status', models.PositiveSmallIntegerField(help_text='The status of HTTP, where there is one.', null=True)),
                    ('elapsed_ms', models.PositiveIntegerField(null=True)),
                    ('answer', models.TextField(blank=True)),
                    ('answer_bytes', models.PositiveIntegerField(default=0, help_text='Size of the whole answer as it came.')),
                    ('problem', models.CharField(blank=True, max_length=500)),
                    ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='exchange_ops.account')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'asked_at'], name='console_call_due')],
                    'constraints': [models.UniqueConstraint(fields=('person', 'request_key'), name='console_one_call_a_form')],
                },
            ),
            migrations.CreateModel(
                name='MarginAction',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('initiated_via', models.CharField(default='page', max_length=10)),
                    ('request_key', models.CharField(max_length=80)),
                    ('client_order_id', models.CharField(blank=True, default='', max_length=64)),
                    ('kind', models.CharField(choices=[('open', 'Open margin account'), ('set', 'Change collateral'), ('close_account', 'Close margin account'), ('close', 'Close position'), ('reduce', 'Close part of position')], max_length=20)),
                    ('symbol', models.CharField(max_length=40)),
                    ('amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('side', models.CharField(blank=True, default='', max_length=10)),
                    ('quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('order_type', models.CharField(blank=True, default='', max_length=10)),
                    ('price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('position_id', models.BigIntegerField(null=True)),
                    ('confirmed', models.JSONField(default=dict)),
                    ('before', models.JSONField(default=dict)),
                    ('state', models.CharField(choices=[('requested', 'Waiting to be sent'), ('sending', 'Being sent'), ('checking', 'Accepted, being checked'), ('unknown', 'Outcome unknown'), ('done', 'Done'), ('partly', 'Partly done'), ('refused', 'Refused by the exchange'), ('not_sent', 'Not sent'), ('not_done', 'Not done'), ('unclear', 'Unclear'), ('settled', 'Result noted')], max_length=20)),
                    ('sends', models.PositiveSmallIntegerField(default=0)),
                    ('exchange_order_id', models.BigIntegerField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('sent_from', models.DateTimeField(null=True)),
                    ('looks', models.PositiveIntegerField(default=0)),
                    ('lease_epoch', models.PositiveIntegerField(default=0)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='margin_actions', to='exchange_ops.account')),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='margin_actions', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='marginaction_due'), models.Index(fields=['account', 'symbol', '-id'], name='marginaction_newest')],
                    'constraints': [models.UniqueConstraint(fields=('initiator', 'request_key', 'symbol'), name='marginaction_one_per_request_key'), models.UniqueConstraint(condition=models.Q(('state__in', ('requested', 'sending', 'checking', 'unknown'))), fields=('account', 'symbol'), name='marginaction_one_under_way'), models.CheckConstraint(condition=models.Q(('state__in', ['requested', 'sending', 'checking', 'unknown', 'done', 'partly', 'refused', 'not_sent', 'not_done', 'unclear', 'settled'])), name='marginaction_known_state'), models.CheckConstraint(condition=models.Q(('kind__in', ['open', 'set', 'close_account', 'close', 'reduce'])), name='marginaction_known_kind'), models.CheckConstraint(condition=models.Q(('sends__lte', 1)), name='marginaction_is_sent_at_most_once'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('open', 'set')), _negated=True), ('amount__gt', Decimal('0')), _connector='OR'), name='marginaction_collateral_is_positive'), models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('close', 'reduce')), _negated=True), models.Q(('position_id__isnull', False), ('quantity__gt', Decimal('0')), ('side__in', ('buy', 'sell'))), _connector='OR'), name='marginaction_names_its_position'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'reduce'), _negated=True), models.Q(('client_order_id', ''), _negated=True), _connector='OR'), name='marginaction_part_has_an_order_id')],
                },
            ),
            migrations.CreateModel(
                name='MarginActionCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('attempt', models.PositiveIntegerField()),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('prepared_at', models.DateTimeField()),
                    ('send_by', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('outcome', models.CharField(choices=[('prepared', 'prepared'), ('sent', 'sent'), ('accepted', 'accepted'), ('refused', 'refused'), ('not_sent', 'not_sent'), ('unknown', 'unknown'), ('found', 'found'), ('absent', 'absent')], default='prepared', max_length=10)),
                    ('error_code', models.IntegerField(null=True)),
                    ('detail', models.CharField(blank=True, default='', max_length=500)),
                    ('epoch', models.PositiveIntegerField()),
                    ('action', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='exchange_ops.marginaction')),
                ],
                options={
                    'ordering': ['id'],
                    'constraints': [models.UniqueConstraint(fields=('action',), name='marginactioncall_one_per_action'), models.CheckConstraint(condition=models.Q(('outcome__in', ('prepared', 'sent', 'accepted', 'refused', 'not_sent', 'unknown', 'found', 'absent'))), name='marginactioncall_known_outcome')],
                },
            ),
            migrations.CreateModel(
                name='MarginActionEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('action', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.marginaction')),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('action', 'version'), name='marginactionevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'claimed'), ('from_state', 'requested'), ('to_state', 'sending')), models.Q(('event', 'stopped'), ('from_state', 'requested'), ('to_state', 'not_sent')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'checking')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'not_sent')), models.Q(('event', 'answer_lost'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'seen'), ('from_state', 'checking'), ('to_state', 'done')), models.Q(('event', 'seen_partly'), ('from_state', 'checking'), ('to_state', 'partly')), models.Q(('event', 'seen_unchanged'), ('from_state', 'checking'), ('to_state', 'not_done')), models.Q(('event', 'unexplained'), ('from_state', 'checking'), ('to_state', 'unclear')), models.Q(('event', 'seen'), ('from_state', 'unknown'), ('to_state', 'done')), models.Q(('event', 'seen_partly'), ('from_state', 'unknown'), ('to_state', 'partly')), models.Q(('event', 'seen_unchanged'), ('from_state', 'unknown'), ('to_state', 'not_done')), models.Q(('event', 'unexplained'), ('from_state', 'unknown'), ('to_state', 'unclear')), models.Q(('event', 'settled'), ('from_state', 'unclear'), ('to_state', 'settled')), _connector='OR'), name='marginactionevent_is_a_move')],
                },
            ),
            migrations.CreateModel(
                name='MarginReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('symbol', models.CharField(max_length=40)),
                    ('reason', models.CharField(max_length=40)),
                    ('margin_balance', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('change', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('quantity_before', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('quantity_after', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('price_entry', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='margin_reports', to='exchange_ops.account')),
                ],
                options={
                    'indexes': [models.Index(fields=['account', '-at'], name='marginreport_newest')],
                    'constraints': [models.UniqueConstraint(fields=('account', 'symbol', 'reason', 'at', 'margin_balance', 'quantity_after'), name='marginreport_told_once')],
                },
            ),
            migrations.CreateModel(
                name='CandleHistory',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('symbol', models.CharField(max_length=40)),
                    ('period', models.CharField(max_length=3)),
                    ('first_at', models.DateTimeField(null=True)),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('symbol', 'period'), name='candlehistory_one_row')],
                },
            ),
            migrations.CreateModel(
                name='Favourite',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('symbol', models.CharField(max_length=40)),
                    ('created_at', models.DateTimeField()),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='favourites', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('person', 'symbol'), name='favourite_once_a_person')],
                },
            ),
            migrations.CreateModel(
                name='DailyFlow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField()),
                    ('currency', models.CharField(max_length=20)),
                    ('came_in', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('went_out', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fees', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='daily_flows', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'day', 'currency'), name='dailyflow_one_row')],
                },
            ),
            migrations.CreateModel(
                name='Profit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('coin', models.CharField(max_length=20)),
                    ('method', models.CharField(choices=[('fifo', 'First in, first out'), ('average', 'Average cost')], max_length=10)),
                    ('known_quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('cost', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('unknown_quantity', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('realised', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fees', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('sold_without_cost', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('proceeds_without_cost', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('left_without_price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('cost_without_price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('opening', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('unexplained', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('lots', models.JSONField(default=list)),
                    ('lots_count', models.PositiveIntegerField(default=0)),
                    ('computed_at', models.DateTimeField()),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='profits', to='exchange_ops.account')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'coin', 'method'), name='profit_one_row')],
                },
            ),
            migrations.CreateModel(
                name='ProfitDay',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField()),
                    ('realised', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('fees', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('profit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='days', to='exchange_ops.profit')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('profit', 'day'), name='profitday_one_row')],
                },
            ),
            migrations.CreateModel(
                name='Progress',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.BigIntegerField(default=0)),
                    ('profits_version', models.BigIntegerField(default=-1)),
                    ('profits_trade', models.BigIntegerField(default=-1)),
                    ('profits_at', models.DateTimeField(null=True)),
                    ('took_ms', models.PositiveIntegerField(default=0)),
                    ('rebuilt_at', models.DateTimeField(null=True)),
                    ('prices_tried_at', models.DateTimeField(null=True)),
                    ('prices_read_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('account', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='portfolio_progress', to='exchange_ops.account')),
                ],
            ),
            migrations.CreateModel(
                name='Snapshot',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('hour', models.DateTimeField()),
                    ('taken_at', models.DateTimeField()),
                    ('kind', models.CharField(choices=[('hourly', 'hourly'), ('daily', 'daily'), ('rebuilt', 'rebuilt')], max_length=10)),
                    ('quote', models.CharField(max_length=20)),
                    ('bank', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('trading', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('subaccounts', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('margin', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('unvalued', models.JSONField(default=list)),
                    ('unknown', models.JSONField(default=list)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='snapshots', to='exchange_ops.account')),
                ],
                options={
                    'indexes': [models.Index(fields=['kind', 'taken_at'], name='snapshot_by_age')],
                    'constraints': [models.UniqueConstraint(fields=('account', 'hour'), name='snapshot_one_an_hour'), models.CheckConstraint(condition=models.Q(('kind__in', ['hourly', 'daily', 'rebuilt'])), name='snapshot_known_kind')],
                },
            ),
            migrations.CreateModel(
                name='SnapshotLine',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('wallet', models.CharField(choices=[('bank', 'bank'), ('trading', 'trading'), ('subaccounts', 'subaccounts'), ('margin', 'margin')], max_length=12)),
                    ('currency', models.CharField(max_length=20)),
                    ('amount', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('value', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('priced_at', models.DateTimeField(null=True)),
                    ('via', models.CharField(blank=True, default='', max_length=90)),
                    ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='exchange_ops.snapshot')),
                ],
                options={
                    'indexes': [models.Index(fields=['currency', 'snapshot'], name='snapshotline_by_currency')],
                    'constraints': [models.UniqueConstraint(fields=('snapshot', 'wallet', 'currency'), name='snapshotline_one_row')],
                },
            ),
            migrations.CreateModel(
                name='OrderApproval',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('stage', models.CharField(max_length=10)),
                    ('verdict', models.CharField(max_length=10)),
                    ('comment', models.CharField(blank=True, default='', max_length=500)),
                    ('at', models.DateTimeField()),
                    ('confirmation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='approvals', to='exchange_ops.order')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='order_approvals', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['at', 'id'],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('confirmation__isnull', False)), fields=('confirmation',), name='orderapproval_one_per_second_factor'), models.UniqueConstraint(fields=('order', 'digest', 'stage', 'person', 'verdict'), name='orderapproval_one_word_per_person'), models.CheckConstraint(condition=models.Q(('person', models.F('initiator')), _negated=True), name='orderapproval_never_by_the_initiator'), models.CheckConstraint(condition=models.Q(('verdict', 'reject'), ('confirmation__isnull', False), _connector='OR'), name='orderapproval_needs_a_second_factor')],
                },
            ),
            migrations.CreateModel(
                name='Bracket',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('initiated_via', models.CharField(default='page', max_length=10)),
                    ('symbol', models.CharField(max_length=40)),
                    ('side', models.CharField(max_length=10)),
                    ('margin', models.BooleanField(default=False)),
                    ('stop_price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('take_price', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ('state', models.CharField(choices=[('entering', 'Entry open'), ('guarded', 'Guarded'), ('unguarded', 'No stop'), ('taking', 'Taking the profit'), ('ending', 'Being ended'), ('closed', 'Ended')], max_length=12)),
                    ('ended_by', models.CharField(blank=True, default='', max_length=20)),
                    ('outcome', models.CharField(blank=True, choices=[('not_entered', 'The entry ended without a fill'), ('stop', 'Closed by the stop'), ('take', 'Closed by the take profit'), ('both', 'Closed by stop and take profit, a part each'), ('let_go', 'Watching ended by a person; its orders stayed'), ('cancelled', 'Ended by a person; its open orders were cancelled'), ('position_gone', 'The position was closed in another way; the stop was cancelled')], default='', max_length=20)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='brackets', to='exchange_ops.account')),
                    ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='bracket', to='exchange_ops.order')),
                    ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='brackets', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'next_action_at'], name='bracket_due'), models.Index(fields=['account', 'symbol', 'id'], name='bracket_by_symbol')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['entering', 'guarded', 'unguarded', 'taking', 'ending', 'closed'])), name='bracket_known_state'), models.CheckConstraint(condition=models.Q(('outcome__in', ['', 'not_entered', 'stop', 'take', 'both', 'let_go', 'cancelled', 'position_gone'])), name='bracket_known_outcome'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'closed'), models.Q(('outcome', ''), _negated=True)), models.Q(models.Q(('state', 'closed'), _negated=True), ('outcome', '')), _connector='OR'), name='bracket_that_ended_says_how'), models.CheckConstraint(condition=models.Q(('stop_price__gt', 0), models.Q(models.Q(('side', 'buy'), ('take_price__gt', models.F('stop_price'))), models.Q(('side', 'sell'), ('stop_price__gt', models.F('take_price'))), _connector='OR'), ('take_price__gt', 0)), name='bracket_stop_and_take_are_apart')],
                },
            ),
            migrations.CreateModel(
                name='BracketEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('bracket', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='exchange_ops.bracket')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('bracket', 'version'), name='bracketevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'entering')), models.Q(('event', 'entered'), ('from_state', 'entering'), ('to_state', 'guarded')), models.Q(('event', 'stop_missing'), ('from_state', 'entering'), ('to_state', 'unguarded')), models.Q(('event', 'stop_missing'), ('from_state', 'guarded'), ('to_state', 'unguarded')), models.Q(('event', 'guarded_again'), ('from_state', 'unguarded'), ('to_state', 'guarded')), models.Q(('event', 'stop_asked'), ('from_state', 'unguarded'), ('to_state', 'guarded')), models.Q(('event', 'take_reached'), ('from_state', 'entering'), ('to_state', 'taking')), models.Q(('event', 'take_reached'), ('from_state', 'guarded'), ('to_state', 'taking')), models.Q(('event', 'take_reached'), ('from_state', 'unguarded'), ('to_state', 'taking')), models.Q(('event', 'take_missed'), ('from_state', 'taking'), ('to_state', 'guarded')), models.Q(('event', 'stop_missing'), ('from_state', 'taking'), ('to_state', 'unguarded')), models.Q(('event', 'end_asked'), ('from_state', 'entering'), ('to_state', 'ending')), models.Q(('event', 'end_asked'), ('from_state', 'guarded'), ('to_state', 'ending')), models.Q(('event', 'end_asked'), ('from_state', 'unguarded'), ('to_state', 'ending')), models.Q(('event', 'end_asked'), ('from_state', 'taking'), ('to_state', 'ending')), models.Q(('event', 'let_go'), ('from_state', 'entering'), ('to_state', 'closed')), models.Q(('event', 'let_go'), ('from_state', 'guarded'), ('to_state', 'closed')), models.Q(('event', 'let_go'), ('from_state', 'unguarded'), ('to_state', 'closed')), models.Q(('event', 'position_gone'), ('from_state', 'guarded'), ('to_state', 'ending')), models.Q(('event', 'closed'), ('from_state', 'entering'), ('to_state', 'closed')), models.Q(('event', 'closed'), ('from_state', 'guarded'), ('to_state', 'closed')), models.Q(('event', 'closed'), ('from_state', 'unguarded'), ('to_state', 'closed')), models.Q(('event', 'closed'), ('from_state', 'taking'), ('to_state', 'closed')), models.Q(('event', 'closed'), ('from_state', 'ending'), ('to_state', 'closed')), _connector='OR'), name='bracketevent_is_a_move')],
                },
            ),
            migrations.CreateModel(
                name='BracketLeg',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('role', models.CharField(choices=[('stop', 'Stop'), ('take', 'Take profit')], max_length=4)),
                    ('created_at', models.DateTimeField()),
                    ('settled_at', models.DateTimeField(null=True)),
                    ('bracket', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='legs', to='exchange_ops.bracket')),
                    ('order', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='leg', to='exchange_ops.order')),
                ],
                options={
                    'ordering': ['number'],
                    'constraints': [models.UniqueConstraint(fields=('bracket', 'number'), name='bracketleg_one_per_number'), models.CheckConstraint(condition=models.Q(('role__in', ['stop', 'take'])), name='bracketleg_known_role')],
                },
            ),
            migrations.CreateModel(
                name='FeeRates',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('requested_at', models.DateTimeField()),
                    ('answered_at', models.DateTimeField(null=True)),
                    ('problem', models.CharField(blank=True, default='', max_length=300)),
                    ('symbol', models.CharField(max_length=40)),
                    ('take_liquidity_rate', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('provide_liquidity_rate', desk.fields.ExactDecimalField(decimal_places=24, max_digits=60, null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fee_rates', to='exchange_ops.account')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('account', 'symbol'), name='feerates_one_row')],
                },
            ),
        ),
        InstallTriggers(SQLITE, POSTGRESQL),
    ]
