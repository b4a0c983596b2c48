/// @file
/// Whether a sanitizer that watches memory or threads is built in. g++ says so by macros, clang by
/// features.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOCKSTEP_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define LOCKSTEP_MEMORY_SANITIZER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define LOCKSTEP_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define LOCKSTEP_MEMORY_SANITIZER 1
#endif

namespace lockstep::ndarray {

#if defined(LOCKSTEP_THREAD_SANITIZER)
inline constexpr bool kThreadSanitizer = true;
#else
/// Whether the thread sanitizer is built in.
inline constexpr bool kThreadSanitizer = false;
#endif

#if defined(LOCKSTEP_THREAD_SANITIZER) || defined(LOCKSTEP_MEMORY_SANITIZER)
inline constexpr bool kInstrumented = true;
#else
/// Whether any of these sanitizers is built in.
inline constexpr bool kInstrumented = false;
#endif

}  // namespace lockstep::ndarray
