from django.db import migrations

from desk.audit import witness_columns

# The columns of each witnessed table that were not witnessed up to this version.
LOOSE = {
    "chaindata.chainbroadcast": "last_problem lease_until looks next_action_at updated_at",
    "chaindata.chainbroadcastevent": "",
    "chaindata.chainmovement": "height is_missing last_problem lease_until next_action_at updated_at",
    "chaindata.chainmovementevent": "",
    "chaindata.watchedaddress": (
        "balance_sat last_problem lease_until next_action_at read_at settled_height unconfirmed_sat "
        "updated_at"
    ),
    "chaindata.watchedaddressevent": "",
}


class Migration(migrations.Migration):
    """States in the chain of row entries by what they were made, for the versions that witness other columns."""

    dependencies = [
        ("chaindata", "0001_squashed_0006_guards_of_movements"),
        ("desk", "0019_columns_of_row_entries"),
    ]

    operations = [witness_columns.statement(LOOSE)]
