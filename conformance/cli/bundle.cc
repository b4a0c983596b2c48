#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <span>

#include "conformance/base/base64.h"
#include "conformance/cli/verbs.h"
#include "conformance/jsonl/lines.h"
#include "conformance/trial/properties.h"
#include "containers/params/npy.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

constexpr i64 kMaxBundled = i64{1} << 20;  // elements of all tensors in a bundle

constexpr const char* kShowProgram =
    R"(/* Shows in which elements an answer differs from what is expected.
 *   cc -std=c11 -Wall -Wextra -Werror show.c -o show && ./show
 * To judge a function of your own instead of the answer that was recorded:
 *   cc -std=c11 -Wall -Wextra -Werror -DKERNEL=mine show.c mine.c -o show && ./show
 * where mine.c has  void mine(const int32_t *const *inputs, int32_t *const *outputs);
 * Exit status: 0 nothing differs, 1 something does, 2 there is no answer to compare. */
)"
    "#include \"case.h\"\n"
    R"(
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN 16 /* elements of a tensor */

static void print_place(const struct tensor *t, int64_t element) {
  int64_t after = t->count;
  for (int d = 0; d < t->rank; ++d) {
    after /= t->shape[d];
    printf("%s%" PRId64, d ? "," : "[", element / after % t->shape[d]);
  }
  printf("]");
}

static int differs(const struct tensor *want, const int32_t *have) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < want->count; ++i) {
    if (want->data[i] == have[i] || wrong++ >= SHOWN) continue;
    printf("%s ", want->name);
    print_place(want, i);
    printf(": expected %" PRId32 " (0x%08" PRIx32 "), got %" PRId32 " (0x%08" PRIx32 ")\n",
           want->data[i], (uint32_t)want->data[i], have[i], (uint32_t)have[i]);
  }
  printf("%s: %" PRId64 " of %" PRId64 " elements differ\n", want->name, wrong, want->count);
  return wrong != 0;
}

#ifdef KERNEL
void KERNEL(const int32_t *const *inputs, int32_t *const *outputs);

static int judge(void) {
  const int32_t *in[INPUTS + 1];
  int32_t *out[OUTPUTS];
  int wrong = 0;
  for (int k = 0; k < INPUTS; ++k) in[k] = inputs[k].data;
  for (int k = 0; k < OUTPUTS; ++k) {
    out[k] = malloc((size_t)expected[k].count * sizeof(int32_t));
    if (!out[k]) return 2;
    for (int64_t i = 0; i < expected[k].count; ++i) out[k][i] = INT32_MIN; /* no legal value */
  }
  KERNEL(in, out);
  for (int k = 0; k < OUTPUTS; ++k) {
    wrong |= differs(&expected[k], out[k]);
    free(out[k]);
  }
  return wrong;
}
#else
static int judge(void) {
  int wrong = 0;
  printf("answer: %s\n", ANSWER);
  if (!ANSWERED) return 2;
  for (int k = 0; k < OUTPUTS; ++k) wrong |= differs(&expected[k], got[k].data);
  return wrong;
}
#endif

int main(void) {
  printf("case: %s\n", CASE);
  for (int k = 0; k < INPUTS; ++k)
    printf("%s: %" PRId64 " elements\n", inputs[k].name, inputs[k].count);
  return judge();
}
)";

// A text as a C string literal.
std::string c_string(const std::string& text) {
  std::string s = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\' || c == '?') s += '\\';
    s += static_cast<unsigned char>(c) < 127 ? c : '?';
  }
  return s + "\"";
}

// A tensor to be written to files: "input 0" becomes input_0.npy.
struct TensorFile {
  std::string name;
  Shape shape;
  std::span<const i32> data;
  std::string stem() const {
    std::string s = name;
    s[s.find(' ')] = '_';
    return s;
  }
};

class Bundle {
 public:
  Bundle(fs::path directory, const Trial& t) : directory_(std::move(directory)), trial_(t) {
    if (t.item->texts) throw UsageError("a bundle holds typed calls, not illegal text");
    if (!t.item->runs()) return;
    inputs_ = inputs_of(t.item->call);
    when_ = "the first answer";
    for (const auto& [when, answer, right, is_graph] : t.answers()) {
      if (!answer_) answer_ = answer;
      if (right != &t.expected || !difference(t.expected, *answer)) continue;
      answer_ = answer;
      when_ = when.empty() ? when_ : "the answer " + when;
      break;
    }
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      add("input", k, inputs_[k].type.shape, inputs_[k].data);
    for (std::size_t k = 0; k < t.expected.size(); ++k)
      add("expected", k, t.expected[k].type.shape, t.expected[k].data);
    for (std::size_t k = 0; answered() && k < t.expected.size(); ++k)
      add("got", k, t.expected[k].type.shape, answer_->out[k]);
    if (elements_ > kMaxBundled)
      throw UsageError(fmt::format(
          "a bundle holds {} elements at most, this case has {}", kMaxBundled, elements_));
  }

  void write(const std::string& command) const {
    put("README.txt", read_me(command));
    put("call.jsonl",
        write_request(trial_.item->call, inputs_, "\"" + trial_.item->id + "\"") + "\n");
    if (!trial_.item->runs()) return;
    for (const TensorFile& t : tensors_) {
      put(t.stem() + ".npy", npy(t));
      put(t.stem() + ".memh", words(t));
    }
    put("case.h", header());
    put("show.c", kShowProgram);
  }

 private:
  // Whether the answer has tensors to compare; any other is described in words.
  bool answered() const {
    return answer_->ok() && answer_->out.size() == trial_.expected.size() &&
        std::equal(answer_->out.begin(), answer_->out.end(), trial_.expected.begin(),
            [](const auto& o, const Tensor& e) { return o.size() == e.data.size(); });
  }
  void add(const char* role, std::size_t k, const Shape& shape, std::span<const i32> data) {
    tensors_.push_back({fmt::format("{} {}", role, k), shape, data});
    elements_ += std::ssize(data);
  }
  void put(const std::string& file, const std::string& text) const {
    write_file((directory_ / file).string(), text);
  }
  static std::string npy(const TensorFile& t) {
    const std::vector<i64> shape(t.shape.begin(), t.shape.end());
    return params::npz::npy_header({.code = 0, .bits = 32}, shape) + little_endian(t.data);
  }
  // Words in the format of Verilog's $readmemh.
  static std::string words(const TensorFile& t) {
    std::string file =
        fmt::format("// {}, shape {}, row by row\n", t.name, fmt::join(t.shape, "x"));
    for (const i32 v : t.data) file += fmt::format("{:08x}\n", static_cast<std::uint32_t>(v));
    return file;
  }
  std::string answer_text() const {
    if (answered()) return when_;
    const std::optional<Finding> f = difference(trial_.expected, *answer_);
    return when_ + " " + (f ? f->text : "");
  }
  std::string header() const {
    std::string h = fmt::format(
        "#include <stdint.h>\n\n#define CASE {}\n#define ANSWER {}\n#define ANSWERED {}\n"
        "#define INPUTS {}\n#define OUTPUTS {}\n\n"
        "struct tensor {{\n  const char *name;\n  int rank;\n  const int64_t *shape;\n"
        "  int64_t count;\n  const int32_t *data;\n}};\n",
        c_string(trial_.item->id), c_string(answer_text()), answered() ? 1 : 0, inputs_.size(),
        trial_.expected.size());
    for (const TensorFile& t : tensors_) {
      h += fmt::format(
          "\nstatic const int64_t {}_shape[] = {{{}}};\n", t.stem(), fmt::join(t.shape, ", "));
      h += fmt::format("static const int32_t {}[] = {{", t.stem());
      for (std::size_t i = 0; i < t.data.size(); ++i)
        h += fmt::format("{}{}", i == 0 ? "" : i % 12 ? ", " : ",\n    ", t.data[i]);
      h += "};\n";
    }
    h += table("inputs", "input") + table("expected", "expected");
    // Without an answer the table `got` must exist, but is not used.
    return h + (answered() ? table("got", "got") : table("got", "expected"));
  }
  std::string table(const std::string& name, const std::string& role) const {
    std::string rows;
    for (const TensorFile& t : tensors_)
      if (t.name.starts_with(role + " "))
        rows += fmt::format("    {{\"{}\", {}, {}_shape, {}, {}}},\n", t.name, t.shape.size,
            t.stem(), t.data.size(), t.stem());
    return fmt::format("\nstatic const struct tensor {}[] = {{\n{}}};\n", name, rows);
  }
  std::string read_me(const std::string& command) const {
    std::string text = fmt::format("One call, and what was answered.\n\n  {}\n\n", command) +
        "call.jsonl     the call, for `lockstep eval`\n";
    if (!trial_.item->runs())
      return text + "\nThe call is illegal: it must be refused with " + trial_.item->label + ".\n";
    for (const TensorFile& t : tensors_)
      text += fmt::format("{:<14} {} of shape {}: NumPy, and hexadecimal words in {}.memh\n",
          t.stem() + ".npy", t.name, fmt::join(t.shape, "x"), t.stem());
    text += "case.h         all of them as C arrays\n";
    text += "show.c         prints where expected and got differ; how to build it is in it\n\n";
    return text + "Judged: " + printable(answer_text()) + ".\n";
  }

  fs::path directory_;
  const Trial& trial_;
  std::vector<Tensor> inputs_;
  const Answer* answer_ = nullptr;
  std::string when_;
  std::vector<TensorFile> tensors_;
  i64 elements_ = 0;
};

}  // namespace

void write_bundle(const std::string& directory, const Trial& t, const std::string& command) {
  const fs::path whole = fs::path(directory).lexically_normal();
  std::error_code failed;
  if (fs::exists(whole, failed) && !fs::is_empty(whole, failed))
    throw UsageError("'" + directory + "' is there already, and not empty");
  fs::path part = whole.has_filename() ? whole : whole.parent_path();
  part += ".part";
  const Bundle bundle(part, t);
  fs::remove_all(part);
  fs::create_directories(part);
  try {
    bundle.write(command);
    fs::rename(part, whole);
  } catch (...) {
    fs::remove_all(part, failed);
    throw;
  }
}

}  // namespace lockstep::judge
