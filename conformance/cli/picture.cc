#include "conformance/cli/picture.h"

#include <png.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace lockstep::judge {
namespace {

// The text that libpng reads, and the reason if it gives up.
struct Source {
  std::string_view rest;
  char why[128] = "";
};

void read_bytes(png_structp png, png_bytep to, std::size_t size) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (size > source.rest.size()) png_error(png, "the file ends too early");
  std::memcpy(to, source.rest.data(), size);
  source.rest.remove_prefix(size);
}

[[noreturn]] void give_up(png_structp png, png_const_charp why) {
  auto& source = *static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source.why, why, sizeof source.why - 1);
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

class Reader {
 public:
  explicit Reader(Source& source)
      : png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, give_up, ignore)),
        info_(png_ ? png_create_info_struct(png_) : nullptr) {
    if (info_) png_set_read_fn(png_, &source, read_bytes);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  // When a step fails, libpng leaves it by longjmp(), which skips no destructor here.

  /// Reads the file up to the samples. @return whether the step succeeded
  bool read_header() {
    if (!info_ || setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_info(png_, info_);
    if (depth() < 8 && colour() == PNG_COLOR_TYPE_GRAY) png_error(png_, "it has less than 8 bits");
    if (depth() > 8) png_error(png_, "it has more than 8 bits");
    if (colour() == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  /// Reads the samples into rows, and the rest of the file.
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  i64 width() const { return png_get_image_width(png_, info_); }
  i64 height() const { return png_get_image_height(png_, info_); }
  i64 channels() const { return png_get_channels(png_, info_); }

 private:
  int depth() const { return png_get_bit_depth(png_, info_); }
  int colour() const { return png_get_color_type(png_, info_); }

  png_structp png_;
  png_infop info_;
};

}  // namespace

Picture read_png(std::string_view file, i64 width, i64 height) {
  Source source{file};
  Reader reader(source);
  const auto expect = [&](bool done) {
    if (!done) throw PictureError(std::string("no PNG of 8 bits: ") + source.why);
  };
  expect(reader.read_header());
  Picture p{reader.width(), reader.height(), reader.channels(), {}};
  if (p.width != width || p.height != height) return p;
  const auto row = static_cast<std::size_t>(p.width * p.channels);
  p.samples.resize(row * static_cast<std::size_t>(p.height));
  std::vector<png_bytep> rows;
  for (std::size_t at = 0; at < p.samples.size(); at += row) rows.push_back(&p.samples[at]);
  expect(reader.read_rows(rows.data()));
  return p;
}

}  // namespace lockstep::judge
