"""What can be measured of the look: contrast in both themes, vendored files, and that nothing is written inline."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from django.conf import settings

STATIC = Path(settings.BASE_DIR) / "static"
TEMPLATES = Path(settings.BASE_DIR) / "templates"
TOKEN = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")


def tokens():
    found = TOKEN.findall((STATIC / "css/tokens.css").read_text())
    return {name: {"light": light, "dark": dark} for name, light, dark in found}


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


TEXTS = ("text", "muted", "faint", "accent", "good", "warn", "bad")
SURFACES = ("bg", "surface", "raise", "sunk")
PAIRS = [(text, surface, 4.5) for text in TEXTS for surface in SURFACES]
PAIRS += [(tone, f"{tone}-wash", 4.5) for tone in ("good", "warn", "bad", "accent")]
PAIRS += [("text", f"{tone}-wash", 4.5) for tone in ("good", "warn", "bad", "accent")]
PAIRS += [("muted", "accent-wash", 4.5), ("text", "here", 4.5), ("accent", "here", 3)]
PAIRS += [("on-accent", "accent", 4.5), ("on-accent", "accent-strong", 4.5), ("edge", "surface", 3), ("edge", "bg", 3)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_edges_keep_their_contrast(theme):
    known = tokens()
    weak = {
        f"{front} on {back}": round(contrast(known[front][theme], known[back][theme]), 2)
        for front, back, least in PAIRS
        if contrast(known[front][theme], known[back][theme]) < least
    }
    assert not weak


def test_no_sheet_but_the_tokens_names_a_colour():
    found = [
        f"{sheet.name}: {line.strip()}"
        for sheet in (STATIC / "css").glob("*.css")
        if sheet.name not in {"tokens.css", "api-docs.css"}
        for line in sheet.read_text().splitlines()
        if re.search(r"#[0-9a-fA-F]{3,8}\b|rgb\(|hsl\(", line)
    ]
    assert len(found) <= 1, found  # the white behind a QR code, which readers need


def test_no_sheet_but_the_tokens_asks_for_the_theme():
    """So that both themes are laid out alike: what is judged in the light one need not be judged again in the dark."""
    asking = re.compile(r"prefers-color-scheme|light-dark|data-theme|color-scheme")
    sheets = {sheet.name for sheet in (STATIC / "css").glob("*.css") if asking.search(sheet.read_text())}
    assert sheets <= {"tokens.css", "api-docs.css"}
    named = re.findall(r"^\s*([a-z-]+)\s*:[^;]*light-dark", (STATIC / "css/tokens.css").read_text(), re.MULTILINE)
    assert {name[:2] for name in named} == {"--"}
    assert not re.search(r"prefers-color-scheme", (STATIC / "css/tokens.css").read_text())


def test_every_variable_that_is_used_is_defined():
    defined = set(re.findall(r"(--[a-z0-9-]+):", (STATIC / "css/tokens.css").read_text()))
    used = {
        name
        for sheet in (STATIC / "css").glob("*.css")
        for name in re.findall(r"var\((--[a-z0-9-]+)", sheet.read_text())
    }
    assert used == defined


def test_vendored_files_are_what_the_manifest_says():
    manifest = json.loads((STATIC / "vendor/MANIFEST.json").read_text())
    listed = {}
    for library in manifest["libraries"]:
        assert library["licence"]
        assert library["integrity"].startswith("sha512-")
        listed |= library["files"]
    present = {str(path.relative_to(STATIC / "vendor")) for path in (STATIC / "vendor").rglob("*") if path.is_file()}
    assert present - {"MANIFEST.json"} == set(listed)
    for name, expected in listed.items():
        digest = hashlib.sha384((STATIC / "vendor" / name).read_bytes()).digest()
        assert expected == "sha384-" + base64.b64encode(digest).decode(), name


def test_every_icon_that_is_named_is_in_the_sprite():
    sprite = (STATIC / "vendor/lucide-1.62.0/sprite.svg").read_text()
    named = {
        name
        for template in TEMPLATES.rglob("*.html")
        for name in re.findall(r'{% icon "([a-z0-9-]+)"|sign="([a-z0-9-]+)"', template.read_text())
        for name in name
        if name
    }
    assert named
    assert not {name for name in named if f'id="{name}"' not in sprite}


def test_nothing_is_written_inline():
    """No script or style element with content, no handler attribute; data for scripts stays in application/json."""
    found = []
    for template in TEMPLATES.rglob("*.html"):
        text = template.read_text()
        inline = [
            tag for tag in re.findall(r"<script\b[^>]*>", text) if "src=" not in tag and "application/json" not in tag
        ]
        handlers = re.findall(r"<[a-z][^>]*\son[a-z]+=", text)
        styles = re.findall(r"<style\b|\sstyle=", text)
        found += [f"{template.name}: {piece}" for piece in (*inline, *handlers, *styles)]
    assert not found


def test_what_a_page_reads_by_itself_keeps_no_session_alive():
    """Every part that reads itself again says so; only what a person does counts as being there."""
    found = [
        f"{template.name}: {tag[:80]}"
        for template in TEMPLATES.rglob("*.html")
        for tag in re.findall(r"<[a-z]+[^<]*hx-trigger=[^<]*>", re.sub(r"{%.*?%}", "", template.read_text()))
        if "every " in tag and "data-background" not in tag
    ]
    assert not found


CHART = ("candles.js", "averages.js", "own_lines.js")


def test_scripts_do_no_arithmetic_with_money():
    """An amount stays a text; it is made a number in one place, for those who draw a picture of it."""
    texts = {script.name: script.read_text() for script in (STATIC / "js").glob("*.js")}
    numbers = {name: len(re.findall(r"parseFloat|Number\(", text)) for name, text in texts.items()}
    assert {name: count for name, count in numbers.items() if count} == {"figures.js": 1}
    assert "const forDrawing = (text) => Number(text);" in texts["figures.js"]
    assert {name for name, text in texts.items() if "forDrawing" in text} == {"figures.js", "ladder.js", *CHART}
