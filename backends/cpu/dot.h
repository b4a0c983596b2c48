/// @file
/// The inner loop of conv2d and dense, once per instruction set: dot products of rows, which have
/// values of their own for every step, with lanes, which are neighbours in memory.
///
/// Units compiled for newer instruction sets include this header, so it must define no function:
/// the linker might keep a copy that this machine cannot run.
#pragma once
#include <stdint.h>

#include "backends/cpu/fusion.h"

namespace lockstep::cpu {

/// The terms of a row at one step: int8 values if there are four, int16 values if there are two.
using Word = uint32_t;

/// The most lanes of a slot, and rows and slots of a tile, that any instruction set has.
inline constexpr int kLanesMax = 16, kRowsMax = 32, kSlotsMax = 8;

inline constexpr int kChunkSteps = 16;    ///< the most steps of a chunk, with a Word of a row each
inline constexpr int kBlockSlack = 1024;  ///< readable bytes behind the last panel

/// Some lanes of a slot that are neighbours in the output too.
struct Piece {
  int64_t to;  ///< from the first output of a row, in elements
  int32_t first, count;
};

/// A vector of lanes. The cells of neighbouring lanes follow each other in memory. Lanes that no
/// piece names may hold any values.
struct Slot {
  const uint8_t* cells;  ///< of the first lane
  const Piece* pieces;
  int32_t piece_count;
};

/// A tensor as tiles read or write it: row r begins at data + r * row_stride. If it has cells, four
/// rows of int8 or two of int16, with the offset of cells, share Words, and the k-th of these begin
/// at data + k * row_stride.
struct Surface {
  int32_t* data;
  int64_t row_stride;
  bool has_cells;
};

/// The steps of a block, in chunks of `depth`. The last chunk ends with the last step and may
/// overlap the one before; its rows have zeros there. Rows lie in panels as high as the largest
/// tile; the last panel may be lower. A panel is chunk after chunk, and a chunk has kChunkSteps
/// Words of each row. Up to kBlockSlack bytes behind the last panel may be read.
struct Chunks {
  static constexpr int32_t kUneven = INT32_MIN;
  int64_t depth;          ///< at most kChunkSteps, and at most the steps
  const int32_t* stride;  ///< [chunk]: between the offsets of its steps, or kUneven
  int64_t panel, start;   ///< between the rows, and the starts, of two panels, in Words
  bool are_far = false;   ///< whether the rows may still be missing from the near caches
};

/// A tile: to[r][piece.to] is the output of row_start[r] + lane_start[slot][lane] + the sum of the
/// products of rows[t][r] and the cell that lies offset[t] bytes after the lane's own one.
/// Sums wrap around. The rules of conv2d and dense keep their results below 2^31, so that every
/// order of addition gives the same result, and so does a term that the start values take back.
struct Tile {
  const Word* rows;
  const uint32_t* row_start;
  const uint32_t* lane_start;  ///< [slot][lane]; nullptr stands for zeros
  const int32_t* offset;
  int64_t steps;
  const Slot* slots;
  Surface to;
  const Finish* finish = nullptr;  ///< nullptr: the sums are the outputs
  Surface added{};                 ///< the tensor that `finish` adds
  Chunks chunks{};                 ///< only for a block
};

/// Lines of a plane of the output, for rows that share their cells with few others:
/// to[l * line_stride + c] is the output of start + the sum of the products of row[t] and the cell
/// that lies offset[t] bytes after l * pitch + the cell of c.
struct Lines {
  const Word* row;
  uint32_t start;
  const int32_t* offset;
  int64_t steps;
  const uint8_t* cells;
  int64_t lines, columns, pitch;
  int32_t* to;
  int64_t line_stride;
  const Finish* finish;  ///< nullptr, or one that adds nothing
};

/// Lines of a plane of channels that share cells, each of which has a kernel of its own: output c
/// of line l of channel r is start[r] + the sum of the products of its taps and the cells of
/// channel r that lie offset[tap] bytes after l * pitch + the cell of c. A line of the kernel has
/// `steps` steps of as many taps as a cell has terms; rows[step][r] are the taps of channel r.
/// Channels repeat until they fill the lanes of a slot.
struct DepthwiseLines {
  const Word* rows;
  const uint32_t* start;
  const int32_t* offset;
  int64_t kernel_lines, steps;
  bool is_dense;  ///< whether lines of the kernel are a pitch apart
  const uint8_t* cells;
  int64_t lines, columns, pitch;
  Surface to;
  int64_t line_stride;
  const Finish* finish;  ///< nullptr, or one that adds nothing
};

/// The largest values of `lines` lines of cells, `line` words apart, with the least possible value
/// as padding around them. May write a vector beyond the end, and read a vector beyond each line.
struct PoolLines {
  const int32_t* from;
  int64_t lines, line, width;
  Word* to;
  int64_t before, after;  ///< cells of padding
};

/// The largest cells of windows of columns, the first of which begins at `from`. May read as much
/// as if the columns went on to the end of a vector.
struct PoolColumns {
  const Word* from;
  int64_t window, stride;  ///< in columns; the stride is 1 or 2
  int32_t* to;
  int64_t columns;
};

/// Values of int32 tensors to pack for tiles: term t of lane l at step s lies at
/// s * step_stride + l * lane_stride + t * term_stride.
struct Terms {
  int64_t steps, lanes, terms;  ///< terms beyond the given ones become zero
  int64_t step_stride, lane_stride, term_stride;
  int64_t to_stride;  ///< of a step in the packed form, in bytes
};

/// Computes a tile of any number of rows, at the given number of slots.
using BlockKernel = void(const Tile& t, int64_t rows, int slots);

/// Between products that multiply matrices, kPixelChannels channels of a place are neighbours.
inline constexpr int kPixelChannels = 64, kPixelWords = kPixelChannels / 4, kPixelRows = 16,
                     kPixelSlots = 16, kRecordWords = 8;

/// Where a panel of kPixelChannels outputs has an output: its tile, and its column there. A pixel
/// then consists of four bytes of each tile in turn.
inline constexpr int pixel_tile_of(int output) { return output % 16 / 4; }
inline constexpr int pixel_column_of(int output) { return output / 16 * 4 + output % 4; }

/// Outputs of some slots, whose lanes are up to kPixelRows neighbouring pixels: output o of a pixel
/// is start[o] + the sum of the products of its weights and the pixels that lie offset[chunk] bytes
/// after the slot's own ones, 64 channels at a time. Outputs have eight bits. A row of `to` is a
/// row of outputs, a plane of cells, a plane of pixels or 64 channels of places, as `form` says.
/// `added` lies as pixels; nothing is added to places.
struct PixelBlock {
  const uint8_t* weights;  ///< two tiles at a time: [chunk][tile][step][column]
  const uint32_t* start;   ///< [panel][tile][column], with half a unit for rounding
  const int32_t* offset;
  int64_t chunks, outputs;  ///< outputs are a multiple of kPixelChannels
  int64_t last_steps;       ///< of the last chunk: beyond these, its weights are zeros
  int64_t pixel;            ///< bytes between neighbouring pixels
  const Slot* slots;
  int slot_count, height;  ///< slots, and the pixels of each, if all have equally many
  Form form;               ///< of the outputs
  int64_t place;           ///< elements between neighbouring places of outputs
  Surface to, added;
  const Finish* finish;
  int lines_ahead;  ///< cache lines of weights to fetch ahead in each half of a chunk and two slots
};

/// Makes pixels of `planes` neighbouring planes of cells; what is missing from 16 planes is zeros.
struct WidenCells {
  uint8_t* to;
  const int32_t* from;
  int64_t plane, planes, count;  ///< words between planes, and how many planes and cells
};

/// Packs the records of those columns of a line that a row of outputs reads. A record has the
/// values of all channels, tap by tap, and zeros up to a whole Word.
struct PackRecords {
  uint8_t* to;
  const int32_t* image;
  int64_t plane, line;              ///< elements between channels and between rows
  int64_t channels, height, width;  ///< of the image
  int64_t row, apart, taps;         ///< the first tap's row, rows from tap to tap, number of taps
  int64_t left, columns;            ///< the first column, number of columns
  int64_t words;                    ///< Words of a record, at most kRecordWords
};

/// The largest values of windows of a row of pixels, as far as they lie in the image.
struct PoolPixels {
  const int32_t* from;  ///< pixel 0 of the first line
  int64_t lines, line, width;
  int64_t window, stride, padding;
  int32_t* to;
  int64_t columns;
};

/// What an instruction set computes with pixels.
struct PixelKernels {
  int rows;        ///< pixels of a slot, up to kPixelRows
  bool are_equal;  ///< whether a block's slots have equal heights; else they begin with outputs
  void (*block)(const PixelBlock& b);
  void (*widen)(const WidenCells& w);
  void (*records)(const PackRecords& p);
  void (*pool)(const PoolPixels& p);
};

/// The tiles of an instruction set, and how it wants its operands.
struct DotKernels {
  const char* isa;
  int terms;        ///< terms of a step: 4 or 2
  int cell_bytes;   ///< of a lane's terms at a step: 4, as in a Word, or 2 for two int8 values
  int offset;       ///< added to every value of a cell, so that it is unsigned; or 0
  int lanes;        ///< lanes of a slot
  int rows, slots;  ///< rows and slots of the largest tile
  const DotKernels* few_rows;          ///< tiles for calls that are too small for these; or nullptr
  double macs_per_ns;                  ///< rough speed of a thread; decides what runs in parallel
  void (*const* tile)(const Tile& t);  ///< [height - 1][number of slots - 1]
  BlockKernel* block;                  ///< or nullptr; instead of `tile`
  /// Tiles the other way round, or nullptr: [number of pixels - 1][number of slots - 1]. The lanes
  /// of each slot are rows of weights; the pixels are neighbours and begin at the cells of the
  /// first slot.
  void (*const* pixel_tile)(const Tile& t);
  void (*lines)(const Lines& l);
  void (*depthwise)(const DepthwiseLines& l);
  void (*pool_lines)(const PoolLines& p);
  void (*pool_columns)(const PoolColumns& p);
  void (*pack_cells)(uint8_t* to, const int32_t* from, const Terms& t);
  void (*pack_rows)(uint8_t* to, const int32_t* from, const Terms& t);  ///< of Words
  const PixelKernels* pixels = nullptr;                                 ///< or nullptr
};

/// The blocks of an instruction set, which does all else with the kernels of its vectors.
struct DotBlocks {
  const char* isa;
  int rows, slots;
  double macs_per_ns;
  const DotKernels* vectors;
  BlockKernel* block;
  PixelKernels pixels;
};

// Constants, because a unit compiled for an instruction set may run nothing before that is chosen.
#define LOCKSTEP_ISA(name, options, Type, kernels, runs) extern const Type kernels;
#include "backends/cpu/isas.def"

}  // namespace lockstep::cpu
