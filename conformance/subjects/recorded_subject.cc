#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "conformance/base/json_cursor.h"
#include "conformance/jsonl/lines.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {
namespace {

// The text of an answer's identifier, quotes included; empty if it has none.
std::string id_text(std::string_view line) {
  std::string_view id;
  JsonCursor json(line);
  if (json.type() != JsonCursor::Type::object) throw NotJson("not a JSON object");
  json.object([&](const std::string& key) {
    const std::string_view value = json.skip();
    if (key == "id" && id.empty()) id = value;
  });
  json.end();
  return std::string(id);
}

// An answer of the file: where its line begins, its number, and its identifier as it was written.
struct RecordedLine {
  std::streamoff begin = 0;
  i64 number = 0;
  std::string id;
};

class RecordedSubject final : public Subject {
 public:
  RecordedSubject(const std::string& file, const Limits& limits)
      : file_(file),
        manifest_(default_manifest(std::filesystem::path(file).filename().string())),
        in_(file, std::ios::binary) {
    if (!in_) throw UsageError("cannot read '" + file + "': " + std::strerror(errno));
    configure(limits.set);
    read_index();
  }
  const Manifest& manifest() const override { return manifest_; }
  bool live() const override { return false; }

  std::set<std::string> unanswered(const std::vector<std::string>& ids) override {
    std::set<std::string> asked(ids.begin(), ids.end()), lacking;
    for (const auto& [id, line] : lines_)
      if (!asked.contains(id))
        throw UsageError(where(line.number) + "the answer to " + quote(id) +
            ", which is no case of this selection; emit and check need the same "
            "options");
    for (const std::string& id : asked)
      if (!lines_.contains(id)) lacking.insert(id);
    return lacking;
  }
  void about(const std::string& id) override {
    const auto at = lines_.find(id);
    if (at == lines_.end()) throw UsageError("'" + file_ + "' has no answer to " + quote(id));
    now_ = &at->second;
  }
  Answer execute(
      const Case&, const std::vector<Tensor>&, const Inferred& out, const Run&) override {
    return of_outputs(answer(), out.count);
  }
  Answer refuse(const Case&) override { return answer(); }
  bool takes_text() const override { return true; }
  Answer refuse_text(const Case&, const AttrTexts&) override { return answer(); }
  int configure(const Options& more) override {
    if (!more.empty())
      throw UsageError("results:" + file_ + " takes no option '" + more.begin()->first +
          "': its answers are recorded");
    return 0;
  }

 private:
  std::string where(i64 number) const {
    return "'" + file_ + "' line " + std::to_string(number) + ": ";
  }
  void read_index() {
    std::string text;
    for (i64 number = 1;; ++number) {
      const std::streamoff begin = in_.tellg();
      if (!std::getline(in_, text)) break;
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      try {
        RecordedLine line{begin, number, id_text(text)};
        if (line.id.empty() || line.id[0] != '"') throw NotJson("no identifier that emit wrote");
        const std::string id = JsonCursor(line.id).string();
        const auto [at, fresh] = lines_.try_emplace(id, std::move(line));
        if (!fresh)
          throw NotJson("a second answer to " + quote(id) + ", after that of line " +
              std::to_string(at->second.number));
      } catch (const NotJson& e) {
        throw UsageError(where(number) + e.what());
      }
    }
    if (in_.bad())
      throw UsageError("cannot read '" + file_ + "' to its end: " + std::strerror(errno));
  }
  Answer answer() {
    if (!now_) throw std::logic_error("no case was named");
    std::string text;
    in_.clear();
    if (!in_.seekg(now_->begin) || !std::getline(in_, text))
      throw std::runtime_error("cannot read '" + file_ + "' again");
    return read_reply(text, now_->id);
  }

  std::string file_;
  Manifest manifest_;
  std::ifstream in_;
  std::map<std::string, RecordedLine> lines_;
  const RecordedLine* now_ = nullptr;
};

}  // namespace

std::unique_ptr<Subject> open_recorded(const std::string& file, const Limits& limits) {
  return std::make_unique<RecordedSubject>(file, limits);
}

}  // namespace lockstep::judge
