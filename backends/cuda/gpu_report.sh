# The report of `./dev gpu`, from the rows and the folder `out` of gpu.sh, which reads this.
# shellcheck shell=bash disable=SC2154

# Prints a text as a JSON string; control characters become spaces.
json_text() {
  local text=${1//[[:cntrl:]]/ }
  text=${text//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

facts() {
  printf '%s\n' "date $(date -u +%FT%TZ)" "machine $(uname -sm), $(nproc) processors"
  cat "$kit/kit.txt"
  # Notes the GPU in the report; whether it works is judged by the rows.
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv,noheader \
      2>/dev/null | sed 's/^/card /' || true
  fi
}

report_json() {
  local i separator='' fact
  printf '{\n "verdict": %s,\n "facts": [' "$(json_text "$1")"
  while read -r fact; do
    printf '%s\n  %s' "$separator" "$(json_text "$fact")"
    separator=,
  done <"$out/facts.txt"
  printf '\n ],\n "rows": ['
  separator=
  for i in "${!names[@]}"; do
    printf '%s\n  {"name": %s, "state": %s, "seconds": %s, "text": %s}' "$separator" \
      "$(json_text "${names[i]}")" "$(json_text "${states[i]}")" "${seconds[i]}" \
      "$(json_text "${words[i]}")"
    separator=,
  done
  printf '\n ],\n "benchmarks": %s,\n "torch": %s,\n "values": %s\n}\n' \
    "$(cat "$out/bench.json" 2>/dev/null || echo null)" \
    "$(cat "$out/torch.json" 2>/dev/null || echo null)" \
    "$(cat "$out/values.json" 2>/dev/null || echo null)"
}

report_markdown() {
  local i
  printf '# The CUDA backend on a device: %s\n\n' "$1"
  sed 's/^/* /' "$out/facts.txt"
  printf '\n| what | how it ended | seconds | |\n|---|---|---|---|\n'
  for i in "${!names[@]}"; do
    printf '| %s | %s | %s | %s |\n' "${names[i]}" "${states[i]}" "${seconds[i]}" \
      "${words[i]//|/\\|}"
  done
  local part
  for part in bench torch; do
    if [[ -s $out/$part.md ]]; then cat - "$out/$part.md" <<<''; fi
  done
}

# Text for HTML, from standard input.
html() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }

report_page() {
  local i
  printf '<!doctype html>\n<html lang="en"><meta charset="utf-8">\n'
  printf '<title>The CUDA backend on a device</title>\n'
  printf '<style>body{font:15px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:left}'
  printf '.passed{color:#060}.failed{color:#a00}.cut,.not{color:#850}pre{overflow:auto}</style>\n'
  printf '<h1>The CUDA backend on a device: %s</h1>\n<ul>\n' "$1"
  html <"$out/facts.txt" | sed 's/^/<li>/'
  printf '</ul>\n<table>\n<tr><th>what<th>how it ended<th>seconds<th>\n'
  for i in "${!names[@]}"; do
    printf '<tr class="%s"><td>%s<td>%s<td>%s<td>%s\n' "${states[i]}" \
      "$(html <<<"${names[i]}")" "${states[i]}" "${seconds[i]}" "$(html <<<"${words[i]}")"
  done
  printf '</table>\n'
  if [[ -s $out/bench.txt ]]; then
    printf '<h2>Benchmarks</h2>\n<pre>%s</pre>\n' "$(html <"$out/bench.txt")"
  fi
  if [[ -s $out/torch.md ]]; then
    printf '<h2>Networks in PyTorch</h2>\n<pre>%s</pre>\n' "$(html <"$out/torch.md")"
  fi
  printf '</html>\n'
}
