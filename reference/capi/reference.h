/**
 * @file
 * The specification for programs in C, and in every language that calls C: what a call gives, or
 * which rule it breaks. C99, and the only header such a program needs. Link with
 * liblockstep_reference, or load it: an oracle for a fuzzer, the rules for a host.
 *
 * Attributes are text, as in models and in the lines of `lockstep eval`: {"axis", "(0,1)"}. Values
 * are int32, row-major; a value of precision p lies in +-(2^(p-1) - 1). Every function may be
 * called from several threads at once. None of them throws, ends the program or writes a part of a
 * result.
 *
 * License: Apache-2.0 OR MIT.
 */
#ifndef LOCKSTEP_REFERENCE_H
#define LOCKSTEP_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a function visible to whoever loads the library. */
#if defined(_WIN32)
#define LOCKSTEP_API __declspec(dllexport)
#else
#define LOCKSTEP_API __attribute__((visibility("default")))
#endif

/** What a call answers. */
enum {
  LOCKSTEP_OK = 0,     /**< done */
  LOCKSTEP_LOGIC = 1,  /**< the call breaks a rule: see lockstep_label() */
  LOCKSTEP_RUNTIME = 2 /**< the machine's fault: there was not enough memory */
};

/** An attribute as text; NUL ends both. */
typedef struct {
  const char* name;  /**< canonical, or an alias */
  const char* value; /**< as "3", "true", "(2,2)" */
} lockstep_attribute;

/** Shape and precision. */
typedef struct {
  const int64_t* shape; /**< `rank` extents */
  size_t rank;          /**< 1 to 6, if it is legal */
  int32_t precision;    /**< 1 to 32, if it is legal */
} lockstep_type;

/** A call: an operator, its attributes and the types of its inputs. */
typedef struct {
  const char* op;                       /**< the operator's name or alias */
  const lockstep_attribute* attributes; /**< those that are given, in any order */
  size_t attribute_count;               /**< how many they are */
  const lockstep_type* inputs;          /**< the inputs' types */
  size_t input_count;                   /**< how many they are */
} lockstep_call;

/** The outputs of a call; NULL where there are none. */
typedef struct lockstep_outputs lockstep_outputs;

/**
 * The label of the first rule that a call breaks, as "conv2d.window", by its types alone; empty if
 * it is legal. Memory of the library, valid until this thread calls a function of it again.
 */
LOCKSTEP_API const char* lockstep_check(const lockstep_call* call);

/**
 * The outputs' types of a legal call, without values: lockstep_values() is NULL for them.
 * `outputs` is to be given back to lockstep_release().
 */
LOCKSTEP_API int lockstep_infer(const lockstep_call* call, lockstep_outputs** outputs);

/**
 * The one outcome of a call on values: `values[k]` are those of input k, as many as its shape says;
 * NULL stands for zeros. `outputs` is to be given back to lockstep_release().
 */
LOCKSTEP_API int lockstep_evaluate(
    const lockstep_call* call, const int32_t* const* values, lockstep_outputs** outputs);

/** How many outputs there are. */
LOCKSTEP_API size_t lockstep_count(const lockstep_outputs* outputs);

/** The type of output k; its shape is memory of `outputs`. */
LOCKSTEP_API lockstep_type lockstep_type_of(const lockstep_outputs* outputs, size_t k);

/** The values of output k, memory of `outputs`. */
LOCKSTEP_API const int32_t* lockstep_values(const lockstep_outputs* outputs, size_t k);

/** Gives outputs back; NULL is none. */
LOCKSTEP_API void lockstep_release(lockstep_outputs* outputs);

/** The label of the last call of this thread that was LOCKSTEP_LOGIC, or that was checked. */
LOCKSTEP_API const char* lockstep_label(void);

/** What was wrong with the last call of this thread that was not LOCKSTEP_OK, in a sentence. */
LOCKSTEP_API const char* lockstep_message(void);

/** The version of the specification, as "0.1"; a change of a published result changes it. */
LOCKSTEP_API const char* lockstep_specification(void);

#ifdef __cplusplus
}
#endif

#endif
