from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exchange_ops', '0040_guards_of_orders'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(condition=models.Q(('type', 'payin')), fields=['account', 'currency', 'address'], name='ledgerentry_by_paid_in'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['hash'], name='ledgerentry_by_hash'),
        ),
        migrations.AddIndex(
            model_name='withdrawal',
            index=models.Index(fields=['account', 'currency', 'address'], name='withdrawal_by_address'),
        ),
        migrations.AddIndex(
            model_name='withdrawal',
            index=models.Index(fields=['hash'], name='withdrawal_by_hash'),
        ),
    ]
