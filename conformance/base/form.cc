#include "conformance/base/form.h"

#include <set>

namespace lockstep::judge::form {
namespace {

// Refuses an object that has a key twice. The JSON library's own hook for keys would take quadratic
// time.
class RefuseTwice : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override { return names_.emplace_back(), true; }
  bool end_object() override { return names_.pop_back(), true; }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second)
      throw UsageError("an object has " + json(name).dump() + " twice");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    throw UsageError("it is no JSON");
  }

 private:
  std::vector<std::set<std::string>> names_;  // by object that is open
};

}  // namespace

json json_of(const std::string& text) {
  RefuseTwice keys;
  json::sax_parse(text, &keys);
  return json::parse(text);
}

}  // namespace lockstep::judge::form
