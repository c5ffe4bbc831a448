"""The form of a batch: an uploaded file, pasted text, or a few lines by hand. All three become one text of CSV."""

from typing import Any, Final

from django import forms

from exchange_ops.shared import csv_lines
from exchange_ops.shared.csv_lines import CannotRead, Entry
from exchange_ops.withdrawals.batches import reading

HAND_LINES: Final = 5
_LONGEST_CELL: Final = 1000


class BatchForm(forms.Form):
    """The lines of a batch. After validation `text` is their CSV, whatever they came from, and `entries` are they."""

    file = forms.FileField(
        label="CSV file",
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".csv,.txt,.tsv,text/csv"}),
    )
    text = forms.CharField(
        label="Lines",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "autocomplete": "off", "wrap": "off"}),
        error_messages={"null_characters_not_allowed": f"The text contains binary data. {csv_lines.AS_UTF8}"},
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    entries: list[Entry]

    def clean(self) -> dict[str, Any]:
        """The one text, read; several ways at once are refused, because one of them would be left out."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        self.entries = []
        file, text, by_hand = cleaned.get("file"), cleaned.get("text") or "", self.hand_rows()
        has_rows = any(value.strip() for row in by_hand for value in row.values())
        if (file is not None) + bool(text.strip()) + has_rows > 1:
            self.add_error(None, "Use one way at a time: a file, pasted lines, or lines by hand.")
        elif not self.errors:
            self._read(cleaned, file, reading.written(by_hand) if has_rows else text)
        return cleaned

    def hand_rows(self) -> list[dict[str, str]]:
        """The lines by hand, as they were typed."""
        return [
            {name: str(self.data.get(f"{name}-{at}", ""))[:_LONGEST_CELL] for name in reading.NAMES}
            for at in range(HAND_LINES)
        ]

    def _read(self, cleaned: dict[str, Any], file: Any, text: str) -> None:
        name = "text" if file is None else "file"
        try:
            if file is not None:
                # Of a file that is too large only as much is read as shows that it is.
                text = csv_lines.decoded(file.read(csv_lines.MOST_BYTES + 1), name=file.name or "")
            self.entries = reading.read(text)
        except CannotRead as problem:
            self.add_error(name, str(problem))
        cleaned["text"] = text
