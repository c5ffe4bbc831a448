from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("exchange_ops", "0074_guards_of_payees"),
    ]

    operations = [
        migrations.AddField(
            model_name="policypayoutrule",
            name="needs",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="policyversion",
            name="groups",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="quorumtier",
            name="needs",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="transfer",
            name="group_needs",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="withdrawal",
            name="group_needs",
            field=models.JSONField(null=True),
        ),
    ]
