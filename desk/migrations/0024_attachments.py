import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels


class Migration(migrations.Migration):
    dependencies = [("desk", "0023_backup_record")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="StoredFile",
                fields=[
                    ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ("content", models.BinaryField()),
                ],
            ),
            migrations.CreateModel(
                name="Attachment",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("subject", models.CharField(max_length=60)),
                    ("name", models.CharField(max_length=120)),
                    ("media_type", models.CharField(max_length=40)),
                    ("size", models.PositiveIntegerField()),
                    ("request_key", models.CharField(max_length=80)),
                    ("at", models.DateTimeField()),
                    (
                        "person",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                        ),
                    ),
                    (
                        "stored",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to="desk.storedfile"
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("person", "request_key"), name="attachment_one_per_request_key"
                        ),
                        models.UniqueConstraint(fields=("subject", "stored"), name="attachment_once_per_subject"),
                    ]
                },
            ),
        ),
    ]
