// Collective operations: what every rank has in the end, by carrying out their loads and stores on symbols; that no
// launch depends on the order of its wavefronts; and the bytes that cross from rank to rank, against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/error.h"
#include "workload/census.h"

namespace nearfar::collectives_test {
namespace {

using namespace nearfar::testing;
using Settings = std::vector<ParameterSetting>;

/// A collective with one of its algorithms.
struct Way {
  std::string label, workload;
  Settings settings;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"Ring", "AllReduce", {{"algorithm", 0}}},
      {"Tree", "AllReduce", {{"algorithm", 1}, {"chunks", 3}}},
      {"WholeTree", "AllReduce", {{"algorithm", 1}, {"chunks", 1}}},
      {"OneShot", "AllReduce", {{"algorithm", 2}}},
      {"TwoShot", "AllReduce", {{"algorithm", 3}}},
      {"OneShotByLoads", "AllReduce", {{"algorithm", 4}}},
      {"AllGatherRing", "AllGather", {{"direct", 0}}},
      {"AllGatherDirect", "AllGather", {{"direct", 1}}},
      {"ReduceScatterRing", "ReduceScatter", {{"direct", 0}}},
      {"ReduceScatterDirect", "ReduceScatter", {{"direct", 1}}},
      {"AllToAll", "AllToAll", {}},
      {"TwoShotInSwitch", "AllReduce", {{"algorithm", 5}}},
      {"OneShotInSwitch", "AllReduce", {{"algorithm", 6}}},
      {"AllGatherInSwitch", "AllGather", {{"direct", 2}}},
      {"ReduceScatterInSwitch", "ReduceScatter", {{"direct", 2}}},
  };
  return all;
}

/// So few items that each has several words of a piece.
std::shared_ptr<const Workload> make_way(const Way& way, std::uint64_t ranks, std::uint64_t bytes,
                                         std::uint64_t word = 4) {
  Settings settings = way.settings;
  for (const ParameterSetting& each : Settings{{"ranks", ranks}, {"bytes", bytes}, {"items", 64}, {"word", word}}) {
    settings.push_back(each);
  }
  return make(way.workload, settings);
}

const Buffer& buffer_at(const Workload& workload, std::uint64_t at) {
  return *std::ranges::find_if(workload.buffers(),
                               [&](const Buffer& b) { return at >= b.base.value && at < b.base.value + b.bytes; });
}

/// The words that an access means: of multicast memory those of all members.
std::vector<std::uint64_t> words_at(const Workload& workload, std::uint64_t at) {
  const Buffer& in = buffer_at(workload, at);
  if (in.placement != Placement::Multicast) return {at};
  std::vector<std::uint64_t> all;
  for (std::uint64_t m = 0; m < in.members.count; ++m) {
    all.push_back(in.members.first.value + m * in.members.apart + (at - in.base.value));
  }
  return all;
}

/// Calls f(rank, wavefront, kind, bytes, lane, address) for every lane of every access of a launch.
template <class F>
void for_each_access(const Workload& workload, std::size_t l, std::uint64_t ranks, F f) {
  const Launch& launch = workload.launches()[l];
  LaneAddresses addresses;
  std::uint64_t number = 0;
  for (std::uint64_t group = 0; group < launch.groups(); ++group) {
    for (std::uint32_t w = 0; w < launch.waves(64); ++w, ++number) {
      Stream stream = workload.wavefront(l, launch.wave(group, w, 64));
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
        if (op.lanes == nullptr) continue;
        op.lanes(op.operation, 64, addresses);
        addresses.expand();
        for (unsigned lane = 0; lane < 64; ++lane) {
          if ((addresses.active >> lane & 1) == 0) continue;
          f(group / (launch.groups() / ranks), number, op.kind, op.bytes, lane, addresses.address[lane]);
        }
      }
    }
  }
}

/// Which contributions are in a word, each as often as it was added: rank << 32 | word of its buffer.
using Sum = std::multiset<std::uint64_t>;
constexpr std::uint64_t kGarbage = ~std::uint64_t{0};

std::uint64_t contribution(std::uint64_t rank, std::uint64_t word) { return rank << 32 | word; }

class Memory {
 public:
  Memory(const Workload& workload, std::uint64_t ranks, std::uint64_t words, std::uint64_t word)
      : ranks_(ranks), word_(word) {
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      for (std::uint64_t i = 0; i < words; ++i) values_[address(workload, "data", rank, i)] = {contribution(rank, i)};
    }
  }

  const Sum& at(const Workload& workload, const char* name, std::uint64_t rank, std::uint64_t i) {
    return values_[address(workload, name, rank, i)];
  }

  /// A lane stores the sum of what it has loaded since the last loads that were stored.
  void run(const Workload& workload, std::size_t l) {
    std::map<std::pair<std::uint64_t, unsigned>, std::pair<Sum, bool>> lanes;  // by wavefront and lane; and: stored
    for_each_access(workload, l, ranks_, [&](auto, auto wave, OpKind kind, unsigned bytes, unsigned lane, auto at) {
      ASSERT_EQ(bytes, word_);
      auto& [sum, stored] = lanes[{wave, lane}];
      if (kind == OpKind::Store) {
        for (const std::uint64_t word : words_at(workload, at)) values_[word] = sum;
        stored = true;
        return;
      }
      if (std::exchange(stored, false)) sum.clear();
      for (const std::uint64_t word : words_at(workload, at)) {
        const auto found = values_.find(word);
        if (found == values_.end()) {
          sum.insert(kGarbage);
        } else {
          sum.insert(found->second.begin(), found->second.end());
        }
      }
    });
  }

 private:
  std::uint64_t address(const Workload& workload, const char* name, std::uint64_t rank, std::uint64_t i) const {
    const Buffer& array = buffer(workload, name);
    return array.base.value + array.bytes / ranks_ * rank + word_ * i;
  }

  std::uint64_t ranks_, word_;
  std::map<std::uint64_t, Sum> values_;
};

Sum sum_of_all(std::uint64_t ranks, std::uint64_t word) {
  Sum sum;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) sum.insert(contribution(rank, word));
  return sum;
}

class Collectives : public ::testing::TestWithParam<std::tuple<std::size_t, std::uint64_t>> {
 protected:
  const Way& way() const { return ways()[std::get<0>(GetParam())]; }
  std::uint64_t ranks() const { return std::get<1>(GetParam()); }
};

/// What a word of a rank must be in the end; nothing where the operation leaves it open.
void expect_result(const Way& way, const Workload& workload, Memory& memory, std::uint64_t ranks, std::uint64_t words) {
  const bool copied = way.label == "OneShotByLoads" || way.label == "OneShotInSwitch" || way.workload == "AllToAll";
  const std::uint64_t piece = words / ranks;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t i = 0; i < words; ++i) {
      const Sum& found = memory.at(workload, copied ? "received" : "data", rank, i);
      if (way.workload == "AllReduce" || (way.workload == "ReduceScatter" && i / piece == rank)) {
        ASSERT_EQ(found, sum_of_all(ranks, i)) << "rank " << rank << " word " << i;
      } else if (way.workload == "AllGather") {
        ASSERT_EQ(found, Sum{contribution(i / piece, i)}) << "rank " << rank << " word " << i;
      } else if (way.workload == "AllToAll") {
        ASSERT_EQ(found, Sum{contribution(i / piece, rank * piece + i % piece)}) << "rank " << rank << " word " << i;
      }
    }
  }
}

TEST_P(Collectives, LeaveEveryRankWithWhatItShouldHave) {
  for (const std::uint64_t word : {4U, 16U}) {
    const std::uint64_t words = ranks() * 11;
    const auto workload = make_way(way(), ranks(), words * word, word);
    Memory memory(*workload, ranks(), words, word);
    for (std::size_t l = 0; l < workload->launches().size(); ++l) memory.run(*workload, l);
    expect_result(way(), *workload, memory, ranks(), words);
  }
}

TEST(AllReduce, AddsUpBuffersThatDoNotDivide) {
  for (const Way& way : ways()) {
    if (way.workload != "AllReduce") continue;
    for (const std::uint64_t ranks : {2U, 5U, 8U}) {
      for (const std::uint64_t words : {std::uint64_t{1}, ranks + 1, 2 * ranks - 1, std::uint64_t{201}}) {
        SCOPED_TRACE(way.label + " " + std::to_string(ranks) + " ranks " + std::to_string(words) + " words");
        const auto workload = make_way(way, ranks, words * 4);
        Memory memory(*workload, ranks, words, 4);
        for (std::size_t l = 0; l < workload->launches().size(); ++l) memory.run(*workload, l);
        expect_result(way, *workload, memory, ranks, words);
      }
    }
  }
}

TEST_P(Collectives, DoNotDependOnTheOrderOfWavefronts) {
  const auto workload = make_way(way(), ranks(), ranks() * 80 * 4);
  for (std::size_t l = 0; l < workload->launches().size(); ++l) {
    std::map<std::uint64_t, std::uint64_t> writer;
    for_each_access(*workload, l, ranks(), [&](auto, auto wave, OpKind kind, auto, auto, auto at) {
      if (kind != OpKind::Store) return;
      for (const std::uint64_t word : words_at(*workload, at)) {
        const auto [first, added] = writer.emplace(word, wave);
        ASSERT_EQ(first->second, wave) << "two wavefronts store to one word";
      }
    });
    for_each_access(*workload, l, ranks(), [&](auto, auto wave, OpKind kind, auto, auto, auto at) {
      if (kind != OpKind::Load) return;
      for (const std::uint64_t word : words_at(*workload, at)) {
        if (!writer.contains(word)) continue;
        ASSERT_EQ(writer[word], wave) << "a word is loaded that another wavefront stores in the same launch";
      }
    });
  }
}

/// Bytes that ranks store into, or load from, each other's parts of the buffers, or multicast memory.
struct Traffic {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> stored, loaded;  ///< by (rank, whose part)

  std::uint64_t stored_by(std::uint64_t rank) const { return of(stored, rank); }
  std::uint64_t loaded_by(std::uint64_t rank) const { return of(loaded, rank); }

 private:
  static std::uint64_t of(const std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>& by,
                          std::uint64_t rank) {
    std::uint64_t bytes = 0;
    for (const auto& [pair, each] : by) bytes += pair.first == rank ? each : 0;
    return bytes;
  }
};

Traffic traffic_of(const Workload& workload, std::uint64_t ranks) {
  Traffic traffic;
  for (std::size_t l = 0; l < workload.launches().size(); ++l) {
    for_each_access(workload, l, ranks, [&](auto rank, auto, OpKind kind, unsigned bytes, auto, auto at) {
      const Buffer& in = buffer_at(workload, at);
      const bool multicast = in.placement == Placement::Multicast;
      const std::uint64_t owner = multicast ? ranks : (at - in.base.value) / (in.bytes / ranks);
      if (owner != rank) (kind == OpKind::Store ? traffic.stored : traffic.loaded)[{rank, owner}] += bytes;
    });
  }
  return traffic;
}

/// What a rank sends for a buffer of `bytes`, other than along a tree.
std::uint64_t sent_bytes(const Way& way, std::uint64_t ranks, std::uint64_t bytes) {
  if (way.label == "OneShot") return (ranks - 1) * bytes;
  if (way.label == "OneShotByLoads" || way.label == "OneShotInSwitch" || way.label == "ReduceScatterInSwitch") return 0;
  if (way.label.ends_with("InSwitch")) return bytes / ranks;
  return (way.workload == "AllReduce" ? 2 : 1) * (ranks - 1) * (bytes / ranks);
}

std::uint64_t loaded_bytes(const Way& way, std::uint64_t ranks, std::uint64_t bytes) {
  if (way.label == "OneShotByLoads") return (ranks - 1) * bytes;
  if (way.label == "OneShotInSwitch") return bytes;
  return way.label == "TwoShotInSwitch" || way.label == "ReduceScatterInSwitch" ? bytes / ranks : 0;
}

TEST_P(Collectives, MoveTheBytesOfTheClosedForm) {
  const std::uint64_t bytes = ranks() * 592;
  const Traffic traffic = traffic_of(*make_way(way(), ranks(), bytes, 16), ranks());
  for (std::uint64_t rank = 0; rank < ranks(); ++rank) {
    EXPECT_EQ(traffic.loaded_by(rank), loaded_bytes(way(), ranks(), bytes));
    if (!way().label.ends_with("Tree")) {
      EXPECT_EQ(traffic.stored_by(rank), sent_bytes(way(), ranks(), bytes));
    }
  }
}

TEST(AllReduce, CarriesTheBufferOnceUpAndOnceDownEachEdgeOfATree) {
  for (const std::uint64_t chunks : {1U, 3U, 8U}) {
    for (const std::uint64_t ranks : {2U, 3U, 6U, 8U, 64U}) {
      const std::uint64_t bytes = ranks * 592;
      std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> expected;
      for (std::uint64_t rank = 1; rank < ranks; ++rank) {
        expected[{rank, (rank - 1) / 2}] = bytes;
        expected[{(rank - 1) / 2, rank}] = bytes;
      }
      const Way way{"", "AllReduce", {{"algorithm", 1}, {"chunks", chunks}}};
      EXPECT_EQ(traffic_of(*make_way(way, ranks, bytes, 16), ranks).stored, expected) << ranks << " ranks";
    }
  }
}

std::vector<std::size_t> all_ways() {
  std::vector<std::size_t> all(ways().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ways, Collectives,
                         ::testing::Combine(::testing::ValuesIn(all_ways()), ::testing::Values(2, 3, 4, 5, 8, 13)),
                         [](const auto& which) {
                           return ways()[std::get<0>(which.param)].label + std::to_string(std::get<1>(which.param));
                         });

std::string kernels_of(const std::string& name, const Settings& settings) {
  std::string all;
  const auto workload = make(name, settings);
  for (const Launch& launch : workload->launches()) all += launch.kernel + " ";
  return all;
}

TEST(CollectiveLaunches, AreTheStepsOfTheAlgorithm) {
  const auto reduce = [](std::uint64_t algorithm, std::uint64_t ranks) {
    return kernels_of("AllReduce", {{"algorithm", algorithm}, {"ranks", ranks}, {"chunks", 2}});
  };
  EXPECT_EQ(reduce(0, 3), "push reduce push reduce push push ");
  EXPECT_EQ(reduce(1, 3), "climb join climb join descend descend ") << "one level, two chunks";
  EXPECT_EQ(reduce(1, 4), "climb join climb join climb join descend descend descend ") << "two levels, two chunks";
  EXPECT_EQ(reduce(2, 4), "spread reduce ");
  EXPECT_EQ(reduce(3, 4), "scatter reduce gather ");
  EXPECT_EQ(reduce(4, 4), "pull ");
  EXPECT_EQ(reduce(5, 4), "through ");
  EXPECT_EQ(reduce(6, 4), "through ");
  EXPECT_EQ(kernels_of("AllGather", {{"ranks", 3}, {"bytes", 4800}}), "push push ");
  EXPECT_EQ(kernels_of("ReduceScatter", {{"ranks", 3}, {"bytes", 4800}}), "push reduce push reduce ");
  EXPECT_EQ(kernels_of("AllToAll", {{"iterations", 2}}), "swap swap ");
}

TEST(CollectiveWorkOf, HasTheFactorsOfBusBandwidth) {
  const auto work = [](const char* name, std::uint64_t ranks) {
    return make(name, {{"ranks", ranks}, {"bytes", 4096 * ranks}, {"iterations", 3}})->collective();
  };
  EXPECT_EQ(work("AllReduce", 4)->bytes, 3U * 4 * 4096);
  EXPECT_DOUBLE_EQ(work("AllReduce", 4)->bus_factor, 1.5);
  EXPECT_DOUBLE_EQ(work("AllReduce", 64)->bus_factor, 126.0 / 64);
  for (const char* name : {"AllGather", "ReduceScatter", "AllToAll"}) {
    EXPECT_DOUBLE_EQ(work(name, 2)->bus_factor, 0.5) << name;
    EXPECT_DOUBLE_EQ(work(name, 8)->bus_factor, 0.875) << name;
  }
  EXPECT_FALSE(make("MT")->collective());
}

std::string refusal(const std::string& name, const Settings& settings) {
  try {
    make(name, settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CollectiveParameters, AreRefusedWithTheNearestPossible) {
  EXPECT_NE(refusal("AllGather", {{"ranks", 3}, {"bytes", 1000}}).find("nearest possible value is 1008"),
            std::string::npos);
  EXPECT_NE(refusal("AllReduce", {{"bytes", 100}}).find("nearest possible value is 96"), std::string::npos);
  EXPECT_NE(refusal("AllReduce", {{"word", 12}}).find("must be 4, 8 or 16"), std::string::npos);
  EXPECT_NE(refusal("AllReduce", {{"ranks", 1}}).find("from 2 to 64"), std::string::npos);
  EXPECT_EQ(refusal("AllReduce", {{"ranks", 64}}), "");
}

}  // namespace
}  // namespace nearfar::collectives_test
