"""What a person chose for a list: its columns and page size, and the filters kept by name. Nobody else sees them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

LONGEST_NAME, LONGEST_QUERY = 60, 2000


class ListChoice(models.Model):
    """The columns and the page size of one list for one person; empty columns are those shown at first."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    list_name = models.CharField(max_length=40)
    columns = models.JSONField(default=list)
    size = models.PositiveSmallIntegerField(default=50)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "list_name"], name="listchoice_one_per_list"),
        ]

    def __str__(self) -> str:
        return f"{self.list_name} of {self.person_id}"


class SavedFilter(models.Model):
    """Filters and order of a list under a name, as the query string that brings them back."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    list_name = models.CharField(max_length=40)
    name = models.CharField(max_length=LONGEST_NAME)
    query = models.CharField(max_length=LONGEST_QUERY)
    is_default = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "list_name", "name"], name="savedfilter_one_per_name"),
            models.UniqueConstraint(
                fields=["person", "list_name"], condition=Q(is_default=True), name="savedfilter_one_default"
            ),
        ]

    def __str__(self) -> str:
        return self.name
