import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('exchange_ops', '0010_transfer_guards'),
    ]

    operations = [
        migrations.CreateModel(
            name='DepositAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=20)),
                ('address', models.CharField(max_length=256)),
                ('payment_id', models.CharField(blank=True, default='', max_length=256)),
                ('public_key', models.CharField(blank=True, default='', max_length=256)),
                ('is_current', models.BooleanField(default=False)),
                ('place', models.PositiveSmallIntegerField(null=True)),
                ('first_seen_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deposit_addresses', to='exchange_ops.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'currency', 'address', 'payment_id'), name='depositaddress_one_row'), models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('account', 'currency'), name='depositaddress_one_current')],
            },
        ),
        migrations.CreateModel(
            name='AddressRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=20)),
                ('initiated_via', models.CharField(default='page', max_length=10)),
                ('request_key', models.CharField(max_length=80)),
                ('state', models.CharField(choices=[('asked', 'Waiting to be asked for'), ('sending', 'Being asked for'), ('unknown', 'Answer lost'), ('made', 'New address made'), ('refused', 'Refused by the exchange'), ('not_sent', 'Not asked'), ('absent', 'No new address seen')], default='asked', max_length=10)),
                ('version', models.PositiveIntegerField(default=1)),
                ('known', models.JSONField(default=list)),
                ('looks', models.PositiveIntegerField(default=0)),
                ('send_by', models.DateTimeField(null=True)),
                ('sent_at', models.DateTimeField(null=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                ('error_code', models.IntegerField(null=True)),
                ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='address_requests', to='exchange_ops.account')),
                ('initiator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('made', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='requests', to='exchange_ops.depositaddress')),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'currency', '-created_at'], name='addressrequest_newest')],
                'constraints': [models.UniqueConstraint(fields=('initiator', 'request_key'), name='addressrequest_one_per_request_key'), models.UniqueConstraint(condition=models.Q(('state__in', ('asked', 'sending', 'unknown'))), fields=('account', 'currency'), name='addressrequest_one_open'), models.CheckConstraint(condition=models.Q(('state__in', ('asked', 'sending', 'unknown', 'made', 'refused', 'not_sent', 'absent'))), name='addressrequest_known_state'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'made'), _negated=True), ('made__isnull', False), _connector='OR'), name='addressrequest_made_has_an_address')],
            },
        ),
        migrations.CreateModel(
            name='AddressBook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=20)),
                ('used', models.JSONField(default=list)),
                ('requested_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(null=True)),
                ('read_at', models.DateTimeField(null=True)),
                ('problem', models.CharField(blank=True, default='', max_length=300)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='address_books', to='exchange_ops.account')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'currency'), name='addressbook_one_row')],
            },
        ),
    ]
