#!/usr/bin/env python3
"""Opens the HTML report of a wrong backend, whose words try to run as scripts, in a headless
browser.

usage: report_page.py BROWSER PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import devtools
import looks
import site_test

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
# Parts of a report that a backend words itself.
FREE = ("/backend/name", "/backend/version", "/backend/device", "/failures/0/text",
        "/failures/0/shrunk_text", "/environments/0/processor")  # fmt: skip
SHOWN = "document.body.innerText.split({}).length - 1"
CELLS = "document.querySelectorAll('.grid tbody td[title]').length"
FAILED = "document.querySelectorAll('.grid a').length"
FOREIGN = "document.images.length + document.scripts.length - 1 + document.links.length"
FOLLOW = """(() => {
  const links = [...document.querySelectorAll('.grid a')];
  const at = a => document.querySelector(a.getAttribute('href'));
  links.forEach(a => at(a).open = false);
  links.at(-1).click();
  return new Promise(done => setTimeout(() => done(at(links.at(-1)).open), 200));
})()"""
COPY = """(() => {
  const button = document.querySelector('details[open] button.copy');
  button.click();
  return new Promise(done => setTimeout(() => done(
    [button.textContent, getSelection().toString().trim()]), 500));
})()"""


def lockstep(program, *words):
    return subprocess.run([program, *map(str, words)], check=False, stdout=subprocess.PIPE)


def make_page(program, directory):
    """The page of a run of a wrong backend, everything measured, and its report."""
    report, page = directory / "report.json", directory / "report.html"
    cover, fates = directory / "cover.json", directory / "fates.json"
    # Without vectors, which are not shrunk, the first failure is.
    chosen = ["--tier", "0", "--op", "relu", "--vectors", ""]
    lockstep(program, "check", "null", *chosen, "--json", report, "--quiet")
    lockstep(program, "cover", *chosen, "--json", cover)
    lockstep(program, "mutants", "relu.int8", *chosen, "--json", fates, "--timeout", "20",
             "--start-timeout", "60")  # fmt: skip
    told = json.loads(report.read_text(encoding="ascii"))
    for pointer in FREE:
        *way, last = [int(s) if s.isdigit() else s for s in pointer.split("/")[1:]]
        inner = told
        for step in way:
            inner = inner[step]
        inner[last] = HOSTILE
    report.write_text(json.dumps(told), encoding="ascii")
    ended = lockstep(program, "report", "html", report, "--cover", cover, "--mutants", fates,
                     "--output", page)  # fmt: skip
    return page if ended.returncode == 0 else None, told


def look(browser, page, told):
    """What is wrong with the page."""
    failures = told["failures"]
    for size in (site_test.NARROW, site_test.WIDE):
        browser.resize(*size)
        browser.open(page.as_uri())
        yield from site_test.troubles(browser.events)
        for scheme in ("dark", "light"):
            browser.prefer(scheme)
            yield from looks.faults(browser, scheme, size[0])
    if browser.evaluate("document.title") != f"FAIL {HOSTILE}":
        yield "a stranger's words were run"
    if (foreign := browser.evaluate(FOREIGN)) != len(browser.evaluate(site_test.LINKS)):
        yield f"{foreign} elements of strangers"
    if (shown := browser.evaluate(SHOWN.format(json.dumps(HOSTILE)))) < len(FREE):
        yield f"a stranger's words are shown {shown} times"
    cells = sum(map(len, told["cells"].values()))
    if (found := browser.evaluate(CELLS)) != cells:
        yield f"{found} of {cells} cells"
    failed = {(f["operator"], f["property"]) for f in failures}
    if (found := browser.evaluate(FAILED)) != len(failed):
        yield f"{found} cells lead to failures, not {len(failed)}"
    if not browser.evaluate(FOLLOW):
        yield "a cell does not lead to its failure"
    browser.open(page.as_uri())
    word, copied = browser.evaluate(COPY)
    if word not in ("copied", "selected") or copied not in [f["repeat"] for f in failures]:
        yield f"{word}: {copied}"
    for words in ("Measured on exactly this case set", "kill density", "About this run"):
        if browser.evaluate(SHOWN.format(json.dumps(words))) < 1:
            yield f"nothing says '{words}'"


def main():
    with tempfile.TemporaryDirectory() as name:
        page, told = make_page(sys.argv[2], pathlib.Path(name))
        if not page:
            print("there is no page")
            return 1
        with devtools.Browser(sys.argv[1]) as browser:
            problems = list(look(browser, page, told))
    print("\n".join(problems) or "the page is as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
