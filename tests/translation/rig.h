// Translation alone, with the real parts of GPUs and host and links of unlimited bandwidth: a message takes the link's
// latency, a 4 KiB page 128 cycles more. Requests are asked for at given cycles; answers come back with theirs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/engine.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"
#include "translation/host_mmu/host_mmu.h"
#include "translation/iommu/iommu.h"
#include "translation/iommu/iommu_ports.h"
#include "translation/iommu/page_requests.h"

namespace nearfar {

inline constexpr Cycle kLink = 150;
inline constexpr std::uint32_t kThreshold = 4;  // of access counters

/// Sends messages straight to the other partition.
class Wire : public Messenger {
 public:
  Wire(Partition& partition, PageSize size, Cycle latency = kLink)
      : slow(latency), partition_(partition), size_(size), latency_(latency) {}
  void send(DeviceId to, const Message& message) override {
    auto* packet = partition_.pool().allocate<TranslationPacket>();
    Message sent = message;
    sent.from = partition_.device();
    sent.put(*packet);
    Cycle page = message.kind == MessageKind::Data ? size_.bytes() / 32 : 0;
    if (traits_of(message.kind).table_page) page = kPageBytes / 32;
    partition_.post(packet, to, MessagePort::Network, partition_.now() + (to == slow_to ? slow : latency_) + page);
  }
  DeviceId slow_to{0xff};  ///< a device that messages reach after `slow` cycles
  Cycle slow;

 private:
  Partition& partition_;
  PageSize size_;
  Cycle latency_;
};

struct Answer {
  unsigned gpu = 0;
  unsigned cu = 0;
  PageKey page;
  Cycle when = 0;
  Mapping mapping;
};

struct RigOptions {
  unsigned gpus = 1;
  GmmuOptions gmmu;
  HostMmuOptions host;
  TlbSpec l2_tlb{{{512, 16, 10}, 0}, 256};
  IommuSpec iommu;
  bool ats = false;
  Cycle link = kLink;  ///< one way
  CounterRegion counter_region = CounterRegion::Page;
  Cycle host_level = 0;  ///< cycles of a host walk's access; 0: as a GPU's

  static RigOptions mmu(unsigned gpus, PagePolicy policy = PagePolicy::OnTouch) {
    RigOptions o;
    o.gpus = gpus;
    o.gmmu.host = o.host.uvm.host = DeviceId{static_cast<std::uint16_t>(gpus)};
    o.host.uvm.gpus = gpus;
    o.host.uvm.policy = policy;
    o.host.uvm.uvm.batch_fixed = 0;
    o.host.uvm.gpu_pages = 1'000'000;
    o.gmmu.gmmu.walkers = 8;
    return o;
  }
  static RigOptions with_iommu(unsigned gpus, PagePolicy policy = PagePolicy::Pinned) {
    RigOptions o = mmu(gpus, policy);
    o.ats = true;
    o.iommu.tlb.lookups_per_cycle = 0;
    o.gmmu.walk = {WalkTiming::FixedTotal, 100, 500};
    o.gmmu.table.levels = 4;
    return o;
  }
  /// Instances of one GPU with pages of 64 KiB: L2 TLBs and an L3 TLB of so many fully associative entries with 16
  /// sub-entries, a crossbar of 10 cycles each way, and walks of 100 cycles a level.
  static RigOptions instances(unsigned count, std::uint32_t l2, std::uint32_t l3) {
    RigOptions o = with_iommu(count);
    o.link = 10;
    o.gmmu.size = PageSize{kMediumPageBits};
    o.gmmu.walk = {WalkTiming::FixedLevel, 100, 500};
    o.gmmu.table.levels = 5;
    o.l2_tlb.entries = o.l2_tlb.ways = l2;
    o.iommu.tlb.entries = o.iommu.tlb.ways = l3;
    o.iommu.tlb.latency = 10;
    o.l2_tlb.sub_entries = o.iommu.tlb.sub_entries = 16;
    o.iommu.cache.page_bits = kMediumPageBits;
    return o;
  }
};

class Rig {
 public:
  /// Pages [first, first + count) of each process belong to buffers.
  explicit Rig(const RigOptions& options, std::uint64_t first = 0, std::uint64_t count = 1 << 16,
               unsigned processes = 1)
      : options_(options), frames_(options.gpus + 1, options.gmmu.size), engine_(options.gpus + 1) {
    for (unsigned g = 0; g < options.gpus; ++g) {
      gpus_.push_back(std::make_unique<GpuSide>(*this, engine_.partition(g), options, oracle_));
    }
    host_ = std::make_unique<HostSide>(*this, engine_.partition(options.gpus), options, frames_, oracle_);
    for (unsigned p = 0; p < processes; ++p) {
      const auto pid = static_cast<Pid>(p);
      if (options.ats) {
        host_->iommu->set_table(pid, table(host_device(), first, count));
        if (host_->requests) host_->requests->driver().add_process(pid, first, count);
        for (std::uint64_t n = 0; n < count; ++n) {
          if (host_->requests) {
            PageRecord& record = host_->requests->driver().new_record({pid, first + n});
            record.exists = true;
            record.owner = PhysPage{host_device(), n};
            continue;
          }
          const Mapping mapping{PhysPage{DeviceId{0}, n}, true, 0};
          host_->iommu->host_table(pid).write(first + n, Pte::leaf(mapping, false));
          oracle_.granted(TranslationOracle::kEveryGpu, {pid, first + n}, mapping);
        }
        continue;
      }
      host_->mmu->add_process(pid, table(host_device(), first, count), first, count);
      for (auto& gpu : gpus_) gpu->gmmu->set_table(pid, table(gpu->partition.device(), first, count));
      for (std::uint64_t n = first; n < first + count; ++n) {
        const PageKey key{pid, n};
        PageRecord& record = host_->mmu->driver().new_record(key);
        record.exists = true;
        record.owner = PhysPage{host_device(), (n - first) * options.gmmu.size.frames()};
        host_->mmu->publish_at_start(key);
      }
    }
  }

  DeviceId host_device() const { return DeviceId{static_cast<std::uint16_t>(options_.gpus)}; }
  HostMmu& host() { return *host_->mmu; }
  Iommu& iommu() { return *host_->iommu; }
  UvmStats& uvm() { return host_->mmu ? host_->mmu->driver().stats() : host_->requests->driver().stats(); }
  Gmmu& gmmu(unsigned g) { return *gpus_[g]->gmmu; }
  L2Tlb& l2(unsigned g) { return *gpus_[g]->tlb; }
  PageAccessTracker& frames(unsigned g) { return *gpus_[g]->frames; }
  Partition& partition(unsigned g) { return engine_.partition(g); }
  Wire& wire(unsigned device) { return device < options_.gpus ? gpus_[device]->wire : host_->wire; }
  /// Parts of designs in a device; they see its messages first. To be added before pages are placed.
  DesignComponents& parts(unsigned device) { return device < options_.gpus ? gpus_[device]->parts : host_->parts; }

  /// A page starts on a GPU, mapped there.
  void own(unsigned g, std::uint64_t number, Pid pid = 0) {
    const PageKey key{pid, number};
    PageRecord& record = host().driver().new_record(key);
    record.exists = true;
    record.owner = frames_.take(DeviceId{static_cast<std::uint16_t>(g)});
    host().driver().note_resident(key, record.owner);
    map(g, number, pid);
    host().publish_at_start(key);
  }
  /// A GPU has a mapping of a page where it lies.
  void map(unsigned g, std::uint64_t number, Pid pid = 0) {
    const PageRecord& record = host().driver().record({pid, number});
    host().driver().note_holder({pid, number}, DeviceId{static_cast<std::uint16_t>(g)});
    gmmu(g).write_mapping({pid, number}, {record.owner, true, record.epoch});
  }
  /// The walk cache has the entry above the leaf.
  void warm(unsigned g, std::uint64_t number) {
    gmmu(g).walkers().cache().fill(PageKey{0, number}, leaf(), leaf() + 1);
  }
  void warm_host(std::uint64_t number) { host().walkers().cache().fill(PageKey{0, number}, leaf(), leaf() + 1); }

  /// Lookup in the L1 TLB of `cu` starts at `when` and misses.
  void ask(unsigned g, std::uint64_t number, Cycle when, bool write = false, unsigned cu = 0, Pid pid = 0) {
    at(g, when, [=, this] { l2(g).request(cu, PageKey{pid, number}, write, partition(g).now() + 1); });
  }
  /// As many accesses of a GPU leave it for a page elsewhere as fill its counter.
  void fill_counter(unsigned g, std::uint64_t number, Cycle when) {
    const PhysPage frame = host().driver().record({0, number}).owner;
    at(g, when, [this, g, frame] { frames(g).count_remote(frame, kThreshold); });
  }
  /// Runs `action` in a device's partition.
  void at(unsigned device, Cycle when, std::function<void()> action) {
    actions_.push_back(std::move(action));
    Partition& p = engine_.partition(device);
    auto* event = p.pool().allocate<IndexEvent>();
    event->index = static_cast<std::uint32_t>(actions_.size() - 1);
    p.schedule(event, device < options_.gpus ? gpus_[device]->action_handler : host_->action_handler, when);
  }

  void run() {
    Engine::Options options;
    options.window = options_.link;
    options.watchdog = 10'000'000;
    ASSERT_EQ(engine_.run(options), Engine::Outcome::Drained);
  }
  /// Nothing is left anywhere.
  bool idle() {
    for (auto& gpu : gpus_) {
      if (!gpu->tlb->idle() || (gpu->gmmu && !gpu->gmmu->idle()) || gpu->partition.pool().live() != 0) return false;
      if (!gpu->parts.idle()) return false;
      gpu->parts.check();
    }
    host_->parts.check();
    return (!host_->mmu || host_->mmu->idle()) && (!host_->iommu || host_->iommu->idle()) &&
           (!host_->requests || host_->requests->idle()) && host_->parts.idle() && host_->partition.pool().live() == 0;
  }

  /// When the answer to the only request of a page by a GPU (and compute unit) came; 0 when none did.
  Cycle answered(unsigned g, std::uint64_t number, unsigned cu = 0, Pid pid = 0) const {
    Cycle last = 0;
    for (const Answer& a : answers) {
      if (a.gpu == g && a.cu == cu && a.page == PageKey{pid, number}) last = a.when;
    }
    return last;
  }
  Mapping mapping_of(unsigned g, std::uint64_t number) const {
    Mapping last;
    for (const Answer& a : answers) {
      if (a.gpu == g && a.page == PageKey{0, number}) last = a.mapping;
    }
    return last;
  }
  std::uint64_t part(LatencyComponent part) const {
    const auto p = static_cast<std::size_t>(part);
    std::uint64_t sum = (host_->mmu ? host_->mmu->parts() : host_->iommu->parts()).total().parts[p];
    for (const auto& gpu : gpus_) sum += gpu->tlb->miss_stats().parts[p];
    return sum;
  }
  std::uint64_t latency() const {
    std::uint64_t sum = 0;
    for (const auto& gpu : gpus_) sum += gpu->tlb->miss_stats().latency;
    return sum;
  }
  /// What components add up to: less what answers that were not used had in them.
  std::uint64_t all_parts() const {
    std::uint64_t sum = 0;
    for (const auto& gpu : gpus_) sum -= gpu->tlb->miss_stats().discarded;
    for (std::size_t p = 0; p < kLatencyComponents; ++p) sum += part(static_cast<LatencyComponent>(p));
    return sum;
  }

  std::vector<Answer> answers;
  std::function<void(const Answer&)> on_answer;
  std::function<bool()> line_pending;  ///< whether a page that is to leave a device has a line under way there

 private:
  struct GpuSide final : TranslationClient, PageCaches {
    GpuSide(Rig& r, Partition& p, const RigOptions& o, TranslationOracle& oracle)
        : rig(r),
          partition(p),
          wire(p, o.gmmu.size, o.link),
          tlb(std::make_unique<L2Tlb>(p, o.l2_tlb, *this)),
          action_handler(p.add_handler<&GpuSide::act>(this)) {
      p.set_port<&GpuSide::on_message>(MessagePort::Network, this);
      const bool counts = o.host.uvm.policy == PagePolicy::AccessCounter;
      frames = std::make_unique<PageAccessTracker>(o.gpus + 1, o.gmmu.size,
                                                   AccessCounterSpec{counts ? kThreshold : 0U, o.counter_region});
      if (o.ats) {
        ats = std::make_unique<AtsPort>(p, o.gmmu.host, *tlb, wire, *this);
      } else {
        gmmu = std::make_unique<Gmmu>(p, o.gmmu, *tlb, wire, *this, *frames, nullptr, &oracle);
        gmmu->set_parts(parts);
      }
    }
    void act(IndexEvent* event) {
      const std::size_t index = event->index;
      partition.pool().release(event);
      rig.actions_[index]();
    }
    void on_message(TranslationPacket* packet) {
      const Message message = Message::get(*packet);
      partition.pool().release(packet);
      if (gmmu) {
        gmmu->receive(message);
      } else if (!parts.take(message)) {
        ats->on_message(message);
      }
    }
    void translated(unsigned cu, PageKey page, const Mapping& mapping) override {
      rig.answers.push_back({partition.device().value, cu, page, partition.now(), mapping});
      rig.oracle_.used(partition.device(), page, mapping, false);
      if (rig.on_answer) rig.on_answer(rig.answers.back());
    }
    void forget(PageKey, PhysPage) override {}
    void translate_again(PageKey, PhysPage) override {}
    void drop_copies(PhysPage) override {}
    void drop_lines(PhysPage) override {}
    bool can_write_back(PhysPage) override { return !rig.line_pending || !rig.line_pending(); }
    void write_back(PhysPage, bool) override {}
    void page_came(PhysPage, PhysPage) override {}
    void frame_reused(PhysPage) override {}

    Rig& rig;
    Partition& partition;
    Wire wire;
    std::unique_ptr<L2Tlb> tlb;
    std::unique_ptr<PageAccessTracker> frames;
    std::unique_ptr<Gmmu> gmmu;
    std::unique_ptr<AtsPort> ats;
    DesignComponents parts;
    HandlerId action_handler;
  };

  struct HostSide final : HostCaches, IommuClient, WalkMemory {
    HostSide(Rig& r, Partition& p, const RigOptions& o, FrameAllocator& frames, TranslationOracle& oracle)
        : rig(r), partition(p), wire(p, o.gmmu.size, o.link), action_handler(p.add_handler<&HostSide::act>(this)) {
      p.set_port<&HostSide::on_message>(MessagePort::Network, this);
      if (o.ats) {
        iommu = std::make_unique<Iommu>(p, o.iommu, o.gmmu.walk, o.gmmu.table, false, *this, this);
        if (o.host.uvm.policy == PagePolicy::Pinned) return;
        requests = std::make_unique<PageRequests>(p, o.host.uvm, frames, *iommu, wire, *this, &oracle);
        return;
      }
      HostMmuOptions options = o.host;
      options.walk = o.gmmu.walk;
      if (o.host_level != 0) options.walk.cycles_per_level = o.host_level;
      options.table = o.gmmu.table;
      options.uvm.size = o.gmmu.size;
      mmu = std::make_unique<HostMmu>(p, options, frames, wire, *this, *this, &oracle);
    }
    void act(IndexEvent* event) {
      const std::size_t index = event->index;
      partition.pool().release(event);
      rig.actions_[index]();
    }
    void on_message(TranslationPacket* packet) {
      const Message message = Message::get(*packet);
      partition.pool().release(packet);
      if (parts.take(message)) return;
      if (mmu) {
        mmu->on_message(message);
        return;
      }
      if (message.kind != MessageKind::AtsRequest) {
        requests->on_message(message);
        return;
      }
      iommu->request(message);
    }
    void iommu_answers(DeviceId gpu, PageKey page, const Mapping* mapping, std::uint32_t accounted) override {
      Message message;
      message.kind = MessageKind::AtsResponse;
      message.page = page;
      message.faulted = mapping == nullptr;
      if (mapping != nullptr) message.mapping = *mapping;
      message.accounted = accounted;
      wire.send(gpu, message);
    }
    bool can_write_back(PhysPage) override { return !rig.line_pending || !rig.line_pending(); }
    void write_back(PhysPage) override {}
    void page_came(PhysPage, PhysPage) override {}
    void read_table(PhysLine, Event*, HandlerId, Cycle) override {}

    Rig& rig;
    Partition& partition;
    Wire wire;
    std::unique_ptr<HostMmu> mmu;
    std::unique_ptr<Iommu> iommu;
    std::unique_ptr<PageRequests> requests;
    DesignComponents parts;
    HandlerId action_handler;
  };

  unsigned leaf() const { return options_.gmmu.size.bits < kLargePageBits ? 1 : 2; }
  std::unique_ptr<PageTable> table(DeviceId device, std::uint64_t first, std::uint64_t count) {
    auto made = std::make_unique<PageTable>(options_.gmmu.table.levels, options_.gmmu.size, [this, device] {
      return PhysPage{device, next_table_frame_++};
    });
    if (options_.gmmu.table.upper == UpperLevels::Prebuilt) made->cover(first, count);
    return made;
  }

  RigOptions options_;
  FrameAllocator frames_;
  TranslationOracle oracle_;
  Engine engine_;
  std::uint64_t next_table_frame_ = 1U << 30;
  std::vector<std::function<void()>> actions_;
  std::vector<std::unique_ptr<GpuSide>> gpus_;
  std::unique_ptr<HostSide> host_;
};

}  // namespace nearfar
