from django.db import migrations

from desk.audit import witness_columns

# The columns of each witnessed table that were not witnessed up to this version.
LOOSE = {
    "exchange_ops.account": "",
    "exchange_ops.accounttrade": "",
    "exchange_ops.addressrequest": "last_problem lease_until looks next_action_at updated_at",
    "exchange_ops.addressrequestevent": "",
    "exchange_ops.apikey": "last_problem last_problem_at last_used_at probe_asked_at probe_problem",
    "exchange_ops.approval": "",
    "exchange_ops.bracket": "last_problem lease_until next_action_at updated_at",
    "exchange_ops.bracketevent": "",
    "exchange_ops.bracketleg": "",
    "exchange_ops.depositaddress": "place seen_at",
    "exchange_ops.externalcall": "",
    "exchange_ops.fact": "",
    "exchange_ops.freeze": "",
    "exchange_ops.holdreleasevote": "",
    "exchange_ops.ledgeraside": "seen_at",
    "exchange_ops.ledgerentry": "seen_at",
    "exchange_ops.ledgerversion": "",
    "exchange_ops.marginaction": "last_problem lease_until looks next_action_at updated_at",
    "exchange_ops.marginactioncall": "",
    "exchange_ops.marginactionevent": "",
    "exchange_ops.marginreport": "",
    "exchange_ops.order": (
        "active average_price cum_quantity exchange_created_at exchange_updated_at last_problem "
        "lease_until looks margin missing_since next_action_at read_at status updated_at"
    ),
    "exchange_ops.orderapproval": "",
    "exchange_ops.ordercall": "",
    "exchange_ops.orderevent": "",
    "exchange_ops.payoutproof": "next_look_at problem tried_at",
    "exchange_ops.policychange": "last_problem lease_until next_action_at updated_at",
    "exchange_ops.policychangeevent": "",
    "exchange_ops.policyversion": "",
    "exchange_ops.quorumtier": "",
    "exchange_ops.subaccount": (
        "balances_asked_at balances_at balances_problem balances_tried_at closed_as description email "
        "missing_since observed_at payout_enabled settings_at settings_shown status"
    ),
    "exchange_ops.subaccountaction": "last_problem lease_until looks next_action_at updated_at",
    "exchange_ops.subaccountcall": "",
    "exchange_ops.subaccountevent": "",
    "exchange_ops.thawvote": "",
    "exchange_ops.transfer": "last_problem lease_until looks next_action_at updated_at",
    "exchange_ops.transferapproval": "",
    "exchange_ops.transfercall": "",
    "exchange_ops.transferevent": "",
    "exchange_ops.valuelimit": "",
    "exchange_ops.watermark": "moved_at",
    "exchange_ops.withdrawal": (
        "confirmations exchange_index exchange_status last_problem lease_until next_action_at updated_at"
    ),
    "exchange_ops.withdrawalevent": "",
}


class Migration(migrations.Migration):
    """States in the chain of row entries by what they were made, for the versions that witness other columns."""

    dependencies = [
        ("desk", "0019_columns_of_row_entries"),
        ("exchange_ops", "0047_guards_of_transfers"),
    ]

    operations = [witness_columns.statement(LOOSE)]
