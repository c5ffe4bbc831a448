# Written by Django, and completed by hand: one time zone for each person.

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def keep_zones(apps, schema_editor):
    """The zone of somebody's quiet hours becomes the zone of their pages: one person lives in one."""
    rows = apps.get_model("desk", "Availability").objects.exclude(zone="UTC")
    settings = apps.get_model("desk", "PersonalSettings").objects
    settings.bulk_create([settings.model(person_id=row.person_id, zone=row.zone) for row in rows])


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0011_tests_of_the_mail_server"),
    ]

    operations = [
        migrations.CreateModel(
            name="PersonalSettings",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="personal",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("zone", models.CharField(default="UTC", max_length=60)),
                (
                    "grouping",
                    models.CharField(
                        choices=[
                            ("comma", "1,234,567.89"),
                            ("space", "1\u202f234\u202f567.89"),
                            ("apostrophe", "1’234’567.89"),
                            ("none", "1234567.89"),
                        ],
                        default="comma",
                        max_length=12,
                    ),
                ),
                (
                    "density",
                    models.CharField(
                        choices=[("comfortable", "Comfortable"), ("compact", "Compact")],
                        default="comfortable",
                        max_length=12,
                    ),
                ),
                (
                    "theme",
                    models.CharField(
                        blank=True,
                        choices=[("", "As the device is set"), ("light", "Light"), ("dark", "Dark")],
                        default="",
                        max_length=8,
                    ),
                ),
                ("quote_currency", models.CharField(blank=True, default="", max_length=20)),
                ("start_page", models.CharField(blank=True, default="", max_length=60)),
                ("tours", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("grouping__in", ["comma", "space", "apostrophe", "none"])),
                        name="personal_known_grouping",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("density__in", ["comfortable", "compact"])), name="personal_known_density"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("theme__in", ["", "light", "dark"])), name="personal_known_theme"
                    ),
                ],
            },
        ),
        migrations.RunPython(keep_zones, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField(
            model_name="availability",
            name="zone",
        ),
    ]
