#include "conformance/reports/exhaustion.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/form.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {

using form::Like;

static void fields(auto& f, Like<OperatorValues> auto& v) {
  f("operator", v.op);
  f("every_setting", v.every_setting);
  f("settings", v.settings);
  f("values", v.values);
  f("judged", v.judged);
  f("not_claimed", v.not_claimed);
  f("wrong", v.wrong);
  f("digest", v.digest, {.hash = true});
  f.optional("finding", v.finding);
  f.optional("case", v.id);
}

static void fields(auto& f, Like<Exhaustion> auto& e) {
  f("backend", e.backend);
  f("file_sha256", e.file_hash, {.hash = true});
  f.optional("witness_sha256", e.witness_hash, {.hash = true});
  f("options", e.options);
  f("precisions", e.precisions);
  f("operators", e.operators);
}

namespace {

std::string counted(i64 n, const char* what) {
  return grouped(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

std::string exhaustion_line(const Exhaustion& e) {
  const i64 values = e.sum(&OperatorValues::values), judged = e.sum(&OperatorValues::judged),
            not_claimed = e.sum(&OperatorValues::not_claimed),
            wrong = e.sum(&OperatorValues::wrong);
  std::string some;
  for (const OperatorValues& v : e.operators)
    if (!v.every_setting) some += (some.empty() ? "" : ", ") + v.op;
  std::string s = fmt::format("{}  {} of {} values of {} with {}, {} wrong",
      wrong > 0             ? "FAIL"
          : e.is_complete() ? "EXHAUSTED"
                            : "INCOMPLETE",
      grouped(judged), grouped(values), counted(std::ssize(e.operators), "operator"),
      counted(e.sum(&OperatorValues::settings), "setting"), grouped(wrong));
  if (not_claimed > 0) s += fmt::format("; {} values are not claimed", grouped(not_claimed));
  if (!e.witness_hash.empty()) s += "; compared on the device";
  if (e.precisions.size() < kMaxPrecision) s += "; not all precisions";
  if (!some.empty()) s += "; of " + some + " only settings at powers of two and their neighbours";
  return s;
}

std::string exhaustion_text(const Exhaustion& e) {
  std::string s;
  for (const OperatorValues& v : e.operators) {
    s += fmt::format("{:16} {}, {} of {} values, {} wrong{}\n", v.op,
        counted(v.settings, "setting"), grouped(v.judged), grouped(v.values), grouped(v.wrong),
        v.digest.empty() ? "" : ", digest " + v.digest.substr(0, 16));
    if (v.wrong > 0)
      s += fmt::format(
          "  {}\n  repeat: {}\n", v.finding, repeat_command(e.backend, e.options, v.id));
  }
  return s + fmt::format("{}; {}\n", exhaustion_line(e), exit_text(e.exit()));
}

std::string exhaustion_json(const Exhaustion& e) {
  auto j = form::written(e);
  j["complete"] = e.is_complete();
  j["exit"] = static_cast<int>(e.exit());
  j["text"] = exhaustion_line(e);
  return form::text_of(j);
}

}  // namespace lockstep::judge
