"""What a second factor signs beside a digest: fields of a form, or a list of decisions."""
