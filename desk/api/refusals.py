"""What a domain refuses, as an answer that names the members of the request."""

from typing import Final

from rest_framework import exceptions

FORM: Final = "__all__"  # the request as a whole


class CannotRecord(exceptions.APIException):
    """The domain refused the request; `problems` names members and says why."""

    status_code = 422

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems
