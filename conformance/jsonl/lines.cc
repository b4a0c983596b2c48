#include "conformance/jsonl/lines.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "conformance/base/base64.h"
#include "conformance/base/json_cursor.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

using JsonType = JsonCursor::Type;

bool inside_int32(i64 v) { return INT32_MIN <= v && v <= INT32_MAX; }

int saturated(i64 v) { return static_cast<int>(clamp(v, INT32_MIN, INT32_MAX)); }

// The most characters of a message, which may quote a line that somebody sent.
constexpr std::size_t kLongestMessage = 1000;

// A tensor of a call or an answer.
struct TensorText {
  std::vector<i64> shape;
  i64 precision = 0;
  std::optional<std::vector<i32>> data;
  int bytes_left = 0;    // of base64 that ends inside an integer
  bool outside = false;  // an integer was outside int32
};

// Reads JSON to its end and keeps only the first mistake in it.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : json(text) {}

  void wrong(const std::string& what) {
    if (why.empty()) why = what;
  }
  // Whether the next value has this type. Otherwise notes the mistake and skips the value.
  bool expect(JsonType type, const std::string& where, const char* what) {
    if (json.type() == type) return true;
    wrong(where + " must be " + what);
    json.skip();
    return false;
  }
  std::string string(const std::string& where) {
    return expect(JsonType::string, where, "a string") ? json.string() : std::string();
  }
  std::string scalar(const std::string& where) {
    const JsonType t = json.type();
    const std::string_view text = json.skip();
    if (t != JsonType::object && t != JsonType::array) return std::string(text);
    wrong(where + " must be a string, a number, true, false or null");
    return "null";
  }
  i64 integer(const std::string& where) {
    if (!expect(JsonType::number, where, "an integer")) return 0;
    const std::optional<i64> v = integer_of(json.number());
    if (!v) wrong(where + " must be an integer, without fraction and exponent");
    return v.value_or(0);
  }
  template <class F> void integers(const std::string& where, F take) {
    if (!expect(JsonType::array, where, "a list of integers")) return;
    i64 i = 0;
    json.array([&] {
      std::optional<i64> v;
      if (json.type() == JsonType::number)
        v = integer_of(json.number());
      else
        json.skip();
      if (v)
        take(*v);
      else
        wrong(where + "[" + std::to_string(i) + "] must be an integer");
      ++i;
    });
  }
  // Reads an object whose keys are all known and occur at most once. `member` reads a value by the
  // number of its key. @return the set of the keys in the object
  template <std::size_t N, class F>
  unsigned object(const std::string& where, const string_view (&keys)[N], F member) {
    unsigned seen = 0;
    if (!expect(JsonType::object, where.empty() ? "the line" : where, "an object")) return seen;
    json.object([&](const std::string& key) {
      const auto* at = std::find(std::begin(keys), std::end(keys), key);
      const auto i = static_cast<unsigned>(at - std::begin(keys));
      const std::string path = where.empty() ? "" : where + ".";
      if (at == std::end(keys)) {
        wrong(path + quote(key) + " is no key of a line");
        json.skip();
        return;
      }
      if (seen >> i & 1) wrong(path + quote(key) + " is given twice");
      seen |= 1u << i;
      member(i, path + key);
    });
    return seen;
  }
  template <std::size_t N> void require(
      const std::string& where, const string_view (&keys)[N], unsigned seen, unsigned needed) {
    for (unsigned i = 0; i < N; ++i)
      if (needed >> i & ~seen >> i & 1)
        wrong((where.empty() ? "" : where + ".") + quote(keys[i]) + " is missing");
  }

  JsonCursor json;
  std::string why;
};

void read_base64(LineReader& r, const std::string& where, TensorText& t) {
  const std::string text = r.string(where);
  std::optional<FromBase64> decoded = from_base64(text);
  if (!decoded) return r.wrong(where + " must be base64 without blanks, padded");
  t.data = std::move(decoded->values);
  t.bytes_left = decoded->bytes_left;
}

enum TensorKey : unsigned { kShapeKey, kPrec, kData, kB64 };
constexpr string_view kTensorKeys[] = {"shape", "prec", "data", "b64"};
constexpr unsigned bit(unsigned key) { return 1u << key; }

// Reads a tensor, which must have the keys `needed`, may have `allowed`, and has one kind of data.
TensorText read_tensor(LineReader& r, const std::string& where, unsigned needed, unsigned allowed) {
  TensorText t;
  const unsigned seen = r.object(where, kTensorKeys, [&](unsigned key, const std::string& path) {
    switch (key) {
      case kShapeKey: return r.integers(path, [&](i64 e) { t.shape.push_back(e); });
      case kPrec: t.precision = r.integer(path); return;
      case kData:
        t.data.emplace();
        return r.integers(path, [&](i64 v) {
          t.outside = t.outside || !inside_int32(v);
          t.data->push_back(inside_int32(v) ? static_cast<i32>(v) : kOutsideInt32);
        });
      default: return read_base64(r, path, t);
    }
  });
  r.require(where, kTensorKeys, seen, needed);
  for (unsigned key = 0; key < std::size(kTensorKeys); ++key)
    if ((seen & ~allowed) >> key & 1)
      r.wrong(where + "." + quote(kTensorKeys[key]) + " is no key of a line");
  if ((seen & bit(kData)) && (seen & bit(kB64))) r.wrong(where + " has both 'data' and 'b64'");
  return t;
}

template <class F> void read_tensors(
    LineReader& r, const std::string& where, F take, unsigned needed, unsigned allowed) {
  if (!r.expect(JsonType::array, where, "a list of tensors")) return;
  i64 k = 0;
  r.json.array([&] {
    take(read_tensor(r, where + "[" + std::to_string(k) + "]", needed, allowed));
    ++k;
  });
}

void read_attributes_of(LineReader& r, const std::string& where, Request& q) {
  if (!r.expect(JsonType::object, where, "an object of strings")) return;
  r.json.object([&](const std::string& key) {
    std::string text = r.string(where + "." + quote(key));
    q.attrs.emplace_back(key, std::move(text));
  });
}

// The step line.count: names the counts that do not agree; empty if all do.
std::string miscounted(
    const Request& q, const std::vector<i64>& precisions, const std::vector<int>& bytes_left) {
  if (precisions.size() != q.types.size())
    return "'in_prec' has " + std::to_string(precisions.size()) + " entries for " +
        std::to_string(q.types.size()) + " inputs";
  for (std::size_t k = 0; k < q.types.size(); ++k) {
    const Shape& s = q.types[k].shape;
    if (!legal(s) || !q.data[k]) continue;
    const i64 given = std::ssize(*q.data[k]);
    if (given == volume(s) && bytes_left[k] == 0) continue;
    return "in[" + std::to_string(k) + "] has " + std::to_string(given) + " values" +
        (bytes_left[k] ? " and a part of one" : "") + ", its shape " + std::to_string(volume(s));
  }
  return {};
}

template <class Numbers> void put_numbers(std::string& line, const Numbers& numbers) {
  line += '[';
  char text[24];
  for (const auto v : numbers) {
    const auto end = std::to_chars(text, text + sizeof text, v).ptr;
    line.append(text, end);
    line += ',';
  }
  if (line.back() == ',')
    line.back() = ']';
  else
    line += ']';
}

// A JSON string in ASCII; bytes that are not UTF-8 become the replacement character.
void put_string(std::string& line, const std::string& s) {
  line += nlohmann::json(s).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The text of an attribute, even of a value that no legal text spells.
std::string any_attribute_text(const AttrInfo& f, const Attr& v) {
  if (f.kind == AttrKind::word && !f.range.contains(v.ints[0])) return "?";
  std::string text = attribute_text(f, v);
  if (f.kind == AttrKind::tuple && !v.ints.fits()) text.insert(text.size() - 1, ",0");
  return text;
}

void put_shape(std::string& line, const Shape& s) {
  std::vector<i64> extents(s.begin(), s.end());
  extents.resize(static_cast<std::size_t>(s.size),
      1);  // a list stores no more than it has room for
  put_numbers(line, extents);
}

string_view status_of(AnswerKind k) {
  switch (k) {
    case AnswerKind::ok: return "ok";
    case AnswerKind::logic_error: return "logic_error";
    case AnswerKind::unsupported: return "unsupported";
    default: return "runtime_error";
  }
}

std::string label_of(const Answer& a) {
  switch (a.kind) {
    case AnswerKind::crashed: return "backend.crashed";
    case AnswerKind::timed_out: return "backend.timeout";
    case AnswerKind::protocol:
    case AnswerKind::printed:
    case AnswerKind::broken_channel: return "backend.protocol";
    default: return a.label;
  }
}

Answer no_answer(const std::string& why) { return {.kind = AnswerKind::protocol, .message = why}; }

// Whether the data of a tensor fills its shape.
bool fills(const TensorText& t) {
  i64 n = 1;
  for (i64 e : t.shape) {
    if (e < 1) return false;
    n = n > kMaxVolume / e ? kMaxVolume + 1 : n * e;
  }
  return t.bytes_left == 0 && n == std::ssize(*t.data);
}

// An answer's line as read, before its parts are compared.
struct AnswerText {
  std::string id, status;
  Answer answer;
  std::string misfit;  // why the first wrong output is wrong
};

void take_output(AnswerText& t, TensorText out) {
  const std::string where = "out[" + std::to_string(t.answer.out.size()) + "]";
  if (t.misfit.empty() && out.outside) t.misfit = where + " has a value outside int32";
  if (t.misfit.empty() && !out.data) t.misfit = where + " has neither 'data' nor 'b64'";
  if (t.misfit.empty() && !fills(out))
    t.misfit = where + " has " + std::to_string(out.data->size()) +
        " values, and its shape another number";
  t.answer.types.push_back({std::move(out.shape), saturated(out.precision)});
  t.answer.out.push_back(std::move(out.data).value_or(std::vector<i32>()));
}

void refuse(Request& q, const char* word, i64 number, const std::string& why) {
  q.label = "line." + std::string(word);
  q.message = "line " + std::to_string(number) + ": " + why;
}

template <class Attrs> std::string request_line(string_view name, const Case& c, const Attrs& attrs,
    const std::vector<Tensor>& in, std::string_view id) {
  std::string line = "{\"id\":" + std::string(id) + ",\"op\":";
  put_string(line, std::string(name));
  line += ",\"attrs\":{";
  const char* comma = "";
  for (const auto& [name, text] : attrs) {
    line += comma;
    put_string(line, name);
    line += ':';
    put_string(line, text);
    comma = ",";
  }
  line += "},\"in_prec\":";
  std::vector<int> precisions;
  for (const Type& t : c.in) precisions.push_back(t.precision);
  put_numbers(line, precisions);
  line += ",\"in\":[";
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    line += k == 0 ? "{\"shape\":" : ",{\"shape\":";
    put_shape(line, c.in[k].shape);
    if (k < in.size()) {
      line += ",\"data\":";
      put_numbers(line, in[k].data);
    }
    line += '}';
  }
  return line + "]}";
}

}  // namespace

Request read_request(std::string_view line, i64 number) {
  enum Key : unsigned { kId, kOp, kAttrs, kInPrec, kIn };
  static constexpr string_view kKeys[] = {"id", "op", "attrs", "in_prec", "in"};
  Request q;
  std::vector<i64> precisions;
  std::vector<int> bytes_left;
  const auto take = [&](TensorText t) {
    Type& type = q.types.emplace_back();
    for (i64 e : t.shape) type.shape.push(e);
    q.data.push_back(std::move(t.data));
    bytes_left.push_back(t.bytes_left);
  };
  LineReader r(line);
  try {
    if (r.json.type() != JsonType::object) {
      refuse(q, "json", number, "not a JSON object");
      return q;
    }
    const unsigned seen = r.object("", kKeys, [&](unsigned key, const std::string& path) {
      switch (key) {
        case kId: q.id = r.scalar(path); return;
        case kOp: q.op = r.string(path); return;
        case kAttrs: return read_attributes_of(r, path, q);
        case kInPrec: return r.integers(path, [&](i64 p) { precisions.push_back(p); });
        default:
          return read_tensors(
              r, path, take, bit(kShapeKey), bit(kShapeKey) | bit(kData) | bit(kB64));
      }
    });
    r.json.end();
    r.require("", kKeys, seen, bit(std::size(kKeys)) - 1);
  } catch (const NotJson& e) {
    q = {};
    refuse(q, "json", number, e.what());
    return q;
  }
  if (!r.why.empty()) {
    refuse(q, "key", number, r.why);
    return q;
  }
  if (const std::string why = miscounted(q, precisions, bytes_left); !why.empty())
    refuse(q, "count", number, why);
  else
    for (std::size_t k = 0; k < q.types.size(); ++k)
      q.types[k].precision = saturated(precisions[k]);
  return q;
}

std::string write_request(const Case& c, const std::vector<Tensor>& in, std::string_view id) {
  std::vector<std::pair<std::string, std::string>> attrs;
  for (int i = 0; i < c.op->attrs.size(); ++i) {
    const AttrInfo& f = c.op->attrs[i];
    const Attr& v = c.attrs[static_cast<std::size_t>(i)];
    if (!f.ignored || v != f.fallback) attrs.emplace_back(f.name, any_attribute_text(f, v));
  }
  return request_line(c.op->name, c, attrs, in, id);
}

std::string write_text_request(
    const Case& c, const AttrTexts& attrs, const std::vector<Tensor>& in, std::string_view id) {
  const bool otherwise = !in.empty() && !c.op->alias.empty();
  return request_line(otherwise ? c.op->alias : c.op->name, c, attrs, in, id);
}

std::string write_answer(const Answer& a, std::string_view id) {
  std::string line = "{\"id\":" + std::string(id) + ",\"status\":\"";
  line += status_of(a.kind);
  line += '"';
  if (!a.ok()) {
    line += ",\"label\":";
    put_string(line, label_of(a));
    line += ",\"message\":";
    put_string(line, a.message.substr(0, kLongestMessage));
    return line + "}";
  }
  line += ",\"out\":[";
  for (std::size_t k = 0; k < a.out.size(); ++k) {
    line += k == 0 ? "{\"shape\":" : ",{\"shape\":";
    put_numbers(line, a.types[k].shape);
    line += ",\"prec\":" + std::to_string(a.types[k].precision) + ",\"data\":";
    put_numbers(line, a.out[k]);
    line += '}';
  }
  return line + "]}";
}

Answer read_answer(std::string_view line, std::string_view id) {
  enum Key : unsigned { kId, kStatus, kOut, kPath, kLabel, kMessage };
  static constexpr string_view kKeys[] = {"id", "status", "out", "path", "label", "message"};
  AnswerText t;
  LineReader r(line);
  unsigned seen = 0;
  try {
    seen = r.object("", kKeys, [&](unsigned key, const std::string& path) {
      switch (key) {
        case kId: t.id = r.scalar(path); return;
        case kStatus: t.status = r.string(path); return;
        case kOut:
          return read_tensors(
              r, path, [&](TensorText out) { take_output(t, std::move(out)); }, bit(kShapeKey),
              bit(kShapeKey) | bit(kPrec) | bit(kData) | bit(kB64));
        case kPath: t.answer.path = r.string(path); return;
        case kLabel: t.answer.label = r.string(path); return;
        default: t.answer.message = r.string(path);
      }
    });
    r.json.end();
  } catch (const NotJson& e) {
    return no_answer(e.what());
  }
  constexpr AnswerKind kKinds[] = {
      AnswerKind::ok, AnswerKind::logic_error, AnswerKind::runtime_error, AnswerKind::unsupported};
  const auto* kind = std::find_if(
      std::begin(kKinds), std::end(kKinds), [&](AnswerKind k) { return status_of(k) == t.status; });
  r.require("", kKeys, seen, bit(kId) | bit(kStatus));
  if (kind == std::end(kKinds)) {
    r.wrong("status " + quote(t.status) + " is none");
    return no_answer(r.why);
  }
  // The status decides which keys an answer must have and which it must not have.
  const bool ok = *kind == AnswerKind::ok;
  r.require("", kKeys, seen, ok ? bit(kOut) : *kind == AnswerKind::logic_error ? bit(kLabel) : 0);
  if (seen & (ok ? bit(kLabel) | bit(kMessage) : bit(kOut) | bit(kPath)))
    r.wrong((ok                        ? "'label' or 'message'"
                    : seen & bit(kOut) ? "'out'"
                                       : "'path'") +
        (" beside status " + t.status));
  if (t.id != id) r.wrong("id is not that of the call");
  if (!t.misfit.empty()) r.wrong(t.misfit);
  if (!r.why.empty()) return no_answer(r.why);
  t.answer.kind = *kind;
  return std::move(t.answer);
}

Answer read_reply(std::string_view line, std::string_view id) {
  Answer a = read_answer(line, id);
  a.label = printable(a.label);
  a.message = printable(a.message);
  a.path = printable(a.path);
  if (a.kind == AnswerKind::protocol)
    return no_answer("the line is not an answer (" + a.message + "): " + quote(line));
  return a;
}

Answer of_outputs(Answer a, int n) {
  if (!a.ok() || static_cast<int>(a.out.size()) == n) return a;
  return no_answer("an answer with " + std::to_string(a.out.size()) + " outputs instead of " +
      std::to_string(n));
}

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string s = "'";
  for (const char c : text.substr(0, kLongest)) {
    if (c >= 0x20 && c < 0x7f) {
      s += c;
      continue;
    }
    constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    s += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  }
  return s + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace lockstep::judge
