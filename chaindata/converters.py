"""Parts of URLs that name something on the chain: a hash has one URL, however it is typed."""

from django.urls import register_converter
from django.urls.converters import StringConverter


class HashConverter:
    """An identifier of 64 hexadecimal digits, in small letters from here on."""

    regex = "[0-9a-fA-F]{64}"

    def to_python(self, value: str) -> str:
        """As the chain shows it."""
        return value.lower()

    def to_url(self, value: str | int) -> str:
        """As the chain shows it; a height may be a number."""
        return str(value).lower()


class BlockConverter(HashConverter):
    """A block's hash, or its height without leading zeros."""

    regex = "[0-9a-fA-F]{64}|[0-9]{1,9}"

    def to_python(self, value: str) -> str:
        """The hash in small letters, or the digits of the height."""
        return value.lower() if len(value) == 64 else str(int(value))


class AddressConverter(StringConverter):
    """An address in any form, or a text that is none: the page says what is wrong with it."""

    regex = "[^/]{1,200}"


register_converter(HashConverter, "hash")
register_converter(BlockConverter, "block")
register_converter(AddressConverter, "coin_address")
