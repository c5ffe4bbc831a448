import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels


class Migration(migrations.Migration):
    dependencies = [("desk", "0027_guards_of_staff")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="CompanyAccount",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("issuer", models.CharField(max_length=500)),
                    ("subject", models.CharField(max_length=255)),
                    ("email", models.CharField(blank=True, max_length=254)),
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
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="company_accounts",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                ],
                options={
                    "indexes": [models.Index(fields=["issuer", "subject"], name="company_account_by_subject")],
                },
            ),
            migrations.CreateModel(
                name="CompanyAccountEnd",
                fields=[
                    ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                    ("at", models.DateTimeField()),
                    (
                        "account",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.PROTECT, related_name="end", to="desk.companyaccount"
                        ),
                    ),
                    (
                        "person",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                ],
            ),
        ),
    ]
