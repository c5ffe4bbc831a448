import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels

import desk.fields


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0068_guards_of_bookkeeping")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="PayoutTemplate",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("name", models.CharField(max_length=80)),
                    ("currency", models.CharField(max_length=20)),
                    ("amount", desk.fields.ExactDecimalField(decimal_places=24, max_digits=60)),
                    ("include_fee", models.BooleanField()),
                    ("address", models.CharField(max_length=256)),
                    ("payment_id", models.CharField(blank=True, max_length=256)),
                    ("reason", models.CharField(max_length=500)),
                    ("at", models.DateTimeField()),
                    (
                        "account",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="payout_templates",
                            to="exchange_ops.account",
                        ),
                    ),
                    (
                        "person",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                        ),
                    ),
                ],
                options={
                    "indexes": [models.Index(fields=["account", "name"], name="payouttemplate_by_name")],
                },
            ),
            migrations.CreateModel(
                name="PayoutTemplateEnd",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("at", models.DateTimeField()),
                    (
                        "person",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                        ),
                    ),
                    (
                        "template",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.PROTECT, related_name="end", to="exchange_ops.payouttemplate"
                        ),
                    ),
                ],
            ),
        ),
    ]
