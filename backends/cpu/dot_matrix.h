/// @file
/// Blocks for a unit that multiplies matrices in registers of its own: up to 16 rows of 64 bytes.
/// A class `Unit` is that unit, or emulates it:
///
///     static void configure(const TileConfig&)   the shapes of its registers
///     static void release()                      ends the configuration
///     template <int T> static void zero()
///     template <int T> static void load(const void* from, int64_t stride)   in bytes
///     template <int T> static void store(void* to, int64_t stride)
///     template <int C, int A, int B> static void add_products()   signed A, unsigned B
///
/// `Set` is a class as in dot_tile.h whose vectors, of 16 lanes, finish sums. It also has
///
///     Words shifted(Words v, Words by)   right, signed
///     Words halved(Words a, Words b)     signed shorts, saturated; four of each in every 16 bytes
///     Words halves_narrowed(Words a, Words b)   bytes of such shorts, the same
///     Words saturated_sum(Words a, Words b)     of signed bytes
#pragma once
#include "backends/cpu/dot_surface.h"

namespace lockstep::cpu {
namespace {

/// The shapes of eight registers as AMX reads them, in palette 1.
struct TileConfig {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64);

template <class Set, class Unit> struct MatrixBlocks : Surfaces<Set> {
  using Base = Surfaces<Set>;
  using Base::clamped, Base::kFlip, Base::kLanes, Base::kTerms, Base::load, Base::rescaled,
      Base::store;
  using typename Base::Bytes, typename Base::Words;
  static_assert(kLanes == 16 && kTerms == 4 && Set::kCellBytes == 4 && Set::kOffset == 128);

  // Registers: sums of [half of a panel][slot] of two slots, rows of a half, cells of a slot.
  static constexpr int kSums = 0, kRows = 4, kCells = 6, kHalf = 16, kPanel = 2 * kHalf;
  static constexpr int64_t kRowBytes = 64, kTileBytes = kHalf * kRowBytes;
  static constexpr int64_t kChunksMax = 9;  // of a panel that stay in the first cache

  /// The sums of a half and a slot.
  struct Sums {
    alignas(64) uint32_t of[kHalf * kLanes];
  };

  /// The rows of a panel and up to two slots.
  struct Place {
    int64_t panel;
    int height, slot, slots;
  };

  struct Product : Place {
    Sums sums[2][2];
  };

  static void configure(int64_t depth) {
    TileConfig c{.palette = 1, .start_row = 0, .reserved = {}, .row_bytes = {}, .rows = {}};
    for (int t = 0; t < 8; ++t) {
      c.rows[t] = t < kCells ? kHalf : static_cast<uint8_t>(depth);
      c.row_bytes[t] = static_cast<uint16_t>(t < kRows || t >= kCells ? kRowBytes : depth * kTerms);
    }
    Unit::configure(c);
  }

  static void copy_cells(uint8_t* to, const Slot& slot, const int32_t* offset, int64_t depth) {
    for (int64_t k = 0; k < depth; ++k) store(to + k * kRowBytes, load(slot.cells + offset[k]));
  }

  static int64_t first_step(const Tile& t, int64_t chunk) {
    const int64_t step = chunk * t.chunks.depth, last = t.steps - t.chunks.depth;
    return step < last ? step : last;
  }

  /// The cells of up to two slots at chunks whose steps are not equally far apart. All are copied
  /// before one is loaded, because a load waits for what was stored just before.
  struct Copies {
    alignas(64) uint8_t of[kChunksMax][2][kTileBytes];
  };

  static void copy_uneven(
      const Tile& t, const Place& p, int64_t first, int64_t last, Copies& copies) {
    for (int64_t c = first; c < last; ++c)
      if (t.chunks.stride[c] == Chunks::kUneven)
        for (int s = 0; s < p.slots; ++s)
          copy_cells(copies.of[c - first][s], t.slots[p.slot + s], t.offset + first_step(t, c),
              t.chunks.depth);
  }

  /// Loads the cells of a slot at a chunk from where they lie, or from a copy.
  template <int R>
  static void load_cells(const Tile& t, const Slot& slot, int64_t chunk, const uint8_t* copy) {
    const int32_t stride = t.chunks.stride[chunk];
    if (stride == Chunks::kUneven) return Unit::template load<R>(copy, kRowBytes);
    Unit::template load<R>(slot.cells + t.offset[first_step(t, chunk)], stride);
  }

  /// Makes outputs of the sums of a product, a half of the rows of a slot at a time.
  class Finishing {
   public:
    explicit Finishing(const Tile& t)
        : t_(t), makes_cells_(t.finish && t.to.has_cells && !t.lane_start && fits_bytes(t)) {}

    void begin(const Product& p) {
      place_ = p;
      sums_ = p.sums;
      next_ = 0;
      halves_ = p.height > kHalf ? 2 : 1;
      count_ = halves_ * p.slots;
      const uint32_t* const start = t_.row_start + p.panel * t_.chunks.start;
      const uint32_t half = makes_cells_ ? static_cast<uint32_t>(t_.finish->sum.half) : 0;
      for (int r = 0; r < p.height; ++r) start_[r] = start[r] + half;
    }
    int left() const { return count_ - next_; }
    void go_on(int parts) {
      for (; parts > 0 && next_ < count_; --parts, ++next_) {
        const int h = halves_ > 1 ? next_ & 1 : 0, s = halves_ > 1 ? next_ >> 1 : next_;
        finish_half(h * kHalf, place_.slot + s, sums_[h][s].of);
      }
    }

   private:
    /// Whether bytes can hold the sums to which a tensor is added, and that tensor lies as cells.
    static bool fits_bytes(const Tile& t) {
      const Finish& f = *t.finish;
      return !f.adds ||
          (t.added.has_cells && f.sum.low >= INT8_MIN && f.sum.high <= INT8_MAX &&
              f.total.shift == 0);
    }

    void finish_half(int r, int k, const uint32_t* sums) const {
      const int64_t row = place_.panel * kPanel + r;
      const uint32_t* const start = start_ + r;
      const int rows = place_.height - r < kHalf ? place_.height - r : kHalf;
      const int whole = rows / kTerms * kTerms;
      if (makes_cells_)
        t_.finish->adds ? cells<true>(row, whole, k, start, sums)
                        : cells<false>(row, whole, k, start, sums);
      else
        for (int i = 0; i < whole; i += kTerms)
          finish<kTerms>(row + i, k, start + i, sums + i * kLanes);
      start_rest(row + whole, rows - whole, k, start + whole, sums + whole * kLanes);
    }
    void start_rest(
        int64_t row, int rows, int k, const uint32_t* start, const uint32_t* sums) const {
      if (rows == 1) finish<1>(row, k, start, sums);
      if (rows == 2) finish<2>(row, k, start, sums);
      if (rows == 3) finish<3>(row, k, start, sums);
    }

    static Surface from_row(const Surface& s, int64_t row) {
      return {
          s.data + (s.has_cells ? row / kTerms : row) * s.row_stride, s.row_stride, s.has_cells};
    }

    template <int R>
    void finish(int64_t row, int k, const uint32_t* start, const uint32_t* sums) const {
      const Finish* const f = t_.finish;
      const Slot& slot = t_.slots[k];
      const Words lane_start = t_.lane_start ? load(t_.lane_start + int64_t{k} * kLanes) : Words{};
      Words out[R];
#pragma GCC unroll 4
      for (int i = 0; i < R; ++i) {
        out[i] = load(sums + int64_t{i} * kLanes) + lane_start + start[i];
        if (f) out[i] = rescaled(out[i], makes_cells_ ? without_half(f->sum) : f->sum);
      }
      const Surface to = from_row(t_.to, row), added = from_row(t_.added, row);
      for (int p = 0; p < slot.piece_count; ++p) {
        const Piece piece = slot.pieces[p];
        Words v[R];
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i) v[i] = out[i];
        if (f && f->adds) Base::add_surface(added, f->total, piece, v);
        Base::store_rows(to, piece, v);
      }
    }

    static Rescale without_half(Rescale r) {
      r.half = 0;
      return r;
    }

    /// Saturation changes no value that is not clamped anyway, because the outputs have eight bits.
    template <bool kAdds>
    void cells(int64_t row, int rows, int k, const uint32_t* start, const uint32_t* sums) const {
      const Rescale sum = t_.finish->sum, total = t_.finish->total;
      const Slot& slot = t_.slots[k];
      const Piece* const pieces = slot.pieces;
      const int piece_count = slot.piece_count;
      const Words shift = static_cast<uint32_t>(sum.shift) - Words{};
      const int64_t to_stride = t_.to.row_stride, added_stride = t_.added.row_stride;
      int32_t* to = from_row(t_.to, row).data;
      const int32_t* added = from_row(t_.added, row).data;
      for (int r = 0; r < rows; r += kTerms, sums += kTerms * kLanes, to += to_stride) {
        const auto row_of = [&](int i) {
          return Set::shifted(load(sums + int64_t{i} * kLanes) + start[r + i], shift);
        };
        const Words low = Set::halved(row_of(0), row_of(1)),
                    high = Set::halved(row_of(2), row_of(3)),
                    bytes = clamped(Base::transposed(Set::halves_narrowed(low, high), kAll), sum);
        for (int p = 0; p < piece_count; ++p) {
          const Piece& piece = pieces[p];
          Words out = bytes;
          if constexpr (kAdds)
            out = clamped(
                Set::saturated_sum(out, Base::load_piece(added + piece.to, piece) ^ kFlip), total);
          Base::store_piece(to + piece.to, out ^ kFlip, piece);
        }
        if constexpr (kAdds) added += added_stride;
      }
    }
    static constexpr std::make_index_sequence<sizeof(Words)> kAll{};
    const Tile& t_;
    Place place_{};
    const Sums (*sums_)[2] = nullptr;
    int next_ = 0, halves_ = 0, count_ = 0;
    const bool makes_cells_;
    uint32_t start_[kPanel];  // of its rows; with half a unit for rounding where it makes cells
  };

  template <int C, bool kGoesOn> static void begin_sums(const Sums& s) {
    if constexpr (kGoesOn)
      Unit::template load<C>(s.of, kRowBytes);
    else
      Unit::template zero<C>();
  }

  /// Cache lines of rows to fetch while some chunks are multiplied.
  struct Ahead {
    const uint8_t* from = nullptr;
    int64_t lines = 0;  ///< for each chunk

    void fetch() {
      for (int64_t l = 0; l < lines; ++l, from += kRowBytes) __builtin_prefetch(from, 0, 2);
    }
  };

  /// Adds the products of some chunks, for one or two halves of a panel at one or two slots, while
  /// earlier sums become outputs.
  template <int H, int S, bool kGoesOn> static void multiply(const Tile& t, Product& p,
      int64_t first, int64_t last, const Copies& copies, Ahead ahead, Finishing& rest) {
    begin_sums<0, kGoesOn>(p.sums[0][0]);
    if constexpr (S > 1) begin_sums<1, kGoesOn>(p.sums[0][1]);
    if constexpr (H > 1) begin_sums<2, kGoesOn>(p.sums[1][0]);
    if constexpr (H > 1 && S > 1) begin_sums<3, kGoesOn>(p.sums[1][1]);
    const Slot* const slots = t.slots + p.slot;
    const int at_once = last - first < 2 ? 4 : last - first < 4 ? 2 : 1;
    const uint8_t* rows = rows_of(t, p, first);
    for (int64_t c = first; c < last; ++c, rows += p.height * kRowBytes) {
      load_cells<6>(t, slots[0], c, copies.of[c - first][0]);
      Unit::template load<4>(rows, kRowBytes);
      Unit::template add_products<0, 4, 6>();
      if constexpr (S > 1) {
        load_cells<7>(t, slots[1], c, copies.of[c - first][1]);
        Unit::template add_products<1, 4, 7>();
      }
      if constexpr (H > 1) {
        Unit::template load<5>(rows + kTileBytes, kRowBytes);
        Unit::template add_products<2, 5, 6>();
        if constexpr (S > 1) Unit::template add_products<3, 5, 7>();
      }
      ahead.fetch();
      rest.go_on(at_once);
    }
    Unit::template store<0>(p.sums[0][0].of, kRowBytes);
    if constexpr (S > 1) Unit::template store<1>(p.sums[0][1].of, kRowBytes);
    if constexpr (H > 1) Unit::template store<2>(p.sums[1][0].of, kRowBytes);
    if constexpr (H > 1 && S > 1) Unit::template store<3>(p.sums[1][1].of, kRowBytes);
  }
  template <bool kGoesOn> static void multiply(const Tile& t, Product& p, int64_t first,
      int64_t last, const Copies& copies, Ahead ahead, Finishing& rest) {
    if (p.height > kHalf)
      p.slots > 1 ? multiply<2, 2, kGoesOn>(t, p, first, last, copies, ahead, rest)
                  : multiply<2, 1, kGoesOn>(t, p, first, last, copies, ahead, rest);
    else
      p.slots > 1 ? multiply<1, 2, kGoesOn>(t, p, first, last, copies, ahead, rest)
                  : multiply<1, 1, kGoesOn>(t, p, first, last, copies, ahead, rest);
  }

  static void begin(Place& p, int64_t rows, int slots, int64_t panel, int slot) {
    const int64_t below = rows - panel * kPanel;
    p.panel = panel;
    p.height = below < kPanel ? static_cast<int>(below) : kPanel;
    p.slot = slot;
    p.slots = slots - slot < 2 ? 1 : 2;
  }
  static const uint8_t* rows_of(const Tile& t, const Product& p, int64_t chunk) {
    const Word* const panel = t.rows + p.panel * t.chunks.panel;
    return reinterpret_cast<const uint8_t*>(panel) + chunk * p.height * kRowBytes;
  }

  /// The rows that the next chunks need, to be prefetched if they may not be in the near caches.
  static Ahead rows_after(
      const Tile& t, const Product& p, int64_t first, int64_t last, int share, int shares) {
    if (!t.chunks.are_far || share >= shares) return {};
    const int64_t chunks = last - first, lines = (p.height + shares - 1) / shares;
    return {rows_of(t, p, last) + share * chunks * lines * kRowBytes, lines};
  }

  // The cells of two slots stay in the first cache for all panels.
  static void by_slots(const Tile& t, int64_t rows, int slots, int64_t chunks) {
    Product product[2];
    Finishing rest(t);
    Copies copies;
    int turn = 0;
    for (int slot = 0; slot < slots; slot += 2)
      for (int64_t panel = 0; panel * kPanel < rows; ++panel, turn ^= 1) {
        Product& p = product[turn];
        begin(p, rows, slots, panel, slot);
        if (panel == 0) copy_uneven(t, p, 0, chunks, copies);
        multiply<false>(t, p, 0, chunks, copies, rows_after(t, p, 0, chunks, slot, 1), rest);
        rest.begin(p);
      }
    rest.go_on(rest.left());
  }

  // Some chunks of a panel stay in the first cache for all slots.
  static void by_panels(const Tile& t, int64_t rows, int slots, int64_t chunks, int64_t part) {
    Product product[kSlotsMax / 2];
    Finishing rest(t);
    Copies copies;
    for (int64_t panel = 0; panel * kPanel < rows; ++panel)
      for (int64_t c = 0; c < chunks; c += part)
        for (int slot = 0; slot < slots; slot += 2) {
          Product& p = product[slot / 2];
          const int64_t last = c + part < chunks ? c + part : chunks;
          if (c == 0) begin(p, rows, slots, panel, slot);
          copy_uneven(t, p, c, last, copies);
          const Ahead ahead = rows_after(t, p, c, last, slot / 2, (slots + 1) / 2);
          c == 0 ? multiply<false>(t, p, c, last, copies, ahead, rest)
                 : multiply<true>(t, p, c, last, copies, ahead, rest);
          if (last == chunks) rest.begin(p);
        }
    rest.go_on(rest.left());
  }

  static void block(const Tile& t, int64_t rows, int slots) {
    const int64_t chunks = (t.steps + t.chunks.depth - 1) / t.chunks.depth;
    const int64_t parts = (chunks + kChunksMax - 1) / kChunksMax;
    configure(t.chunks.depth);
    if (parts > 1)
      by_panels(t, rows, slots, chunks, (chunks + parts - 1) / parts);
    else
      by_slots(t, rows, slots, chunks);
    Unit::release();
  }

  static constexpr DotBlocks kernels(
      const char* isa, double macs_per_ns, const DotKernels& vectors, const PixelKernels& pixels) {
    return {isa, kPanel, kSlotsMax, macs_per_ns, &vectors, block, pixels};
  }
};

}  // namespace
}  // namespace lockstep::cpu
