// A peer does the same work: where its arithmetic is exact, its results equal ours.
#include <gtest/gtest.h>

#include <filesystem>

#include "bench/peers/pack.h"
#include "bench/peers/peer.h"
#include "conformance/tests/program.h"

namespace lockstep::bench {
namespace {

struct Asked {
  Workload workload;
  std::vector<judge::Tensor> in, expected;
  explicit Asked(const std::string& id)
      : workload{"asked", judge::parse_case(id), Unit::macs}, in(judge::inputs_of(workload.call)) {
    // Without an 8-bit dot product oneDNN halves signed weights, and sums in 16 bits: even, small
    // weights are exact everywhere.
    if (in.size() == 2)
      for (i32& w : in[1].data) w = w / 2 * 2;
    expected = reference::outputs(*workload.call.op, workload.call.attributes(), in);
  }
  std::vector<Peer> peers(const PeerModule& module) const {
    return module_peers(module, workload, in, expected[0], 1);
  }
};

constexpr const char* kNarrow[] = {
    "conv2d/channels=16/kernel_size=3,3/padding=1,1/use_bias=0/in=2x32x9x7@4+16x32x3x3@4/"
    "fill=dense:1",
    "conv2d/channels=24/kernel_size=1,1/use_bias=0/in=1x16x5x5@4+24x16x1x1@4/fill=dense:2",
    "conv2d/channels=8/kernel_size=5,3/padding=2,0/strides=2,3/dilation=1,2/use_bias=0"
    "/in=1x3x17x19@4+8x3x5x3@4/fill=dense:3",
    "conv2d/channels=32/kernel_size=3,3/padding=1,1/groups=32/use_bias=0"
    "/in=1x32x8x8@4+32x1x3x3@4/fill=dense:4",
    "conv2d/channels=16/kernel_size=3,3/groups=2/use_bias=0/in=1x16x6x6@4+16x8x3x3@4/fill=dense:5",
    "dense/units=33/use_bias=0/in=7x129@4+33x129@4/fill=dense:6"};

// Calls the function with every peer library of the host, and skips the test if there is none.
template <class Check> void with_each_module(Check check) {
  int modules = 0;
  for (const PeerModule* m : peer_modules()) {
    if (*m->device) continue;
    ++modules;
    SCOPED_TRACE(m->name());
    check(*m);
  }
  if (modules == 0) GTEST_SKIP() << "no peer library in this build";
}

TEST(Modules, AgreeOnNarrowValues) {
  with_each_module([](const PeerModule& module) {
    for (const char* id : kNarrow) {
      const Asked asked(id);
      const std::vector<Peer> peers = asked.peers(module);
      ASSERT_FALSE(peers.empty()) << id;
      for (const Peer& p : peers) {
        ASSERT_EQ(p.trouble, "") << id << " " << p.implementation;
        EXPECT_EQ(p.different, 0) << id << " " << p.title() << " " << p.implementation;
        EXPECT_EQ(p.compared, static_cast<i64>(asked.expected[0].data.size()));
        EXPECT_NE(p.layout, "");
        EXPECT_EQ(p.name, module.name());
        p.call();
      }
    }
  });
}

TEST(Modules, CountADifferentAnswer) {
  with_each_module([](const PeerModule& module) {
    Asked asked(kNarrow[0]);
    asked.expected[0].data[5] += 1 << 20;  // more than 8 bits keep of it
    const std::vector<Peer> peers = asked.peers(module);
    ASSERT_FALSE(peers.empty());
    for (const Peer& p : peers) EXPECT_EQ(p.different, 1) << p.title();
  });
}

TEST(Modules, LeaveAloneWhatTheyDoNotServe) {
  with_each_module([](const PeerModule& module) {
    for (const char* id :
        {"dense/units=1/use_bias=1/in=1x2@8+1x2@8+1@8/fill=dense:1", "relu/in=2x3@8/fill=dense:1"})
      EXPECT_TRUE(Asked(id).peers(module).empty()) << id;
  });
}

// Every library that was built can be loaded.
TEST(Modules, AreAsManyAsTheirFiles) {
  std::size_t files = 0;
  const auto directory = judge::build_directory() / "lib" / "lockstep" / "peers";
  if (std::filesystem::exists(directory))
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      files += entry.path().extension() == ".so";
  EXPECT_EQ(peer_modules().size(), files) << peer_names();
}

// A library for a device is a peer only where there is a device, and only of that device's
// backends.
TEST(Modules, OfADeviceAgreeWhereThereIsOne) {
  int asked = 0;
  for (const PeerModule* m : peer_modules()) {
    if (!*m->device) continue;
    SCOPED_TRACE(m->name());
    for (const char* id : kNarrow) {
      const Asked call(id);
      for (const Peer& p : call.peers(*m)) {
        EXPECT_EQ(p.trouble, "") << id;
        EXPECT_EQ(p.different, 0) << id;
        ++asked;
      }
    }
  }
  for (const Peer& p : device_copy("CUDA", 1 << 20)) EXPECT_EQ(p.trouble, "");
  EXPECT_EQ(asked > 0, !device_bounds("CUDA", 1000, 1 << 20).empty());
  EXPECT_TRUE(device_bounds("", 1000, 1 << 20).empty());
  EXPECT_TRUE(device_copy("other", 1 << 20).empty());
}

// By hand: two images of three channels and two places, and the weights of two outputs.
TEST(Pack, PutsChannelsLastAndPads) {
  const std::vector<i32> x = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};
  const MatrixCall::Extents images = {2, 3, 1, 2}, rows = {2, 3};
  const std::vector<int8_t> packed = {1, 3, 5, 0, 2, 4, 6, 0, -1, -3, -5, 0, -2, -4, -6, 0};
  EXPECT_EQ(channels_last(x.data(), images, 2, 4), packed);
  EXPECT_EQ(channels_last(x.data(), rows, 3, 4),
      (std::vector<int8_t>{1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0}));
  std::vector<float> result(packed.begin(), packed.end());
  EXPECT_EQ(differences(result.data(), x.data(), images, 4), 0);
  result[3] = 9, result[7] = 9;  // in the padding
  EXPECT_EQ(differences(result.data(), x.data(), images, 4), 0);
  result[0] = 9, result[14] = 9;
  EXPECT_EQ(differences(result.data(), x.data(), images, 4), 2);
  EXPECT_EQ(padded(1, 16), 16);
  EXPECT_EQ(padded(32, 16), 32);
}

TEST(Copy, MovesTheBytesOfACall) {
  const Workload w{"asked", judge::parse_case("relu/in=3x5@8/fill=dense:1"), Unit::bytes};
  EXPECT_EQ(w.bytes(), 2 * 15 * 4);
  for (int threads : {1, 2, 4})
    for (i64 bytes : {w.bytes(), i64{1} << 20})
      copy_peer(bytes, std::make_shared<Team>(threads)).call();
}

}  // namespace
}  // namespace lockstep::bench
