#include "conformance/cases/spelling.h"

#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

// Draws the words of one attribute. They depend on the way alone, so that shrinking a call which
// fails for its spelling keeps that spelling.
class Words {
 public:
  explicit Words(u64 seed) : draw_(seed) {}
  bool coin() { return draw_.coin(); }

  std::string text(const AttrInfo& f, const Attr& v) { return blank() + bare(f, v) + blank(); }

 private:
  std::string blank() { return one_of({"", " ", "\t "}); }
  std::string one_of(std::initializer_list<const char*> all) {
    return all.begin()[draw_(0, std::ssize(all) - 1)];
  }
  std::string integer(i64 v) {
    const std::string text = std::to_string(v);
    const std::string sign = v < 0 ? "-" : one_of({"", "+"});
    return sign + one_of({"", "0", "00"}) + text.substr(v < 0 ? 1 : 0);
  }
  std::string entry(i64 v) { return integer(v) + one_of({"", "L"}); }
  std::string tuple(const Tuple& t) {
    if (t.size == 1 && coin()) return entry(t[0]);
    const bool square = coin();
    std::string s = (square ? "[" : "(") + blank();
    for (int k = 0; k < t.size; ++k) s += (k > 0 ? "," : "") + blank() + entry(t[k]) + blank();
    if (t.size > 0 && coin()) s += "," + blank();
    return s + (square ? "]" : ")");
  }
  std::string bare(const AttrInfo& f, const Attr& v) {
    if (v.none || f.kind == AttrKind::word) return attribute_text(f, v);
    if (f.kind == AttrKind::boolean)
      return v.ints[0] ? one_of({"1", "True", "TRUE", "tRuE"})
                       : one_of({"0", "False", "FALSE", "fAlSe"});
    return f.kind == AttrKind::tuple ? tuple(v.ints) : integer(v.ints[0]);
  }

  Seeded draw_;
};

}  // namespace

AttrTexts spelled(const Case& c, std::size_t way) {
  constexpr u64 kSeed = 19;
  AttrTexts all;
  for (int i = 0; i < c.op->attrs.size(); ++i) {
    const AttrInfo& f = c.op->attrs[i];
    const Attr& v = c.attrs[static_cast<std::size_t>(i)];
    Words words(word(kSeed, way, static_cast<u64>(i)));
    if (v == f.fallback && !f.required && (way == 0 || words.coin())) continue;
    const string_view name = way > 0 && !f.alias.empty() && words.coin() ? f.alias : f.name;
    all[std::string(name)] = way == 0 ? attribute_text(f, v) : words.text(f, v);
  }
  if (c.op->attrs.size() > 0 && way % 2 == 1) all["__note__"] = "whatever a graph keeps here";
  return all;
}

}  // namespace lockstep::judge
