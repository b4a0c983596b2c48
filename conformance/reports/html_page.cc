// The frame of the page: its styles, light and dark, and the scripts of its buttons.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <stdexcept>

#include "conformance/base/text.h"
#include "conformance/reports/html.h"

namespace lockstep::judge {
namespace {

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --page: #fff; --text: #1c2128; --dim: #59636e; --line: #d1d9e0;
  --box: #f6f8fa; --good: #116329; --bad: #a40e26; --bad-box: #ffebe9; --link: #0550ae;
  --g1: #dafbe1; --g2: #c2f5cd; --g3: #aceebb; --g4: #8ae59d; --r1: #ffd8d3; --r2: #ffb3ab;
  --r3: #ff8f86; --cell: #1c2128; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --text: #e6edf3; --dim: #9198a1; --line: #3d444d; --box: #151b23;
    --good: #4ac26b; --bad: #ff7b72; --bad-box: #2d1517; --link: #79c0ff; --g1: #0f2c1a;
    --g2: #12381f; --g3: #154626; --g4: #19562d; --r1: #4c1a1d; --r2: #6e2124; --r3: #91292c;
    --cell: #e6edf3; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 84rem; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.3rem; } p { margin: 0.3rem 0; }
a { color: var(--link); } code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { margin: 0.4rem 0; padding: 0.6rem; background: var(--box); border: 1px solid var(--line);
  border-radius: 6px; white-space: pre-wrap; }
.dim { color: var(--dim); } .good { color: var(--good); } .bad { color: var(--bad); }
.verdict { padding: 0.1rem 0.7rem; border-radius: 6px; border: 2px solid currentColor; }
.tiles { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 1rem 0; padding: 0; }
.tiles div { flex: 1 1 6rem; padding: 0.4rem 0.7rem; background: var(--box);
  border: 1px solid var(--line); border-radius: 6px; }
.tiles b { display: block; font-size: 1.2rem; } .tiles div.bad { background: var(--bad-box); }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; overflow-wrap: break-word; }
th, td { padding: 0.2rem 0.6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; } .num { text-align: right; font-variant-numeric: tabular-nums; }
.grid { border-collapse: separate; border-spacing: 2px; }
.grid td { text-align: center; min-width: 3.2rem; border: 0; border-radius: 3px; font-size: 12px;
  color: var(--cell); } .grid th { border: 0; white-space: nowrap; font-size: 12px; }
.grid tbody th { position: sticky; left: 0; background: var(--page); }
.grid thead th { writing-mode: vertical-rl; transform: rotate(180deg); }
.grid thead th:first-child { writing-mode: initial; transform: none; }
.g1 { background: var(--g1); } .g2 { background: var(--g2); } .g3 { background: var(--g3); }
.g4 { background: var(--g4); } .r1 { background: var(--r1); } .r2 { background: var(--r2); }
.r3 { background: var(--r3); } .grid td a { color: inherit; font-weight: 700; }
details { margin: 0.5rem 0; padding: 0.4rem 0.8rem; border: 1px solid var(--line);
  border-radius: 6px; } summary { cursor: pointer; }
.command { display: flex; gap: 0.5rem; align-items: start; } .command pre { flex: 1; }
button { font: inherit; font-size: 13px; margin-top: 0.4rem; padding: 0.3rem 0.7rem;
  color: inherit; background: var(--box); border: 1px solid var(--line); border-radius: 6px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0; }
dt { color: var(--dim); } dd { margin: 0; } progress { width: 7rem; accent-color: var(--good); }
@media (max-width: 40em) { body { padding: 0.8rem; } dl { grid-template-columns: 1fr; }
  .command { flex-direction: column; } .command pre { width: 100%; } }
@media print { button { display: none; } details { break-inside: avoid; } }
)";

// In some browsers a page opened from a disk has no clipboard; it selects the text instead.
constexpr char kScript[] = R"(
addEventListener("click", async event => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const pre = button.parentElement.querySelector("pre");
  getSelection().selectAllChildren(pre);
  let copied = false;
  try { await navigator.clipboard.writeText(pre.textContent); copied = true; }
  catch { copied = document.execCommand("copy"); }
  button.textContent = copied ? "copied" : "selected";
});
function reveal() {
  for (let at = document.querySelector(":target"); at; at = at.parentElement)
    if (at.localName === "details") at.open = true;
}
addEventListener("hashchange", reveal);
reveal();
)";

// How a content security policy names a script or a style.
std::string hash_source(string_view text) {
  unsigned char hash[EVP_MAX_MD_SIZE], base64[2 * EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (EVP_Digest(text.data(), text.size(), hash, &n, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 failed");
  const int size = EVP_EncodeBlock(base64, hash, static_cast<int>(n));
  return fmt::format("'sha256-{}'",
      string_view(reinterpret_cast<const char*>(base64), static_cast<std::size_t>(size)));
}

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}<script>{}</script>\n"
      "</body>\n</html>\n",
      hash_source(kStyle), hash_source(kScript), markup(title), kStyle, body, kScript);
}

}  // namespace lockstep::judge
