"""The desk's own rows: people, tokens, the audit trail, and the second factors of decisions."""

import json
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models, transaction
from django.utils.crypto import salted_hmac

from desk import clock
from desk.rows.signed_content import SignedContent
from desk.rows.witnessed import Rows, Witnessed


class People(UserManager.from_queryset(Rows)):  # type: ignore[misc]
    """Django's manager of users, with witnessed rows."""

    use_in_migrations = False


class Person(AbstractUser, Witnessed):
    """Somebody who signs in. Rights come from roles (groups), never from the superuser flag."""

    session_epoch = models.PositiveIntegerField(default=0, editable=False)
    words_from = models.DateTimeField(
        null=True, editable=False, help_text="Approvals given before this moment don't count on what is undecided."
    )
    unconfirmed_since = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Set until a colleague of treasury confirms this person; until then their approvals don't count.",
    )
    limits = models.TextField(
        default="",
        blank=True,
        editable=False,
        help_text="Roles that are held at some accounts only, as words role:account with a blank around each.",
    )

    grants_until = models.DateTimeField(null=True, editable=False, help_text="When roles given for some time end.")
    grants_after = models.JSONField(null=True, editable=False, help_text="The grants from then on.")

    # What a page asks of the roles without naming an account is asked of this one (`desk.people.scopes.enter`).
    here: str | None = None

    objects: ClassVar[UserManager["Person"]] = People()  # type: ignore[assignment]

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def save(self, *args: Any, **named: Any) -> None:
        """Save in a transaction: a new password also ends tokens, deactivation also sessions (`signals`)."""
        with transaction.atomic():
            super().save(*args, **named)

    @property
    def has_new_password(self) -> bool:
        """While saving: whether the password itself changed, and not only its hash by a newer algorithm."""
        return getattr(self, "_password", None) is not None

    @property
    def roles(self) -> frozenset[str]:
        """The names of the person's roles. Read once per object; a change of roles ends sessions with older objects."""
        if self.is_past_grants:
            return frozenset(grant.partition(":")[0] for grant in self.grants_after or ())
        if "_roles" not in self.__dict__:
            self.__dict__["_roles"] = frozenset(group.name for group in self.groups.all())
        held: frozenset[str] = self.__dict__["_roles"]
        return held

    def has_role(self, *names: str, scope: str | None = None) -> bool:
        """Whether the person is active and holds at least one of the roles at the account `scope`, given by number.

        An empty text stands for the whole desk, where a person who is limited to accounts holds no role. None stands
        for the account of the request or, where there is none, for any account: enough to open a page, never to act.
        """
        held = self.scopes(*names)
        if scope is None:
            scope = self.here
        return held is None or (bool(held) if scope is None else scope in held)

    def scopes(self, *names: str) -> frozenset[str] | None:
        """The accounts at which the person holds one of the roles; None is every account, and the desk itself."""
        held = self.roles.intersection(names) if self.is_active else frozenset()
        words = self._limited_grants
        accounts = {name: {word.partition(":")[2] for word in words if word.startswith(f"{name}:")} for name in held}
        return frozenset().union(*accounts.values()) if all(accounts.values()) else None

    @property
    def grants(self) -> list[str]:
        """The roles held, each as `role`, or as `role:account` for every account that it is limited to, in order."""
        limited = {word.partition(":")[0] for word in self._limited_grants}
        return sorted([*(self.roles - limited), *self._limited_grants])

    @property
    def is_past_grants(self) -> bool:
        """Whether roles given for some time have ended, though the desk may not have taken them back yet."""
        return self.grants_until is not None and self.grants_until <= clock.now()

    @property
    def _limited_grants(self) -> list[str]:
        """The grants that are limited to an account."""
        if self.is_past_grants:
            return [grant for grant in self.grants_after or () if ":" in grant]
        return self.limits.split()

    def get_session_auth_hash(self) -> str:
        return self._epoch_hash(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Any:
        for older in super().get_session_auth_fallback_hash():
            yield self._epoch_hash(older)

    def _epoch_hash(self, password_hash: str) -> str:
        # A session is valid for one epoch: raising it signs the person out everywhere within one request.
        return salted_hmac(
            "desk.session-epoch", f"{password_hash}:{self.session_epoch}", algorithm="sha256"
        ).hexdigest()


def end_sessions(people: list[int]) -> None:
    """End all sessions of these people: their next request is signed out, and sockets close within five seconds."""
    Person.objects.filter(pk__in=people).update(session_epoch=models.F("session_epoch") + 1)


class ApiToken(Witnessed):
    """A key to the desk's own API. Only its digest is stored: the token itself is shown once, when it is made."""

    class Scope(models.TextChoices):
        READ = "read", "Read only"
        DRAFT = "draft", "Read and draft requests"

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="api_tokens")
    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.DRAFT)
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8, help_text="The last characters, to tell tokens apart.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} (…{self.hint})"


class AuditEvent(Witnessed):
    """One link of the chain. Written only by `audit.record`; triggers refuse every change and every gap.

    `before` and `after` are stored as the exact canonical text that was hashed. The actor is only a number, so that
    erasing a person does not break the chain.
    """

    seq = models.BigIntegerField(primary_key=True)
    prev = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField()
    actor = models.ForeignKey(Person, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    session_digest = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=120, db_index=True)
    before_text = models.TextField()
    after_text = models.TextField()
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering: ClassVar = ["seq"]
        constraints: ClassVar = [models.CheckConstraint(condition=models.Q(seq__gte=1), name="audit_seq_from_one")]
        indexes: ClassVar = [models.Index(fields=["at"], name="audit_by_moment")]

    def __str__(self) -> str:
        return f"{self.seq} {self.action} {self.subject}"

    @property
    def before(self) -> dict[str, Any]:
        """The subject before the change; empty for a new one."""
        content: dict[str, Any] = json.loads(self.before_text)
        return content

    @property
    def after(self) -> dict[str, Any]:
        """The subject after the change."""
        content: dict[str, Any] = json.loads(self.after_text)
        return content


class StepUp(SignedContent, Witnessed):
    """A second factor given for exactly one decision, with everything needed to check the signature again later."""

    class Kind(models.TextChoices):
        TOTP = "totp", "one-time code"
        PASSKEY = "passkey", "passkey"
        LIST = "list", "place in a signed list"

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="step_ups")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    purpose = models.CharField(max_length=60)
    digest = models.CharField(max_length=64)
    session_digest = models.CharField(max_length=64)
    at = models.DateTimeField()
    audit_head = models.CharField(max_length=64, blank=True)
    totp_step = models.BigIntegerField(null=True)
    credential_id = models.CharField(max_length=400, blank=True)
    public_key = models.TextField(blank=True)
    nonce = models.CharField(max_length=64, blank=True)
    challenge = models.CharField(max_length=64, blank=True)
    client_data = models.TextField(blank=True)
    authenticator_data = models.TextField(blank=True)
    signature = models.TextField(blank=True)
    sign_count = models.BigIntegerField(null=True)
    # The list of decisions that this factor confirms; or the factor whose list has this decision, and its place there.
    listed = models.TextField(null=True)
    signed_with = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    position = models.PositiveSmallIntegerField(null=True)
    # "key id:code" over every other column, under a key of the ring; rows from before it was kept have none.
    mac = models.CharField(max_length=110, null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "totp_step"], name="one_decision_per_totp_step"),
            models.UniqueConstraint(
                fields=["challenge"], condition=~models.Q(challenge=""), name="one_decision_per_challenge"
            ),
            models.UniqueConstraint(
                fields=["signed_with", "position"],
                condition=models.Q(signed_with__isnull=False),
                name="one_decision_per_place_in_a_list",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="totp", totp_step__isnull=False, challenge="")
                | models.Q(kind="list", totp_step__isnull=True, challenge="")
                | (
                    models.Q(kind="passkey", totp_step__isnull=True) & ~models.Q(challenge="") & ~models.Q(signature="")
                ),
                name="step_up_keeps_its_proof",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.person_id} for {self.purpose}"


class RowWitness(models.Model):
    """One entry of the chain of witnesses; see `desk.audit.witness_chain`, which alone writes it.

    `content` is the exact text that was hashed; `code` authenticates the hash under a key of the ring. `rules` marks
    the few entries about tables whose rows are checked before they are followed.
    """

    seq = models.BigIntegerField(primary_key=True)
    prev = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)
    code = models.CharField(max_length=110)
    at = models.DateTimeField()
    rules = models.BooleanField(default=False)
    content = models.TextField()

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=models.Q(seq__gte=1), name="rowwitness_from_one")]
        indexes: ClassVar = [
            models.Index(fields=["seq"], condition=models.Q(rules=True), name="rowwitness_of_rules"),
        ]

    def __str__(self) -> str:
        return f"row entry {self.seq}"


class StepUpChallenge(models.Model):
    """A passkey challenge: for one person, session and content, valid for 120 seconds and for one answer."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    session_digest = models.CharField(max_length=64)
    purpose = models.CharField(max_length=60)
    digest = models.CharField(max_length=64)
    nonce = models.CharField(max_length=64)
    audit_head = models.CharField(max_length=64)
    challenge = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"challenge {self.pk} for {self.purpose}"


class StepUpFailure(models.Model):
    """A wrong answer, counted to slow down guessing. Kept for a day."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    session_digest = models.CharField(max_length=64)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["person", "at"], name="step_up_failures_recent")]

    def __str__(self) -> str:
        return f"incorrect code by {self.person_id}"


class SpentTotpStep(Witnessed):
    """The last thirty-second step of a person's one-time codes that was used, at sign-in or for a decision."""

    person = models.OneToOneField(Person, on_delete=models.CASCADE, related_name="+")
    step = models.BigIntegerField()

    def __str__(self) -> str:
        return f"step {self.step} of {self.person_id}"


class KeyUse(Witnessed):
    """The highest signature counter seen from a passkey, by which a copied key is noticed."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    credential_id = models.CharField(max_length=400, unique=True)
    sign_count = models.BigIntegerField()

    def __str__(self) -> str:
        return f"counter {self.sign_count} of a passkey of {self.person_id}"


class FactorChange(Witnessed):
    """A second factor of a person that was added, removed or replaced. The person sees it; it never changes.

    Until `rests_until` the person's approvals don't count; one that was given in that time never does.
    """

    class Action(models.TextChoices):
        ADDED = "added", "added"
        REMOVED = "removed", "removed"
        RENEWED = "renewed", "replaced"

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="factor_changes")
    action = models.CharField(max_length=10, choices=Action.choices)
    factor = models.CharField(max_length=20, help_text="The library's name of the type: totp, webauthn, ...")
    device = models.CharField(max_length=80, blank=True)
    session_digest = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField()
    rests_until = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["person", "at"], name="factor_changes_recent")]

    def __str__(self) -> str:
        return f"{self.factor_name} {self.get_action_display()}"

    @property
    def factor_name(self) -> str:
        """What the factor is called on pages."""
        names = {"totp": "authenticator app", "webauthn": "passkey", "recovery_codes": "recovery codes"}
        return names.get(self.factor, self.factor)


class SessionKeyChange(models.Model):
    """A session that went on under a new key after a second factor was given. The old key opens nothing.

    Both keys are stored as digests, as long as a session can last. By them a re-read that left with the old key is told
    apart from a session that ended, and it is known that the session has sent a right code.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    old_digest = models.CharField(max_length=64, unique=True)
    new_digest = models.CharField(max_length=64, db_index=True)
    at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"a new key for a session of {self.person_id}"


class Tries(models.Model):
    """How often something was tried in vain: one row for each budget, however many tries.

    `budget` is a keyed digest of what the budget is for (an address, a name, a device), so the table reveals none.
    `failures` lengthens the pause; `recent` has the times of at most ten last tries in milliseconds, which limit the
    rate.
    """

    budget = models.CharField(max_length=64, unique=True)
    failures = models.PositiveIntegerField(default=0)
    recent = models.JSONField(default=list)
    last_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.failures} failed attempts"


class DatabaseMark(Witnessed):
    """Whether this database belongs to a demo, whose passwords are published, or to a real desk. One row, for good."""

    is_demo = models.BooleanField()
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=models.Q(pk=1), name="one_database_mark")]

    def __str__(self) -> str:
        return "a demo desk" if self.is_demo else "a real desk"
