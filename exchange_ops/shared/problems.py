"""Where a problem of a request belongs that is about no single field."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

FORM = "__all__"
