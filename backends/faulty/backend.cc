/// @file
/// A backend that is wrong on purpose: the option `mutant` chooses one believable mistake.
/// The manifest lists the mutants under "mutants".
#include <atomic>

#include "backends/faulty/graph.h"
#include "backends/manifest.h"

namespace lockstep::faulty {
namespace {

class MutantPlan : public backend::Plan {
 public:
  MutantPlan(std::shared_ptr<Behaviour> behaviour, const Call& call)
      : behaviour_(std::move(behaviour)), call_(behaviour_->prepare(call)) {}
  uint64_t scratch_bytes() const override {
    return static_cast<uint64_t>(behaviour_->scratch_bytes());
  }
  void run(const i32* const* in, i32* const* out, void* scratch) const override {
    behaviour_->execute_run(call_, in, out, ++runs_);
    behaviour_->use(scratch);
  }
  const char* path() const override { return behaviour_->path(); }

 private:
  std::shared_ptr<Behaviour> behaviour_;
  LegalCall call_;
  mutable std::atomic<i64> runs_{0};
};

std::string mutants_text() {
  std::vector<std::string> rows;
  const auto member = [](const char* key, string_view text) {
    return backend::detail::in_quotes(key) + ": " + backend::detail::in_quotes(std::string(text));
  };
  for (const Mutant& m : mutants())
    rows.push_back("{" + member("name", m.name) + ", " + member("op", m.op) + ", " +
        member("kind", m.kind) + ", " + member("provenance", m.provenance) +
        ", \"tier\": " + std::to_string(m.tier) + "}");
  return backend::detail::list(rows);
}

constexpr int kThreadsMax = 64;

std::vector<std::string> option_names() { return {"mutant", "threads", "isa"}; }

// "none" is the control without a mistake. If it fails, a mutant's failure proves nothing.
std::unique_ptr<Behaviour> chosen(const backend::Options& options) {
  backend::refuse_options(options, option_names());
  const auto option = options.find("mutant");
  if (option == options.end())
    throw backend::LogicError("option.missing", "the option 'mutant' is required");
  if (option->second == "none") return std::make_unique<Behaviour>();
  const Mutant* m = find_mutant(option->second);
  if (!m) throw backend::LogicError("option.value", "no mutant '" + option->second + "'");
  return m->behaviour();
}

class Faulty {
 public:
  static constexpr bool kInt8Constants = true;
  static const char* manifest() {
    static const std::string text = [] {
      std::string s = backend::manifest_of("faulty",
          {{"*", "specification", "portable", true}, {"*", "wide", "wide", true}},
          {.threads = kThreadsMax, .text = true}, option_names());
      s.pop_back();
      return s + ", \"mutants\": " + mutants_text() + "}";
    }();
    return text.c_str();
  }
  explicit Faulty(const backend::Options& options) : behaviour_(chosen(options)) {
    behaviour_->threads = backend::number_option(options, "threads", 1, kThreadsMax, 1);
    const auto isa = options.find("isa");
    behaviour_->isa_is_chosen = isa != options.end();
    behaviour_->wide = isa != options.end() && isa->second == "wide";
    if (isa != options.end() && !behaviour_->wide && isa->second != "portable")
      throw backend::LogicError("option.isa", "no kernel of isa '" + isa->second + "'");
  }
  ~Faulty() { behaviour_->close(); }
  std::unique_ptr<backend::Plan> prepare(const Call& call) {
    return std::make_unique<MutantPlan>(behaviour_, call);
  }
  std::unique_ptr<backend::Plan> compile(const backend::Graph& graph) {
    return std::make_unique<GraphPlan>(graph, behaviour_->graph);
  }
  std::vector<TensorType> infer(const Call& call) { return behaviour_->infer(call); }
  int threads() const { return behaviour_->reported_threads(); }

 private:
  std::shared_ptr<Behaviour> behaviour_;
};

}  // namespace
}  // namespace lockstep::faulty

const ls_api* lockstep_backend_v1() { return lockstep::backend::table<lockstep::faulty::Faulty>(); }
