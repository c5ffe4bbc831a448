import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0064_guards_of_policy")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="SignedStatement",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("first", models.DateField()),
                    ("last", models.DateField()),
                    ("digest", models.CharField(max_length=64)),
                    ("content", models.TextField()),
                    ("made_at", models.DateTimeField()),
                    (
                        "account",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to="exchange_ops.account"
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(fields=("account", "digest"), name="signedstatement_one_per_content")
                    ],
                    "indexes": [models.Index(fields=["account", "first", "last"], name="signedstatement_of_period")],
                },
            ),
            migrations.CreateModel(
                name="StatementSignature",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("at", models.DateTimeField()),
                    (
                        "confirmation",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to="desk.stepup"
                        ),
                    ),
                    (
                        "person",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                        ),
                    ),
                    (
                        "statement",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="signatures",
                            to="exchange_ops.signedstatement",
                        ),
                    ),
                ],
                options={
                    "ordering": ["at", "id"],
                    "constraints": [
                        models.UniqueConstraint(fields=("statement", "person"), name="statementsignature_one_per_person")
                    ],
                },
            ),
        ),
    ]
