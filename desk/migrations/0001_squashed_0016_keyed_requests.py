import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.core.management import call_command
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from desk.database.operations import CreateModels, InstallTriggers

# The triggers as the last of the migrations that are replaced here left them.
SQLITE = {
    "audit_no_update": (
        "CREATE TRIGGER audit_no_update BEFORE UPDATE ON desk_auditevent\n"
        "BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END"
    ),
    "audit_no_delete": (
        "CREATE TRIGGER audit_no_delete BEFORE DELETE ON desk_auditevent\n"
        "BEGIN SELECT RAISE(ABORT, 'the audit trail is never changed'); END"
    ),
    "audit_only_next": (
        "CREATE TRIGGER audit_only_next BEFORE INSERT ON desk_auditevent\n"
        "WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM desk_auditevent)\n"
        "  OR NEW.prev IS NOT COALESCE((SELECT hash FROM desk_auditevent ORDER BY seq DESC LIMIT 1), "
        "'0000000000000000000000000000000000000000000000000000000000000000')\n"
        "BEGIN SELECT RAISE(ABORT, 'the audit trail takes only the next event of the chain'); END"
    ),
    "rowwitness_no_update": (
        "CREATE TRIGGER rowwitness_no_update BEFORE UPDATE ON desk_rowwitness\n"
        "BEGIN SELECT RAISE(ABORT, 'the row entries are never changed'); END"
    ),
    "rowwitness_no_delete": (
        "CREATE TRIGGER rowwitness_no_delete BEFORE DELETE ON desk_rowwitness\n"
        "BEGIN SELECT RAISE(ABORT, 'the row entries are never changed'); END"
    ),
    "rowwitness_only_next": (
        "CREATE TRIGGER rowwitness_only_next BEFORE INSERT ON desk_rowwitness\n"
        "WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM desk_rowwitness)\n"
        "  OR NEW.prev IS NOT COALESCE((SELECT hash FROM desk_rowwitness ORDER BY seq DESC LIMIT 1), "
        "'0000000000000000000000000000000000000000000000000000000000000000')\n"
        "BEGIN SELECT RAISE(ABORT, 'the row entries take only the next of the chain'); END"
    ),
    "desk_incident_moves_with_event": (
        "CREATE TRIGGER desk_incident_moves_with_event BEFORE UPDATE ON desk_incident WHEN (NEW.state IS NOT OLD.state "
        "OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "desk_incidentevent e WHERE e.incident_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'an incident moves only together with the event of its "
        "new version'); END"
    ),
    "desk_incident_content_fixed": (
        "CREATE TRIGGER desk_incident_content_fixed BEFORE UPDATE ON desk_incident WHEN NEW.kind IS NOT OLD.kind OR "
        "NEW.cause IS NOT OLD.cause OR NEW.scope IS NOT OLD.scope OR NEW.severity IS NOT OLD.severity OR NEW.page IS "
        "NOT OLD.page OR NEW.page_key IS NOT OLD.page_key OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT "
        "RAISE(ABORT, 'what was asked for in an incident is never edited'); END"
    ),
    "desk_incident_begins": (
        "CREATE TRIGGER desk_incident_begins BEFORE INSERT ON desk_incident WHEN NEW.state <> 'open' OR NEW.version <> "
        "1 OR NEW.gone_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'an incident begins as open'); END"
    ),
    "desk_incident_fills_once": (
        "CREATE TRIGGER desk_incident_fills_once BEFORE UPDATE ON desk_incident WHEN (OLD.gone_at IS NOT NULL AND "
        "NEW.gone_at IS NOT OLD.gone_at) BEGIN SELECT RAISE(ABORT, 'an incident keeps what it was given'); END"
    ),
    "desk_incidentevent_no_edit": (
        "CREATE TRIGGER desk_incidentevent_no_edit BEFORE UPDATE ON desk_incidentevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_incident_no_removal": (
        "CREATE TRIGGER desk_incident_no_removal BEFORE DELETE ON desk_incident WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'rows about money are never removed'); END"
    ),
    "desk_incidentevent_no_removal": (
        "CREATE TRIGGER desk_incidentevent_no_removal BEFORE DELETE ON desk_incidentevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_comment_no_edit": (
        "CREATE TRIGGER desk_comment_no_edit BEFORE UPDATE ON desk_comment WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'the "
        "history of money is never changed'); END"
    ),
    "desk_comment_no_removal": (
        "CREATE TRIGGER desk_comment_no_removal BEFORE DELETE ON desk_comment WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'rows about money are never removed'); END"
    ),
    "desk_personchange_moves_with_event": (
        "CREATE TRIGGER desk_personchange_moves_with_event BEFORE UPDATE ON desk_personchange WHEN (NEW.state IS NOT "
        "OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "desk_personchangeevent e WHERE e.change_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a change of a person moves only together with the "
        "event of its new version'); END"
    ),
    "desk_personchange_content_fixed": (
        "CREATE TRIGGER desk_personchange_content_fixed BEFORE UPDATE ON desk_personchange WHEN NEW.person_id IS NOT "
        "OLD.person_id OR NEW.kind IS NOT OLD.kind OR NEW.wanted IS NOT OLD.wanted OR NEW.before IS NOT OLD.before OR "
        "NEW.reason IS NOT OLD.reason OR NEW.digest IS NOT OLD.digest OR NEW.requested_by_id IS NOT "
        "OLD.requested_by_id OR NEW.requested_with_id IS NOT OLD.requested_with_id OR NEW.alone IS NOT OLD.alone OR "
        "NEW.expires_at IS NOT OLD.expires_at OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT RAISE(ABORT, 'what "
        "was asked for in a change of a person is never edited'); END"
    ),
    "desk_personchange_begins": (
        "CREATE TRIGGER desk_personchange_begins BEFORE INSERT ON desk_personchange WHEN NEW.state <> 'requested' OR "
        "NEW.version <> 1 BEGIN SELECT RAISE(ABORT, 'a change of a person begins as requested'); END"
    ),
    "desk_personchangeevent_no_edit": (
        "CREATE TRIGGER desk_personchangeevent_no_edit BEFORE UPDATE ON desk_personchangeevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_personchange_no_removal": (
        "CREATE TRIGGER desk_personchange_no_removal BEFORE DELETE ON desk_personchange WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_invitation_no_removal": (
        "CREATE TRIGGER desk_invitation_no_removal BEFORE DELETE ON desk_invitation WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "desk_personchangeevent_no_removal": (
        "CREATE TRIGGER desk_personchangeevent_no_removal BEFORE DELETE ON desk_personchangeevent WHEN 1 = 1 BEGIN "
        "SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_audit_refuse": (
        "CREATE FUNCTION desk_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$\n"
        "BEGIN RAISE EXCEPTION 'the audit trail is never changed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END\n"
        "$body$"
    ),
    "desk_audit_only_next": (
        "CREATE FUNCTION desk_audit_only_next() RETURNS trigger LANGUAGE plpgsql AS $body$\n"
        "DECLARE head record;\n"
        "BEGIN\n"
        "  SELECT seq, hash INTO head FROM desk_auditevent ORDER BY seq DESC LIMIT 1;\n"
        "  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev <> COALESCE(head.hash, repeat('0', 64)) THEN\n"
        "    RAISE EXCEPTION 'the audit trail takes only the next event of the chain' USING ERRCODE = "
        "'integrity_constraint_violation';\n"
        "  END IF;\n"
        "  RETURN NEW;\n"
        "END\n"
        "$body$"
    ),
    "desk_rows_refuse": (
        "CREATE FUNCTION desk_rows_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$\n"
        "BEGIN RAISE EXCEPTION 'the row entries are never changed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END\n"
        "$body$"
    ),
    "desk_rows_only_next": (
        "CREATE FUNCTION desk_rows_only_next() RETURNS trigger LANGUAGE plpgsql AS $body$\n"
        "DECLARE head record;\n"
        "BEGIN\n"
        "  SELECT seq, hash INTO head FROM desk_rowwitness ORDER BY seq DESC LIMIT 1;\n"
        "  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev <> COALESCE(head.hash, repeat('0', 64)) THEN\n"
        "    RAISE EXCEPTION 'the row entries take only the next of the chain' USING ERRCODE = "
        "'integrity_constraint_violation';\n"
        "  END IF;\n"
        "  RETURN NEW;\n"
        "END\n"
        "$body$"
    ),
    "audit_no_change": (
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON desk_auditevent\n"
        "FOR EACH ROW EXECUTE FUNCTION desk_audit_refuse()"
    ),
    "audit_no_truncate": (
        "CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON desk_auditevent\n"
        "FOR EACH STATEMENT EXECUTE FUNCTION desk_audit_refuse()"
    ),
    "audit_only_next": (
        "CREATE TRIGGER audit_only_next BEFORE INSERT ON desk_auditevent\n"
        "FOR EACH ROW EXECUTE FUNCTION desk_audit_only_next()"
    ),
    "rowwitness_no_change": (
        "CREATE TRIGGER rowwitness_no_change BEFORE UPDATE OR DELETE ON desk_rowwitness\n"
        "FOR EACH ROW EXECUTE FUNCTION desk_rows_refuse()"
    ),
    "rowwitness_no_truncate": (
        "CREATE TRIGGER rowwitness_no_truncate BEFORE TRUNCATE ON desk_rowwitness\n"
        "FOR EACH STATEMENT EXECUTE FUNCTION desk_rows_refuse()"
    ),
    "rowwitness_only_next": (
        "CREATE TRIGGER rowwitness_only_next BEFORE INSERT ON desk_rowwitness\n"
        "FOR EACH ROW EXECUTE FUNCTION desk_rows_only_next()"
    ),
    "desk_incident_moves_with_event": (
        "CREATE FUNCTION desk_incident_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM desk_incidentevent e WHERE e.incident_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'an incident moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER desk_incident_moves_with_event BEFORE UPDATE ON desk_incident FOR EACH "
        "ROW EXECUTE FUNCTION desk_incident_moves_with_event()"
    ),
    "desk_incident_content_fixed": (
        "CREATE FUNCTION desk_incident_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.kind IS "
        "DISTINCT FROM OLD.kind OR NEW.cause IS DISTINCT FROM OLD.cause OR NEW.scope IS DISTINCT FROM OLD.scope OR "
        "NEW.severity IS DISTINCT FROM OLD.severity OR NEW.page IS DISTINCT FROM OLD.page OR NEW.page_key IS DISTINCT "
        "FROM OLD.page_key OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for "
        "in an incident is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER desk_incident_content_fixed BEFORE UPDATE ON desk_incident FOR EACH ROW EXECUTE "
        "FUNCTION desk_incident_content_fixed()"
    ),
    "desk_incident_begins": (
        "CREATE FUNCTION desk_incident_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state <> "
        "'open' OR NEW.version <> 1 OR NEW.gone_at IS NOT NULL THEN RAISE EXCEPTION 'an incident begins as open' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_incident_begins BEFORE INSERT ON desk_incident FOR EACH ROW EXECUTE FUNCTION desk_incident_begins()"
    ),
    "desk_incident_fills_once": (
        "CREATE FUNCTION desk_incident_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF (OLD.gone_at "
        "IS NOT NULL AND NEW.gone_at IS DISTINCT FROM OLD.gone_at) THEN RAISE EXCEPTION 'an incident keeps what it was "
        "given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_incident_fills_once BEFORE UPDATE ON desk_incident FOR EACH ROW EXECUTE FUNCTION "
        "desk_incident_fills_once()"
    ),
    "desk_incidentevent_no_edit": (
        "CREATE FUNCTION desk_incidentevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_incidentevent_no_edit BEFORE UPDATE ON desk_incidentevent FOR "
        "EACH ROW EXECUTE FUNCTION desk_incidentevent_no_edit()"
    ),
    "desk_incident_no_removal": (
        "CREATE FUNCTION desk_incident_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_incident_no_removal BEFORE DELETE ON desk_incident FOR EACH "
        "ROW EXECUTE FUNCTION desk_incident_no_removal()"
    ),
    "desk_incidentevent_no_removal": (
        "CREATE FUNCTION desk_incidentevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER desk_incidentevent_no_removal BEFORE DELETE ON "
        "desk_incidentevent FOR EACH ROW EXECUTE FUNCTION desk_incidentevent_no_removal()"
    ),
    "desk_comment_no_edit": (
        "CREATE FUNCTION desk_comment_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN RAISE "
        "EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER desk_comment_no_edit BEFORE UPDATE ON desk_comment FOR EACH ROW "
        "EXECUTE FUNCTION desk_comment_no_edit()"
    ),
    "desk_comment_no_removal": (
        "CREATE FUNCTION desk_comment_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_comment_no_removal BEFORE DELETE ON desk_comment FOR EACH ROW "
        "EXECUTE FUNCTION desk_comment_no_removal()"
    ),
    "desk_personchange_moves_with_event": (
        "CREATE FUNCTION desk_personchange_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM desk_personchangeevent e WHERE e.change_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'a change of a "
        "person moves only together with the event of its new version' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchange_moves_with_event BEFORE UPDATE ON desk_personchange FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchange_moves_with_event()"
    ),
    "desk_personchange_content_fixed": (
        "CREATE FUNCTION desk_personchange_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.person_id IS DISTINCT FROM OLD.person_id OR NEW.kind IS DISTINCT FROM OLD.kind OR NEW.wanted IS DISTINCT "
        "FROM OLD.wanted OR NEW.before IS DISTINCT FROM OLD.before OR NEW.reason IS DISTINCT FROM OLD.reason OR "
        "NEW.digest IS DISTINCT FROM OLD.digest OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR "
        "NEW.requested_with_id IS DISTINCT FROM OLD.requested_with_id OR NEW.alone IS DISTINCT FROM OLD.alone OR "
        "NEW.expires_at IS DISTINCT FROM OLD.expires_at OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE "
        "EXCEPTION 'what was asked for in a change of a person is never edited' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchange_content_fixed BEFORE UPDATE ON desk_personchange FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchange_content_fixed()"
    ),
    "desk_personchange_begins": (
        "CREATE FUNCTION desk_personchange_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state <> "
        "'requested' OR NEW.version <> 1 THEN RAISE EXCEPTION 'a change of a person begins as requested' USING ERRCODE "
        "= 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER desk_personchange_begins "
        "BEFORE INSERT ON desk_personchange FOR EACH ROW EXECUTE FUNCTION desk_personchange_begins()"
    ),
    "desk_personchangeevent_no_edit": (
        "CREATE FUNCTION desk_personchangeevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_personchangeevent_no_edit BEFORE UPDATE ON desk_personchangeevent FOR EACH ROW EXECUTE FUNCTION "
        "desk_personchangeevent_no_edit()"
    ),
    "desk_personchange_no_removal": (
        "CREATE FUNCTION desk_personchange_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_personchange_no_removal BEFORE DELETE ON desk_personchange "
        "FOR EACH ROW EXECUTE FUNCTION desk_personchange_no_removal()"
    ),
    "desk_invitation_no_removal": (
        "CREATE FUNCTION desk_invitation_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_invitation_no_removal BEFORE DELETE ON desk_invitation FOR "
        "EACH ROW EXECUTE FUNCTION desk_invitation_no_removal()"
    ),
    "desk_personchangeevent_no_removal": (
        "CREATE FUNCTION desk_personchangeevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER desk_personchangeevent_no_removal BEFORE DELETE ON "
        "desk_personchangeevent FOR EACH ROW EXECUTE FUNCTION desk_personchangeevent_no_removal()"
    ),
}


def make_cache_table(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    """All tables and triggers as version 0.7.0 had them; an older database passes through that version first."""

    initial = True
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name='Person',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('session_epoch', models.PositiveIntegerField(default=0, editable=False)),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                    ('words_from', models.DateTimeField(editable=False, help_text="Approvals given before this moment don't count on what is undecided.", null=True)),
                    ('limits', models.TextField(blank=True, default='', editable=False, help_text='Roles that are held at some accounts only, as words role:account with a blank around each.')),
                ],
                options={
                    'verbose_name': 'person',
                    'verbose_name_plural': 'people',
                },
            ),
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=80)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('hint', models.CharField(help_text='The last characters, to tell tokens apart.', max_length=8)),
                    ('created_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField(null=True)),
                    ('revoked_at', models.DateTimeField(null=True)),
                    ('last_used_at', models.DateTimeField(null=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                    ('scope', models.CharField(choices=[('read', 'Read only'), ('draft', 'Read, and ask for what the person may ask for')], default='draft', max_length=10)),
                ],
            ),
            migrations.CreateModel(
                name='KeyUse',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('credential_id', models.CharField(max_length=400, unique=True)),
                    ('sign_count', models.BigIntegerField()),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='SpentTotpStep',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('step', models.BigIntegerField()),
                    ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='StepUpChallenge',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session_digest', models.CharField(max_length=64)),
                    ('purpose', models.CharField(max_length=60)),
                    ('digest', models.CharField(max_length=64)),
                    ('nonce', models.CharField(max_length=64)),
                    ('audit_head', models.CharField(max_length=64)),
                    ('challenge', models.CharField(max_length=64, unique=True)),
                    ('made_at', models.DateTimeField()),
                    ('used_at', models.DateTimeField(null=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='AuditEvent',
                fields=[
                    ('seq', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('prev', models.CharField(max_length=64)),
                    ('hash', models.CharField(max_length=64, unique=True)),
                    ('at', models.DateTimeField()),
                    ('session_digest', models.CharField(blank=True, max_length=64)),
                    ('action', models.CharField(max_length=60)),
                    ('subject', models.CharField(db_index=True, max_length=120)),
                    ('before_text', models.TextField()),
                    ('after_text', models.TextField()),
                    ('request_id', models.CharField(blank=True, max_length=64)),
                    ('actor', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['seq'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('seq__gte', 1)), name='audit_seq_from_one')],
                    'indexes': [models.Index(fields=['at'], name='audit_by_moment')],
                },
            ),
            migrations.CreateModel(
                name='StepUp',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('totp', 'one-time code'), ('passkey', 'passkey')], max_length=10)),
                    ('purpose', models.CharField(max_length=60)),
                    ('digest', models.CharField(max_length=64)),
                    ('session_digest', models.CharField(max_length=64)),
                    ('at', models.DateTimeField()),
                    ('audit_head', models.CharField(blank=True, max_length=64)),
                    ('totp_step', models.BigIntegerField(null=True)),
                    ('credential_id', models.CharField(blank=True, max_length=400)),
                    ('public_key', models.TextField(blank=True)),
                    ('nonce', models.CharField(blank=True, max_length=64)),
                    ('challenge', models.CharField(blank=True, max_length=64)),
                    ('client_data', models.TextField(blank=True)),
                    ('authenticator_data', models.TextField(blank=True)),
                    ('signature', models.TextField(blank=True)),
                    ('sign_count', models.BigIntegerField(null=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='step_ups', to=settings.AUTH_USER_MODEL)),
                    ('mac', models.CharField(max_length=110, null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('person', 'totp_step'), name='one_decision_per_totp_step'), models.UniqueConstraint(condition=models.Q(('challenge', ''), _negated=True), fields=('challenge',), name='one_decision_per_challenge'), models.CheckConstraint(condition=models.Q(models.Q(('challenge', ''), ('kind', 'totp'), ('totp_step__isnull', False)), models.Q(('kind', 'passkey'), ('totp_step__isnull', True), models.Q(('challenge', ''), _negated=True), models.Q(('signature', ''), _negated=True)), _connector='OR'), name='step_up_keeps_its_proof')],
                },
            ),
            migrations.CreateModel(
                name='StepUpFailure',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session_digest', models.CharField(max_length=64)),
                    ('at', models.DateTimeField(db_index=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['person', 'at'], name='step_up_failures_recent')],
                },
            ),
            migrations.CreateModel(
                name='RowWitness',
                fields=[
                    ('seq', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('prev', models.CharField(max_length=64)),
                    ('hash', models.CharField(max_length=64, unique=True)),
                    ('code', models.CharField(max_length=110)),
                    ('at', models.DateTimeField()),
                    ('rules', models.BooleanField(default=False)),
                    ('content', models.TextField()),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('rules', True)), fields=['seq'], name='rowwitness_of_rules')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('seq__gte', 1)), name='rowwitness_from_one')],
                },
            ),
            migrations.CreateModel(
                name='Tries',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('budget', models.CharField(max_length=64, unique=True)),
                    ('failures', models.PositiveIntegerField(default=0)),
                    ('recent', models.JSONField(default=list)),
                    ('last_at', models.DateTimeField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='DatabaseMark',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('is_demo', models.BooleanField()),
                    ('made_at', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='one_database_mark')],
                },
            ),
            migrations.CreateModel(
                name='SessionKeyChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('old_digest', models.CharField(max_length=64, unique=True)),
                    ('new_digest', models.CharField(db_index=True, max_length=64)),
                    ('at', models.DateTimeField(db_index=True)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='FactorChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('action', models.CharField(choices=[('added', 'added'), ('removed', 'removed'), ('renewed', 'replaced')], max_length=10)),
                    ('factor', models.CharField(help_text="The library's name of the type: totp, webauthn, ...", max_length=20)),
                    ('device', models.CharField(blank=True, max_length=80)),
                    ('session_digest', models.CharField(blank=True, max_length=64)),
                    ('at', models.DateTimeField()),
                    ('rests_until', models.DateTimeField()),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='factor_changes', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['person', 'at'], name='factor_changes_recent')],
                },
            ),
            migrations.CreateModel(
                name='Incident',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('kind', models.CharField(max_length=40)),
                    ('cause', models.CharField(max_length=120)),
                    ('scope', models.CharField(blank=True, default='', max_length=20)),
                    ('severity', models.CharField(choices=[('critical', 'Critical'), ('high', 'High'), ('medium', 'Medium')], max_length=10)),
                    ('page', models.CharField(max_length=40)),
                    ('page_key', models.CharField(blank=True, default='', max_length=40)),
                    ('reason', models.CharField(blank=True, default='', max_length=500)),
                    ('gone_at', models.DateTimeField(null=True)),
                    ('state', models.CharField(choices=[('open', 'Open'), ('acknowledged', 'Acknowledged'), ('resolved', 'Resolved')], max_length=20)),
                    ('taken_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state__in', ('open', 'acknowledged'))), fields=['created_at'], name='incident_unresolved'), models.Index(condition=models.Q(('state', 'resolved')), fields=['-updated_at'], name='incident_resolved')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['open', 'acknowledged', 'resolved'])), name='incident_known_state'), models.CheckConstraint(condition=models.Q(('gone_at__isnull', True), ('state', 'resolved'), _connector='OR'), name='incident_ends_with_its_cause'), models.UniqueConstraint(condition=models.Q(('gone_at__isnull', True)), fields=('kind', 'cause'), name='incident_one_per_cause')],
                },
            ),
            migrations.CreateModel(
                name='IncidentEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('incident', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='desk.incident')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('incident', 'version'), name='incidentevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'opened'), ('from_state', ''), ('to_state', 'open')), models.Q(('event', 'acknowledged'), ('from_state', 'open'), ('to_state', 'acknowledged')), models.Q(('event', 'handed_back'), ('from_state', 'acknowledged'), ('to_state', 'open')), models.Q(('event', 'cleared'), ('from_state', 'open'), ('to_state', 'resolved')), models.Q(('event', 'cleared'), ('from_state', 'acknowledged'), ('to_state', 'resolved')), models.Q(('event', 'closed'), ('from_state', 'open'), ('to_state', 'resolved')), models.Q(('event', 'closed'), ('from_state', 'acknowledged'), ('to_state', 'resolved')), models.Q(('event', 'gone'), ('from_state', 'resolved'), ('to_state', 'resolved')), _connector='OR'), name='incidentevent_is_a_move_of_the_table')],
                },
            ),
            migrations.CreateModel(
                name='Taken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('subject', models.CharField(max_length=60, unique=True)),
                    ('at', models.DateTimeField()),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Comment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('subject', models.CharField(max_length=60)),
                    ('text', models.CharField(max_length=2000)),
                    ('request_key', models.CharField(max_length=80)),
                    ('at', models.DateTimeField()),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['subject', 'at'], name='comment_of_subject')],
                    'constraints': [models.UniqueConstraint(fields=('person', 'request_key'), name='comment_one_per_request_key')],
                },
            ),
            migrations.CreateModel(
                name='PersonChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('kind', models.CharField(choices=[('roles', 'Change roles'), ('factors', 'Reset second factors'), ('access', 'Reset password and second factors'), ('reactivate', 'Activate again')], max_length=20)),
                    ('wanted', models.TextField(blank=True, default='')),
                    ('before', models.TextField(blank=True, default='')),
                    ('reason', models.CharField(max_length=500)),
                    ('digest', models.CharField(max_length=64)),
                    ('alone', models.BooleanField()),
                    ('expires_at', models.DateTimeField()),
                    ('comment', models.CharField(blank=True, default='', max_length=500)),
                    ('state', models.CharField(choices=[('requested', 'Needs a second admin'), ('done', 'Done'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn'), ('expired', 'Expired')], max_length=20)),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('decided_with', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to=settings.AUTH_USER_MODEL)),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('requested_with', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='desk.stepup')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['requested', 'done', 'rejected', 'withdrawn', 'expired'])), name='personchange_known_state'), models.CheckConstraint(condition=models.Q(('person', models.F('requested_by')), _negated=True), name='personchange_not_ones_own'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), ('alone', True), models.Q(('decided_with__isnull', False), models.Q(('decided_by', models.F('requested_by')), _negated=True), models.Q(('decided_by', models.F('person')), _negated=True)), _connector='OR'), name='personchange_done_by_two'), models.UniqueConstraint(condition=models.Q(('state', 'requested')), fields=('person',), name='personchange_one_at_a_time')],
                },
            ),
            migrations.CreateModel(
                name='PersonChangeEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('event', models.CharField(max_length=40)),
                    ('from_state', models.CharField(blank=True, default='', max_length=20)),
                    ('to_state', models.CharField(max_length=20)),
                    ('evidence', models.JSONField(default=dict)),
                    ('audit_number', models.BigIntegerField(help_text='number of the row of the audit trail written with it')),
                    ('at', models.DateTimeField()),
                    ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('change', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='desk.personchange')),
                ],
                options={
                    'ordering': ['version'],
                    'constraints': [models.UniqueConstraint(fields=('change', 'version'), name='personchangeevent_one_per_version'), models.CheckConstraint(condition=models.Q(models.Q(('event', 'requested'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'confirmed'), ('from_state', 'requested'), ('to_state', 'done')), models.Q(('event', 'applied_alone'), ('from_state', 'requested'), ('to_state', 'done')), models.Q(('event', 'rejected'), ('from_state', 'requested'), ('to_state', 'rejected')), models.Q(('event', 'withdrawn'), ('from_state', 'requested'), ('to_state', 'withdrawn')), models.Q(('event', 'expired'), ('from_state', 'requested'), ('to_state', 'expired')), _connector='OR'), name='personchangeevent_is_a_move')],
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('email', models.EmailField(max_length=254)),
                    ('code_digest', models.CharField(max_length=64, unique=True)),
                    ('made_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField()),
                    ('used_at', models.DateTimeField(null=True)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('wrong_addresses', models.PositiveSmallIntegerField(default=0)),
                    ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at__isnull', True), ('used_at__isnull', True)), fields=('person',), name='invitation_one_open')],
                },
            ),
            migrations.CreateModel(
                name='Availability',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('quiet_from', models.TimeField(blank=True, null=True)),
                    ('quiet_until', models.TimeField(blank=True, null=True)),
                    ('turn', models.PositiveSmallIntegerField(choices=[(1, 'At once'), (2, 'Later'), (3, 'Last')], default=1)),
                    ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='availability', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Channel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.UUIDField(default=uuid.uuid4, unique=True)),
                    ('kind', models.CharField(choices=[('webhook', 'Webhook'), ('chat', 'Chat')], max_length=10)),
                    ('name', models.CharField(max_length=60, unique=True)),
                    ('host', models.CharField(max_length=260)),
                    ('address_sealed', models.TextField()),
                    ('secret_sealed', models.TextField(blank=True, default='')),
                    ('previous_sealed', models.TextField(blank=True, default='')),
                    ('previous_until', models.DateTimeField(null=True)),
                    ('least', models.CharField(choices=[('critical', 'Critical'), ('high', 'High'), ('medium', 'Medium')], default='medium', max_length=10)),
                    ('decisions', models.BooleanField(default=True)),
                    ('made_at', models.DateTimeField()),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Notification',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.UUIDField(default=uuid.uuid4, unique=True)),
                    ('stage', models.CharField(choices=[('opened', 'It waits'), ('escalated', 'Its time is nearly over'), ('everybody', 'Its time is nearly over, everybody is told'), ('ended', 'It is over'), ('test', 'A test')], max_length=10)),
                    ('subject', models.CharField(max_length=120)),
                    ('phase', models.CharField(blank=True, default='', max_length=40)),
                    ('kind', models.CharField(max_length=40)),
                    ('severity', models.CharField(blank=True, choices=[('critical', 'Critical'), ('high', 'High'), ('medium', 'Medium')], default='', max_length=10)),
                    ('reference', models.CharField(max_length=40)),
                    ('title', models.CharField(max_length=200)),
                    ('sentence', models.CharField(max_length=600)),
                    ('url', models.CharField(max_length=200)),
                    ('outcome', models.CharField(blank=True, default='', max_length=80)),
                    ('deadline', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField()),
                    ('ended_at', models.DateTimeField(null=True)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['subject'], name='notification_going_on')],
                    'constraints': [models.UniqueConstraint(fields=('subject', 'phase', 'stage'), name='notification_once_per_stage')],
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('next_action_at', models.DateTimeField(db_index=True, null=True)),
                    ('last_problem', models.CharField(blank=True, default='', max_length=500)),
                    ('created_at', models.DateTimeField()),
                    ('updated_at', models.DateTimeField()),
                    ('medium', models.CharField(choices=[('email', 'E-mail'), ('webhook', 'Webhook'), ('chat', 'Chat')], max_length=10)),
                    ('content', models.TextField(blank=True, default='')),
                    ('attempts', models.PositiveIntegerField(default=0)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('state', models.CharField(choices=[('queued', 'Waiting'), ('sending', 'Being sent'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('dropped', 'Not needed')], max_length=20)),
                    ('channel', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='desk.channel')),
                    ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('notification', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='desk.notification')),
                ],
                options={
                    'indexes': [models.Index(fields=['-created_at'], name='delivery_newest'), models.Index(condition=models.Q(('state__in', ('queued', 'sending'))), fields=['medium', 'channel'], name='delivery_unsent')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'sending', 'delivered', 'failed', 'dropped'])), name='delivery_known_state'), models.CheckConstraint(condition=models.Q(models.Q(('channel__isnull', True), ('medium', 'email'), ('person__isnull', False)), models.Q(('channel__isnull', False), ('medium__in', ['webhook', 'chat']), ('person__isnull', True)), _connector='OR'), name='delivery_to_a_person_or_a_channel'), models.UniqueConstraint(condition=models.Q(('person__isnull', False)), fields=('notification', 'person'), name='delivery_once_per_person'), models.UniqueConstraint(condition=models.Q(('channel__isnull', False)), fields=('notification', 'channel'), name='delivery_once_per_channel')],
                },
            ),
            migrations.CreateModel(
                name='Preference',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=40)),
                    ('by_email', models.BooleanField()),
                    ('in_browser', models.BooleanField()),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('person', 'kind'), name='preference_one_per_kind')],
                },
            ),
            migrations.CreateModel(
                name='Recipient',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('in_browser', models.BooleanField()),
                    ('notification', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recipients', to='desk.notification')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='told_of', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('notification', 'person'), name='recipient_once')],
                },
            ),
            migrations.CreateModel(
                name='PersonalSettings',
                fields=[
                    ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='personal', serialize=False, to=settings.AUTH_USER_MODEL)),
                    ('zone', models.CharField(default='UTC', max_length=60)),
                    ('grouping', models.CharField(choices=[('comma', '1,234,567.89'), ('space', '1\u202f234\u202f567.89'), ('apostrophe', '1’234’567.89'), ('none', '1234567.89')], default='comma', max_length=12)),
                    ('density', models.CharField(choices=[('comfortable', 'Comfortable'), ('compact', 'Compact')], default='comfortable', max_length=12)),
                    ('theme', models.CharField(blank=True, choices=[('', 'As the device is set'), ('light', 'Light'), ('dark', 'Dark')], default='', max_length=8)),
                    ('quote_currency', models.CharField(blank=True, default='', max_length=20)),
                    ('start_page', models.CharField(blank=True, default='', max_length=60)),
                    ('tours', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('grouping__in', ['comma', 'space', 'apostrophe', 'none'])), name='personal_known_grouping'), models.CheckConstraint(condition=models.Q(('density__in', ['comfortable', 'compact'])), name='personal_known_density'), models.CheckConstraint(condition=models.Q(('theme__in', ['', 'light', 'dark'])), name='personal_known_theme')],
                },
            ),
            migrations.CreateModel(
                name='ListChoice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('list_name', models.CharField(max_length=40)),
                    ('columns', models.JSONField(default=list)),
                    ('size', models.PositiveSmallIntegerField(default=50)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('person', 'list_name'), name='listchoice_one_per_list')],
                },
            ),
            migrations.CreateModel(
                name='SavedFilter',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('list_name', models.CharField(max_length=40)),
                    ('name', models.CharField(max_length=60)),
                    ('query', models.CharField(max_length=2000)),
                    ('is_default', models.BooleanField(default=False)),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('person', 'list_name', 'name'), name='savedfilter_one_per_name'), models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('person', 'list_name'), name='savedfilter_one_default')],
                },
            ),
            migrations.CreateModel(
                name='KeyedRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=80)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('claim', models.UUIDField()),
                    ('began_at', models.DateTimeField(db_index=True)),
                    ('status', models.PositiveSmallIntegerField(null=True)),
                    ('content', models.TextField(default='')),
                    ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('person', 'key'), name='keyedrequest_one_per_key')],
                },
            ),
        ),
        InstallTriggers(SQLITE, POSTGRESQL),
        migrations.RunPython(make_cache_table, migrations.RunPython.noop),
    ]
