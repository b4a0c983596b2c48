#include "conformance/cli/fuzz_state.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "conformance/base/read_file.h"
#include "conformance/base/sha256.h"
#include "conformance/cli/verbs.h"
#include "conformance/selection/select.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr i64 kTriesOfAKind = 8;
constexpr const char* kStateFile = "state.json";

ordered_json to_json(const FuzzTarget& t) {
  return {{"backend", t.backend}, {"set", t.set}, {"operators", t.operators},
      {"properties", t.properties}, {"seed", t.seed}};
}

ordered_json to_json(const FuzzFinding& f) {
  return {{"schema", kSchema}, {"operator", f.op}, {"property", f.property}, {"case", f.id},
      {"text", f.text}, {"found", f.found}, {"backend", f.backend},
      {"manifest_sha256", f.manifest_hash}, {"repeat", f.repeat}};
}

// Replaces a file atomically: even a power cut leaves the old file or the new one.
void replace(const fs::path& file, const ordered_json& j) {
  const fs::path part = file.string() + ".part";
  write_file(part.string(), j.dump(1, ' ', true, ordered_json::error_handler_t::replace) + "\n");
  fs::rename(part, file);
}

ordered_json read_own(const std::string& file) {
  ordered_json j = ordered_json::parse(read_file(file), nullptr, false);
  if (!j.is_object() || j.value("schema", 0) != kSchema)
    throw UsageError("'" + file + "' was not written by lockstep fuzz");
  return j;
}

}  // namespace

FuzzState::FuzzState(std::string directory, FuzzTarget target)
    : directory_(std::move(directory)), target_(std::move(target)) {
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
  const std::string file = (fs::path(directory_) / kStateFile).string();
  const ordered_json j = read_own(file);
  try {
    const ordered_json mine = to_json(target_), &other = j.at("target");
    for (const auto& [key, value] : mine.items())
      if (other.at(key) != value)
        throw UsageError("'" + directory_ + "' is a search with " + key + " " +
            other.at(key).dump() + ", not " + value.dump() + "; name another directory");
    next_ = j.at("next");
    executed_ = j.at("executed");
    files_ = j.at("findings");
    tried_ = j.at("tried");
  } catch (const ordered_json::exception&) {
    throw UsageError("'" + file + "' was not written by lockstep fuzz");
  }
}

void FuzzState::write() const {
  replace(fs::path(directory_) / kStateFile,
      {{"schema", kSchema}, {"target", to_json(target_)}, {"next", next_}, {"executed", executed_},
          {"findings", files_}, {"tried", tried_}});
}

bool FuzzState::wanted(const std::string& op, const std::string& property) const {
  const auto at = tried_.find(op + " " + property);
  return at == tried_.end() || at->second < kTriesOfAKind;
}

std::string FuzzState::save(const FuzzFinding& f) {
  ++tried_[f.op + " " + f.property];
  const std::string name = f.op + "-" + f.property + "-" + sha256(f.id).substr(0, 12) + ".json";
  const bool fresh = std::find(files_.begin(), files_.end(), name) == files_.end();
  if (fresh) {
    replace(fs::path(directory_) / name, to_json(f));
    files_.push_back(name);
  }
  write();
  return fresh ? name : "";
}

void FuzzState::advance(i64 calls, i64 executed) {
  next_ += calls;
  executed_ += executed;
  write();
}

FuzzFinding read_finding(const std::string& file) {
  const ordered_json j = read_own(file);
  try {
    return {j.at("operator"), j.at("property"), j.at("case"), j.at("text"), j.at("found"),
        j.at("backend"), j.at("manifest_sha256"), j.at("repeat")};
  } catch (const ordered_json::exception&) {
    throw UsageError("'" + file + "' is no finding of lockstep fuzz");
  }
}

}  // namespace lockstep::judge
