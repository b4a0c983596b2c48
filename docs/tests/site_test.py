#!/usr/bin/env python3
"""Opens every page of the site in a headless browser, as a reader without a network would.

usage: site_test.py BROWSER SITE PROGRAM, where SITE is the folder of a version

Every page is looked at in two widths and in both themes. Nothing may be fetched from elsewhere or
fail to load, no script may complain, every formula has to be set, every picture has to be there,
every text has to stand out from its background, every internal link has to lead somewhere, every
operator of the program has to have a page, nothing may be too wide for a telephone, and the search
has to find things and to show where they stand.
"""

import json
import pathlib
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree

import devtools
import looks

WIDE, NARROW = (1280, 900), (390, 844)

COMPLAINTS = ("error", "warning", "assert")
FORMULAS = "document.querySelectorAll('.math').length"
TYPESET = """new Promise(done => {
  if (!window.MathJax) return done(0);
  MathJax.Hub.Queue(() => done([...document.querySelectorAll('.math')].filter(m => {
    const set = m.querySelector('.MathJax_SVG svg');
    const wrong = m.querySelector('[id*="merror"], .merror');
    return set && set.getBoundingClientRect().width > 4 && !wrong;
  }).length));
})"""
# How many pictures a page has at least, and the pages of operators that have none.
PICTURES = {"performance.html": 6, "tested.html": 1}
PLAIN = {"index", "cvm_clip", "elemwise_add", "elemwise_sub", "negative"}
LINKS = "[...document.links].map(a => a.href)"
IDS = "[...document.querySelectorAll('[id]')].map(e => e.id)"
CUT_OFF = """[...document.querySelectorAll('div.math')].filter(
  m => m.scrollWidth > m.clientWidth).length"""
ICON = "document.querySelector('link[rel~=icon]')?.href || ''"
# The results of a search: where each leads, and the words that are shown of it.
RESULTS = """[...document.querySelectorAll('#search-results li')].map(item =>
  [item.querySelector('a').href, item.querySelector('.context')?.textContent || ''])"""


def troubles(events: list):
    """What a page's events complain of, and what they ask from elsewhere."""
    for event in events:
        method, what = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            thrown = what["exceptionDetails"]
            yield f"{thrown['text']} {thrown.get('exception', {}).get('description', '')}"
        elif method == "Runtime.consoleAPICalled" and what["type"] in COMPLAINTS:
            yield f"console.{what['type']}: {what['args']}"
        elif method == "Log.entryAdded" and what["entry"]["level"] in COMPLAINTS:
            yield f"log: {what['entry']['text']} {what['entry'].get('url', '')}"
        elif method == "Network.loadingFailed" and not what.get("canceled"):
            yield f"failed to load: {what['errorText']}"
        elif method == "Network.requestWillBeSent":
            url = what["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                yield f"asks for {url}"


class Site:
    """The pages of a site, and what was found on them."""

    def __init__(self, browser: devtools.Browser, directory: pathlib.Path):
        self.browser, self.directory, self.problems = browser, directory, []
        self.pages = sorted(directory.rglob("*.html"))
        self.ids, self.links, self.formulas = {}, {}, {}

    def complain(self, page: pathlib.Path, *complaints: str):
        self.problems += [f"{page.relative_to(self.directory)}: {what}" for what in complaints]

    def visit(self, page: pathlib.Path):
        """Opens one page and looks at it, narrow and wide, light and dark."""
        browser = self.browser
        browser.resize(*NARROW)
        browser.prefer("light")
        browser.open(page.as_uri())
        formulas, typeset = browser.evaluate(FORMULAS), browser.evaluate(TYPESET)
        if typeset != formulas:
            self.complain(page, f"{typeset} of {formulas} formulas are set")
        self.complain(page, *looks.faults(browser, "light", NARROW[0]))
        browser.prefer("dark")
        self.complain(page, *looks.faults(browser, "dark", NARROW[0]))
        browser.resize(*WIDE)
        self.complain(page, *looks.faults(browser, "dark", WIDE[0]))
        browser.prefer("light")
        self.complain(page, *looks.faults(browser, "light", WIDE[0]), *troubles(browser.events))
        pictures = browser.evaluate(looks.PICTURES)
        is_drawn = page.parent.name == "operators" and page.stem not in PLAIN
        if pictures < (least := PICTURES.get(page.name, int(is_drawn))):
            self.complain(page, f"{pictures} pictures instead of {least}")
        # Only on a telephone may a reader have to scroll a formula that cannot be broken.
        if (cut := browser.evaluate(CUT_OFF)) > 0:
            self.complain(page, f"{cut} formulas do not fit on {WIDE[0]} pixels")
        self.formulas[page] = formulas
        self.ids[page], self.links[page] = set(browser.evaluate(IDS)), browser.evaluate(LINKS)

    def hold_operators(self, names: list):
        """Whether each operator has a page with a formula, and the index leads there."""
        index = self.directory / "operators" / "index.html"
        for name in names:
            page = index.with_name(f"{name}.html")
            if not self.formulas.get(page):
                self.complain(page, "there is no formula, or no page")
            if page.as_uri() not in self.links.get(index, ()):
                self.complain(index, f"does not lead to {name}")

    def follow_links(self) -> int:
        """Whether each internal link leads to a page and an anchor that exist."""
        count = 0
        for page, links in self.links.items():
            for link in links:
                url = urllib.parse.urlsplit(link)
                if url.scheme != "file":
                    continue
                count += 1
                target = pathlib.Path(urllib.parse.unquote(url.path))
                anchor = urllib.parse.unquote(url.fragment)
                if not target.is_file():
                    self.complain(page, f"there is no {link}")
                elif target.name == "playground.html":
                    pass  # its anchors are calls, which playground_test.py makes
                elif anchor and anchor not in self.ids.get(target, ()):
                    self.complain(page, f"nothing is called {anchor} in {target.name}")
        return count

    def search(self, words: str, expected: str, shown: str):
        """Types words into the search box of the start page, and looks for a result that leads to
        the expected place and shows what is said there."""
        browser, start = self.browser, self.directory / "index.html"
        browser.resize(*WIDE)
        browser.open(start.as_uri())
        browser.evaluate("document.querySelector('.sidebar-search').focus()")
        browser.call("Input.insertText", text=words)
        browser.events = []
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r",
                         windowsVirtualKeyCode=13)  # fmt: skip
        browser.wait_for_load()
        found = f"{RESULTS}.some(([to, said]) => to.endsWith({expected!r}) && " \
            f"said.includes({shown!r}))"  # fmt: skip
        if not browser.wait_until(found):
            got = browser.evaluate(RESULTS)
            self.complain(start, f"a search for '{words}' does not find {expected} with "
                                 f"'{shown}', but {got}")  # fmt: skip
        self.complain(start, *(f"a search for '{words}': {t}" for t in troubles(browser.events)))

    def front(self):
        """Whether what stands around the version leads into it."""
        site, version = self.directory.parent, self.directory.name
        for front, inside in (("index.html", "index.html"),
                              ("latest/operators/conv2d.html#conv2d.window",
                               "operators/conv2d.html#conv2d.window")):  # fmt: skip
            self.browser.open(f"{site.as_uri()}/{front}")
            address = f"{self.directory.as_uri()}/{inside}"
            if not self.browser.wait_until(f"location.href === {address!r}"):
                self.complain(self.directory / inside, f"{front} does not lead here")
        icon = urllib.parse.urlsplit(self.browser.evaluate(ICON)).path
        if not pathlib.Path(urllib.parse.unquote(icon)).is_file():
            self.complain(self.directory / "index.html", f"there is no icon {icon}")
        pages = {page.relative_to(self.directory).as_posix() for page in self.pages}
        latest = {p.relative_to(site / "latest").as_posix() for p in site.glob("latest/**/*.html")}
        places = xml.etree.ElementTree.parse(site / "sitemap.xml").findall(".//{*}loc")
        mapped = {place.text.partition(f"/{version}/")[2] for place in places}
        for name, found in (("latest", latest), ("sitemap.xml", mapped)):
            if found != pages:
                differing = ", ".join(sorted(found ^ pages))
                self.complain(self.directory / "index.html", f"{name} differs: {differing}")

    def specification(self, program: str):
        """Whether the specification beside the pages is that of the program."""
        said = subprocess.run([program, "spec", "--json"], check=True,
                              stdout=subprocess.PIPE).stdout  # fmt: skip
        if (self.directory / "spec.json").read_bytes() != said:
            self.complain(self.directory / "spec.json", "is not what the program prints")

    def jump(self, page: str, anchor: str):
        """Whether an address with an error label leads to the label."""
        path = self.directory / page
        self.browser.open(f"{path.as_uri()}#{anchor}")
        found = self.browser.evaluate("document.querySelector(':target')?.id")
        if found != anchor:
            self.complain(path, f"#{anchor} leads to {found}")


def operators(program: str) -> list:
    """The names of the operators that the program knows."""
    listed = subprocess.run([program, "list", "--json"], check=True, stdout=subprocess.PIPE).stdout
    return [op["name"] for op in json.loads(listed)]


def check(browser: devtools.Browser, directory: pathlib.Path, program: str) -> int:
    names = operators(program)
    if not (directory / "index.html").is_file():
        print(f"there is no site in {directory}; the target site builds it")
        return 1
    site = Site(browser, directory)
    for page in site.pages:
        site.visit(page)
    links, formulas = site.follow_links(), sum(site.formulas.values())
    site.hold_operators(names)
    site.front()
    site.specification(program)
    site.search("conv2d", "operators/conv2d.html", "conv2d")
    site.search("conv2d.window", "operators/conv2d.html#conv2d.window", "kernel")
    site.search("canaries", "verdicts.html", "canaries")
    site.jump("operators/conv2d.html", "conv2d.window")
    site.jump("labels.html", "input.precision")
    print("\n".join(site.problems))
    print(f"{len(site.pages)} pages, {formulas} formulas, {links} links, "
          f"{len(site.problems)} problems")  # fmt: skip
    return 1 if site.problems or not (names and formulas and links) else 0


def main() -> int:
    directory = pathlib.Path(sys.argv[2]).resolve()
    with devtools.Browser(sys.argv[1]) as browser:
        return check(browser, directory, sys.argv[3])


if __name__ == "__main__":
    sys.exit(main())
