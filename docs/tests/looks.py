"""Faults in the looks of a page, as a browser with a size and a theme shows it."""

import json

import devtools

# The least contrast between a text and its background, a ratio as WCAG defines it; it asks for 4.5,
# and what Pygments chose for code comes to 3.
CONTRAST = 3.0
# Scripts that are evaluated in the page. Each gives a list of words, empty if nothing is wrong.
SCRIPTS = {
    "too wide for the screen": """(() => {
      const root = document.documentElement;
      const excess = root.scrollWidth - root.clientWidth;
      const found = excess > 0 ? [`${excess} pixels`] : [];
      // Furo hides what is beyond the edge of a telephone, where nobody can scroll to it.
      const scrolls = e => e && e.tagName !== 'ARTICLE' &&
        (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
      const spilt = [...document.querySelectorAll('article *')].find(e =>
        e.getBoundingClientRect().right > root.clientWidth + 1 && !scrolls(e.parentElement));
      if (spilt) found.push(`${spilt.tagName} '${spilt.textContent.trim().slice(0, 30)}'`);
      return found;
    })()""",
    "cut off": """(() => {
      const cut = [...document.querySelectorAll(
        'article :is(.table-wrapper, table, figure.picture, h1, h2, h3, p)')]
        .filter(box => box.scrollWidth > box.clientWidth + 1 && box.clientWidth);
      const drawn = 'article svg[role=img]:not(.MathJax_SVG *)';
      const lost = [...document.querySelectorAll(`${drawn} text`)].filter(text => {
        const [own, whole] = [text, text.closest('svg')].map(e => e.getBoundingClientRect());
        return own.left < whole.left - 1 || own.right > whole.right + 1;
      });
      return [...cut, ...lost].map(
        box => box.textContent.trim().split(/\\s+/).slice(0, 6).join(' ')).slice(0, 4);
    })()""",
    "hard to read": """(() => {
      const numbers = color => color.match(/[\\d.]+/g).map(Number);
      const share = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
      const light = ([r, g, b]) => 0.2126 * share(r) + 0.7152 * share(g) + 0.0722 * share(b);
      const behind = new Map();
      const background = element => {
        if (!element) return [255, 255, 255];
        if (!behind.has(element)) {
          const [r, g, b, alpha = 1] = numbers(getComputedStyle(element).backgroundColor);
          behind.set(element, alpha > 0.5 ? [r, g, b] : background(element.parentElement));
        }
        return behind.get(element);
      };
      const low = new Set(), seen = new Set();
      const texts = document.createTreeWalker(
        document.querySelector('article') || document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.textContent.trim() || seen.has(element)) continue;
        seen.add(element);
        const style = getComputedStyle(element);
        if (style.visibility === 'hidden' || style.opacity === '0') continue;
        if (!element.getClientRects().length) continue;
        const ink = element instanceof SVGElement ? style.fill : style.color;
        if (ink === 'none') continue;
        const [a, b] = [light(numbers(ink)), light(background(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < LEAST) low.add(`${element.className.baseVal ?? element.className} ` +
          `'${element.textContent.trim().slice(0, 20)}' ${ratio.toFixed(1)}`);
      }
      return [...low].slice(0, 4);
    })()""".replace("LEAST", str(CONTRAST)),
    "missing pictures": """[...document.querySelectorAll(
        'img, article svg[role=img]:not(.MathJax_SVG *)')].filter(p => {
      const box = p.getBoundingClientRect();
      return box.width < 4 || box.height < 4 || p.naturalWidth === 0;
    }).map(p => p.getAttribute('src') || p.getAttribute('aria-label'))""",
}  # fmt: skip
ALL = "({" + ", ".join(f"{json.dumps(name)}: {script}" for name, script in SCRIPTS.items()) + "})"
PICTURES = """document.querySelectorAll(
  'article img, article svg[role=img]:not(.MathJax_SVG *)').length"""
# The brightness of the page, 0 to 255, and what it may be.
BRIGHTNESS = """Math.max(
  ...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3))"""
RANGES = {"dark": range(64), "light": range(192, 256)}


def faults(browser: devtools.Browser, scheme: str, width: int):
    """What is wrong with the open page, which has this width and this theme."""
    where = f"{scheme}, {width} pixels"
    if (brightness := browser.evaluate(BRIGHTNESS)) not in RANGES[scheme]:
        yield f"{where}: brightness {brightness}"
    for fault, found in browser.evaluate(ALL).items():
        if found:
            yield f"{where}: {fault}: {', '.join(found)}"
