/// @file
/// Loops over pixels other than their products with weights, for a class of vectors as in
/// dot_tile.h that narrows.
#pragma once
#include "backends/cpu/dot_cells.h"

namespace lockstep::cpu {
namespace {

template <class Set> struct PixelLoops : Surfaces<Set> {
  using Base = Surfaces<Set>;
  using Base::clamped, Base::kFlip, Base::load, Base::store;
  using typename Base::Bytes, typename Base::SignedWords, typename Base::Words;

  static constexpr int kTile = 16, kTiles = kPixelChannels / kTile;
  static constexpr int64_t kRowBytes = 64, kTileBytes = kTile * kRowBytes;
  static_assert(kPixelRows == kTile && kPixelWords == kTile);

  struct Sums {
    alignas(64) uint32_t of[kPixelRows * kTile];
  };

  /// The sums of a panel of kPixelChannels outputs at up to kMost slots.
  template <int kMost> struct Product {
    int64_t panel;
    int slot, slots;
    Sums sums[kMost][kTiles];
  };

  /// Makes outputs of the sums of a product, some pixels at a time.
  /// @tparam kAddsStart whether the sums lack their start values
  template <bool kAddsStart> class Finishing {
   public:
    explicit Finishing(const PixelBlock& b)
        : b_(b),
          is_spread_(b.form == Form::rows || b.form == Form::cells),
          sum_(b.finish->sum),
          total_(b.finish->total) {}

    void begin(const auto& p) {
      panel_ = p.panel;
      slot_ = p.slot;
      sums_ = p.sums;
      piece_ = done_ = left_ = 0;
      for (int s = p.slot; s < p.slot + p.slots; ++s)
        for (int k = 0; k < b_.slots[s].piece_count; ++k) left_ += b_.slots[s].pieces[k].count;
    }
    int left() const { return left_; }
    void go_on(int pixels) {
      if (pixels > left_) pixels = left_;
      left_ -= pixels;
      while (pixels > 0) {
        if (b_.slots[slot_].piece_count == 0) {  // between two rows of outputs
          ++slot_;
          ++sums_;
          continue;
        }
        const Slot& slot = b_.slots[slot_];
        const Piece& piece = slot.pieces[piece_];
        const int rest = piece.count - done_, n = pixels < rest ? pixels : rest;
        finish(piece, n);
        pixels -= n;
        done_ += n;
        if (done_ < piece.count) continue;
        done_ = 0;
        if (++piece_ < slot.piece_count) continue;
        if (is_spread_) spread(slot);
        piece_ = 0;
        ++slot_;
        ++sums_;
      }
    }

   private:
    void finish(const Piece& piece, int count) {
      const int row = piece.first + done_;
      const int64_t place = piece.to + int64_t{done_} * b_.place;
      int32_t* const to = is_spread_ ? staged_ + int64_t{row} * kPixelWords
                                     : b_.to.data + panel_ * b_.to.row_stride + place;
      const uint32_t* const sums = (*sums_)[0].of + int64_t{row} * kTile;
      if (b_.finish->adds)
        bytes<true, false>(sums, to,
            b_.added.data + panel_ * b_.added.row_stride + place * (is_spread_ ? kPixelWords : 1),
            count);
      else if (b_.form == Form::places)
        bytes<false, true>(sums, to, nullptr, count);
      else
        bytes<false, false>(sums, to, nullptr, count);
    }

    template <bool kAdds, bool kWide>
    void bytes(const uint32_t* sums, int32_t* to, const int32_t* added, int count) const {
      const Words shift = static_cast<uint32_t>(sum_.shift) - Words{};
      const Rescale sum = sum_, total = total_;
      Words start[kTiles];
      for (int64_t t = 0; kAddsStart && t < kTiles; ++t)
        start[t] = load(b_.start + panel_ * kPixelChannels + t * kTile);
      for (; count > 0; --count, sums += kTile, to += kWide ? b_.place : kPixelWords) {
        const auto tile = [&](int64_t t) {
          const Words v = load(sums + t * kPixelRows * kTile);
          return Set::shifted(kAddsStart ? v + start[t] : v, shift);
        };
        Words out = clamped(
            Set::halves_narrowed(Set::halved(tile(0), tile(1)), Set::halved(tile(2), tile(3))),
            sum);
        if constexpr (kAdds) {
          out = clamped(Set::saturated_sum(out, load(added) ^ kFlip), total);
          added += kPixelWords;
        }
        if constexpr (kWide)
          store_wide(to, out);
        else
          store(to, out ^ kFlip);
      }
    }

    /// Writes the staged pixels of a slot as cells or rows.
    void spread(const Slot& slot) const {
      Words v[kTile];
      for (int k = 0; k < kTile; ++k) v[k] = load(staged_ + int64_t{k} * kPixelWords);
      transpose(v);
      const bool has_cells = b_.form == Form::cells;
      Surface to = b_.to;
      to.data += panel_ * (has_cells ? kTile : kPixelChannels) * to.row_stride;
      for (int k = 0; k < kTile; ++k, to.data += (has_cells ? 1 : 4) * to.row_stride) {
        const Words out[] = {Base::shared_row(v[k], 0), Base::shared_row(v[k], 1),
            Base::shared_row(v[k], 2), Base::shared_row(v[k], 3)};
        for (int p = 0; p < slot.piece_count; ++p)
          has_cells ? Base::store_piece(to.data + slot.pieces[p].to, v[k], slot.pieces[p])
                    : Base::store_rows(to, slot.pieces[p], out);
      }
    }

    const PixelBlock& b_;
    const bool is_spread_;
    const Rescale sum_, total_;
    const Sums (*sums_)[kTiles] = nullptr;
    int64_t panel_ = 0;
    int slot_ = 0, piece_ = 0, done_ = 0, left_ = 0;
    alignas(64) int32_t staged_[kPixelRows * kPixelWords] = {};
  };

  /// 64 bytes as so many elements.
  static void store_wide(int32_t* to, Words bytes) {
    typedef int8_t Part __attribute__((vector_size(kTile)));
    Part part[kTiles];
    __builtin_memcpy(part, &bytes, sizeof bytes);
    for (int64_t t = 0; t < kTiles; ++t)
      store(to + t * kTile, reinterpret_cast<Words>(__builtin_convertvector(part[t], SignedWords)));
  }

  template <int kApart, bool kSecond, std::size_t... i>
  static Words exchanged(Words a, Words b, std::index_sequence<i...>) {
    constexpr int k = kSecond ? kApart : 0;
    return __builtin_shufflevector(a, b,
        ((i & kApart) ? kTile + static_cast<int>(i) - kApart + k : static_cast<int>(i) + k)...);
  }
  template <int kApart, std::size_t kRows> static void exchange(Words (&v)[kRows]) {
    constexpr std::make_index_sequence<kTile> kAll{};
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      if (r & kApart) continue;
      const Words a = v[r], b = v[r + kApart];
      v[r] = exchanged<kApart, false>(a, b, kAll);
      v[r + kApart] = exchanged<kApart, true>(a, b, kAll);
    }
  }
  /// Transposes 16 by 16 Words.
  static void transpose(Words (&v)[kTile]) {
    exchange<8>(v);
    exchange<4>(v);
#pragma GCC unroll 4
    for (int r = 0; r < kTile; r += 4) {
      Words part[] = {v[r], v[r + 1], v[r + 2], v[r + 3]};
      Base::part_channels(part);
      for (int k = 0; k < 4; ++k) v[r + k] = part[k];
    }
  }

  static void widen(const WidenCells& w) {
    for (int64_t first = 0; first < w.count; first += kTile) {
      Words v[kTile];
      for (int k = 0; k < kTile; ++k)
        v[k] = k < w.planes ? load(w.from + k * w.plane + first) : Words{} ^ kFlip;
      transpose(v);
      const int64_t n = w.count - first < kTile ? w.count - first : kTile;
      for (int64_t k = 0; k < n; ++k) store(w.to + (first + k) * kPixelChannels, v[k]);
    }
  }

  /// Where the values of a record lie. They move by one element from column to column or, for rows
  /// beyond the image, stay at zeros.
  struct Streams {
    const int32_t* from[kRecordWords * 4];
    int64_t apart[kRecordWords * 4];
  };
  static Streams streams_of(const PackRecords& p) {
    alignas(64) static constexpr int32_t kZeros[kTile] = {};
    Streams s;
    for (int k = 0; k < kRecordWords * 4; ++k) {
      const int64_t tap = k / p.channels, row = p.row + tap * p.apart;
      const bool is_inside = tap < p.taps && row >= 0 && row < p.height;
      s.from[k] = is_inside ? p.image + k % p.channels * p.plane + row * p.line : kZeros;
      s.apart[k] = is_inside ? 1 : 0;
    }
    return s;
  }
  /// Sixteen columns of a stream, with zeros beyond the image.
  template <bool kInside>
  static Words columns(const PackRecords& p, const Streams& s, int k, int64_t first) {
    if constexpr (kInside) return load(s.from[k] + s.apart[k] * first);
    int32_t lane[kTile] = {};
    const int64_t begin = first < 0 ? -first : 0;
    const int64_t end = p.width - first < kTile ? p.width - first : kTile;
    for (int64_t l = begin; l < end; ++l) lane[l] = s.from[k][s.apart[k] * (first + l)];
    return load(lane);
  }
  typedef uint32_t Record __attribute__((vector_size(kRecordWords * 4)));

  // Stores each record in full length as long as that stays in the line; the next record overwrites
  // what is too much.
  template <bool kInside>
  static void records(const PackRecords& p, const Streams& s, int64_t first) {
    Words v[kRecordWords];
    for (int w = 0; w < kRecordWords; ++w) {
      Words values[4];
      for (int k = 0; k < 4; ++k) values[k] = columns<kInside>(p, s, 4 * w + k, p.left + first);
      v[w] = Base::joined_rows(values, 0);
    }
    exchange<4>(v);
    Base::part_channels(reinterpret_cast<Words(&)[4]>(v[0]));
    Base::part_channels(reinterpret_cast<Words(&)[4]>(v[4]));
    auto* to = reinterpret_cast<int32_t*>(p.to) + first * p.words;
    const int64_t n = p.columns - first, words = p.words;
    if ((n - kTile + 1) * words >= kRecordWords) {
#pragma GCC unroll 8
      for (int k = 0; k < kRecordWords; ++k) {
        store_half<0>(to + k * words, v[k]);
      }
#pragma GCC unroll 8
      for (int k = 0; k < kRecordWords; ++k) store_half<1>(to + (kRecordWords + k) * words, v[k]);
      return;
    }
    int32_t all[kTile][kRecordWords];
    for (int k = 0; k < kRecordWords; ++k) {
      store_half<0>(all[k], v[k]);
      store_half<1>(all[kRecordWords + k], v[k]);
    }
    for (int64_t l = 0; l < n && l < kTile; ++l, to += words)
      for (int64_t w = 0; w < words; ++w) to[w] = all[l][w];
  }
  template <int kHalf> static void store_half(int32_t* to, Words v) {
    constexpr int i = kHalf * kRecordWords;
    const Record r =
        __builtin_shufflevector(v, v, i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    __builtin_memcpy(to, &r, sizeof r);
  }
  static void records(const PackRecords& p) {
    const Streams s = streams_of(p);
    for (int64_t first = 0; first < p.columns; first += kTile) {
      const int64_t left = p.left + first;
      left >= 0 && left + kTile <= p.width ? records<true>(p, s, first)
                                           : records<false>(p, s, first);
    }
  }

  static void pool(const PoolPixels& p) {
    for (int64_t c = 0; c < p.columns; ++c) {
      const int64_t left = c * p.stride - p.padding, right = left + p.window;
      const int64_t first = left < 0 ? 0 : left, last = right < p.width ? right : p.width;
      Bytes most{};
      for (int64_t l = 0; l < p.lines; ++l)
        for (int64_t k = first; k < last; ++k) {
          const auto v = reinterpret_cast<Bytes>(load(p.from + l * p.line + k * kPixelWords));
          most = most > v ? most : v;
        }
      store(p.to + c * kPixelWords, reinterpret_cast<Words>(most));
    }
  }

  static constexpr PixelKernels kernels(
      int rows, bool are_equal, void (*block)(const PixelBlock&)) {
    return {rows, are_equal, block, widen, records, pool};
  }
};

}  // namespace
}  // namespace lockstep::cpu
