// The programs of the UMH study against their closed forms, and that they compute what they say.
#include <gtest/gtest.h>

#include <map>

#include "workload/catalog/radix_sort.h"
#include "workload/census.h"
#include "workload/graph/algorithms.h"

namespace nearfar::umh_test {
namespace {

using namespace nearfar::testing;

std::uint64_t lines(std::string_view name, std::vector<ParameterSetting> settings = {}) {
  return take_census(*make(name, std::move(settings))).lines.total;
}

TEST(Umh, StreamingProgramsTouchTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("BSch"), 49'152U);
  EXPECT_EQ(lines("BSch", {{"samples", 2'097'152}}), 196'608U);
  EXPECT_EQ(lines("DCT"), 32U * 64 * 64);
  EXPECT_EQ(lines("DCT", {{"width", 1024}}), 524'288U);
  EXPECT_EQ(lines("DCT", {{"width", 1024}, {"sdk", 3}}), 917'504U);
  EXPECT_EQ(lines("DH"), 51'300U);
  EXPECT_EQ(lines("DH", {{"n", 1 << 21}}), 410'406U);
  EXPECT_EQ(lines("DH", {{"n", 1 << 21}, {"sdk", 3}}), 279'078U);
  EXPECT_EQ(lines("FWT"), 36'864U);
  EXPECT_EQ(lines("FWT", {{"n", 1 << 18}}), 720'896U);
  EXPECT_EQ(lines("Hist"), 16'512U);
  EXPECT_EQ(lines("Hist", {{"width", 2048}}), 264'192U);
  EXPECT_EQ(lines("Hist", {{"width", 2048}, {"sdk", 3}}), 266'240U);
  EXPECT_EQ(lines("MTw"), 81'920U);
  EXPECT_EQ(lines("MTw", {{"factor", 4}}), 278'528U);
  EXPECT_EQ(lines("RD"), 32'896U);
  EXPECT_EQ(lines("RD", {{"n", 1 << 21}}), 263'168U);
  EXPECT_EQ(lines("SF", {{"iterations", 1}}), (42U * 8 - 6) * 382 + 4 * 8 * 382);
  EXPECT_EQ(lines("SF", {{"iterations", 1}, {"width", 1024}, {"height", 768}}), 559'180U);
  EXPECT_EQ(lines("SLA"), 99U * 1024 + 99 * 4 + 4) << "the top scan of four values has four accesses";
  EXPECT_EQ(lines("SLA", {{"n", 1 << 21}}), 814'184U);
}

TEST(Umh, WindowsTouchTheLinesCounted) {
  EXPECT_EQ(lines("SC2", {{"width", 512}, {"height", 512}}), 4'423'056U);
  const auto sc2 = make("SC2", {{"width", 512}, {"height", 64}});
  const Census inside = take_wave(*sc2, 0, 2 * 20 + 1, 1);
  EXPECT_EQ(inside.lines.total, 1110U + 4);
  EXPECT_EQ(inside.scalar_loads, 225U);
}

TEST(Umh, LaunchesAreThoseOfTheSamples) {
  EXPECT_EQ(make("FW")->launches().size(), 64U);
  EXPECT_EQ(make("FWT", {{"n", 1 << 18}})->launches().size(), 18U);
  const auto dh = make("DH", {{"n", 1 << 21}});
  ASSERT_EQ(dh->launches().size(), 3U);
  EXPECT_EQ(dh->launches()[0].groups(), 4096U);
  EXPECT_EQ(dh->launches()[1].groups(), 8U);
  EXPECT_EQ(dh->launches()[2].size_x, 4U);
  const auto sla = make("SLA", {{"n", 1 << 21}});
  const std::uint64_t groups[] = {8192, 32, 1, 32, 8192};
  for (std::size_t l = 0; l < 5; ++l) EXPECT_EQ(sla->launches()[l].groups(), groups[l]);
  for (const char* name : {"BSch", "DCT", "DH", "FW", "FWT", "Hist", "MTw", "RD", "RS", "SC2", "SF", "SLA"}) {
    EXPECT_EQ(make(name)->launches()[0].split, Split::RoundRobin) << name;
  }
}

constexpr const char* kPrograms[] = {"BSch", "DCT", "DH", "FW", "FWT", "Hist", "MM",
                                     "MT",   "MTw", "RD", "RS", "SC2", "SF",   "SLA"};

/// At the study's size, with what its host does.
std::shared_ptr<const Workload> published(std::string_view name) {
  std::vector<ParameterSetting> settings = {{"host", 1}};
  if (name == "MM") settings.push_back({"n", 1024});
  if (name == "MT") settings.push_back({"width", 1024});
  return make_workload(name, SizeClass::Paper, settings, 1);
}

TEST(Umh, KernelsReadAndWriteTheBytesPublished) {
  constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * kKiB;
  const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> expected = {
      {"BSch", {4 * kMiB, 8 * kMiB}},
      {"DCT", {4 * kMiB + 256, 4 * kMiB}},
      {"DH", {8 * kMiB, 8 * kMiB + 16 * kKiB}},
      {"FW", {0, 512 * kKiB}},
      {"FWT", {0, kMiB}},
      {"Hist", {16 * kMiB, 128 * kKiB}},
      {"MM", {8 * kMiB, 4 * kMiB}},
      {"MT", {4 * kMiB, 4 * kMiB}},
      {"MTw", {kMiB, 4 * kMiB}},
      {"RD", {8 * kMiB, 16 * kKiB}},
      {"RS", {16 * kMiB, 16 * kMiB}},
      {"SC2", {kMiB + kKiB, kMiB}},
      {"SF", {3 * kMiB, 3 * kMiB}},
      {"SLA", {8 * kMiB, 8 * kMiB + 2 * 32 * kKiB + 2 * 128}}};
  for (const char* name : kPrograms) {
    std::uint64_t only_read = 0, written = 0;
    const auto workload = published(name);
    for (const Buffer& buffer : workload->buffers()) {
      (buffer.kernels.writes ? written : only_read) += buffer.used_bytes();
    }
    EXPECT_EQ(only_read, expected.at(name).first) << name;
    EXPECT_EQ(written, expected.at(name).second) << name;
  }
}

/// The steps of a program in letters: launches in a row, and what the host writes and reads, by buffer.
std::string phases(const Workload& workload) {
  std::string text;
  const auto name_at = [&](VirtAddr address) {
    for (const Buffer& buffer : workload.buffers()) {
      if (address.value >= buffer.base.value && address.value < buffer.base.value + buffer.bytes) return buffer.name;
    }
    return std::string("?");
  };
  bool launching = false;
  for (const Step& step : workload.steps()) {
    const bool launch = std::holds_alternative<LaunchStep>(step);
    if (launch && !launching) text += "launch ";
    launching = launch;
    if (const auto* access = std::get_if<HostAccess>(&step)) {
      text += (access->writes ? "+" : "-") + name_at(access->first) + " ";
    }
  }
  return text;
}

TEST(Umh, TheHostWorksBeforeBetweenAndAfterAsInTheSamples) {
  EXPECT_EQ(phases(*published("BSch")), "+rand +call +put launch -call -put ");
  EXPECT_EQ(phases(*published("DH")),
            "+signal +coefficients +averages launch -averages +signal launch -averages +signal launch -coefficients ");
  EXPECT_EQ(phases(*published("FW")), "+distance +path launch -distance -path ");
  EXPECT_EQ(phases(*published("Hist")), "+data +bins launch -bins ");
  const std::string pass = "launch -buckets +scanned_buckets launch -sorted ";
  EXPECT_EQ(phases(*published("RS")),
            "+keys +buckets +scanned_buckets +sorted " + pass + "+keys " + pass + "+keys " + pass + "+keys " + pass);
  EXPECT_EQ(phases(*published("SLA")), "+input +output +sums +level1_output +level1_sums +top_scan launch -output ");
  const auto dh = published("DH");
  std::vector<std::uint64_t> between;
  for (const Step& step : dh->steps()) {
    const auto* access = std::get_if<HostAccess>(&step);
    if (access != nullptr && access->bytes < 1 << 20) between.push_back(access->bytes / 4);
  }
  EXPECT_EQ(between, (std::vector<std::uint64_t>{4096, 4096, 4096, 8, 8})) << "the zeroes of the averages come first";
}

TEST(Umh, TheHostDoesNothingUnlessAskedTo) {
  for (const char* name : kPrograms) {
    const auto workload = make_workload(name, SizeClass::Small, {}, 1);
    EXPECT_EQ(workload->steps().size(), workload->launches().size()) << name;
  }
}

/// What a program's kernels do with the bytes of its buffers, in the order of workgroups.
class Footprint {
 public:
  explicit Footprint(const Workload& workload) : workload_(workload) {
    for (const Buffer& each : workload.buffers()) uses_.push_back({std::vector<bool>(each.bytes), false, false, false});
    for (std::size_t l = 0; l < workload.launches().size(); ++l) {
      const Launch& launch = workload.launches()[l];
      for (std::uint64_t group = 0; group < launch.groups(); ++group) {
        for (std::uint32_t w = 0; w < launch.waves(64); ++w) run(workload.wavefront(l, launch.wave(group, w, 64)));
      }
    }
  }

  bool loaded(std::size_t buffer) const { return uses_[buffer].loaded; }
  bool stored(std::size_t buffer) const { return uses_[buffer].stored; }
  /// Every byte in use was stored, and none was loaded before it.
  bool overwritten(std::size_t buffer) const {
    const auto used = static_cast<std::ptrdiff_t>(workload_.buffers()[buffer].used_bytes());
    const std::vector<bool>& written = uses_[buffer].written;
    return !uses_[buffer].loaded_before && std::count(written.begin(), written.begin() + used, true) == used;
  }

 private:
  struct Use {
    std::vector<bool> written;  ///< by byte
    bool loaded, stored, loaded_before;
  };

  void run(Stream stream) {
    LaneAddresses addresses;
    for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
      if (op.kind == OpKind::ScalarLoad) {
        touch(VirtAddr{op.address}, 4, false);
      } else if (op.kind == OpKind::Load || op.kind == OpKind::Store) {
        op.lanes(op.operation, 64, addresses);
        addresses.expand();
        for (std::uint64_t lanes = addresses.active; lanes != 0; lanes &= lanes - 1) {
          const VirtAddr address{addresses.address[static_cast<unsigned>(std::countr_zero(lanes))]};
          touch(address, op.bytes, op.kind == OpKind::Store);
        }
      }
    }
  }

  void touch(VirtAddr address, std::uint64_t bytes, bool stores) {
    std::size_t b = workload_.buffers().size() - 1;
    while (workload_.buffers()[b].base.value > address.value) --b;
    Use& use = uses_[b];
    (stores ? use.stored : use.loaded) = true;
    for (std::uint64_t at = address.value - workload_.buffers()[b].base.value; bytes > 0; ++at, --bytes) {
      if (stores) use.written.at(at) = true;
      use.loaded_before |= !stores && !use.written.at(at);
    }
  }

  const Workload& workload_;
  std::vector<Use> uses_;
};

TEST(Umh, BuffersSayWhatKernelsDoWithThem) {
  const std::map<std::string, std::vector<ParameterSetting>> smaller = {{"MM", {{"n", 128}}}, {"MT", {{"width", 256}}}};
  for (const char* name : kPrograms) {
    const auto found = smaller.find(name);
    const auto workload = make(name, found == smaller.end() ? std::vector<ParameterSetting>{} : found->second);
    const Footprint footprint(*workload);
    for (std::size_t b = 0; b < workload->buffers().size(); ++b) {
      const Buffer& buffer = workload->buffers()[b];
      EXPECT_EQ(footprint.loaded(b), buffer.kernels.reads) << name << " " << buffer.name;
      EXPECT_EQ(footprint.stored(b), buffer.kernels.writes) << name << " " << buffer.name;
      EXPECT_TRUE(!buffer.kernels.overwrites || footprint.overwritten(b)) << name << " " << buffer.name;
    }
  }
}

TEST(Umh, BlocksOfFourKilobytesAreTouchedByAsManyGpusAsCounted) {
  const auto gpus = [](std::string_view name, std::string_view of, std::vector<ParameterSetting> settings) {
    const auto workload = make(name, std::move(settings));
    const Census census = take_census(*workload, 4);
    const Buffer& pages = buffer(*workload, of);
    int most = 0;
    for (int by = 1; by <= 4; ++by) {
      if (pages_by(census, pages, by) > pages_of(pages) / 2) most = by;
    }
    return most;
  };
  EXPECT_EQ(gpus("BSch", "rand", {}), 4);
  EXPECT_EQ(gpus("DCT", "input", {}), 4);
  EXPECT_EQ(gpus("DH", "signal", {}), 2);
  EXPECT_EQ(gpus("Hist", "data", {{"width", 2048}}), 1);
  EXPECT_EQ(gpus("Hist", "bins", {{"width", 2048}}), 4);
  EXPECT_EQ(gpus("MTw", "seeds", {}), 4);
  EXPECT_EQ(gpus("RD", "input", {}), 1);
  EXPECT_EQ(gpus("RS", "keys", {{"n", 1 << 17}}), 1);
  EXPECT_EQ(gpus("RS", "sorted", {{"n", 1 << 17}}), 4);
  EXPECT_EQ(gpus("SF", "image", {{"width", 1024}}), 4);
  EXPECT_EQ(gpus("SLA", "input", {}), 4);
}

TEST(FloydWarshall, FindsTheShortestWays) {
  constexpr std::uint32_t kN = 48;
  const AllPairs pairs = floyd_warshall_rounds(kN, 1);
  const auto weights = draw_distances(kN, 1);
  // From every vertex by Bellman-Ford.
  for (std::uint32_t source = 0; source < kN; ++source) {
    std::vector<std::uint32_t> distance(weights.begin() + source * kN, weights.begin() + (source + 1) * kN);
    for (std::uint32_t round = 0; round < kN; ++round) {
      for (std::uint32_t v = 0; v < kN; ++v) {
        for (std::uint32_t u = 0; u < kN; ++u) distance[u] = std::min(distance[u], distance[v] + weights[v * kN + u]);
      }
    }
    for (std::uint32_t u = 0; u < kN; ++u) ASSERT_EQ(pairs.distance[source * kN + u], distance[u]);
  }
}

TEST(FloydWarshall, LoadsAreOfTheClosedFormAndStoresWhereAWayGotShorter) {
  const auto fw = make("FW");
  const AllPairs pairs = floyd_warshall_rounds(64, 1);
  std::uint64_t loads = 0, stores = 0, improved = 0;
  for (std::uint32_t k = 0; k < 64; ++k) {
    for (std::uint64_t group = 0; group < 16; ++group) {
      for (const auto& item : touches(*fw, k, group)) {
        loads += static_cast<std::uint64_t>(std::ranges::count(item, '+', &Touch::how));
        stores += static_cast<std::uint64_t>(std::ranges::count(item, '-', &Touch::how));
      }
    }
    for (std::uint64_t entry = 0; entry < 64 * 64; ++entry) improved += pairs.improved[k].has(entry);
  }
  EXPECT_EQ(loads, 3U * 64 * 64 * 64);
  EXPECT_EQ(stores, 2 * improved);
  EXPECT_NEAR(static_cast<double>(improved) / (64 * 64), 5, 1) << "updates of an element";
}

TEST(WalshTransform, TheStreamsTransform) {
  constexpr std::uint64_t kN = 512;
  const auto fwt = make("FWT", {{"n", kN}});
  const VirtAddr base = fwt->buffers()[0].base;
  std::vector<int> data(kN), before;
  for (std::uint64_t i = 0; i < kN; ++i) data[i] = static_cast<int>(i * 7 % 23);
  before = data;
  for (std::size_t l = 0; l < fwt->launches().size(); ++l) {
    for (const auto& item : touches(*fwt, l, 0)) {
      int& first = data.at((item.at(0).at.value - base.value) / 4);
      int& second = data.at((item.at(1).at.value - base.value) / 4);
      const int sum = first + second, difference = first - second;
      first = sum, second = difference;
    }
  }
  for (std::uint64_t i = 0; i < kN; ++i) {
    int expected = 0;
    for (std::uint64_t j = 0; j < kN; ++j) expected += std::popcount(i & j) % 2 == 0 ? before[j] : -before[j];
    ASSERT_EQ(data[i], expected) << i;
  }
}

TEST(RadixSort, Sorts) {
  const RadixSort sort = sort_by_radix(1 << 14, 1);
  auto expected = sort.keys;
  std::ranges::sort(expected);
  EXPECT_EQ(sort.sorted, expected);
  EXPECT_EQ(sort_by_radix(1 << 14, 1).keys, sort.keys);
  EXPECT_NE(sort_by_radix(1 << 14, 2).keys, sort.keys);
}

TEST(RadixSort, TheStreamsPutEveryKeyWhereItBelongs) {
  constexpr std::uint64_t kN = 1 << 14;
  const auto rs = make("RS", {{"n", kN}});
  const RadixSort sort = sort_by_radix(kN, 1);
  const VirtAddr keys = buffer(*rs, "keys").base, sorted = buffer(*rs, "sorted").base;
  std::vector<std::uint32_t> now = sort.keys, next(kN);
  for (std::size_t pass = 0; pass < 4; ++pass) {
    for (const auto& item : touches(*rs, 2 * pass + 1, 0)) {
      for (std::size_t i = 256; i < item.size(); i += 2) {
        next.at((item[i + 1].at.value - sorted.value) / 4) = now.at((item[i].at.value - keys.value) / 4);
      }
    }
    now = next;
  }
  EXPECT_EQ(now, sort.sorted);
}

TEST(RadixSort, TouchesTheLinesCounted) {
  const double n = 1 << 17;
  EXPECT_NEAR(static_cast<double>(lines("RS", {{"n", 1 << 17}})), 2'608'532, 0.01 * 2'608'532);
  const auto rs = make("RS", {{"n", 1 << 17}});
  Counter counter(*rs);
  for (std::uint64_t group = 0; group < rs->launches()[0].groups(); ++group) counter.group(0, group);
  EXPECT_EQ(static_cast<double>(counter.census().lines.total), 2 * n);
}

/// Scans with the streams' addresses: in each group the elements in order, the sum before each stored in its place.
TEST(ScanLargeArrays, TheStreamsAddUp) {
  constexpr std::uint64_t kN = 1 << 17;
  const auto sla = make("SLA", {{"n", kN}});
  std::map<VirtAddr, std::uint64_t> memory;
  const VirtAddr input = buffer(*sla, "input").base, output = buffer(*sla, "output").base;
  for (std::uint64_t i = 0; i < kN; ++i) memory[input + 4 * i] = i * 31 % 17;
  for (std::size_t l = 0; l < 5; ++l) {
    for (std::uint64_t group = 0; group < sla->launches()[l].groups(); ++group) {
      const Items items = touches(*sla, l, group);
      if (l < 3) {
        std::uint64_t sum = 0;
        for (const auto& item : items) {
          for (std::size_t which = 0; which < 2; ++which) {
            memory[item[item.size() - 2 + which].at] = sum;
            sum += memory.at(item[which].at);
          }
        }
        if (l < 2) memory[items[0].at(2).at] = sum;
      } else {
        const std::uint64_t addend = memory.at(items[0].at(0).at);
        for (const auto& item : items) memory.at(item.back().at) += addend;
      }
    }
  }
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < kN; ++i) {
    ASSERT_EQ(memory.at(output + 4 * i), sum) << i;
    sum += i * 31 % 17;
  }
}

TEST(HaarWavelet, EveryCoefficientIsStoredOnce) {
  const auto dh = make("DH", {{"n", 1 << 12}});
  const Buffer& coefficients = buffer(*dh, "coefficients");
  for (std::size_t l = 0; l < dh->launches().size(); ++l) {
    std::map<VirtAddr, int> stored;
    std::uint64_t length = 2 * dh->launches()[l].groups() * dh->launches()[l].size_x;
    for (std::uint64_t group = 0; group < dh->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*dh, l, group)) {
        for (const Touch& touch : item) {
          if (touch.how == '-' && touch.at < coefficients.base + coefficients.bytes) ++stored[touch.at];
        }
      }
    }
    EXPECT_EQ(stored.size(), length - dh->launches()[l].groups()) << "all but the averages that are left";
    EXPECT_TRUE(std::ranges::all_of(stored, [](const auto& each) { return each.second == 1; }));
  }
}

}  // namespace
}  // namespace nearfar::umh_test
