from django.db import migrations

from desk.audit import witness_columns

# The columns of each witnessed table that were not witnessed up to this version.
LOOSE = {
    "desk.apitoken": "last_used_at",
    "desk.auditevent": "action actor_id after_text at before_text prev request_id session_digest subject",
    "desk.channel": "",
    "desk.comment": "",
    "desk.databasemark": "",
    "desk.factorchange": "",
    "desk.incident": "last_problem lease_until next_action_at updated_at",
    "desk.incidentevent": "",
    "desk.invitation": "wrong_addresses",
    "desk.keyuse": "",
    "desk.person": "date_joined first_name last_login last_name",
    "desk.personchange": "last_problem lease_until next_action_at updated_at",
    "desk.personchangeevent": "",
    "desk.spenttotpstep": "",
    "desk.stepup": "mac",
    "mfa.authenticator": "created_at last_used_at",
}


class Migration(migrations.Migration):
    """States in the chain of row entries by what they were made, for the versions that witness other columns."""

    dependencies = [
        ("desk", "0018_guards_of_restores"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [witness_columns.statement(LOOSE)]
