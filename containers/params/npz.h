/// @file
/// Reads and writes NumPy's .npz, a zip archive in which each tensor is a member NAME.npy, and
/// .npy, one array by itself.
///
/// The reader is as strict as that of the parameter file: what an archive declares is compared with
/// the bytes that are there before anything is allocated for it, the directory and the members' own
/// headers must agree, every checksum is verified, and there is everything or an error. It takes
/// stored and deflated members, 64-bit sizes, Fortran order and big-endian elements, and gives
/// tensors as the parameter file holds them: row-major and little-endian. Objects (pickles),
/// structures and elements that the parameter file has not are refused.
///
/// The writer is canonical: members are stored in the order of the tensors, each is what numpy.save
/// writes, nothing depends on time or machine. What it writes can be read again, by NumPy too: the
/// names for which that does not hold are refused.
#pragma once

#include "containers/params/params.h"

namespace lockstep::params::npz {

/// Every reason to refuse an archive, beside those of the parameter file that apply to names and
/// shapes. The offset of an Error is a place in the archive; for what a member holds, compressed or
/// not, it is where the member's data begins; for an array by itself it is 0.
inline constexpr Reject kRejects[] = {
    {"zip_end", "this is no zip archive, or its end is missing"},
    {"zip_disks", "an archive in several parts is not supported"},
    {"zip_end64", "the 64-bit end of the archive is missing or contradicts the other end"},
    {"zip_directory", "the directory must fill the place before the end of the archive"},
    {"zip_count", "the directory must hold as many members as the end of the archive declares"},
    {"zip_entry", "the directory must be made of complete entries"},
    {"zip_name", "a member's name must be ASCII or marked as UTF-8"},
    {"zip_encrypted", "an encrypted member is not supported"},
    {"zip_method", "a member must be stored or deflated"},
    {"zip_extra", "a member's 64-bit sizes are missing or cut short"},
    {"zip_local", "the member's own header is missing or contradicts the directory"},
    {"zip_beyond", "the member's data must end before the directory begins"},
    {"zip_overlap", "members must not overlap"},
    {"zip_size", "a stored member must have as many bytes as it takes"},
    {"zip_bomb", "the member declares more than its compressed bytes can hold"},
    {"zip_data", "the compressed data is faulty"},
    {"zip_checksum", "the checksum of the member is wrong"},
    {"npz_member", "every member must be an array, NAME.npy"},
    {"npy_pickle", "a pickled object is not read: it could run any program"},
    {"npy_magic", "this is no array: its magic number is wrong"},
    {"npy_version", "the array's version must be 1.0, 2.0 or 3.0"},
    {"npy_header_size",
        "the array's header must end before the array does and within 10,000 bytes"},
    {"npy_header", "the array's header must be the dictionary of descr, fortran_order and shape"},
    {"npy_object", "an array of objects is pickled, and not read: it could run any program"},
    {"npy_structure", "an array of structures has no place in a parameter file"},
    {"npy_dtype", "the elements must be int or uint of 8 to 64 bits, or float of 16 to 64"},
    {"npy_size", "the array must have as many bytes as its shape and type ask for"},
    {"npz_name", "a name in an archive must not have a backslash, nor an empty, '.' or '..' part"},
    {"npz_name_length", "a name in an archive must not be longer than 65,531 bytes"},
    {"npz_ambiguous", "NumPy would give this tensor for the name of another, which ends in .npy"},
};

/// The reason with this id; an id that the table lacks does not compile.
consteval const Reject& reject(std::string_view id) {
  for (const Reject& row : kRejects)
    if (row.id == id) return row;
  throw "no such reason to refuse an archive";
}

/// Reads an archive held in memory. The tensors own their data.
/// @throws Error when the archive is faulty or holds what a parameter file cannot.
Params read(std::span<const std::byte> archive);

/// Reads an archive, each member straight into memory of its own.
/// @throws Error as read() does, utils::ValueVerifyFatal when it cannot be opened or is no regular
///         file, utils::LogMessageFatal when reading it fails, and of these utils::OutOfMemory with
///         the path where memory runs out.
Params read_file(const std::string& path, const Progress& progress = {});

/// Refuses tensors that cannot be written, which writing them does too.
/// @throws Error as params::verify() does, and for a name that NumPy would not give back or that
///         unpacking would put elsewhere.
void verify(std::span<const NamedTensor> tensors);

/// The bytes of the archive that holds these tensors in this order.
/// @throws Error as verify() does.
std::vector<std::byte> write(std::span<const NamedTensor> tensors);

/// Writes an archive, replacing a file that exists. Nothing is touched when the tensors are at
/// fault.
/// @throws Error as verify() does, utils::ValueVerifyFatal when the file cannot be created,
///         utils::LogMessageFatal when writing it fails; what was written by then is no archive.
void write_file(
    const std::string& path, std::span<const NamedTensor> tensors, const Progress& progress = {});

/// Reads one array, as numpy.save writes it. The tensor owns its data. `source` names the array in
/// errors.
/// @throws Error for a faulty array, or one that a parameter file cannot hold; utils::OutOfMemory
///         with `source` where memory runs out.
Tensor read_npy(std::span<const std::byte> array, std::string_view source = {});

/// The bytes of one array, as numpy.save writes it.
/// @throws Error as params::verify() does.
std::vector<std::byte> write_npy(const Tensor& tensor);

/// Writes them to a file, replacing one that exists.
/// @throws Error as write_npy() does, and as write_file() does for the file.
void write_npy_file(const std::string& path, const Tensor& tensor);

}  // namespace lockstep::params::npz
