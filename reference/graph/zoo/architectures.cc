#include "reference/graph/zoo/architectures.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace lockstep::graph::zoo {
namespace {

constexpr i64 kClasses = 1000;

Network classifier(Builder&& net, const Value& logits) {
  return std::move(net).finish({logits}, "");
}

using Block = Value (*)(Builder&, const Value&, i64, i64);

// He et al., Deep Residual Learning for Image Recognition, table 1: the blocks of four stages.
Network resnet(Builder net, Block block, std::initializer_list<i64> stages) {
  Value x = net.relu(net.conv(net.data(), 64, 7, {.stride = 2}));
  x = net.max_pool(x, 3, 2, 1);
  i64 channels = 64;
  for (const i64 blocks : stages) {
    for (i64 b = 0; b < blocks; ++b) x = block(net, x, channels, b == 0 && channels > 64 ? 2 : 1);
    channels *= 2;
  }
  const Value y = net.logits(net.mean_pool(x), kClasses);
  return classifier(std::move(net), y);
}

Network resnet18(Builder net) { return resnet(std::move(net), basic_block, {2, 2, 2, 2}); }
Network resnet50(Builder net) { return resnet(std::move(net), bottleneck, {3, 4, 6, 3}); }

// Howard et al., MobileNets, table 1: channels and stride of each separable convolution.
Network mobilenetv1(Builder net) {
  struct Separable {
    i64 channels, stride;
  };
  Value x = net.relu(net.conv(net.data(), 32, 3, {.stride = 2}));
  for (const auto& [channels, stride] :
      std::initializer_list<Separable>{{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2},
          {512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}}) {
    x = net.relu(net.depthwise(x, 3, stride));
    x = net.relu(net.conv(x, channels, 1));
  }
  const Value y = net.logits(net.mean_pool(x), kClasses);
  return classifier(std::move(net), y);
}

// Sandler et al., MobileNetV2, table 2: expansion, channels, repetitions, stride of the first.
Network mobilenetv2(Builder net) {
  struct Bottlenecks {
    i64 factor, channels, blocks, stride;
  };
  Value x = net.relu6(net.conv(net.data(), 32, 3, {.stride = 2}));
  for (const auto& [factor, channels, blocks, stride] :
      std::initializer_list<Bottlenecks>{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2},
          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}})
    for (i64 b = 0; b < blocks; ++b)
      x = inverted_residual(net, x, factor, channels, b == 0 ? stride : 1);
  x = net.relu6(net.conv(x, 1280, 1));
  const Value y = net.logits(net.mean_pool(x), kClasses);
  return classifier(std::move(net), y);
}

// Simonyan and Zisserman, Very Deep Convolutional Networks, table 1, column D.
Network vgg16(Builder net) {
  struct Convolutions {
    i64 channels, layers;
  };
  Value x = net.data();
  for (const auto& [channels, layers] :
      std::initializer_list<Convolutions>{{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (i64 k = 0; k < layers; ++k) x = net.relu(net.conv(x, channels, 3));
    x = net.max_pool(x, 2, 2);
  }
  x = net.call("flatten", {x}, {}, x.expected);
  x = net.relu(net.dense(x, 4096));
  x = net.relu(net.dense(x, 4096));
  const Value y = net.logits(x, kClasses);
  return classifier(std::move(net), y);
}

// Iandola et al., SqueezeNet, table 1, in version 1.1 of the authors.
Network squeezenet(Builder net) {
  Value x = net.relu(net.conv(net.data(), 64, 3, {.stride = 2, .padding = 0}));
  x = net.max_pool(x, 3, 2, 0, true);
  x = fire(net, fire(net, x, 16, 64), 16, 64);
  x = net.max_pool(x, 3, 2, 0, true);
  x = fire(net, fire(net, x, 32, 128), 32, 128);
  x = net.max_pool(x, 3, 2, 0, true);
  x = fire(net, fire(net, x, 48, 192), 48, 192);
  x = fire(net, fire(net, x, 64, 256), 64, 256);
  const Value y = net.sum_pool(net.relu(net.conv(x, kClasses, 1)));
  return classifier(std::move(net), y);
}

constexpr Architecture kArchitectures[] = {
    {"resnet18", "ResNet-18", 224, resnet18},
    {"resnet50", "ResNet-50", 224, resnet50},
    {"mobilenetv1", "MobileNet v1", 224, mobilenetv1},
    {"mobilenetv2", "MobileNet v2", 224, mobilenetv2},
    {"vgg16", "VGG-16", 224, vgg16},
    {"squeezenet", "SqueezeNet 1.1", 224, squeezenet},
    {"yolov3-tiny", "YOLO v3 tiny; its boxes are decoded and selected", 416, yolov3_tiny},
};

}  // namespace

Value basic_block(Builder& net, const Value& x, i64 channels, i64 stride) {
  Value y = net.relu(net.conv(x, channels, 3, {.stride = stride}));
  y = net.conv(y, channels, 3);
  const bool fits = stride == 1 && x.dim(1) == channels;
  return net.relu(net.add(y, fits ? x : net.conv(x, channels, 1, {.stride = stride})));
}

Value bottleneck(Builder& net, const Value& x, i64 channels, i64 stride) {
  Value y = net.relu(net.conv(x, channels, 1));
  y = net.relu(net.conv(y, channels, 3, {.stride = stride}));
  y = net.conv(y, 4 * channels, 1);
  const bool fits = stride == 1 && x.dim(1) == 4 * channels;
  return net.relu(net.add(y, fits ? x : net.conv(x, 4 * channels, 1, {.stride = stride})));
}

Value inverted_residual(Builder& net, const Value& x, i64 factor, i64 channels, i64 stride) {
  Value y = factor == 1 ? x : net.relu6(net.conv(x, factor * x.dim(1), 1));
  y = net.relu6(net.depthwise(y, 3, stride));
  y = net.conv(y, channels, 1);
  return stride == 1 && x.dim(1) == channels ? net.add(y, x) : y;
}

Value fire(Builder& net, const Value& x, i64 squeezed, i64 expanded) {
  const Value s = net.relu(net.conv(x, squeezed, 1));
  const Value one = net.relu(net.conv(s, expanded, 1));
  return net.concat({one, net.relu(net.conv(s, expanded, 3))});
}

std::span<const Architecture> architectures() { return kArchitectures; }

const Architecture* find_architecture(std::string_view name) {
  const auto found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
      [&](const Architecture& a) { return a.name == name; });
  return found == std::end(kArchitectures) ? nullptr : found;
}

Network make(const Architecture& architecture, u64 seed, i64 size, i64 images) {
  return architecture.make(Builder(seed, {images, 3, size, size}));
}

}  // namespace lockstep::graph::zoo
