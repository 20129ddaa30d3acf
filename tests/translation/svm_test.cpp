// The IOMMU of the shared-virtual-memory system: two levels of TLB, a bounded buffer, and back-pressure at its input.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "sim/engine.h"
#include "translation/iommu/iommu.h"
#include "translation/message.h"
#include "translation/page_event.h"

namespace nearfar::svm_test {
namespace {

/// Page-table reads take 100 cycles and nothing else takes any, unless a test says so.
class SvmBench final : public IommuClient {
 public:
  explicit SvmBench(const IommuSpec& spec)
      : engine_(1),
        iommu_(engine_.partition(0), spec, {WalkTiming::FixedLevel, 100, 0}, {4, UpperLevels::Prebuilt}, true, *this,
               nullptr) {
    table_ = std::make_unique<PageTable>(4, PageSize{}, [this] { return PhysPage{DeviceId{0}, frames_++}; });
  }
  static IommuSpec spec() {
    IommuSpec spec;
    spec.walkers = 1;
    spec.cache.latency = 0;
    spec.cache.by_level = true;
    spec.tlb = {{256, 8, 0}, 0};
    spec.l1_tlb = {32, 32, 0};
    return spec;
  }
  /// Pages in 4 TiB regions of their own share nothing.
  static std::uint64_t cold(std::uint64_t i) { return i << 30; }

  void ask(std::uint64_t page, Cycle when) {
    table_->write(page, Pte::leaf({PhysPage{DeviceId{0}, page & 0xff}, true, 0}, false));
    auto* event = engine_.partition(0).pool().allocate<PageEvent>();
    event->page = PageKey{0, page};
    engine_.partition(0).schedule(event, ask_, when);
  }
  void run() {
    iommu_.set_table(0, std::move(table_));
    Engine::Options options;
    options.window = 1000;
    ASSERT_EQ(engine_.run(options), Engine::Outcome::Drained);
    EXPECT_TRUE(iommu_.idle());
  }
  void iommu_answers(DeviceId, PageKey page, const Mapping*, std::uint32_t) override {
    done[page.number()] = engine_.partition(0).now();
  }
  Iommu& iommu() { return iommu_; }
  std::map<std::uint64_t, Cycle> done;

 private:
  void on_ask(PageEvent* event) {
    const PageKey page = event->page;
    engine_.partition(0).pool().release(event);
    Message message;
    message.kind = MessageKind::AtsRequest;
    message.page = page;
    message.from = DeviceId{0};
    message.stamp = static_cast<std::uint32_t>(engine_.partition(0).now());
    iommu_.request(message);
  }
  Engine engine_;
  std::uint64_t frames_ = 1;
  std::unique_ptr<PageTable> table_;
  Iommu iommu_;
  HandlerId ask_ = engine_.partition(0).add_handler<&SvmBench::on_ask>(this);
};

TEST(SvmIommu, FullBufferHoldsUpEverythingBehind) {
  IommuSpec spec = SvmBench::spec();
  spec.queue = 2;
  SvmBench bench(spec);
  const std::uint64_t held = SvmBench::cold(9);
  bench.ask(held, 0);
  for (std::uint64_t i = 0; i < 4; ++i) bench.ask(SvmBench::cold(i), 1000 + i);
  bench.ask(held, 1004);
  bench.run();
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(bench.done.at(SvmBench::cold(i)), 1400 + 400 * i);
  EXPECT_EQ(bench.done.at(held), 1400U) << "a hit behind a request that waits for a place";
}

TEST(SvmIommu, WaitingForAPlaceIsNotPutToTheLookup) {
  IommuSpec spec = SvmBench::spec();
  spec.queue = 2;
  spec.l1_tlb = {32, 32, 4};
  spec.tlb = {{256, 8, 16}, 0};
  SvmBench bench(spec);
  for (std::uint64_t i = 0; i < 6; ++i) bench.ask(SvmBench::cold(i), 1000);
  bench.run();
  const auto part = [&](LatencyComponent which) {
    return bench.iommu().parts().total().parts[static_cast<std::size_t>(which)];
  };
  EXPECT_EQ(part(LatencyComponent::IommuTlb), 6U * 20);
  EXPECT_EQ(part(LatencyComponent::IommuWalk), 6U * 400);
  EXPECT_EQ(part(LatencyComponent::IommuQueue), 400U * (1 + 2 + 3 + 4 + 5));
}

TEST(SvmIommu, EachFreePlaceLetsOneRequestIn) {
  IommuSpec spec = SvmBench::spec();
  spec.queue = 2;
  SvmBench bench(spec);
  const std::uint64_t held = SvmBench::cold(9);
  bench.ask(held, 0);
  for (std::uint64_t i = 0; i < 5; ++i) bench.ask(SvmBench::cold(i), 1000 + i);
  bench.ask(held, 1005);
  bench.run();
  EXPECT_EQ(bench.done.at(held), 1800U) << "behind two that wait: they get in one by one";
}

TEST(SvmIommu, HitsCostTheLevelsTheyPass) {
  IommuSpec spec = SvmBench::spec();
  spec.l1_tlb = {1, 1, 4};
  spec.tlb = {{256, 8, 16}, 0};
  SvmBench bench(spec);
  bench.ask(1, 0);     // a walk: 20 + 400
  bench.ask(1, 1000);  // in the first level
  bench.run();
  EXPECT_EQ(bench.done.at(1), 1004U);

  SvmBench both(spec);
  both.ask(1, 0);
  both.ask(2, 1000);  // takes the place in the first level
  both.ask(1, 2000);  // in the second, and again in the first
  both.ask(1, 3000);
  both.run();
  EXPECT_EQ(both.done.at(1), 3004U);
  EXPECT_EQ(both.iommu().stats().all.hits, 2U);
  EXPECT_EQ(both.iommu().stats().l1_hits, 1U);
}

}  // namespace
}  // namespace nearfar::svm_test
