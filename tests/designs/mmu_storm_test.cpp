// Trans-FW, IDYLL and their combinations in storms: small tables, full buffers, every policy.
#include "designs/mmu_parts.h"
#include "translation/storm.h"

namespace nearfar::mmu_storm_test {
namespace {

class StormOfDesigns : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, StormOfDesigns, ::testing::Range<std::uint64_t>(0, 240));

TEST_P(StormOfDesigns, AnswersEveryRequestOnce) {
  const std::uint64_t seed = GetParam();
  Storm storm = make_storm(seed);
  std::mt19937_64 random(seed * 31 + 5);
  const auto one_of = [&](std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  // Each half of each design alone, and each of their combinations.
  const unsigned combination = 1 + static_cast<unsigned>(seed / 4 % 15);
  const bool with_prt = (combination & 1) != 0;
  const bool with_ft = (combination & 2) != 0;
  const bool with_irmb = (combination & 4) != 0;
  const bool with_directory = (combination & 8) != 0;
  if (with_irmb) storm.options.gmmu.how = InvalidateHow::Walk;
  const unsigned gpus = storm.options.gpus;
  Rig rig(storm.options, 0, 64);
  MmuParts parts;
  if (with_prt) {
    PrtSpec spec;
    spec.filter.buckets = one_of({1, 2, 5});
    spec.filter.slots = one_of({1, 2});
    spec.filter.fingerprint_bits = one_of({1, 3, 12});
    spec.filter.counters = one_of({1, 4});
    spec.filter.counter_bits = one_of({1, 8});
    const FilterOverflow policies[] = {FilterOverflow::Conservative, FilterOverflow::Drop, FilterOverflow::Exact};
    spec.filter.overflow = policies[one_of({0, 0, 1, 2})];
    spec.region_pages = one_of({1, 1, 4});
    spec.latency = one_of({0, 1, 7});
    parts.add_prt(rig, gpus, spec);
  }
  if (with_ft) {
    FtSpec spec;
    spec.filter.buckets = one_of({1, 8, 1000});
    spec.filter.fingerprint_bits = one_of({2, 12});
    spec.threshold_percent = one_of({0, 0, 50});
    spec.hash_latency = one_of({0, 1, 30});
    spec.track = one_of({0, 1}) == 0 ? FtTrack::Owner : FtTrack::Holders;
    spec.probe_l2_tlb = one_of({0, 1}) == 1;
    parts.add_ft(rig, gpus, spec);
  }
  if (with_irmb) {
    IrmbSpec spec;
    spec.bases = one_of({1, 2, 32});
    spec.offsets = one_of({1, 2, 16});
    spec.writeback_buffers = one_of({1, 2});
    spec.idle_writeback = one_of({0, 1}) == 1;
    parts.add_irmb(rig, gpus, spec);
  }
  if (with_directory && one_of({0, 1}) == 0) {
    parts.add_directory(rig, gpus, {one_of({1, 2, 11})});
  } else if (with_directory) {
    const unsigned entries = one_of({1, 2, 64});
    parts.add_vm_table(rig, gpus, {entries, 1, 2, 100});
  }
  // Links of different lengths let answers overtake one another.
  for (unsigned d = 0; d <= gpus; ++d) {
    rig.wire(d).slow_to = DeviceId{static_cast<std::uint16_t>(random() % (gpus + 1))};
    rig.wire(d).slow = kLink + random() % 700;
  }
  const auto still_hidden = [&](unsigned g) { return with_irmb ? parts.irmb[g]->pending() : 0; };
  const auto hidden = [&](unsigned g, PageKey page) { return with_irmb && parts.irmb[g]->hides(page); };
  expect_weathered(rig, storm, seed, !with_ft, still_hidden, hidden);
  if (with_ft) {
    const FtStats& stats = parts.ft->stats();
    EXPECT_EQ(stats.forwards, stats.successes + stats.failures);
  }
  for (unsigned g = 0; g < gpus && with_directory && parts.directory != nullptr; ++g) {
    for (unsigned p = 0; p < storm.pages; ++p) {
      const PageKey page{0, p};
      if (!rig.gmmu(g).usable(page).valid()) continue;
      EXPECT_NE(rig.host().access_bits(page), 0U) << "page " << p << " GPU " << g;
    }
  }
}

}  // namespace
}  // namespace nearfar::mmu_storm_test
