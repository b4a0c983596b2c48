/**
 * @file
 * Arrays, parameter files and models for programs in C, and in every language that calls C: C99,
 * and the only header such a program needs (with DLPack's). Link with liblockstep_cvm.
 *
 * Names and arguments are those of the deployed CVM runtime. Every function answers with a status
 * and none of them throws, ends the program or returns a part of a result: after anything but
 * CVM_OK, results are null or 0 unless said otherwise, and CVMGetLastError() says what was wrong.
 *
 * A handle is the address of a DLTensor that this library made. What follows it in memory belongs
 * to the library. Programs may read its fields, and may write to shape, strides (in elements; null
 * means compact and row-major) and byte_offset: a copy and a save honour what they say within the
 * array's memory. An address that is no handle, or one that was freed, is CVM_LOGIC everywhere;
 * nothing behind it is read. An array made later may get the address of one that was freed.
 * Different threads may use the library at the same time, but no handle that one of them writes to
 * or frees. The same holds for models, except that threads may run one model at the same time.
 *
 * License: Apache-2.0 OR MIT.
 */
#ifndef LOCKSTEP_CVM_H
#define LOCKSTEP_CVM_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a function visible to whoever loads the library. */
#if defined(_WIN32)
#define CVM_DLL __declspec(dllexport)
#else
#define CVM_DLL __attribute__((visibility("default")))
#endif

/** What a call answers. */
enum {
  CVM_OK = 0,     /**< done */
  CVM_LOGIC = 1,  /**< the caller's fault, or that of the data the caller supplied */
  CVM_RUNTIME = 2 /**< the machine's fault or the library's own */
};

/** The same as the deployed runtime spells them. No function answers ERROR_UNKNOWN. */
enum CVMStatus {
  SUCCEED = CVM_OK,
  ERROR_LOGIC = CVM_LOGIC,
  ERROR_RUNTIME = CVM_RUNTIME,
  ERROR_UNKNOWN
};

/** A model, as the deployed runtime names its type. */
typedef void* ModelHandler;
/** The place of a length, a size or an amount of gas, as it names that. */
typedef unsigned long long* IntHandler;
/** Bytes, as it names them. */
typedef char* StringHandler;

/** Where CVMAPILoadModel() places a model. */
enum {
  CVM_CPU = 0,   /**< the backend "cpu" */
  CVM_GPU = 1,   /**< the backend "cuda", with the device's number */
  CVM_FORMAL = 2 /**< the backend "reference", the specification itself */
};

/** A tensor that CVMArrayAlloc() or a load made. */
typedef DLTensor* CVMArrayHandle;

/** A stream of a device; only NULL, the default one, is known. */
typedef void* CVMStreamHandle;

/** Bytes, or text that no NUL ends. */
typedef struct {
  const char* data; /**< the first byte */
  size_t size;      /**< how many there are */
} CVMByteArray;

/**
 * Makes an array, compact and row-major, of unspecified contents.
 * `shape` holds `ndim` (0 to 32) extents of at least 0, and may be NULL without any. dtype_code is
 * 0 (int) or 1 (uint) with 8, 16, 32 or 64 dtype_bits, or 2 (float) with 16, 32 or 64; dtype_lanes
 * is 1. device_type is 1 (the host, device_id 0) or 2 (CUDA).
 */
CVM_DLL int CVMArrayAlloc(const int64_t* shape, int ndim, int dtype_code, int dtype_bits,
    int dtype_lanes, int device_type, int device_id, CVMArrayHandle* out);

/**
 * Makes an array over the memory that `tensor` describes: nothing is copied. The memory stays the
 * caller's, lives as long as the array, and changes where the array is written to. Null strides
 * mean compact and row-major. `tensor` itself is not needed afterwards.
 */
CVM_DLL int CVMArrayBorrow(const DLTensor* tensor, CVMArrayHandle* out);

/** Frees an array, though not memory that it borrowed; NULL is none. */
CVM_DLL int CVMArrayFree(CVMArrayHandle handle);

/** Fills an array with `nbytes` bytes, the size of all elements: compact, row-major, on the host.
 */
CVM_DLL int CVMArrayCopyFromBytes(CVMArrayHandle handle, const void* data, size_t nbytes);

/** Copies every element to `nbytes` bytes, laid out as for CVMArrayCopyFromBytes(). */
CVM_DLL int CVMArrayCopyToBytes(CVMArrayHandle handle, void* data, size_t nbytes);

/** Copies every element; both arrays have one type and one shape. They may overlap. */
CVM_DLL int CVMArrayCopyFromTo(CVMArrayHandle from, CVMArrayHandle to, CVMStreamHandle stream);

/**
 * Makes a parameter file of `params_size` pointers: by turns a name (UTF-8, ended by NUL) and its
 * array. `out` points to memory of the library, valid until this thread calls the function again.
 */
CVM_DLL int CVMSaveParamsDict(const void** params, int params_size, CVMByteArray* out);

/**
 * The same into the caller's memory: `buffer` has `capacity` bytes. `size` receives the size of the
 * file. With NULL and 0 that is all; where more than 0 bytes are too few, it comes with CVM_LOGIC.
 */
CVM_DLL int CVMSaveParamsDictSized(
    const void** params, size_t params_size, void* buffer, size_t capacity, size_t* size);

/**
 * Reads a parameter file: `retNum` names and as many arrays, in the order of the file. The names
 * and the two lists are memory of the library, valid until this thread calls the function again.
 * The arrays are handles, and the caller's to free.
 */
CVM_DLL int CVMLoadParamsDict(
    const char* data, int datalen, int* retNum, void*** retNames, void*** retValues);

/**
 * The same into the caller's lists of `capacity` entries each. The names point into `data`; nothing
 * ends them but their size. `count` receives how many there are. With NULL, NULL and 0 that is all,
 * the file having been examined; where more than 0 entries are too few, it comes with CVM_LOGIC.
 */
CVM_DLL int CVMLoadParamsDictSized(const char* data, size_t datalen, CVMByteArray* names,
    CVMArrayHandle* values, size_t capacity, size_t* count);

/**
 * Loads a model: the text of its graph (symbol JSON) and the bytes of its parameter file, of which
 * nothing is needed afterwards. device_type is CVM_CPU, CVM_GPU or CVM_FORMAL; device_id is 0 but
 * for CVM_GPU. `net` receives the model, which CVMAPIFreeModel() frees.
 */
CVM_DLL int CVMAPILoadModel(const char* graph_json, int graph_strlen, const char* param_bytes,
    int param_strlen, void** net, int device_type, int device_id);

/** Frees a model; NULL is none. */
CVM_DLL int CVMAPIFreeModel(void* net);

/**
 * From `input_len` bytes of input, as many as CVMAPIGetInputLength() says, to as many bytes of
 * output as CVMAPIGetOutputLength() says. Elements have the sizes that the type sizes say, those of
 * 4 bytes in little-endian order. Values outside the precision of the input are clamped into it.
 */
CVM_DLL int CVMAPIInference(void* net, char* input_data, int input_len, char* output_data);

/** The version of the model's graph, such as "cvm_1.1.0": at most 32 characters and a NUL. */
CVM_DLL int CVMAPIGetVersion(void* net, char* version);

/**
 * What the deployed runtime answers under this name: the post-processing of the model's output,
 * "argmax", "detection" or another word, at most 32 characters and a NUL. A longer text is
 * CVM_LOGIC.
 */
CVM_DLL int CVMAPIGetPreprocessMethod(void* net, char* method);

/** The length of the input in bytes. */
CVM_DLL int CVMAPIGetInputLength(void* net, unsigned long long* size);
/** The length of the output in bytes. */
CVM_DLL int CVMAPIGetOutputLength(void* net, unsigned long long* size);
/** The bytes of an element of the input: 1 or 4. */
CVM_DLL int CVMAPIGetInputTypeSize(void* net, unsigned long long* size);
/** The bytes of an element of the output: 1 or 4. */
CVM_DLL int CVMAPIGetOutputTypeSize(void* net, unsigned long long* size);
/** The bytes of storage that the graph asks for. */
CVM_DLL int CVMAPIGetStorageSize(void* net, unsigned long long* gas);
/** What a run costs. */
CVM_DLL int CVMAPIGetGasFromModel(void* net, unsigned long long* gas);
/** What a run of a graph costs, whose text NUL ends; no parameters are needed. */
CVM_DLL int CVMAPIGetGasFromGraphFile(const char* graph_json, unsigned long long* gas);

/** An option of a backend, such as {"threads", "2"}; NUL ends both texts. */
typedef struct {
  const char* name;  /**< one of those that the backend's manifest lists */
  const char* value; /**< its value as text */
} CVMOption;

/** Shape and precision of a tensor of a model. */
typedef struct {
  int64_t shape[6]; /**< the first `rank` extents; the others are 0 */
  int rank;         /**< 1 to 6 */
  int precision;    /**< 1 to 32: values of p bits lie in +-(2^(p-1) - 1) */
} CVMType;

/**
 * Loads a model as CVMAPILoadModel() does, for any backend: "reference", "cpu", "cuda" or the path
 * of a library. Every function that takes a model takes the result.
 */
CVM_DLL int CVMSessionLoad(const char* graph_json, size_t graph_size, const char* param_bytes,
    size_t param_size, const char* backend, const CVMOption* options, size_t option_count,
    void** net);

/** How many heads a model has: tensors that its output consists of. */
CVM_DLL int CVMSessionHeadCount(void* net, size_t* count);

/** The type of a head, or of the input, which is number -1. */
CVM_DLL int CVMSessionType(void* net, int head, CVMType* type);

/**
 * Runs a model. `input` has the shape of the model's input and elements of any integer type, each
 * inside the input's precision. `heads` receives as many arrays as the model has heads, `count`:
 * int32, compact, on the host, the caller's to free.
 */
CVM_DLL int CVMSessionRun(void* net, CVMArrayHandle input, CVMArrayHandle* heads, size_t count);

/**
 * What was wrong with the last call of this thread that failed, in a sentence; empty if none has.
 * The text is the library's, and changes with the next failure.
 */
CVM_DLL const char* CVMGetLastError(void);

/**
 * The label of the rule that the same failure broke, such as "model.reference"; empty where there
 * is none.
 */
CVM_DLL const char* CVMGetLastErrorLabel(void);

/**
 * Where that fault stands in the model, its parameters or the input, such as
 * "nodes[12].inputs[1]"; after a lack of memory "symbol.json" or "params", whichever was being
 * read. Empty where it stands nowhere in particular.
 */
CVM_DLL const char* CVMGetLastErrorPath(void);

#ifdef __cplusplus
}
#endif

#endif
