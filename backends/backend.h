/**
 * @file
 * Lockstep backend ABI, version 1: the only header a backend needs (with DLPack's).
 *
 * A backend is a shared library that exports lockstep_backend_v1(). The interface is C99; no
 * allocation crosses it, and no exception may. A backend writes to outputs and scratch memory only.
 * It may start threads, and processes only if it has device memory. ls_api and ls_status begin with
 * their own size and grow only at their end; ls_attr, ls_text, ls_node and ls_tensor, of which
 * arrays are passed, are frozen for this ABI.
 *
 * License: Apache-2.0 OR MIT.
 */
#ifndef LOCKSTEP_BACKEND_H
#define LOCKSTEP_BACKEND_H

#include <dlpack/dlpack.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if !defined(DLPACK_MAJOR_VERSION) && (!defined(DLPACK_VERSION) || DLPACK_VERSION < 50)
#error "backend.h needs DLPack 0.5; an older dlpack.h with the same include guard came first"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this interface. */
#define LOCKSTEP_ABI 1u

/** Makes a function visible to programs that load the library. */
#if defined(_WIN32)
#define LOCKSTEP_EXPORT __declspec(dllexport)
#else
#define LOCKSTEP_EXPORT __attribute__((visibility("default")))
#endif

/** Codes that functions return. */
enum {
  LS_OK = 0,      /**< done */
  LS_LOGIC = 1,   /**< an error of the caller; ls_status.label names the rule, as "conv2d.window" */
  LS_RUNTIME = 2, /**< an error of the machine or of the backend */
  LS_UNSUPPORTED = 3 /**< legal but not offered, the same each time; a failure inside a claim */
};

/** The label after LS_RUNTIME where the host, or the device, has too little memory for the call. */
#define LS_NO_MEMORY "memory"

/** Kinds of an attribute's value. */
enum {
  LS_INT = 0,   /**< one integer */
  LS_BOOL = 1,  /**< one integer, 0 or 1 */
  LS_TUPLE = 2, /**< integers */
  LS_TEXT = 3,  /**< a word, or text that the backend is to read */
  LS_NONE = 4   /**< no value; only of an optional attribute */
};

/** ls_tensor.flags. */
enum {
  LS_CONSTANT = 1u /**< the data is given to prepare() and does not change afterwards */
};

/** Detail of a code; the caller zeroes all but `size`. Both texts are NUL-terminated. */
typedef struct {
  uint32_t size;  /**< sizeof(ls_status) of the caller */
  int32_t code;   /**< the returned code again, LS_OK ... */
  char label[64]; /**< of the violated rule, after LS_LOGIC; after LS_RUNTIME LS_NO_MEMORY or "" */
  char text[256]; /**< what, where and why, in a sentence */
} ls_status;

/**
 * One attribute: canonical name, default filled in. A call lists them in the specification's order.
 * To a backend that claims text, a call may also come with each attribute as LS_TEXT, legal or not:
 * under either name, in any order and spelling, without some that have defaults.
 */
typedef struct {
  const char* key;     /**< the name */
  int32_t kind;        /**< LS_INT ... LS_NONE */
  uint32_t count;      /**< integers: 1 for LS_INT and LS_BOOL, the length of an LS_TUPLE, else 0 */
  const int64_t* ints; /**< `count` of them */
  const char* text;    /**< of an LS_TEXT, else NULL */
} ls_attr;

/**
 * A type, a layout and, for constants, the data. Elements are int32, or of some constants int8
 * (ls_api.int8_constants); a value of precision p lies in +-(2^(p-1) - 1). dl.strides is never
 * NULL: elements, > 0, not overlapping, ignored where the extent is 1. dl.data is the address of
 * element (0, ..., 0), NULL in prepare unless LS_CONSTANT; dl.byte_offset is 0.
 */
typedef struct {
  DLTensor dl;          /**< address, shape and strides */
  int32_t precision;    /**< 1 to 32 */
  uint32_t flags;       /**< LS_CONSTANT or 0 */
  uint64_t reserved[2]; /**< 0 */
} ls_tensor;

/** An option of open(). */
typedef struct {
  const char* key;   /**< its name, one of the manifest's `options` */
  const char* value; /**< its value as text */
} ls_text;

/** One operator call of a graph; inputs and outputs are numbers of entries. */
typedef struct {
  const char* op;       /**< the canonical name */
  const ls_attr* attrs; /**< all attributes with an effect, in the specification's order */
  const uint32_t* in;   /**< the entries it reads */
  const uint32_t* out;  /**< the entries it writes */
  uint32_t n_attrs;     /**< length of attrs */
  uint32_t n_in;        /**< length of in */
  uint32_t n_out;       /**< length of out */
  uint32_t reserved;    /**< 0 */
} ls_node;

typedef struct ls_backend ls_backend; /**< an opened backend */
typedef struct ls_plan ls_plan;       /**< a prepared call */

/** The table of a backend. Functions marked (optional) may be NULL. Every int32_t is LS_OK ... */
typedef struct {
  uint32_t abi;  /**< LOCKSTEP_ABI */
  uint32_t size; /**< sizeof(ls_api) of the backend */

  /** JSON text: name, version, device, kernels, claims; fixed before the run and hashed. */
  const char* (*manifest)(void);
  /**
   * Opens a device with options ("threads", "isa", ...). An unknown option is LS_LOGIC. With "isa"
   * an operator runs its kernels of that instruction set; one that has none there may run others.
   * With "tuned" 0 it runs none of its own, but those for all operators ("*" in the manifest).
   */
  int32_t (*open)(const ls_text* options, uint32_t n, ls_backend** self, ls_status* status);
  /** Closes a device; its plans have been released. A judge calls it, too. */
  void (*close)(ls_backend* self);

  /**
   * Device memory and streams (optional, all six or none): with none, data lies in host memory.
   * With them all data of tensors, constants too, lies in memory from alloc(), and their
   * dl.device is {kDLExtDev, 0}. Both transfers are done when they return. alloc() answers NULL
   * with the reason in `status`. Streams stay the backend's: it may hand out one several times
   * and keeps it until close().
   */
  void* (*alloc)(ls_backend* self, uint64_t bytes, uint64_t align, ls_status* status);
  /** (with alloc) Releases memory from alloc(). */
  void (*free)(ls_backend* self, void* memory);
  /** (with alloc) Copies from host memory. */
  int32_t (*upload)(ls_backend* self, void* device, const void* host, uint64_t bytes, ls_status*);
  /** (with alloc) Copies to host memory. */
  int32_t (*download)(ls_backend* self, void* host, const void* device, uint64_t bytes, ls_status*);
  /** (with alloc) A stream for execute(). */
  int32_t (*stream)(ls_backend* self, void** stream, ls_status* status);
  /** (with alloc) Waits for the work on a stream. */
  int32_t (*wait)(ls_backend* self, void* stream, ls_status* status);

  /**
   * Prepares a call. All logic errors belong here. Of an illegal call the outputs' types are a
   * guess: the rules come first, a comparison with `out` last. The arrays live until it returns;
   * constants' data live until release().
   */
  int32_t (*prepare)(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
      const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out, ls_plan** plan,
      uint64_t* scratch_bytes, ls_status* status);
  /**
   * Runs a plan. Each pointer is the address of an element (0, ..., 0); inputs may alias inputs,
   * outputs alias nothing. `scratch` is aligned to 64 bytes and has arbitrary content. Calls may
   * run concurrently on one plan, each with its own scratch. On a `stream` it may return early: the
   * work is done after wait().
   */
  int32_t (*execute)(const ls_plan* plan, const void* const* in, void* const* out, void* scratch,
      void* stream, ls_status* status);
  /** Releases a plan. */
  void (*release)(ls_plan* plan);
  /** The kernel a plan runs: the name of one of the manifest's kernels for this operator. */
  const char* (*path)(const ls_plan* plan);

  /**
   * (optional) Fills shape and precision of the outputs. out[k].dl.shape has room for 6 extents and
   * *n_out is the room in `out` on entry, the number of outputs on return.
   */
  int32_t (*infer)(ls_backend* self, const char* op, const ls_attr* attrs, uint32_t n_attrs,
      const ls_tensor* in, uint32_t n_in, ls_tensor* out, uint32_t* n_out, ls_status* status);
  /**
   * (optional) Prepares a whole graph of any calls that the manifest claims, with the results that
   * the calls give one by one: nodes in topological order over numbered entries, of which
   * `feeds` are the inputs and `heads` the outputs of execute(). Each entry is a constant, a feed
   * or the output of one node. A head may also be a feed, a constant or an earlier head: its
   * memory is another, with the same strides, so the values are copied. Strides matter for feeds,
   * heads and constants only. LS_LOGIC labels: "graph.entry" (a number names no entry),
   * "graph.written" (an entry is written twice), "graph.order" (an entry is read before it is
   * written, or never is) and those of the calls, with outputs as in prepare(). path() may say
   * anything.
   */
  int32_t (*compile)(ls_backend* self, const ls_node* nodes, uint32_t n_nodes,
      const ls_tensor* entries, uint32_t n_entries, const uint32_t* feeds, uint32_t n_feeds,
      const uint32_t* heads, uint32_t n_heads, ls_plan** plan, uint64_t* scratch_bytes,
      ls_status* status);
  /**
   * (optional) The number of threads that a call may use, as it follows from the option
   * `threads`.
   */
  uint32_t (*threads)(const ls_backend* self);
  /**
   * (optional) The padding that the backend wishes for a tensor between two calls of a graph that
   * runs call by call: how many elements lie before and after its own along each axis, one number
   * per extent, 0 on entry. A host may follow the wish; prepare() says which strides it chose.
   */
  int32_t (*padding)(ls_backend* self, const ls_tensor* tensor, int64_t* before, int64_t* after,
      ls_status* status);
  /**
   * 1 if compile() also reads int8, else 0. With 1 a host may hand it any constant of precision 8
   * or less as compact int8: dl.dtype is {kDLInt, 8, 1}.
   */
  uint32_t int8_constants;
} ls_api;

/** The one exported symbol. The table lives as long as the library is loaded. */
LOCKSTEP_EXPORT const ls_api* lockstep_backend_v1(void);

/**
 * Writes the canonical text of an attribute: "-3", "true", "(1,2)", "NCHW" or "None". It is the
 * same in reports, vectors and JSON Lines. Like snprintf() it writes at most `room` bytes, the NUL
 * included, and returns the length of the whole text; with no room, `text` may be NULL.
 */
static inline size_t ls_attr_text(const ls_attr* attr, char* text, size_t room) {
  size_t n;
  uint32_t i;
  switch (attr->kind) {
    case LS_INT: return (size_t)snprintf(text, room, "%" PRId64, attr->ints[0]);
    case LS_BOOL: return (size_t)snprintf(text, room, "%s", attr->ints[0] ? "true" : "false");
    case LS_TEXT: return (size_t)snprintf(text, room, "%s", attr->text);
    case LS_NONE: return (size_t)snprintf(text, room, "None");
    default: break;
  }
  n = (size_t)snprintf(text, room, "(");
  for (i = 0; i < attr->count; ++i)
    n += (size_t)snprintf(n < room ? text + n : text, n < room ? room - n : 0, "%s%" PRId64,
        i > 0 ? "," : "", attr->ints[i]);
  return n + (size_t)snprintf(n < room ? text + n : text, n < room ? room - n : 0, ")");
}

#ifdef __cplusplus
}
#endif
#endif
