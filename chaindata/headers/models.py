"""The chain of block headers that the desk follows, the tip as last read, and the reorganisations seen."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class ChainHeader(models.Model):
    """A block header whose work was checked. `raw` is its 80 bytes in hexadecimal; hashes are as shown.

    `chainwork` is the work of the chain up to it in 64 hexadecimal digits, so that texts compare as numbers do. At most
    one header of each height is active; the active ones are a chain without gaps.
    """

    hash = models.CharField(max_length=64, primary_key=True)
    height = models.BigIntegerField()
    previous_hash = models.CharField(max_length=64)
    raw = models.CharField(max_length=160)
    time = models.BigIntegerField()
    chainwork = models.CharField(max_length=64)
    is_active = models.BooleanField(default=False)
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["height"], condition=Q(is_active=True), name="chainheader_one_active"),
        ]
        indexes: ClassVar = [models.Index(fields=["height"], name="chainheader_by_height")]

    def __str__(self) -> str:
        return f"{self.height} {self.hash}"


class ChainTip(models.Model):
    """The one row about the tip: when it was last read, with which problem, and who is reading it at this moment.

    `world` names the service and its network; with another one the desk starts a new chain.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    world = models.CharField(max_length=300, default="", blank=True)
    header = models.ForeignKey(ChainHeader, null=True, on_delete=models.SET_NULL, related_name="+")
    read_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)
    problem_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=80, default="", blank=True)
    claimed_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=Q(id=1), name="chaintip_one_row")]

    def __str__(self) -> str:
        return f"tip of {self.world}"


class ChainReorganisation(models.Model):
    """Blocks that left the chain for others: the last common height, and the two tips."""

    found_at = models.DateTimeField()
    common_height = models.BigIntegerField()
    old_tip = models.CharField(max_length=64)
    old_height = models.BigIntegerField()
    new_tip = models.CharField(max_length=64)
    new_height = models.BigIntegerField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["-found_at"], name="chainreorganisation_newest")]

    def __str__(self) -> str:
        return f"{self.old_height - self.common_height} blocks left the chain above {self.common_height}"
