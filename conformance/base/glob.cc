#include "conformance/base/glob.h"

namespace lockstep::judge {

bool glob(string_view pattern, string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return glob(pattern.substr(1), text) || (!text.empty() && glob(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
      glob(pattern.substr(1), text.substr(1));
}

}  // namespace lockstep::judge
