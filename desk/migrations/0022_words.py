from django.db import migrations, models

from desk.database.operations import AlterLabels


class Migration(migrations.Migration):
    dependencies = [("desk", "0021_signed_lists")]

    operations = [
        AlterLabels(
            migrations.AlterField(
                model_name="apitoken",
                name="scope",
                field=models.CharField(
                    choices=[("read", "Read only"), ("draft", "Read and draft requests")], default="draft", max_length=10
                ),
            ),
            migrations.AlterField(
                model_name="notification",
                name="stage",
                field=models.CharField(
                    choices=[
                        ("opened", "Action needed"),
                        ("escalated", "Reminder before the deadline"),
                        ("everybody", "Final reminder, to everyone"),
                        ("ended", "Ended"),
                        ("test", "Test"),
                        ("news", "Notice"),
                    ],
                    max_length=10,
                ),
            ),
            migrations.AlterField(
                model_name="personalsettings",
                name="theme",
                field=models.CharField(
                    blank=True,
                    choices=[("", "Match the device"), ("light", "Light"), ("dark", "Dark")],
                    default="",
                    max_length=8,
                ),
            ),
            migrations.AlterField(
                model_name="personchange",
                name="kind",
                field=models.CharField(
                    choices=[
                        ("roles", "Change roles"),
                        ("factors", "Reset second factors"),
                        ("access", "Reset password and second factors"),
                        ("reactivate", "Reactivate"),
                        ("deactivate", "Deactivate"),
                    ],
                    max_length=20,
                ),
            ),
            migrations.AlterField(
                model_name="restore",
                name="sign",
                field=models.CharField(
                    choices=[
                        ("command", "Backup restored by command"),
                        ("heads", "The file of heads is ahead of the database"),
                        ("broker", "The broker is ahead of the database"),
                        ("exchange", "The exchange has an order from this desk that is missing in the database"),
                    ],
                    max_length=10,
                ),
            ),
        ),
    ]
