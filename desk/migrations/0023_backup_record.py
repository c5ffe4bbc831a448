from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("desk", "0022_words")]

    operations = [
        migrations.CreateModel(
            name="BackupRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(null=True)),
                ("made_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(blank=True, default="", max_length=500)),
            ],
            options={"constraints": [models.CheckConstraint(condition=models.Q(("pk", 1)), name="one_backup_record")]},
        ),
    ]
