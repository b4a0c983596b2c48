/// @file
/// Products of pixels and weights, for a unit that multiplies matrices and a class of vectors as in
/// dot_matrix.h. The unit has besides
///
///     template <int C, int A, int B> static void add_pixel_products()   unsigned A, signed B
#pragma once
#include "backends/cpu/dot_matrix.h"

namespace lockstep::cpu {
namespace {

template <class Set, class Unit> struct PixelProducts : Surfaces<Set> {
  using Base = Surfaces<Set>;
  using Base::clamped, Base::kFlip, Base::load, Base::store;
  using typename Base::Bytes, typename Base::Words;

  // Registers: sums of [tile][slot] of two slots, weights of a tile, pixels of a slot.
  static constexpr int kWeights = 4, kPixels = 6, kTile = 16, kTiles = kPixelChannels / kTile;
  static constexpr int64_t kRowBytes = 64, kTileBytes = kTile * kRowBytes;
  static_assert(kPixelRows == kTile && kPixelWords == kTile);

  struct Sums {
    alignas(64) uint32_t of[kPixelRows * kTile];
  };

  /// Of a panel of kPixelChannels outputs and up to two slots.
  struct Product {
    int64_t panel;
    int slot, slots;
    Sums sums[2][kTiles];
  };

  static void configure(int height) {
    TileConfig c{.palette = 1, .start_row = 0, .reserved = {}, .row_bytes = {}, .rows = {}};
    for (int t = 0; t < 8; ++t) {
      c.rows[t] = static_cast<uint8_t>(t >= kWeights && t < kPixels ? kTile : height);
      c.row_bytes[t] = kRowBytes;
    }
    Unit::configure(c);
  }

  /// Makes outputs of the sums of a product, some pixels at a time.
  class Finishing {
   public:
    explicit Finishing(const PixelBlock& b)
        : b_(b),
          writes_pixels_(b.form == Form::pixels),
          sum_(b.finish->sum),
          total_(b.finish->total) {}

    void begin(const Product& p) {
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
        if (!writes_pixels_) spread(slot);
        piece_ = 0;
        ++slot_;
        ++sums_;
      }
    }

   private:
    void finish(const Piece& piece, int count) {
      const int row = piece.first + done_;
      const int64_t place = piece.to + int64_t{done_} * (writes_pixels_ ? kPixelWords : 1);
      int32_t* const to = writes_pixels_ ? b_.to.data + panel_ * b_.to.row_stride + place
                                         : staged_ + int64_t{row} * kPixelWords;
      const uint32_t* const sums = (*sums_)[0].of + int64_t{row} * kTile;
      if (b_.finish->adds)
        bytes<true>(sums, to,
            b_.added.data + panel_ * b_.added.row_stride +
                place * (writes_pixels_ ? 1 : kPixelWords),
            count);
      else
        bytes<false>(sums, to, nullptr, count);
    }

    template <bool kAdds>
    void bytes(const uint32_t* sums, int32_t* to, const int32_t* added, int count) const {
      const Words shift = static_cast<uint32_t>(sum_.shift) - Words{};
      const Rescale sum = sum_, total = total_;
      for (; count > 0; --count, sums += kTile, to += kPixelWords) {
        const auto tile = [&](int64_t t) {
          return Set::shifted(load(sums + t * kPixelRows * kTile), shift);
        };
        Words out = clamped(
            Set::halves_narrowed(Set::halved(tile(0), tile(1)), Set::halved(tile(2), tile(3))),
            sum);
        if constexpr (kAdds) {
          out = clamped(Set::saturated_sum(out, load(added) ^ kFlip), total);
          added += kPixelWords;
        }
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
    const bool writes_pixels_;
    const Rescale sum_, total_;
    const Sums (*sums_)[kTiles] = nullptr;
    int64_t panel_ = 0;
    int slot_ = 0, piece_ = 0, done_ = 0, left_ = 0;
    alignas(64) int32_t staged_[kPixelRows * kPixelWords] = {};
  };

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
  /// 16 by 16 Words.
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

  /// Half the outputs of a product, while sums from before become outputs in as many `turns`.
  template <int S>
  static void multiply(const PixelBlock& b, Product& p, int half, int turns, Finishing& rest) {
    const uint32_t* const start = b.start + p.panel * kPixelChannels + int64_t{half} * 2 * kTile;
    Unit::template load<0>(start, 0);
    Unit::template load<2>(start + kTile, 0);
    if constexpr (S > 1) Unit::template load<1>(start, 0);
    if constexpr (S > 1) Unit::template load<3>(start + kTile, 0);
    const Slot* const slots = b.slots + p.slot;
    const int64_t half_bytes = b.chunks * 2 * kTileBytes;
    const uint8_t* weights = b.weights + (p.panel * 2 + half) * half_bytes;
    // A share of the weights of the next panel is fetched meanwhile.
    const uint8_t* next = weights + 2 * half_bytes + p.slot / 2 * b.lines_ahead * kRowBytes;
    const int parts = static_cast<int>(b.chunks) * turns;
    const int pixels = (rest.left() + parts - 1) / parts;
    for (int64_t c = 0; c < b.chunks; ++c, weights += 2 * kTileBytes) {
      Unit::template load<6>(slots[0].cells + b.offset[c], b.pixel);
      Unit::template load<4>(weights, kRowBytes);
      Unit::template add_pixel_products<0, 6, 4>();
      if constexpr (S > 1) {
        Unit::template load<7>(slots[1].cells + b.offset[c], b.pixel);
        Unit::template add_pixel_products<1, 7, 4>();
      }
      Unit::template load<5>(weights + kTileBytes, kRowBytes);
      Unit::template add_pixel_products<2, 6, 5>();
      if constexpr (S > 1) Unit::template add_pixel_products<3, 7, 5>();
      for (int l = 0; l < b.lines_ahead; ++l) __builtin_prefetch(next + l * kRowBytes, 0, 2);
      next += 2 * kTileBytes;
      rest.go_on(pixels);
    }
    const int tile = 2 * half;
    Unit::template store<0>(p.sums[0][tile].of, kRowBytes);
    Unit::template store<2>(p.sums[0][tile + 1].of, kRowBytes);
    if constexpr (S > 1) Unit::template store<1>(p.sums[1][tile].of, kRowBytes);
    if constexpr (S > 1) Unit::template store<3>(p.sums[1][tile + 1].of, kRowBytes);
  }
  static void multiply(const PixelBlock& b, Product& p, int half, int turns, Finishing& rest) {
    p.slots > 1 ? multiply<2>(b, p, half, turns, rest) : multiply<1>(b, p, half, turns, rest);
  }

  // What a unit has just stored cannot be read at once: the sums of a product become outputs during
  // the second half of the next one and the first half of that after it, which stands in its place.
  static void block(const PixelBlock& b) {
    configure(b.height);
    Product product[2];
    Finishing rest(b);
    const Product* before = nullptr;
    int turn = 0;
    for (int64_t panel = 0; panel * kPixelChannels < b.outputs; ++panel)
      for (int slot = 0; slot < b.slot_count; slot += 2, turn ^= 1) {
        Product& p = product[turn];
        p.panel = panel;
        p.slot = slot;
        p.slots = b.slot_count - slot < 2 ? 1 : 2;
        multiply(b, p, 0, 1, rest);
        if (before) rest.begin(*before);
        multiply(b, p, 1, 2, rest);
        before = &p;
      }
    Unit::release();
    rest.go_on(rest.left());
    rest.begin(*before);
    rest.go_on(rest.left());
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

  /// Where the values of a record lie in the image: 0 or 1 elements apart from column to column,
  /// because rows beyond the image are zeros.
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
  /// Sixteen columns of a stream, zeros beyond the image.
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

  // A record is stored as a whole one, of which the next one overwrites what follows, as long as
  // that stays in the line.
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

  static constexpr PixelKernels kernels() { return {block, widen, records, pool}; }
};

}  // namespace
}  // namespace lockstep::cpu
