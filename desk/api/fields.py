"""The members that requests of every room are made of: exactly what the description says, and nothing like it."""

from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.fields import empty

from desk.machines.requests import LONGEST_KEY

# No NUL anywhere, and one character at least that is no blank. The same set in Python and in the expressions of a
# description, which disagree about what a blank is.
_TEXT = RegexValidator(
    r"^[^\x00]*[^\s\x00\x1c-\x1f\x85\ufeff][^\x00]*$", "This field may not be blank or contain null characters."
)
_TEXT_OR_NOTHING = RegexValidator(r"^[^\x00]*$", "Null characters are not allowed.")


class StrictText(serializers.CharField):
    """Text as the description has it: nothing that could be turned into text, none of nothing but blanks, no NUL.

    Its length counts as it was sent, blanks at its ends included.
    """

    def __init__(self, **options: Any) -> None:
        check = _TEXT_OR_NOTHING if options.get("allow_blank") else _TEXT
        super().__init__(validators=[check], **options)

    def run_validation(self, data: Any = empty) -> Any:
        """Before any blanks are taken off."""
        if isinstance(data, str):
            self.run_validators(data)
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.")
        return super().to_internal_value(data)


class RequestKey(StrictText):
    """The key under which a draft is recorded, for good: sent again by the same person, it gives the same row."""

    def __init__(self, **options: Any) -> None:
        usual = {"min_length": 8, "max_length": LONGEST_KEY, "trim_whitespace": False, "required": False}
        sentence = (
            "A key of your choice, unique to each request. Sending it again returns the same record. Default: the "
            "Idempotency-Key header."
        )
        super().__init__(**{**usual, "help_text": sentence, **options})


class StrictChoice(serializers.ChoiceField):
    """One of the words of a list, and nothing that could be turned into one."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.")
        return str(super().to_internal_value(data))


class StrictBody(serializers.Serializer[Any]):
    """The members of a request; one that is not known is refused, and the description says so too."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError({str(name): ["Unknown field."] for name in unknown[:20]})
        return super().to_internal_value(data)


class StrictBoolean(serializers.BooleanField):
    """true or false, and no word or number for them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("Must be true or false.")
        return data


class StrictInteger(serializers.IntegerField):
    """A whole number, and no text or word for one."""

    def to_internal_value(self, data: Any) -> int:
        # JSON knows one kind of number: 7.0 is as whole as 7.
        is_whole = isinstance(data, int) or (isinstance(data, float) and data.is_integer())
        if not is_whole or isinstance(data, bool):
            raise serializers.ValidationError("Must be a whole number.")
        return super().to_internal_value(int(data))
