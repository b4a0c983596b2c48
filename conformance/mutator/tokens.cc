#include <cctype>

#include "conformance/mutator/edits.h"

namespace lockstep::judge {
namespace {

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Reads the tokens of a text one by one.
class Scanner {
 public:
  explicit Scanner(string_view text) : text_(text) {}

  bool done() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) {
      fresh_line_ |= text_[at_] == '\n';
      ++at_;
    }
    return at_ == text_.size();
  }

  Token next() {
    const std::size_t begin = at_;
    const Token::Category kind = take();
    fresh_line_ = kind == Token::directive;  // a directive ends with its line
    return {kind, begin, at_};
  }

 private:
  bool sees(string_view what) const { return text_.substr(at_, what.size()) == what; }
  void to(std::size_t place) { at_ = std::min(place, text_.size()); }
  void past(string_view what) {
    const std::size_t place = text_.find(what, at_);
    at_ = place == string_view::npos ? text_.size() : place + what.size();
  }

  Token::Category take() {
    const char c = text_[at_];
    if (c == '#' && fresh_line_) return take_directive();
    if (sees("//")) {
      to(text_.find('\n', at_));
      return Token::comment;
    }
    if (sees("/*")) {
      to(at_ + 2);
      past("*/");
      return Token::comment;
    }
    if (c == '"' || c == '\'') return take_literal(c);
    if (std::isdigit(static_cast<unsigned char>(c))) return take_number();
    if (word_character(c)) return take_name();
    return take_punctuation();
  }

  Token::Category take_directive() {
    do {
      past("\n");
    } while (at_ >= 2 && at_ < text_.size() && text_[at_ - 2] == '\\');
    return Token::directive;
  }

  Token::Category take_literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    to(at_ + 1);
    return Token::literal;
  }

  Token::Category take_number() {
    const auto part = [&](std::size_t k) {
      return word_character(text_[k]) || text_[k] == '.' ||
          (text_[k] == '\'' && k + 1 < text_.size() && word_character(text_[k + 1]));
    };
    while (at_ < text_.size() && part(at_)) ++at_;
    return Token::number;
  }

  Token::Category take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && word_character(text_[at_])) ++at_;
    if (at_ == text_.size() || text_[at_] != '"' || text_[at_ - 1] != 'R')
      return at_ < text_.size() && text_[at_] == '"' && at_ - begin <= 2 ? take_literal('"')
                                                                         : Token::name;
    const std::size_t open = std::min(text_.find('(', at_), text_.size() - 1);
    past(")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"");
    return Token::literal;
  }

  Token::Category take_punctuation() {
    static constexpr string_view kLong[] = {"<<=", ">>=", "<=>", "<<", ">>",
        "<=", ">=", "==", "!=", "&&", "||", "++", "--",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->", "::"};
    for (const string_view p : kLong) {
      if (!sees(p)) continue;
      at_ += p.size();
      return Token::punctuation;
    }
    ++at_;
    return Token::punctuation;
  }

  string_view text_;
  std::size_t at_ = 0;
  bool fresh_line_ = true;
};

}  // namespace

std::vector<Token> tokens(string_view text) {
  std::vector<Token> all;
  for (Scanner scanner(text); !scanner.done();) all.push_back(scanner.next());
  return all;
}

}  // namespace lockstep::judge
