#include "conformance/cases/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "conformance/base/usage_error.h"

namespace lockstep::judge {
namespace {

constexpr i64 kPartsMax = 1000000;

using Variable = std::function<const char*(const char*)>;

i64 number(const std::string& what, string_view text) {
  i64 n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0 || n > kPartsMax)
    throw UsageError(fmt::format("{} is '{}', not a number of 0..{}", what, text, kPartsMax));
  return n;
}

// A variable that must be set because another one is.
i64 number_of(const Variable& variable, const char* name, const char* because) {
  const char* text = variable(name);
  if (!text) throw UsageError(fmt::format("--shard auto: {} is set and {} is not", because, name));
  return number(name, text);
}

Shard checked(i64 place, i64 of, const std::string& where) {
  if (place < 0 || place >= of)
    throw UsageError(fmt::format("{}: there is no part {} of {}", where, place + 1, of));
  return {place + 1, of};
}

// Task numbers of an array may begin anywhere and have any step, but only one step: otherwise a
// task cannot compute its place from its variables.
Shard of_slurm(const Variable& variable) {
  constexpr const char* kId = "SLURM_ARRAY_TASK_ID";
  const auto told = [&](const char* name, i64 otherwise) {
    return variable(name) ? number(name, variable(name)) : otherwise;
  };
  const i64 id = number_of(variable, kId, kId);
  const i64 of = number_of(variable, "SLURM_ARRAY_TASK_COUNT", kId);
  const i64 first = told("SLURM_ARRAY_TASK_MIN", 0), step = told("SLURM_ARRAY_TASK_STEP", 1);
  const i64 last = told("SLURM_ARRAY_TASK_MAX", first + (of - 1) * step);
  if (step < 1 || last - first != (of - 1) * step || id < first || (id - first) % step != 0)
    throw UsageError(
        fmt::format("--shard auto: task {} of {} in an array of {} to {} by steps of {} "
                    "has no place; use an even array, as --array=1-{}",
            id, of, first, last, step, of));
  return checked((id - first) / step, of, "--shard auto (Slurm)");
}

}  // namespace

Shard read_shard(const std::string& text, const Variable& variable) {
  if (text != "auto") {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos)
      throw UsageError("--shard is '" + text + "', not I/N, as 1/4, and not auto");
    const i64 i = number("--shard", string_view(text).substr(0, slash));
    return checked(
        i - 1, number("--shard", string_view(text).substr(slash + 1)), "--shard " + text);
  }
  constexpr const char *kSlurm = "SLURM_ARRAY_TASK_ID", *kJob = "JOB_COMPLETION_INDEX",
                       *kTest = "GTEST_SHARD_INDEX";
  const int found = !!variable(kSlurm) + !!variable(kJob) + !!variable(kTest);
  if (found != 1)
    throw UsageError(fmt::format("--shard auto: {} of {}, {} and {} are set",
        found == 0 ? "none" : "several", kSlurm, kJob, kTest));
  if (variable(kSlurm)) return of_slurm(variable);
  if (variable(kJob))
    return checked(number_of(variable, kJob, kJob), number_of(variable, "LOCKSTEP_SHARDS", kJob),
        "--shard auto (JOB_COMPLETION_INDEX)");
  return checked(number_of(variable, kTest, kTest),
      number_of(variable, "GTEST_TOTAL_SHARDS", kTest), "--shard auto (GTEST_SHARD_INDEX)");
}

}  // namespace lockstep::judge
