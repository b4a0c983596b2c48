/// @file
/// How the functions of the C interface answer.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "containers/logging.h"
#include "containers/params/params.h"
#include "reference/graph/error.h"
#include "runtime/capi/cvm.h"

namespace lockstep::capi {

/// Keeps the texts for CVMGetLastError() and its siblings. @return the status
int failed(int status, std::string_view text, std::string_view label = {},
    std::string_view path = {}) noexcept;

/// Runs the body of a function that C programs call; whatever it throws becomes a status.
template <class Body> int guarded(const Body& body) noexcept {
  try {
    body();
    return CVM_OK;
  } catch (const std::bad_alloc&) {
    return failed(CVM_RUNTIME, "there is too little memory");
  } catch (const utils::OutOfMemory& error) {
    return failed(CVM_RUNTIME, error.what(), {}, error.path());
  } catch (const graph::Error& error) {
    return failed(CVM_LOGIC, error.what(), error.label(), error.path());
  } catch (const params::Error& error) {
    return failed(CVM_LOGIC, error.what(), error.label());
  } catch (const std::logic_error& error) {
    return failed(CVM_LOGIC, error.what());
  } catch (const std::exception& error) {
    return failed(CVM_RUNTIME, error.what());
  } catch (...) {
    return failed(CVM_RUNTIME, "something was thrown that is no std::exception");
  }
}

/// The place of a result, emptied first, so that a failing call leaves it empty.
template <class T> T& result(T* out, std::string_view name) {
  VERIFY(out != nullptr) << name << " is null";
  return *out = T{};
}

}  // namespace lockstep::capi
