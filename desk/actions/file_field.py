"""The form field for a file that is attached: checked where it is typed in, before anything is done with the form."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from desk.actions import attachments, file_types
from desk.actions.threads import CannotSay

HINT = f"{file_types.NAMES}, up to {file_types.MOST_MB} MB. It can't be removed later."


class FileField(forms.FileField):
    """A file as `attachments.File`, or None where none was chosen; a file that can't be attached is refused."""

    def __init__(self, *, label: str, required: bool = True, help_text: str = HINT) -> None:
        super().__init__(
            label=label,
            required=required,
            help_text=help_text,
            allow_empty_file=True,
            error_messages={"required": "Choose a file."},
            widget=forms.FileInput(
                attrs={
                    "accept": ",".join(file_types.SUFFIXES),
                    "data-most-bytes": file_types.MOST_BYTES,
                    "data-too-large": file_types.TOO_LARGE,
                }
            ),
        )

    def clean(self, data: Any, initial: Any = None) -> attachments.File | None:
        """Read and check the file; of one that is too large only as much is read as shows that it is."""
        upload = super().clean(data, initial)
        if not isinstance(upload, UploadedFile):
            return None
        try:
            return attachments.check(upload.name or "", upload.read(file_types.MOST_BYTES + 1))
        except CannotSay as problem:
            raise forms.ValidationError(str(problem)) from None
