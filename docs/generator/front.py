"""Writes the pages around the versions of the site: the start page and `latest`, which lead to the
version that was built last, and the sitemap.

A version has a folder of its own, so that its addresses stay when the next one is published."""

import html
import pathlib
import shutil

from refusal import Refused


def leads_to(target: str, title: str) -> str:
    """A page that leads to another one, and keeps the place inside the page."""
    target = html.escape(target)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n"
        f'<link rel="canonical" href="{target}">\n'
        f'<noscript><meta http-equiv="refresh" content="0; url={target}"></noscript>\n'
        f'<script>location.replace("{target}" + location.search + location.hash)</script>\n'
        f'</head>\n<body><a href="{target}">{html.escape(title)}</a></body>\n</html>\n'
    )


def sitemap(base: str, paths: list) -> str:
    """The addresses of all pages, as search engines read them."""
    entries = "".join(f"<url><loc>{html.escape(f'{base}/{path}')}</loc></url>\n" for path in paths)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{entries}</urlset>\n")  # fmt: skip


def write(site: pathlib.Path, version: str, base: str):
    """Writes the front of a site, whose pages are in the folder of the version."""
    pages = sorted(p.relative_to(site / version) for p in (site / version).rglob("*.html"))
    if not pages:
        raise Refused(f"there is no page in {site / version}")
    shutil.rmtree(site / "latest", ignore_errors=True)
    for page in pages:
        up = "../" * len(page.parts)
        place = site / "latest" / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(leads_to(f"{up}{version}/{page.as_posix()}", "Lockstep"), "utf-8")
    (site / "index.html").write_text(leads_to(f"{version}/index.html", "Lockstep"), "utf-8")
    listed = [f"{version}/{page.as_posix()}" for page in pages]
    (site / "sitemap.xml").write_text(sitemap(base.rstrip("/"), listed), "utf-8")
