// Counts on the system `mgpusim-r9nano` against those of MGPUSim, where its MSHR hits count as hits: numbers that it
// reports, and a plain count by its rules of what the programs' streams touch (docs/correlation.md).
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

#include "gpu/coalescer.h"
#include "machine/script.h"
#include "program/split.h"
#include "workload/catalog.h"

namespace nearfar::correlation_test {
namespace {

constexpr unsigned kGpus = 4, kUnits = 64, kUnitsOfArray = 4;
constexpr std::uint64_t kLine = 64;

struct Counts {
  std::uint64_t l1_loads = 0, l1_misses = 0, l1_tlb_misses = 0;  ///< of vector accesses
  std::uint64_t scalar_misses = 0, scalar_tlb_misses = 0;
  std::uint64_t l2_tlb_requests = 0, l2_reads = 0, l2_writes = 0, remote = 0;

  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << "L1 " << counts.l1_loads << " loads " << counts.l1_misses << " misses, TLB " << counts.l1_tlb_misses
             << "; scalar " << counts.scalar_misses << " misses, TLB " << counts.scalar_tlb_misses << "; L2 TLB "
             << counts.l2_tlb_requests << ", L2 " << counts.l2_reads << " reads " << counts.l2_writes << " writes, "
             << counts.remote << " remote";
}

/// What MGPUSim counts where nothing is evicted: pages lie on the GPUs in turn; workgroups go to GPUs in runs and to
/// their compute units in turn; a cache or TLB misses what it is asked for the first time, and keeps it over launches.
class PlainCount {
 public:
  explicit PlainCount(const Workload& workload) : workload_(workload) {
    std::uint64_t next = 0;
    for (const Buffer& buffer : workload.buffers()) {
      const std::uint64_t first = page_of(buffer.base).value;
      homes_.resize(first - kFirst + (buffer.bytes + kPageBytes - 1) / kPageBytes);
      // Of a table of which each GPU could have its own there is one, the first GPU's.
      for (std::uint64_t p = first - kFirst; p < homes_.size(); ++p) {
        homes_[p] = buffer.placement == Placement::Private ? 0 : next++ % kGpus;
      }
    }
    for (std::size_t l = 0; l < workload.launches().size(); ++l) count_launch(l);
    counts_.l2_tlb_requests = counts_.l1_tlb_misses + counts_.scalar_tlb_misses;
    counts_.l2_reads = counts_.l1_misses + counts_.scalar_misses;
  }

  const Counts& counts() const { return counts_; }

 private:
  static constexpr std::uint64_t kFirst = kFirstBuffer.value / kPageBytes;

  struct Held {
    std::set<std::uint64_t> lines, pages;
  };

  void count_launch(std::size_t l) {
    const Launch& launch = workload_.launches()[l];
    for (unsigned gpu = 0; gpu < kGpus; ++gpu) {
      const Share share(launch, Split::Blocks, gpu, kGpus, kUnits);
      std::set<unsigned> arrays;
      for (std::uint64_t i = 0; i < share.size(); ++i) {
        const unsigned unit = next_unit_[gpu]++ % kUnits;
        arrays.insert(unit / kUnitsOfArray);
        for (std::uint32_t w = 0; w < launch.waves(64); ++w) {
          count_wave(workload_.wavefront(l, launch.wave(share[i], w, 64)), gpu, unit);
        }
      }
      // Every array reads its launch's dispatch packet and kernel arguments, a line each in pages of their own.
      counts_.scalar_misses += 2 * arrays.size();
      counts_.scalar_tlb_misses += 2 * arrays.size();
    }
  }

  void count_wave(Stream stream, unsigned gpu, unsigned unit) {
    for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
      if (op.kind == OpKind::ScalarLoad) count_scalar(op.address, gpu, unit / kUnitsOfArray);
      if (op.kind != OpKind::Load && op.kind != OpKind::Store) continue;
      op.lanes(op.operation, 64, lanes_);
      for (const PageGroup& group : coalescer_.loads(lanes_, op.bytes)) {
        counts_.l1_tlb_misses += units_[gpu][unit].pages.insert(group.page.value).second ? 1 : 0;
        for (std::uint64_t lines = group.lines; lines != 0; lines &= lines - 1) {
          const std::uint64_t in_page = static_cast<std::uint64_t>(std::countr_zero(lines));
          count_line(op.kind, group.page.value * (kPageBytes / kLine) + in_page, gpu, unit);
        }
      }
    }
  }

  void count_line(OpKind kind, std::uint64_t line, unsigned gpu, unsigned unit) {
    const bool remote = home(line * kLine) != gpu;
    if (kind == OpKind::Store) {
      ++counts_.l2_writes;
      counts_.remote += remote ? 1 : 0;
      return;
    }
    ++counts_.l1_loads;
    if (!units_[gpu][unit].lines.insert(line).second) return;
    ++counts_.l1_misses;
    counts_.remote += remote ? 1 : 0;
  }

  void count_scalar(std::uint64_t address, unsigned gpu, unsigned array) {
    Held& held = arrays_[gpu][array];
    counts_.scalar_tlb_misses += held.pages.insert(address / kPageBytes).second ? 1 : 0;
    if (!held.lines.insert(address / kLine).second) return;
    ++counts_.scalar_misses;
    counts_.remote += home(address) != gpu ? 1 : 0;
  }

  std::uint64_t home(std::uint64_t address) const { return homes_.at(address / kPageBytes - kFirst); }

  const Workload& workload_;
  std::vector<std::uint64_t> homes_;  ///< by page from the first buffer on
  std::array<std::array<Held, kUnits>, kGpus> units_;
  std::array<std::array<Held, kUnits / kUnitsOfArray>, kGpus> arrays_;
  std::array<unsigned, kGpus> next_unit_{};
  Coalescer coalescer_{64};
  LaneAddresses lanes_;
  Counts counts_;
};

std::shared_ptr<const Workload> program(const char* name, std::vector<ParameterSetting> settings) {
  return make_workload(name, SizeClass::Small, settings, 1);
}

/// The same counts of a run: a load that merges with a pending line or page is a hit.
Counts measured(const std::shared_ptr<const Workload>& workload) {
  const Outcome run = simulate(test_system({}, "mgpusim-r9nano"), {workload});
  const auto count = [&](const char* name) { return run.count(std::string("gpus.") + name); };
  return {.l1_loads = count("l1v.load_lines"),
          .l1_misses = count("l1v.load_lines") - count("l1v.load_hits") - count("l1v.merges"),
          .l1_tlb_misses = count("l1_tlb.misses") - count("l1_tlb.merges"),
          .scalar_misses = count("l1s.load_lines") - count("l1s.load_hits") - count("l1s.merges"),
          .scalar_tlb_misses = count("scalar_tlb.misses") - count("scalar_tlb.merges"),
          .l2_tlb_requests = count("l2_tlb.lookups"),
          .l2_reads = count("l2.reads"),
          .l2_writes = count("l2.writes"),
          .remote = count("l2.remote_requests")};
}

std::uint64_t l1_read_hits(const char* name, std::vector<ParameterSetting> settings) {
  const Counts counts = measured(program(name, std::move(settings)));
  return counts.l1_loads - counts.l1_misses;
}

const std::vector<ParameterSetting> kKm = {{"points", 16384}, {"features", 4}, {"clusters", 3}, {"iterations", 1}};

// MGPUSim's size of ST leaves out the border.
TEST(Correlation, L1ReadHitsAreThoseThatMgpusimReports) {
  EXPECT_EQ(l1_read_hits("FIR", {{"n", 65536}}), 76544U);
  EXPECT_EQ(l1_read_hits("KM", kKm), 20480U);
  EXPECT_EQ(l1_read_hits("SC", {{"width", 254}, {"height", 254}}), 29679U);
  EXPECT_EQ(l1_read_hits("ST", {{"rows", 514}, {"columns", 514}, {"iterations", 1}}), 9216U);
  EXPECT_EQ(l1_read_hits("MT", {{"width", 1024}}), 0U);
}

TEST(Correlation, MissesAndRemoteAccessesOfMtAreThoseThatMgpusimReports) {
  const Counts counts = measured(program("MT", {{"width", 1024}}));
  EXPECT_EQ(counts.l1_misses, 65536U);
  EXPECT_EQ(counts.remote, 98304U);
}

TEST(Correlation, CountsAreThoseOfThePlainCount) {
  const std::pair<const char*, std::vector<ParameterSetting>> programs[] = {
      {"FIR", {{"n", 65536}}},
      {"KM", kKm},
      {"MT", {{"width", 1024}}},
      {"PR", {{"n", 1024}, {"m", 10485}, {"iterations", 1}}},
      {"ReLU", {{"n", 65536}}},
      {"BFS", {{"n", 1024}, {"m", 2048}}},
      {"SC", {{"width", 254}, {"height", 254}}},
      {"SpMV", {{"n", 1024}, {"m", 2048}}},
      {"ST", {{"rows", 514}, {"columns", 514}, {"iterations", 1}}},
      {"ST", {{"rows", 258}, {"columns", 258}, {"iterations", 3}}}};
  for (const auto& [name, settings] : programs) {
    const auto workload = program(name, settings);
    EXPECT_EQ(measured(workload), PlainCount(*workload).counts()) << name;
  }
}

}  // namespace
}  // namespace nearfar::correlation_test
