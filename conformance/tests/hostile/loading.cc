/// @file
/// Libraries that fail while they are loaded, or right after; HOSTILE_FAULT says how. With
/// "no_open" this is a backend that loads, claims relu and refuses to open.
#include <unistd.h>

#include <cstdlib>

#include "backends/backend.hpp"

namespace lockstep::backend {
namespace {

constexpr std::string_view kFault = HOSTILE_FAULT;

__attribute__((constructor)) void load() {
  if (kFault == "exits") std::exit(0);
  if (kFault == "aborts") std::abort();
  while (kFault == "hangs") pause();
}

struct Toaster {
  static const char* manifest() {
    if (kFault == "no_manifest") return nullptr;
    static const std::string runnable = kFault == "no_device" ? "false" : "true";
    static const std::string text =
        R"({"name": "loading", "version": "1", "device": "toaster", "kernels": [{"op": "relu",)"
        R"( "name": "slice", "isa": "toaster", "runnable": )" +
        runnable + R"(}], "claims": {"operators": {"relu": {}}}})";
    return text.c_str();
  }
  explicit Toaster(const Options&) { throw std::runtime_error("no toaster is plugged in"); }
  static std::unique_ptr<Plan> prepare(const Call&) { throw Unsupported("nothing"); }
};

}  // namespace
}  // namespace lockstep::backend

const ls_api* lockstep_backend_v1() {
  using lockstep::backend::kFault;
  static ls_api t = *lockstep::backend::table<lockstep::backend::Toaster>();
  t.abi = LOCKSTEP_ABI + (kFault == "other_abi" ? 1 : 0);
  if (kFault == "short_table") t.size = 8;  // the table ends before its first function
  if (kFault == "no_execute") t.execute = nullptr;
  return kFault == "null_table" ? nullptr : &t;
}
