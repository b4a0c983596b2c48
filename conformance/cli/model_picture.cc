// Draws a graph. A box stands one layer below the lowest box that it reads. A value that is read
// further below keeps a lane through the layers between. Boxes and lanes stand below the leftmost
// of what they read, or as near to its right as there is room, so that a chain is straight.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/base/text.h"
#include "conformance/cli/model.h"
#include "containers/params/params.h"

namespace lockstep::judge {
namespace {

constexpr i64 kMaxLanes = 1'000'000;  // of a picture that somebody can open
constexpr std::size_t kMaxLetters = 40;

constexpr const char* kHead = "head";

struct Box {
  int node = 0;
  const char* kind = "call";  // a class of the picture's style
  std::vector<std::string> lines;
  std::vector<int> reads;  // boxes, each once
  i64 layer = 0;
};

std::string cut(std::string text) {
  if (text.size() > kMaxLetters) text = text.substr(0, kMaxLetters - 3) + "...";
  return text;
}

std::string types_of(const graph::Graph& graph, const graph::Node& n) {
  std::string types;
  for (int k = 0; k < n.entry_count; ++k)
    types += (k ? " " : "") + operand_text(graph.entry(n.first_entry + k).type);
  return types;
}

// The input, the calls and the heads; a parameter is a word in the box of the call that reads it.
class Drawing {
 public:
  explicit Drawing(const graph::Graph& graph) : graph_(graph), box_of_(graph.nodes().size(), -1) {
    for (int i = 0; i < static_cast<int>(box_of_.size()); ++i)
      if (is_drawn(i)) add(i);
  }
  const std::vector<Box>& boxes() const { return boxes_; }

 private:
  const graph::Node& node(int i) const { return graph_.nodes()[static_cast<std::size_t>(i)]; }
  bool is_input(int i) const { return node(i).first_entry == graph_.data(); }
  bool is_head(int i) const {
    const auto& heads = graph_.heads();
    return std::any_of(
        heads.begin(), heads.end(), [&](int e) { return graph_.entry(e).node == i; });
  }
  bool is_drawn(int i) const { return !node(i).is_variable() || is_input(i) || is_head(i); }

  void add(int i) {
    const graph::Node& n = node(i);
    Box box{i, is_head(i) ? kHead : is_input(i) ? "input" : "call", {}, {}, 0};
    std::string parameters;
    for (const int e : n.inputs) {
      const int from = box_of_[static_cast<std::size_t>(graph_.entry(e).node)];
      if (from < 0) {
        parameters += (parameters.empty() ? "" : " ") + operand_text(graph_.entry(e).type);
      } else if (std::find(box.reads.begin(), box.reads.end(), from) == box.reads.end()) {
        box.reads.push_back(from);
        box.layer = std::max(box.layer, boxes_[static_cast<std::size_t>(from)].layer + 1);
      }
    }
    box.lines = {params::printable(n.name, kMaxLetters),
        is_input(i)           ? "input"
            : n.is_variable() ? "parameter"
                              : std::string(n.op->name),
        cut(types_of(graph_, n))};
    if (!parameters.empty()) box.lines.push_back(cut("with " + parameters));
    box_of_[static_cast<std::size_t>(i)] = static_cast<int>(boxes_.size());
    boxes_.push_back(std::move(box));
  }

  const graph::Graph& graph_;
  std::vector<int> box_of_;  // by node; -1: none
  std::vector<Box> boxes_;
};

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

constexpr i64 kMargin = 16, kGap = 16, kLane = 8, kLine = 15, kPad = 6, kBetween = 34;
// The width of a letter of 12 pixels in any usual monospaced font, in hundredths of a pixel.
constexpr i64 kLetter = 725;

constexpr const char* kStyle = R"(<style>
svg { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #818b98;
  --call: #f6f8fa; --input: #ddf4ff; --head: #dafbe1 }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --line: #656c76;
    --call: #151b23; --input: #0c2d6b; --head: #04260f }
}
.paper { fill: var(--paper); stroke: none }
rect { stroke: var(--line); fill: var(--call) }
.input { fill: var(--input) }
.head { fill: var(--head) }
path { stroke: var(--line); fill: none; stroke-width: 1.5 }
text { font: 12px monospace; fill: var(--soft); text-anchor: middle }
.name { fill: var(--ink); font-weight: bold }
.operator { fill: var(--ink) }
</style>
)";

// A box, or the lane of a value in a layer that it only passes.
struct Spot {
  int box;  // whose value it is
  bool is_lane;
  std::vector<std::size_t> above;  // the spots that it continues or reads
  i64 centre = 0;
};

class LayeredPicture {
 public:
  explicit LayeredPicture(const std::vector<Box>& boxes) : boxes_(boxes) {
    for (const Box& box : boxes)
      for (const std::string& line : box.lines)
        width_ = std::max(width_, (std::ssize(line) * kLetter + 99) / 100 + 2 * kPad);
    count_lanes();
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) place(b);
    stack();
    for (std::vector<std::size_t>& layer : layers_) arrange(layer);
  }

  std::string svg() const {
    i64 right = 0;
    for (const Spot& s : spots_) right = std::max(right, s.centre + width_of(s) / 2);
    const i64 width = right + kMargin, height = top_.back() - kBetween + kMargin;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n{2}<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
        width, height, kStyle);
    for (std::size_t k = 0; k < layers_.size(); ++k)
      for (const std::size_t s : layers_[k]) out += lines_to(spots_[s], k);
    for (std::size_t k = 0; k < layers_.size(); ++k)
      for (const std::size_t s : layers_[k])
        if (!spots_[s].is_lane) out += box_of(spots_[s], top_[k]);
    return out + "</svg>\n";
  }

 private:
  const Box& box(const Spot& s) const { return boxes_[static_cast<std::size_t>(s.box)]; }
  i64 width_of(const Spot& s) const { return s.is_lane ? kLane : width_; }
  static i64 height_of(const Box& b) { return std::ssize(b.lines) * kLine + 2 * kPad; }

  void count_lanes() const {
    std::vector<i64> last(boxes_.size());
    i64 lanes = 0;
    for (const Box& b : boxes_)
      for (const int from : b.reads) {
        i64& reach = last[static_cast<std::size_t>(from)];
        const i64 begun = std::max(reach, boxes_[static_cast<std::size_t>(from)].layer + 1);
        lanes += std::max<i64>(0, b.layer - begun);
        reach = std::max(reach, b.layer);
      }
    if (lanes > kMaxLanes)
      throw UsageError(fmt::format(
          "a picture of this model has {} lines through layers, the most is {}", lanes, kMaxLanes));
  }

  // Gives a box its spot, and the values that it reads lanes down to the layer above.
  void place(int b) {
    const Box& box = boxes_[static_cast<std::size_t>(b)];
    Spot spot{b, false, {}};
    for (const int from : box.reads) spot.above.push_back(lane(from, box.layer - 1));
    lanes_.push_back({add(std::move(spot), box.layer)});
  }

  // The spot of a box's value in a layer: that of the box, or of a lane below it.
  std::size_t lane(int from, i64 layer) {
    std::vector<std::size_t>& spots = lanes_[static_cast<std::size_t>(from)];
    const i64 first = boxes_[static_cast<std::size_t>(from)].layer;
    while (first + std::ssize(spots) <= layer)
      spots.push_back(add({from, true, {spots.back()}}, first + std::ssize(spots)));
    return spots[static_cast<std::size_t>(layer - first)];
  }

  std::size_t add(Spot spot, i64 layer) {
    spots_.push_back(std::move(spot));
    layers_.resize(std::max(layers_.size(), static_cast<std::size_t>(layer) + 1));
    layers_[static_cast<std::size_t>(layer)].push_back(spots_.size() - 1);
    return spots_.size() - 1;
  }

  // Computes the height at which each layer begins, and where one after the last would begin.
  void stack() {
    top_ = {kMargin};
    for (const std::vector<std::size_t>& layer : layers_) {
      i64 height = 0;
      for (const std::size_t s : layer)
        if (!spots_[s].is_lane) height = std::max(height, height_of(box(spots_[s])));
      top_.push_back(top_.back() + height + kBetween);
    }
  }

  void arrange(std::vector<std::size_t>& layer) {
    for (const std::size_t s : layer) {
      Spot& spot = spots_[s];
      spot.centre = spot.above.empty() ? kMargin + width_ / 2 : spots_[spot.above[0]].centre;
      for (const std::size_t a : spot.above) spot.centre = std::min(spot.centre, spots_[a].centre);
    }
    std::stable_sort(layer.begin(), layer.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(spots_[a].centre, spots_[a].is_lane) <
          std::pair(spots_[b].centre, spots_[b].is_lane);
    });
    i64 free = 0;
    for (const std::size_t s : layer) {
      const i64 half = width_of(spots_[s]) / 2;
      spots_[s].centre = std::max(spots_[s].centre, free + half);
      free = spots_[s].centre + half + kGap;
    }
  }

  std::string lines_to(const Spot& spot, std::size_t layer) const {
    std::string out;
    for (const std::size_t a : spot.above) {
      const Spot& from = spots_[a];
      const i64 y1 = from.is_lane ? top_[layer] - kBetween : top_[layer - 1] + height_of(box(from));
      const i64 y2 = top_[layer], bend = kBetween / 2, x1 = from.centre, x2 = spot.centre;
      out += fmt::format("<path d=\"M{} {}", x1, y1);
      if (y1 < y2 - kBetween) out += fmt::format(" V{}", y2 - kBetween);
      if (x1 == x2)
        out += fmt::format(" V{}", y2);
      else
        out += fmt::format(" C{} {} {} {} {} {}", x1, y2 - bend, x2, y2 - bend, x2, y2);
      if (spot.is_lane) out += fmt::format(" V{}", top_[layer + 1] - kBetween);
      out += "\"/>\n";
    }
    return out;
  }

  std::string box_of(const Spot& spot, i64 y) const {
    const Box& b = box(spot);
    std::string out =
        fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\n",
            b.kind, spot.centre - width_ / 2, y, width_, height_of(b));
    for (std::size_t k = 0; k < b.lines.size(); ++k)
      out += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>\n",
          k == 0       ? " class=\"name\""
              : k == 1 ? " class=\"operator\""
                       : "",
          spot.centre, y + kPad + static_cast<i64>(k) * kLine + 11, markup(b.lines[k]));
    return out;
  }

  const std::vector<Box>& boxes_;
  i64 width_ = 0;
  std::vector<Spot> spots_;
  std::vector<std::vector<std::size_t>> layers_;  // spots, from left to right
  std::vector<std::vector<std::size_t>> lanes_;   // by box: the spots of its value, downwards
  std::vector<i64> top_;                          // by layer
};

}  // namespace

std::string dot_of(const graph::Graph& graph) {
  const Drawing drawing(graph);
  std::string out = "digraph model {\n  node [shape=box, fontname=monospace]\n";
  for (const Box& b : drawing.boxes()) {
    std::string label;
    for (const std::string& line : b.lines) label += (label.empty() ? "" : "\\n") + quoted(line);
    out += fmt::format(
        "  n{} [label=\"{}\"{}]\n", b.node, label, b.kind == kHead ? ", peripheries=2" : "");
  }
  for (const Box& b : drawing.boxes())
    for (const int from : b.reads)
      out += fmt::format(
          "  n{} -> n{}\n", drawing.boxes()[static_cast<std::size_t>(from)].node, b.node);
  return out + "}\n";
}

std::string svg_of(const graph::Graph& graph) {
  const Drawing drawing(graph);
  return LayeredPicture(drawing.boxes()).svg();
}

}  // namespace lockstep::judge
