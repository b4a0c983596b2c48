#include "conformance/jsonl/answer.h"

namespace lockstep::judge {

string_view name_of(AnswerKind k) {
  constexpr string_view kNames[] = {"ok", "logic_error", "runtime_error", "unsupported", "crashed",
      "timed_out", "protocol", "printed", "broken_channel"};
  return kNames[static_cast<int>(k)];
}

std::string deed(AnswerKind k) { return (gone(k) ? "" : "answered ") + std::string(name_of(k)); }

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text;
}

}  // namespace lockstep::judge
