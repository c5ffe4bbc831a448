import django.db.models.deletion
from django.db import migrations, models

from desk.database.operations import OnSQLite


# Lets SQLite make the table anew although triggers of other tables read it; they find it again by its name.
WITHOUT_READING_TRIGGERS = ("PRAGMA legacy_alter_table = ON",)
AS_USUAL = ("PRAGMA legacy_alter_table = OFF",)


class Migration(migrations.Migration):
    """Second factors for lists of decisions.

    The constraint is changed first: the columns that follow are added to the table as it is, on both engines.
    """

    dependencies = [
        ("desk", "0020_colleagues_and_facts"),
    ]

    operations = [
        OnSQLite(*WITHOUT_READING_TRIGGERS, backwards=AS_USUAL),
        migrations.RemoveConstraint(
            model_name="stepup",
            name="step_up_keeps_its_proof",
        ),
        migrations.AddConstraint(
            model_name="stepup",
            constraint=models.CheckConstraint(
                condition=models.Q(kind="totp", totp_step__isnull=False, challenge="")
                | models.Q(kind="list", totp_step__isnull=True, challenge="")
                | (
                    models.Q(kind="passkey", totp_step__isnull=True) & ~models.Q(challenge="") & ~models.Q(signature="")
                ),
                name="step_up_keeps_its_proof",
            ),
        ),
        OnSQLite(*AS_USUAL, backwards=WITHOUT_READING_TRIGGERS),
        migrations.AlterField(
            model_name="stepup",
            name="kind",
            field=models.CharField(
                choices=[("totp", "one-time code"), ("passkey", "passkey"), ("list", "place in a signed list")],
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="stepup",
            name="listed",
            field=models.TextField(null=True),
        ),
        migrations.AddField(
            model_name="stepup",
            name="signed_with",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="desk.stepup"
            ),
        ),
        migrations.AddField(
            model_name="stepup",
            name="position",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddConstraint(
            model_name="stepup",
            constraint=models.UniqueConstraint(
                condition=models.Q(signed_with__isnull=False),
                fields=["signed_with", "position"],
                name="one_decision_per_place_in_a_list",
            ),
        ),
        # On the way back the columns are taken out of the table first, which makes it anew as well.
        OnSQLite(backwards=WITHOUT_READING_TRIGGERS),
    ]
