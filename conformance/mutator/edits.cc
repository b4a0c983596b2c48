#include "conformance/mutator/edits.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace lockstep::judge {
namespace {

struct Swap {
  string_view before, after, kind;
};

// Binary operators have spaces on both sides; those of templates and pointers do not.
constexpr Swap kOperators[] = {
    {"<", "<=", "comparison"},
    {"<=", "<", "comparison"},
    {">", ">=", "comparison"},
    {">=", ">", "comparison"},
    {"==", "!=", "comparison"},
    {"!=", "==", "comparison"},
    {"+", "-", "arithmetic"},
    {"-", "+", "arithmetic"},
    {"*", "+", "arithmetic"},
    {"/", "*", "arithmetic"},
    {"%", "/", "arithmetic"},
    {"<<", ">>", "arithmetic"},
    {">>", "<<", "arithmetic"},
    {"+=", "-=", "arithmetic"},
    {"-=", "+=", "arithmetic"},
    {"*=", "+=", "arithmetic"},
    {"&&", "||", "logic"},
    {"||", "&&", "logic"},
    {"&", "|", "logic"},
    {"|", "&", "logic"},
    {"^", "|", "logic"},
};

constexpr Swap kNames[] = {
    {"min", "max", "bound"},
    {"max", "min", "bound"},
    {"true", "false", "logic"},
    {"false", "true", "logic"},
    {"i64", "i32", "type"},
    {"i32", "std::int16_t", "type"},
    {"int64_t", "int32_t", "type"},
    {"int32_t", "int16_t", "type"},
    {"int16_t", "int8_t", "type"},
    {"int8_t", "uint8_t", "type"},
    {"uint8_t", "int8_t", "type"},
    {"u64", "std::uint32_t", "type"},
};

// Functions whose arguments are sizes of reserved memory, or times.
constexpr string_view kRoomOrTime[] = {
    "reserve", "sleep_for", "microseconds", "milliseconds", "seconds"};

/// Whether a constant is named after a size of memory or a time.
bool names_size_or_time(string_view name) {
  constexpr string_view kUnits[] = {"Bytes", "Ms", "Seconds"};
  const auto in_name = [&](string_view unit) { return name.find(unit) != string_view::npos; };
  return name.starts_with('k') && std::any_of(std::begin(kUnits), std::end(kUnits), in_name);
}

bool opens(string_view word) { return word == "(" || word == "[" || word == "{"; }
bool closes(string_view word) { return word == ")" || word == "]" || word == "}"; }

/// The edits of one file, token by token.
class Finder {
 public:
  Finder(const std::string& file, string_view text) : file_(file), text_(text) {
    for (const Token& t : tokens(text))
      if (t.kind != Token::comment && t.kind != Token::directive) tokens_.push_back(t);
    for (std::size_t k = 0; k < tokens_.size(); ++k)
      if (is_step(word(k))) {
        counted_.insert(word(k + 1));
        counted_.insert(word(k - 1));
      }
  }

  std::vector<Edit> all() {
    for (std::size_t k = 0; k < tokens_.size(); ++k) {
      if (const std::size_t end = left_alone(k); end > k) {
        k = end;
        continue;
      }
      if (tokens_[k].kind == Token::number) number(k);
      if (tokens_[k].kind == Token::punctuation) punctuation(k);
      if (tokens_[k].kind == Token::name) name(k);
    }
    return std::move(edits_);
  }

 private:
  static bool is_step(string_view word) { return word == "++" || word == "--"; }
  bool is(Token::Category kind, std::size_t k) const {
    return k < tokens_.size() && tokens_[k].kind == kind;
  }
  /// The text of token k; empty before the first and after the last one.
  string_view word(std::size_t k) const {
    if (k >= tokens_.size()) return {};
    return text_.substr(tokens_[k].begin, tokens_[k].end - tokens_[k].begin);
  }

  void add(std::size_t begin, std::size_t end, std::string replacement, string_view kind) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<i64>(begin), '\n');
    edits_.push_back({file_, begin, end, std::move(replacement), kind, static_cast<int>(line)});
  }
  void replace(std::size_t k, std::string replacement, string_view kind) {
    add(tokens_[k].begin, tokens_[k].end, std::move(replacement), kind);
  }

  /// The token that closes the bracket opened by token k, or the last one.
  std::size_t closing(std::size_t k) const {
    int depth = 0;
    for (; k < tokens_.size(); ++k) {
      if (opens(word(k))) ++depth;
      if (closes(word(k)) && --depth == 0) return k;
    }
    return tokens_.size() - 1;
  }

  /// The token that ends the declaration in which token k is: of a variable, of a function with a
  /// body that only returns an expression, or of parameters. Any other body is not part of it.
  std::size_t end_of_declaration(std::size_t k) const {
    for (; k < tokens_.size(); ++k) {
      if (closes(word(k)) || word(k) == ";") return k;
      if (!opens(word(k))) continue;
      const bool body = word(k) == "{" && (word(k - 1) == ")" || word(k - 1) == "const");
      if (body && word(k + 1) != "return") return k;
      k = closing(k);
      if (body) return k;
    }
    return tokens_.size() - 1;
  }

  /// The last token of a stretch that begins with token k and is not mutated; k if none begins.
  /// These are static assertions, and estimates: sizes of buffers, reserved memory, times, and
  /// every double, since only integers decide results.
  std::size_t left_alone(std::size_t k) const {
    const string_view first = word(k), next = word(k + 1);
    const bool call =
        std::find(std::begin(kRoomOrTime), std::end(kRoomOrTime), first) != std::end(kRoomOrTime) &&
        next == "(";
    if (first == "static_assert" || call) return closing(k + 1);
    if (first == "char" && is(Token::name, k + 1) && word(k + 2) == "[") return closing(k + 2);
    if (first == "double" && is(Token::name, k + 1)) return end_of_declaration(k);
    if (names_size_or_time(first) && next == "=") return end_of_declaration(k);
    return k;
  }

  /// Whether token k is the type of a number that stays small: a loop variable, a constant, or a
  /// counter, which starts with a literal and is stepped somewhere in the file.
  bool is_bounded(std::size_t k) const {
    if (!is(Token::name, k + 1)) return false;
    const bool begins = word(k + 2) == "=";
    if (word(k - 1) == "constexpr") return begins || word(k + 2) == "[";
    if (word(k - 1) == "(" && word(k - 2) == "for") return begins;
    return begins && is(Token::number, k + 3) && counted_.contains(word(k + 1));
  }

  void number(std::size_t k) {
    std::string digits(word(k));
    std::erase(digits, '\'');
    const bool hex = digits.starts_with("0x");
    unsigned long long value = 0;
    const char *begin = digits.data() + (hex ? 2 : 0), *end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
    const std::string suffix(stop, end);
    // A floating-point number, or one beyond 64 bits.
    if (error != std::errc() || suffix.find('.') != std::string::npos) return;
    replace(k, std::to_string(value + 1) + suffix, "constant");
    if (value > 0) replace(k, std::to_string(value - 1) + suffix, "constant");
  }

  void punctuation(std::size_t k) {
    const string_view text = word(k);
    if (text == "++") replace(k, "--", "arithmetic");
    if (text == "--") replace(k, "++", "arithmetic");
    const Token& t = tokens_[k];
    const auto space = [&](std::size_t at) { return text_[at] == ' ' || text_[at] == '\n'; };
    if (t.begin == 0 || t.end == text_.size() || !space(t.begin - 1) || !space(t.end)) return;
    for (const Swap& s : kOperators)
      if (s.before == text) replace(k, std::string(s.after), s.kind);
  }

  void name(std::size_t k) {
    const string_view text = word(k);
    for (const Swap& s : kNames) {
      if (s.before != text) continue;
      if (s.kind == "bound" && word(k + 1) != "(") continue;
      if (s.kind == "type" && is_bounded(k)) continue;
      replace(k, std::string(s.after), s.kind);
    }
    if ((text == "break" || text == "continue") && word(k + 1) == ";") replace(k, "", "jump");
    if (text == "if" && word(k + 1) == "(") condition(k + 1, closing(k + 1));
  }

  void condition(std::size_t open, std::size_t close) {
    for (std::size_t k = open; k < close; ++k)
      if (word(k) == ";") return;  // the first part is a statement
    const std::size_t begin = tokens_[open].end, end = tokens_[close].begin;
    add(begin, end, "!(" + std::string(text_.substr(begin, end - begin)) + ")", "condition");
  }

  std::string file_;
  string_view text_;
  std::vector<Token> tokens_;
  std::set<string_view> counted_;  // names beside ++ or --
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> edits_of(const std::string& file, string_view text) {
  return Finder(file, text).all();
}

std::string edited(string_view text, const Edit& e) {
  return std::string(text.substr(0, e.begin)) + e.replacement + std::string(text.substr(e.end));
}

std::string line_of(string_view text, const Edit& e) {
  const std::size_t before = text.rfind('\n', e.begin);
  const std::size_t begin =
      text.find_first_not_of(' ', before == string_view::npos ? 0 : before + 1);
  return std::string(text.substr(begin, text.find('\n', e.begin) - begin));
}

}  // namespace lockstep::judge
