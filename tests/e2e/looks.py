"""How a page looks, judged in both themes at every width: nothing over the edge, and no rule of access broken."""

import json
import os
import zlib
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

from tests.selection import is_usual_depth, turn

LEVELS = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
# Colours take two thirds of the judging and don't depend on the width: the wide looks judge them, in both themes.
WITHOUT_COLOURS = {**LEVELS, "rules": {"color-contrast": {"enabled": False}}}
WIDE, NARROW = 1280, (360, 320)
THEMES = ("light", "dark")
SHOTS = os.environ.get("SHOTS", "")
OVERFLOW = """() => {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide <= 0) return "";
    const out = [...document.querySelectorAll("main *, header *, footer *")].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.right > document.documentElement.clientWidth + 0.5 && box.width > 0;
    });
    return `${wide} px: ` + out.slice(0, 5).map((one) => one.outerHTML.slice(0, 120)).join(" | ");
}"""
# Colours that are still on their way to the other theme would be judged as they are at that moment.
DRAWN = """async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const changing = () => document.getAnimations().some((one) => one instanceof CSSTransition);
    await frame();
    do await frame(); while (changing());
}"""
# Only what is wrong is told: all the rest of a large page takes longer to tell than to judge.
_JUDGED = "async (rules) => (await axe.run({...rules, resultTypes: ['violations']})).violations"


@contextmanager
def unrolled(page):
    """A window as high as the page: what is scrolled under the strip at the foot isn't what can't be reached."""
    usual = page.viewport_size
    whole = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": usual["width"], "height": max(usual["height"], whole)})
    page.evaluate(DRAWN)
    yield
    page.set_viewport_size(usual)


def failures(page, what, rules=LEVELS):
    """What axe-core has against the page, in short."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(Axe().axe_script)
    with unrolled(page):
        # To name what is wrong takes a sixth of the time, even where nothing is.
        violations = page.evaluate(_JUDGED, {**rules, "selectors": False})
        if violations:
            violations = page.evaluate(_JUDGED, rules)
    return [
        f"{what}: {one['id']} ({one['impact']}) {json.dumps(node['target'])} {node['failureSummary']}"
        for one in violations
        for node in one["nodes"][:3]
    ]


def complaints(page, name, *, judged=(WIDE, *NARROW), every=1):
    """What is over the edge, in both themes at every width, and what axe-core has against it at the widths `judged`.

    In a usual run one theme and one width are looked at, other ones as commits follow, and the narrowest for its edge.
    Where a test comes with every commit, axe-core, which takes most of the time, judges every other page, and the
    others with the next commit; a test that comes `every` so many commits is judged each time.
    The page is loaded once: its theme and its width change where it stands.
    """
    shot(page, name)
    found = []
    place = zlib.crc32(name.encode()) % 8 + turn() // every  # another one for each page, the next one with each time
    is_judged = not is_usual_depth() or every > 1 or place % 2 == 0
    for theme, widths in _to_look_at(place if every > 1 else place // 2, judged).items():
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(DRAWN)
            if cut_off := page.evaluate(OVERFLOW):
                found.append(f"{name} {theme} {width}: over the edge by {cut_off}")
            if is_judged and width in judged and (width == widths[0] or not is_usual_depth()):
                rules = LEVELS if width == WIDE or not is_usual_depth() else WITHOUT_COLOURS
                found += failures(page, f"{name} {theme} {width}", rules)
    page.set_viewport_size({"width": WIDE, "height": 900})
    page.emulate_media(color_scheme="light")
    return found


def _to_look_at(place, judged):
    """The widths of each theme that this run looks at; the first of them is the one that axe-core judges."""
    if not is_usual_depth():
        return dict.fromkeys(THEMES, (WIDE, *NARROW))
    looks = [(theme, width) for width in judged for theme in THEMES]
    theme, width = looks[place % len(looks)]
    return {theme: tuple(dict.fromkeys((width, NARROW[-1])))}


def shot(page, name):
    """Both themes at both widths into the folder named by SHOTS, for somebody to look at."""
    if not SHOTS:
        return
    for width in (WIDE, NARROW[0]):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.evaluate(DRAWN)
            page.screenshot(path=f"{SHOTS}/{name}-{width}-{theme}.png", full_page=True)
    page.set_viewport_size({"width": WIDE, "height": 900})
    page.emulate_media(color_scheme="light")
