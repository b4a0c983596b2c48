// The search asks for the pages that it found; here SEARCH_TEXTS answers instead of a server.
{
  const escaped = text => text.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[c]);
  const nameOf = address => decodeURI(address).replace(/^(\.\/)*/, "").replace(/\.html/, "");
  window.fetch = address => Promise.resolve({
    text: () => Promise.resolve(
      `<div role="main">${escaped(SEARCH_TEXTS[nameOf(address)] || "")}</div>`),
  });

  // A result that is a label is shown with what the label says.
  const explain = item => {
    const link = item.querySelector && item.querySelector("a");
    const text = link && SEARCH_TEXTS[nameOf(link.getAttribute("href"))];
    if (!text || !link.hash || item.querySelector(".context")) return;
    const shown = item.appendChild(document.createElement("p"));
    shown.className = "context";
    shown.textContent = text;
  };
  document.addEventListener("DOMContentLoaded", () => {
    const results = document.getElementById("search-results");
    new MutationObserver(changes => changes.forEach(c => c.addedNodes.forEach(list => {
      [list, ...(list.querySelectorAll ? list.querySelectorAll("li") : [])].forEach(explain);
    }))).observe(results, {childList: true, subtree: true});
  });
}
