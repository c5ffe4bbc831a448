"""The rows of this room."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class Density(models.TextChoices):
    """How close the rows of a page stand."""

    COMFORTABLE = "comfortable", "Comfortable"
    COMPACT = "compact", "Compact"


class Theme(models.TextChoices):
    """Light or dark; empty follows the device."""

    DEVICE = "", "Match the device"
    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


class Grouping(models.TextChoices):
    """What stands between thousands. The decimal sign is a point for everybody: see `formats`."""

    COMMA = "comma", "1,234,567.89"
    SPACE = "space", "1\u202f234\u202f567.89"
    APOSTROPHE = "apostrophe", "1\u2019234\u2019567.89"
    NONE = "none", "1234567.89"


class PersonalSettings(models.Model):
    """One person's own; whoever has no row reads as everybody does.

    `quote_currency` is empty for that of the account, `start_page` is the name of an address and empty for the
    overview. `tours` keeps how far each role's tour came: see `tours`.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="personal"
    )
    zone = models.CharField(max_length=60, default="UTC")
    grouping = models.CharField(max_length=12, choices=Grouping.choices, default=Grouping.COMMA)
    density = models.CharField(max_length=12, choices=Density.choices, default=Density.COMFORTABLE)
    theme = models.CharField(max_length=8, choices=Theme.choices, default=Theme.DEVICE, blank=True)
    quote_currency = models.CharField(max_length=20, default="", blank=True)
    start_page = models.CharField(max_length=60, default="", blank=True)
    tours = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(grouping__in=Grouping.values), name="personal_known_grouping"),
            models.CheckConstraint(condition=models.Q(density__in=Density.values), name="personal_known_density"),
            models.CheckConstraint(condition=models.Q(theme__in=Theme.values), name="personal_known_theme"),
        ]

    def __str__(self) -> str:
        return f"settings of {self.person_id}"
