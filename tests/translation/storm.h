// Storms: many requests at once on structures that are as small as can be. Whatever happens, each request is answered
// once with a mapping that the oracle allows, time adds up, and nothing is left.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "translation/rig.h"

namespace nearfar {

struct Storm {
  RigOptions options;
  unsigned pages;
};

inline Storm make_storm(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  const PagePolicy policies[] = {PagePolicy::OnTouch, PagePolicy::FirstTouch, PagePolicy::AccessCounter,
                                 PagePolicy::Replication};
  Storm storm{RigOptions::mmu(one_of({2, 3, 4}), policies[seed % 4]), one_of({2, 5, 20})};
  RigOptions& o = storm.options;
  o.l2_tlb = {{{one_of({1, 2, 8}), 1, 10}, one_of({0, 1})}, one_of({1, 2, 8})};
  o.gmmu.gmmu.walkers = one_of({1, 2});
  o.gmmu.gmmu.queue = one_of({1, 2});
  o.gmmu.gmmu.ingress = one_of({1, 2, 64});
  o.gmmu.gmmu.cache.entries = one_of({0, 2, 128});
  o.gmmu.gmmu.replay = one_of({0, 1}) == 0 ? Replay::Full : Replay::Short;
  o.gmmu.how = one_of({0, 0, 1}) == 0 ? InvalidateHow::Walk : InvalidateHow::ZeroLatency;
  o.gmmu.before_transfer = one_of({0, 50});
  o.gmmu.gmmu.update = random() % 3 == 0 ? UpdateHow::ZeroLatency : UpdateHow::Walk;
  o.host.uvm.migration.retention = random() % 4 == 0 ? 5'000 : 0;
  o.gmmu.gmmu.cache.level_bits = random() % 2 == 0 ? 9 : 3;
  o.host.mmu.walkers = one_of({1, 2});
  o.host.mmu.queue = one_of({1, 2});
  o.host.mmu.tlb = {one_of({1, 2, 64}), 1, 20};
  o.host.uvm.uvm.batch_size = one_of({1, 3, 256});
  o.host.uvm.uvm.batch_fixed = one_of({0, 100});
  o.host.uvm.uvm.per_fault = one_of({0, 7});
  o.host.uvm.uvm.replay = seed % 3 == 0 ? BatchReplay::PerBatch : BatchReplay::PerFault;
  o.host.uvm.uvm.concurrent_migrations = one_of({1, 2, 256});
  o.host.uvm.invalidate.targets = one_of({0, 1}) == 0 ? InvalidateTargets::Auto : InvalidateTargets::Broadcast;
  if (one_of({0, 1}) == 0) {
    o.host.uvm.gpu_pages = one_of({1, 2, 4});
    o.host.uvm.migration.evict = true;
  }
  o.gmmu.size.bits = one_of({0, 0, kLargePageBits});
  const CounterRegion regions[] = {CounterRegion::Page, CounterRegion::Of64K, CounterRegion::Of2M};
  o.counter_region = regions[one_of({0, 1, 2})];
  return storm;
}

/// A compute unit that has an answer uses it for a while: the page must not leave meanwhile.
inline void use_answers(Rig& rig, std::mt19937_64& random) {
  rig.on_answer = [&](const Answer& answer) {
    PageAccessTracker& frames = rig.frames(answer.gpu);
    const PhysPage frame = answer.mapping.page;
    frames.enter(frame, 1);
    if (frame.device().value != answer.gpu) frames.count_remote(frame, 1);
    rig.at(answer.gpu, rig.partition(answer.gpu).now() + 1 + random() % 400,
           [&frames, frame] { frames.leave(frame, 1); });
  };
}

/// Sends a storm through a rig and looks at what it leaves behind. `still_hidden` says how many invalidations of a GPU
/// have not reached its table, and `hidden` whether that of a page has not. With `exact` the host knows of no holder
/// too many.
inline void expect_weathered(Rig& rig, const Storm& storm, std::uint64_t seed, bool exact = true,
                             const std::function<std::uint64_t(unsigned)>& still_hidden = {},
                             const std::function<bool(unsigned, PageKey)>& hidden = {}) {
  std::mt19937_64 random(seed * 77 + 1);
  const unsigned requests = 400;
  const Cycle spread = random() % 2 == 0 ? 2'000 : 200'000;
  for (unsigned i = 0; i < requests; ++i) {
    rig.ask(static_cast<unsigned>(random() % storm.options.gpus), random() % storm.pages, random() % spread,
            random() % 3 == 0, i);
  }
  use_answers(rig, random);
  rig.line_pending = [&] { return random() % 3 == 0; };
  rig.run();
  EXPECT_EQ(rig.answers.size(), requests);
  EXPECT_TRUE(rig.idle());
  EXPECT_EQ(rig.all_parts(), rig.latency());
  std::uint64_t invalidations = 0;
  for (unsigned g = 0; g < storm.options.gpus; ++g) {
    GmmuStats& stats = rig.gmmu(g).stats();
    invalidations += stats.invalidations;
    EXPECT_EQ(stats.invalidations, stats.necessary + stats.unnecessary + (still_hidden ? still_hidden(g) : 0));
    EXPECT_EQ(rig.frames(g).outstanding(), 0U);
  }
  EXPECT_EQ(invalidations, rig.uvm().invalidations_sent);
  // The host's record and table agree, and so do the GPUs' tables.
  for (unsigned p = 0; p < storm.pages; ++p) {
    const PageKey page{0, p};
    const PageRecord& record = rig.host().driver().record(page);
    EXPECT_FALSE(record.moving);
    EXPECT_EQ(rig.host().table(0).read(p).page(), record.owner);
    for (unsigned g = 0; g < storm.options.gpus; ++g) {
      Pte entry = rig.gmmu(g).table(0).read(p);
      if (hidden && hidden(g, page)) entry.invalidate();
      EXPECT_EQ(exact ? entry.valid() : record.holders.test(g), record.holders.test(g)) << "page " << p << " GPU " << g;
      if (!entry.valid()) continue;
      EXPECT_TRUE(record.holders.test(g)) << "page " << p << " GPU " << g;
      EXPECT_EQ(entry.page(), record.copy_for(DeviceId{static_cast<std::uint16_t>(g)}));
    }
  }
}

}  // namespace nearfar
