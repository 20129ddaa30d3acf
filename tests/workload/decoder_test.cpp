// The decoder block of a transformer: counts against closed forms, and what its ranks store into each other's copies.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "config/error.h"
#include "workload/census.h"

namespace nearfar::decoder_test {
namespace {

using namespace nearfar::testing;
using Settings = std::vector<ParameterSetting>;

std::uint64_t lines_of(const Workload& workload, std::string_view kernel) {
  Counter counter(workload);
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    if (workload.launches()[l].kernel != kernel) continue;
    for (std::uint64_t group = 0; group < workload.launches()[l].groups(); ++group) counter.group(l, group);
  }
  return counter.census().lines.total;
}

std::string kernels_of(const Workload& workload) {
  std::string all;
  for (const Launch& launch : workload.launches()) all += launch.kernel + " ";
  return all;
}

bool is_in(const Buffer& buffer, VirtAddr at) { return at >= buffer.base && at < buffer.base + buffer.bytes; }

const std::string kRing = "push reduce push reduce push reduce push push push ";

TEST(Prefill, HasTheKernelsOfABlock) {
  EXPECT_EQ(kernels_of(*make("Prefill", {{"ranks", 1}})),
            "layer_norm gemm append append gemm softmax gemm gemm add layer_norm gemm gelu gemm add ");
  EXPECT_EQ(kernels_of(*make("Prefill")), "layer_norm gemm append append gemm softmax gemm gemm " + kRing +
                                              "add layer_norm gemm gelu gemm " + kRing + "add ");
}

TEST(Prefill, ProductsTouchTheLinesOfTheClosedForm) {
  const auto products = [](std::uint64_t d, std::uint64_t t, std::uint64_t c, std::uint64_t heads) {
    const std::uint64_t steps = 12 * d * d * t + 2 * t * c * d;
    // Results: query, key and value, scores, attention, projection, two layers. Each has three accesses.
    const std::uint64_t results = t * (3 * d + heads * c + d + d + 4 * d + d);
    return steps / 128 + 3 * results / 16;
  };
  EXPECT_EQ(lines_of(*make("Prefill", {{"ranks", 1}}), "gemm"), products(256, 64, 64, 4));
  const Settings odd{{"ranks", 2}, {"width", 128}, {"heads", 4}, {"tokens", 32}, {"context", 48}};
  // Ranks add up partial results of two products, so each of them makes all of these.
  EXPECT_EQ(lines_of(*make("Prefill", odd), "gemm"), products(128, 32, 48, 4) + 3U * 32 * 2 * 128 / 16);
}

TEST(Prefill, HalfTheBytesAreHalfTheLines) {
  const auto lines = [](std::uint64_t bytes) {
    return lines_of(*make("Prefill", {{"ranks", 1}, {"bytes", bytes}}), "add");
  };
  EXPECT_EQ(lines(4), 2U * 3 * 64 * 256 / 16);
  EXPECT_EQ(lines(2), lines(4) / 2);
}

TEST(Prefill, ScoresReadTheKeysOfTheirHead) {
  const std::uint64_t d = 64, heads = 4, tokens = 16, context = 32, width = d / heads;
  const auto prefill =
      make("Prefill", {{"ranks", 2}, {"width", d}, {"heads", heads}, {"tokens", tokens}, {"context", context}});
  const std::uint64_t part = d / 2;
  const Buffer &qkv = buffer(*prefill, "qkv"), &keys = buffer(*prefill, "keys"), &scores = buffer(*prefill, "scores");
  const std::size_t l = 4;  // after normalization, product and the two caches
  // The second head of rank 1, its second tile of 16 columns: the grid is 2 × 1 × 4.
  const std::uint64_t rank = 1, head = 1, group = (rank * 2 + head) * 2 + 1;
  const Items items = touches(*prefill, l, group);
  const auto on_rank = [&](const Buffer& b) { return b.base + rank * (b.bytes / 2); };
  for (std::uint64_t ty = 0; ty < 16; ++ty) {
    for (std::uint64_t tx = 0; tx < 16; ++tx) {
      const auto& item = items[16 * ty + tx];
      ASSERT_EQ(item.size(), 5U);
      const VirtAddr score = on_rank(scores) + 4 * ((head * tokens + ty) * context + 16 + tx);
      EXPECT_EQ(item[0], (Touch{'-', score}));
      EXPECT_EQ(item[1], (Touch{'+', on_rank(qkv) + 4 * (ty * 3 * part + head * width + tx)}));
      EXPECT_EQ(item[2], (Touch{'+', on_rank(keys) + 4 * ((16 + ty) * part + head * width + tx)})) << "along its rows";
      EXPECT_EQ(item[4], (Touch{'-', score}));
    }
  }
}

TEST(Prefill, NewKeysAndValuesGoToTheEndOfTheCaches) {
  const auto prefill = make("Prefill", {{"ranks", 1}, {"width", 64}, {"heads", 4}, {"tokens", 3}, {"context", 8}});
  for (const auto& [l, name, column] : {std::tuple{2U, "keys", 64U}, {3U, "values", 128U}}) {
    const Buffer &cache = buffer(*prefill, name), &qkv = buffer(*prefill, "qkv");
    std::uint64_t element = 0;
    for (std::uint64_t group = 0; group < prefill->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*prefill, l, group)) {
        ASSERT_EQ(item.size(), 2U);
        EXPECT_EQ(item[0].at, qkv.base + 4 * (element / 64 * 192 + column + element % 64));
        EXPECT_EQ(item[1].at, cache.base + 4 * (5 * 64 + element));
        ++element;
      }
    }
    EXPECT_EQ(element, 3U * 64);
  }
}

TEST(Decode, HasTheKernelsOfABlockForEveryToken) {
  const std::string one =
      "layer_norm gemv append append attention gemv " + kRing + "add layer_norm gemv gelu gemv " + kRing + "add ";
  EXPECT_EQ(kernels_of(*make("Decode")), one + one);
  EXPECT_EQ(kernels_of(*make("Decode", {{"by_rows", 1}, {"tokens", 1}})),
            "layer_norm gemv append append attention gemv add layer_norm gemv gelu gemv add ");
}

/// Lines that loads touch in the named buffers.
std::uint64_t lines_loaded(const Workload& workload, std::string_view kernel, const std::set<std::string>& names) {
  Coalescer coalescer(64);
  LaneAddresses addresses;
  std::uint64_t lines = 0;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    if (launch.kernel != kernel) continue;
    for (std::uint64_t wave = 0; wave < launch.groups() * launch.waves(64); ++wave) {
      Stream stream = workload.wavefront(
          l, launch.wave(wave / launch.waves(64), static_cast<std::uint32_t>(wave % launch.waves(64)), 64));
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
        if (op.kind != OpKind::Load) continue;
        op.lanes(op.operation, 64, addresses);
        for (const PageGroup& group : coalescer.loads(addresses, op.bytes)) {
          const auto in = std::ranges::find_if(workload.buffers(), [&](const Buffer& b) {
            return group.page >= page_of(b.base) && group.page <= page_of(b.base + (b.bytes - 1));
          });
          if (names.contains(in->name)) lines += static_cast<std::uint64_t>(std::popcount(group.lines));
        }
      }
    }
  }
  return lines;
}

TEST(Decode, TouchesEveryLineOfTheWeightsOnceAToken) {
  const std::set<std::string> weights{"qkv_weights", "projection_weights", "up_weights", "down_weights"};
  for (const std::uint64_t by_rows : {0U, 1U}) {
    // The second leaves the last loads of a row to some lanes, and the last workgroups have fewer rows.
    for (const auto& [d, heads] : {std::pair<std::uint64_t, std::uint64_t>{512, 8}, {320, 20}}) {
      const auto decode = make("Decode", {{"by_rows", by_rows}, {"width", d}, {"heads", heads}});
      EXPECT_EQ(lines_loaded(*decode, "gemv", weights), 2 * 3 * d * d / 4) << d << " " << by_rows;
    }
  }
}

TEST(Decode, AttendsToAllTokensBefore) {
  const std::uint64_t d = 512, context = 128;
  const auto decode = make("Decode");
  EXPECT_EQ(lines_loaded(*decode, "attention", {"keys"}), (2 * context + 1) * d / 16) << "128 tokens, then 129";
  EXPECT_EQ(lines_loaded(*decode, "attention", {"values"}), (2 * context + 1) * d / 16);
}

/// By size in bytes, how many runs of neighbouring bytes a launch's instructions store into other ranks' copies.
std::map<std::uint64_t, std::uint64_t> sent(const Workload& workload, std::string_view kernel, std::uint64_t ranks) {
  std::map<std::uint64_t, std::uint64_t> runs;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    const Launch& launch = workload.launches()[l];
    if (launch.kernel != kernel) continue;
    for (std::uint64_t wave = 0; wave < launch.groups() * launch.waves(64); ++wave) {
      const std::uint64_t group = wave / launch.waves(64), rank = group / (launch.groups() / ranks);
      Stream stream =
          workload.wavefront(l, launch.wave(group, static_cast<std::uint32_t>(wave % launch.waves(64)), 64));
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
        if (op.kind != OpKind::Store) continue;
        LaneAddresses addresses;
        op.lanes(op.operation, 64, addresses);
        addresses.expand();
        const VirtAddr first{addresses.address[static_cast<unsigned>(std::countr_zero(addresses.active))]};
        const auto in = std::ranges::find_if(workload.buffers(), [&](const Buffer& b) { return is_in(b, first); });
        if ((first.value - in->base.value) / (in->bytes / ranks) == rank) continue;
        ++runs[static_cast<std::uint64_t>(std::popcount(addresses.active)) * op.bytes];
      }
    }
  }
  return runs;
}

TEST(Decode, ResultsGoToAllCopiesByThemselvesOrCollected) {
  const std::uint64_t d = 512;
  using Runs = std::map<std::uint64_t, std::uint64_t>;
  // Projection, first and second layer have d, 4d and d rows; each goes to three others. Query, key and value stay.
  EXPECT_EQ(sent(*make("Decode", {{"by_rows", 1}, {"tokens", 1}}), "gemv", 4), (Runs{{4, 3 * 6 * d}}));
  EXPECT_EQ(sent(*make("Decode", {{"by_rows", 1}, {"tokens", 1}, {"collect", 1}}), "gemv", 4),
            (Runs{{128, 3 * 6 * d / 32}}));
  EXPECT_EQ(sent(*make("Decode", {{"tokens", 1}}), "gemv", 4), Runs{}) << "added up instead";
  EXPECT_EQ(sent(*make("Decode", {{"by_rows", 1}, {"tokens", 1}}), "attention", 4), (Runs{{256, 3 * 8}}))
      << "64 features of 8 heads";
}

TEST(Decode, SumsGoAroundTheRing) {
  const std::uint64_t d = 512;
  std::uint64_t bytes = 0;
  for (const auto& [size, times] : sent(*make("Decode", {{"tokens", 1}}), "push", 4)) bytes += size * times;
  EXPECT_EQ(bytes, 4U * 2 * 2 * 3 * d) << "of each of four ranks, twice: three halves of the vector of 4-byte features";
}

TEST(Decode, ItemsOfARowTakeSixteenBytesInTurn) {
  const std::uint64_t d = 512, rows = 3 * d / 4;
  const auto decode = make("Decode");
  const Buffer &w = buffer(*decode, "qkv_weights"), &x = buffer(*decode, "normalized"), &y = buffer(*decode, "qkv");
  const std::uint64_t rank = 2, block = 5, group = rank * (rows / 32) + block;
  const Items items = touches(*decode, 1, group);
  for (std::uint64_t t = 0; t < 1024; ++t) {
    std::vector<Touch> expected;
    if (16 * t < 4 * d) expected.push_back({'+', x.base + rank * (x.bytes / 4) + 16 * t});
    const std::uint64_t row = 32 * block + t / 64 * 2;
    for (std::uint64_t byte = 0; byte < 4 * d; byte += 1024) {
      for (std::uint64_t r = row; r < row + 2; ++r) {
        expected.push_back({'+', w.base + rank * (w.bytes / 4) + r * 4 * d + byte + t % 64 * 16});
      }
    }
    for (std::uint64_t r = row; t % 64 == 0 && r < row + 2; ++r) {
      expected.push_back({'-', y.base + rank * (y.bytes / 4) + 4 * r});
    }
    ASSERT_EQ(items[t], expected) << t;
  }
}

std::string refusal(std::string_view name, Settings settings) {
  try {
    make(name, std::move(settings));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Decoder, SaysWhatDoesNotDivide) {
  EXPECT_EQ(refusal("Prefill", {{"heads", 6}}),
            "The parameter `heads` of Prefill is 6, but must be a multiple of ranks; the nearest possible value is 4.");
  EXPECT_EQ(
      refusal("Prefill", {{"width", 272}}),
      "The parameter `width` of Prefill is 272, but must be a multiple of 16 heads; the nearest possible value is "
      "256.");
  EXPECT_EQ(
      refusal("Prefill", {{"context", 63}}),
      "The parameter `context` of Prefill is 63, but must not be below tokens; the nearest possible value is 64.");
  EXPECT_EQ(refusal("Decode", {{"width", 768}, {"heads", 16}}),
            "The parameter `heads` of Decode is 16, but must leave a head a power of two of features, at most 4096 "
            "bytes; the nearest possible value is 12.");
}

}  // namespace
}  // namespace nearfar::decoder_test
