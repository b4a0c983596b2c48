#include "conformance/cli/fuzz_state.h"

#include <algorithm>
#include <filesystem>

#include "conformance/base/form.h"
#include "conformance/base/read_file.h"
#include "conformance/cli/verbs.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {

namespace fs = std::filesystem;
using form::json, form::Like;

template <class F> void fields(F& form, Like<FuzzTarget> auto& t) {
  form("backend", t.backend);
  form("set", t.set);
  form("operators", t.operators);
  form("properties", t.properties);
  form("seed", t.seed);
}

template <class F> void fields(F& form, Like<FuzzProgress> auto& p) {
  form.constant("schema", 1);
  form("target", p.target);
  form("next", p.next);
  form("executed", p.executed);
  form("findings", p.findings);
  form("tried", p.tried);
}

template <class F> void fields(F& form, Like<FuzzFinding> auto& f) {
  form.constant("schema", 1);
  form("operator", f.op);
  form("property", f.property);
  form("case", f.id);
  form("text", f.text);
  form("found", f.found);
  form("backend", f.backend);
  form("manifest_sha256", f.manifest_hash);
  form("repeat", f.repeat);
}

namespace {

constexpr i64 kTriesOfAKind = 8;
constexpr const char* kStateFile = "state.json";

// Replaces a file atomically: even a power cut leaves the old file or the new one.
template <class T> void replace(const fs::path& file, const T& document) {
  const fs::path part = file.string() + ".part";
  write_file(part.string(), form::text_of(form::written(document)));
  fs::rename(part, file);
}

template <class T> T read_own(const std::string& file) {
  try {
    return form::parsed<T>(read_file(file));
  } catch (const UsageError& e) {
    throw UsageError("'" + file + "' was not written by lockstep fuzz: " + e.what());
  }
}

}  // namespace

FuzzState::FuzzState(std::string directory, FuzzTarget target)
    : directory_(std::move(directory)), progress_{std::move(target)} {
  if (fs::exists(fs::path(directory_) / kStateFile)) {
    read();
    return;
  }
  std::error_code failed;
  fs::create_directories(directory_, failed);
  if (failed) throw UsageError("cannot make '" + directory_ + "': " + failed.message());
  write();
}

void FuzzState::read() {
  const auto found = read_own<FuzzProgress>((fs::path(directory_) / kStateFile).string());
  const json mine = form::written(progress_.target), other = form::written(found.target);
  for (const auto& [key, value] : mine.items())
    if (other[key] != value)
      throw UsageError("'" + directory_ + "' is a search with " + key + " " + other[key].dump() +
          ", not " + value.dump() + "; name another directory");
  progress_ = found;
}

void FuzzState::write() const { replace(fs::path(directory_) / kStateFile, progress_); }

bool FuzzState::wanted(const std::string& op, const std::string& property) const {
  const auto at = progress_.tried.find(op + " " + property);
  return at == progress_.tried.end() || at->second < kTriesOfAKind;
}

std::string FuzzState::save(const FuzzFinding& f) {
  ++progress_.tried[f.op + " " + f.property];
  const std::string name = f.op + "-" + f.property + "-" + sha256(f.id).substr(0, 12) + ".json";
  const bool fresh = std::find(progress_.findings.begin(), progress_.findings.end(), name) ==
      progress_.findings.end();
  if (fresh) {
    replace(fs::path(directory_) / name, f);
    progress_.findings.push_back(name);
  }
  write();
  return fresh ? name : "";
}

void FuzzState::advance(i64 calls, i64 executed) {
  progress_.next += calls;
  progress_.executed += executed;
  write();
}

FuzzFinding read_finding(const std::string& file) { return read_own<FuzzFinding>(file); }

}  // namespace lockstep::judge
