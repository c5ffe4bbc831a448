import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from desk.database.operations import CreateModels


class Migration(migrations.Migration):
    dependencies = [
        ("exchange_ops", "0070_guards_of_payout_templates"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="PayoutSchedule",
                fields=[
                    (
                        "id",
                        models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                    ),
                    ("request_key", models.CharField(max_length=80)),
                    (
                        "frequency",
                        models.CharField(
                            choices=[("weekly", "weekly"), ("monthly", "monthly"), ("days", "days")], max_length=10
                        ),
                    ),
                    ("step", models.PositiveSmallIntegerField()),
                    ("first_on", models.DateField()),
                    ("time_of_day", models.TimeField()),
                    ("planned", models.PositiveSmallIntegerField()),
                    ("at", models.DateTimeField()),
                    (
                        "account",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="payout_schedules",
                            to="exchange_ops.account",
                        ),
                    ),
                    (
                        "payee",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="exchange_ops.payee",
                        ),
                    ),
                    (
                        "person",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                        ),
                    ),
                    (
                        "template",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="schedules",
                            to="exchange_ops.payouttemplate",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("person", "request_key"), name="payoutschedule_one_per_request_key"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(("planned__gte", 1), ("planned__lte", 120)),
                            name="payoutschedule_has_an_end",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("frequency", "weekly"), ("step__gte", 1), ("step__lte", 7)),
                                models.Q(("frequency", "monthly"), ("step__lte", 28)),
                                models.Q(("frequency", "days"), ("step__gte", 1), ("step__lte", 366)),
                                _connector="OR",
                            ),
                            name="payoutschedule_known_frequency",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="PayoutOccurrence",
                fields=[
                    (
                        "id",
                        models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                    ),
                    ("number", models.PositiveSmallIntegerField()),
                    ("due_at", models.DateTimeField()),
                    (
                        "outcome",
                        models.CharField(
                            choices=[
                                ("requested", "Requested"),
                                ("refused", "Not requested"),
                                ("missed", "Missed"),
                                ("skipped", "Skipped"),
                            ],
                            max_length=10,
                        ),
                    ),
                    ("reason", models.CharField(blank=True, max_length=500)),
                    ("at", models.DateTimeField()),
                    (
                        "person",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "withdrawal",
                        models.OneToOneField(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="occurrence",
                            to="exchange_ops.withdrawal",
                        ),
                    ),
                    (
                        "schedule",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="occurrences",
                            to="exchange_ops.payoutschedule",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(fields=("schedule", "number"), name="payoutoccurrence_one_per_number"),
                        models.CheckConstraint(
                            condition=models.Q(("outcome__in", ["requested", "refused", "missed", "skipped"])),
                            name="payoutoccurrence_known_outcome",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("outcome", "requested"), ("withdrawal__isnull", False)),
                                models.Q(
                                    models.Q(("outcome", "requested"), _negated=True), ("withdrawal__isnull", True)
                                ),
                                _connector="OR",
                            ),
                            name="payoutoccurrence_requested_has_a_payout",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("outcome", "skipped"), ("person__isnull", False)),
                                models.Q(models.Q(("outcome", "skipped"), _negated=True), ("person__isnull", True)),
                                _connector="OR",
                            ),
                            name="payoutoccurrence_skipped_by_a_person",
                        ),
                    ],
                    "indexes": [models.Index(fields=["outcome", "at"], name="payoutoccurrence_by_outcome")],
                    "ordering": ["-number"],
                },
            ),
            migrations.CreateModel(
                name="PayoutScheduleEnd",
                fields=[
                    (
                        "id",
                        models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                    ),
                    ("reason", models.CharField(max_length=500)),
                    ("at", models.DateTimeField()),
                    (
                        "person",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                        ),
                    ),
                    (
                        "schedule",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="end",
                            to="exchange_ops.payoutschedule",
                        ),
                    ),
                ],
            ),
        ),
    ]
