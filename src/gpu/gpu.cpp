#include "gpu/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "coherence/make_directory.h"
#include "gpu/gpu_hierarchy.h"

namespace nearfar {
namespace {

/// Lines of other devices stay in the L1s. Write-back ones of a unified memory hierarchy are below: what is in front of
/// them keeps nothing but its MSHRs.
bool keeps_lines_in_l1(const SystemSpec& spec) {
  return spec.remote_cache != RemoteCache::None && !(spec.is_unified() && spec.umh.l1_writes_back());
}

}  // namespace

Gpu::Gpu(Partition& partition, const SystemSpec& spec, const Topology& topology, const std::vector<Process>& processes,
         ByteMaskPool& masks, DataWatch* watch, TranslationOracle* translation_oracle)
    : partition_(partition),
      spec_(spec.gpu),
      applications_(processes.size()),
      topology_(topology),
      watch_(watch),
      context_(partition, spec_, spec.translation.latency, keeps_lines_in_l1(spec), watch),
      l2_(partition, spec.gpu.l2, spec.gpu.dram, spec.gpu.line, spec.gpu.clock.hertz, *this, masks, watch),
      network_(partition, spec.link, topology, spec.gpu.line, spec.gpu.clock.hertz, *this, masks),
      remote_home_(network_),
      dispatcher_(context_, network_, spec, topology.host(), processes, cus_, scalars_),
      copies_(partition, l2_, network_, watch, topology.host(), spec.link.header, spec.gpu.line),
      translation_(spec.translation),
      page_size_(spec.page.size),
      page_pieces_(spec.page_pieces()),
      memory_hop_(spec.iommu.memory_hop),
      replicates_(spec.policy == PagePolicy::Replication),
      table_reader_(partition, l2_) {
  network_.perturb(spec.perturb);
  if (spec.boundary.l2 == L2AtBoundary::DropWritten) l2_.drop_when_flushed();
  context_.own_copies = spec.policy == PagePolicy::NoFault;
  context_.l2 = &l2_;
  context_.masks = &masks;
  // Page tables lie beside what the capacity bounds; half as many frames more is room enough for both.
  context_.frames = std::max(spec.gpu.dram.capacity, spec.host.dram.capacity) / kPageBytes * 3 / 2;
  l2_.route_remote(
      {.home = &remote_home_,
       .cached = spec.remote_cache == RemoteCache::L1L2,
       .fetches = spec.remote_write_miss == RemoteWriteMiss::Fetch,
       .written_back = spec.writes_remote_lines_back(),
       .tracked = spec.has_directories(),
       .host = topology.host(),
       .largest_memory = spec.remote_host_lines ? std::max(spec.gpu.dram.capacity, spec.host.dram.capacity) : 0});
  if (spec.has_directories()) make_coherence(spec, processes);
  context_.leave_handler = partition.add_handler<&Gpu::on_leave>(this);
  make_translation(spec, translation_oracle);
  if (spec.is_unified()) {
    context_.level =
        &parts_.add(std::make_unique<GpuHierarchy>(partition, spec, topology, network_, *this, masks, watch));
  }
  if (spec.posts_stores()) post_stores(spec, masks);
  if (spec.follows_useful_bytes()) follow_useful_bytes(processes);
  scalars_.reserve(spec_.shader_arrays);
  for (unsigned a = 0; a < spec_.shader_arrays; ++a) scalars_.emplace_back(context_, a);
  const bool own_tlbs = l2_tlb_ && spec_.scalar_tlb == ScalarTlbOwner::Array;
  scalar_tlbs_.reserve(spec_.shader_arrays);
  for (unsigned a = 0; own_tlbs && a < spec_.shader_arrays; ++a) scalar_tlbs_.emplace_back(context_, a);
  cus_.reserve(spec_.cus());
  for (unsigned c = 0; c < spec_.cus(); ++c) {
    const unsigned array = c / spec_.cus_per_array;
    cus_.emplace_back(context_, dispatcher_, scalars_[array], own_tlbs ? &scalar_tlbs_[array] : nullptr, c);
  }
}

void Gpu::make_coherence(const SystemSpec& spec, const std::vector<Process>& processes) {
  std::vector<GpuRange> applications;
  for (const Process& process : processes) {
    applications.push_back({static_cast<std::uint16_t>(process.first_gpu), static_cast<std::uint16_t>(process.gpus)});
  }
  coherence_ = std::make_unique<CoherenceController>(partition_, network_, l2_, *this, topology_.host(), spec_.cus(),
                                                     std::move(applications), spec.boundary.markers);
  coherence_->set_directory(make_directory(spec, partition_.device()));
  l2_.set_observer(*coherence_);
  network_.prepare_for_packets();
  context_.coherence = coherence_.get();
}

/// Directories and the tags of four GPUs do not fit a core's caches.
void Gpu::prepare(const Packet& packet) const {
  if (packet.type == PacketType::Coherence) {
    coherence_->prefetch(static_cast<const CoherenceMessage&>(packet));
  } else if (packet.type == PacketType::Lines) {
    const auto& lines = static_cast<const LineRequest&>(packet);
    if (!lines.reply()) {
      coherence_->prefetch(lines);
    } else if (!lines.writes()) {
      l2_.prefetch_remote_lines(lines.line.page(), lines.mask);
    }
  }
}

void Gpu::post_stores(const SystemSpec& spec, ByteMaskPool& masks) {
  egress_ = std::make_unique<Egress>(partition_, network_, spec.link, topology_, spec.gpu.line, masks, watch_, *this);
  ingress_ = std::make_unique<StoreIngress>(partition_, l2_, network_, masks, spec.gpu.line, topology_.devices());
  remote_home_.set_egress(*egress_);
  context_.egress = egress_.get();
}

void Gpu::follow_useful_bytes(const std::vector<Process>& processes) {
  useful_ = std::make_unique<UsefulBytes>();
  ingress_->set_useful(useful_.get());
  copies_.set_useful(useful_.get());
  context_.useful = useful_.get();
  const auto is_copy = [](const Step& step) { return std::holds_alternative<Copy>(step); };
  const auto copies = [&](const Process& process) { return std::ranges::any_of(process.steps, is_copy); };
  if (std::ranges::any_of(processes, copies)) useful_->remember_changes();
}

void Gpu::cover(ProtocolCoverage& coverage) {
  if (coherence_) coherence_->cover(&coverage.directory);
  l2_.cover(&coverage.l2, &coverage.remote_lines);
  for (ScalarCache& scalar : scalars_) scalar.l1().cover(&coverage.scalar_l1);
  for (ComputeUnit& cu : cus_) cu.load_store().l1().cover(&coverage.vector_l1);
}

void Gpu::set_l1v_replacement(const MakeCacheReplacement& make) {
  for (ComputeUnit& cu : cus_) cu.load_store().l1().set_replacement(make, cu.index());
}

void Gpu::set_l1s_replacement(const MakeCacheReplacement& make) {
  for (std::size_t a = 0; a < scalars_.size(); ++a) scalars_[a].l1().set_replacement(make, static_cast<unsigned>(a));
}

void Gpu::make_translation(const SystemSpec& spec, TranslationOracle* oracle) {
  context_.page_size = page_size_;
  if (translation_.observe) context_.touches = &touches_;
  if (translation_.kind == TranslationKind::Ideal) return;
  l2_tlb_ = std::make_unique<L2Tlb>(partition_, spec.gpu.l2_tlb, *this);
  if (translation_.observe) l2_tlb_->take_snapshots(translation_.snapshot);
  context_.l2_tlb = l2_tlb_.get();
  if (translation_.asks_shared_tlb()) {
    ats_ = std::make_unique<AtsPort>(partition_, topology_.host(), *l2_tlb_, *this, *this);
    context_.translation_oracle = oracle;
    return;
  }
  if (translation_.kind == TranslationKind::Svm) {
    svm_ = std::make_unique<SvmPort>(partition_, spec.iommu, spec.walk, spec.page_table, *l2_tlb_, *this);
    if (translation_.observe) {
      svm_->iommu().observe(translation_.snapshot);
      svm_->iommu().walkers().measure_concurrency();
    }
    return;
  }
  const bool counts = spec.policy == PagePolicy::AccessCounter;
  tracker_ = std::make_unique<PageAccessTracker>(topology_.devices(), page_size_,
                                                 counts ? spec.access_counter : AccessCounterSpec{.threshold = 0});
  if (spec.moves_pages()) {
    context_.tracker = tracker_.get();
    remote_home_.set_tracker(*tracker_);
  }
  l2_.follow_pages();
  context_.translation_oracle = spec.migration.free_invalidation() ? nullptr : oracle;
  GmmuOptions options;
  options.host = topology_.host();
  options.gmmu = spec.gpu.gmmu;
  options.walk = spec.walk;
  options.table = spec.page_table;
  options.size = page_size_;
  options.how = spec.invalidate.how;
  options.shootdown = spec.gpu.shootdown;
  options.before_transfer = spec.migration.before_transfer();
  options.ideal_migration = spec.migration.free_invalidation();
  options.waits = spec.migration.waits;
  gmmu_ =
      std::make_unique<Gmmu>(partition_, options, *l2_tlb_, *this, *this, *tracker_, this, context_.translation_oracle);
  gmmu_->set_parts(parts_);
  if (translation_.observe) gmmu_->observe();
}

// ------------------------------------------------------------------------------------------------ path of an access

/// Lines of a page leave an L1 for the L2.
void Gpu::on_leave(LineRequest* request) {
  request->stage_start = static_cast<std::uint32_t>(partition_.now());
  if (context_.level == nullptr) {
    l2_.request(request);
  } else {
    context_.level->request(request);
  }
}

void Gpu::lines_served(LineRequest* request) {
  if (request->kind == RequestKind::TableRead) {
    table_reader_.served(request);
    return;
  }
  if (request->kind == RequestKind::ScalarRead) {
    scalars_[request->unit].fill(request->line, cus_);
  } else {
    cus_[request->unit].load_store().fill(request->line.page(), request->mask);
  }
  partition_.pool().release(request);
}

void Gpu::on_reply(LineRequest* reply) {
  const unsigned lines = reply->lines();
  if (reply->kind == RequestKind::Write) {
    if (reply->unit == LineRequest::kWriteBack) {
      l2_.remote_line_written(reply);
      return;
    }
    l2_.stores_acknowledged(*reply);
    if (watch_ != nullptr) watch_->stores_acknowledged(reply->record, reply->mask);
    if (context_.timeline != nullptr) context_.timeline->ordered(reply->unit, reply->line.page(), reply->mask);
    cus_[reply->unit].load_store().stores_ordered(reply->line.page(), lines);
    partition_.pool().release(reply);
    return;
  }
  if (reply->kind == RequestKind::Read || reply->kind == RequestKind::Atomic) {
    const std::uint32_t took = static_cast<std::uint32_t>(partition_.now()) - reply->stage_start;
    context_.latency.reply_link += lines * std::uint64_t{took};
  }
  l2_.remote_reply(reply);
}

void Gpu::released(Waiter waiter) {
  if (waiter == Egress::kWholeGpu) {
    dispatcher_.stores_written();
  } else {
    cus_[waiter].fence_settled();
  }
}

// ------------------------------------------------------------------------------------------------------- translation

void Gpu::on_message(Packet* packet) {
  const Message message = Message::get(static_cast<const TranslationPacket&>(*packet));
  partition_.pool().release(packet);
  if (gmmu_) {
    gmmu_->receive(message);
  } else if (!parts_.take(message)) {
    ats_->on_message(message);
  }
}

void Gpu::send(DeviceId to, const Message& message) {
  send_translation_message(partition_, network_, translation_.message, page_pieces_, to, message);
}

void Gpu::translated(unsigned cu, PageKey page, const Mapping& mapping) {
  if (cu < cus_.size()) {
    cus_[cu].load_store().translated(page, mapping);
  } else {
    scalar_tlbs_[cu - cus_.size()].translated(page, mapping, cus_);
  }
}

void Gpu::forget(PageKey page, PhysPage frame) {
  tracker_->for_users(frame, cus_.size(), [&](unsigned cu) {
    cus_[cu].load_store().invalidate(page);
    if (!scalar_tlbs_.empty()) scalar_tlbs_[cu / spec_.cus_per_array].forget(page);
  });
}

void Gpu::translate_again(PageKey page, PhysPage frame) {
  tracker_->for_users(frame, cus_.size(), [&](unsigned cu) { cus_[cu].load_store().translate_again(page); });
}

void Gpu::drop_copies(PhysPage page) {
  drop_lines(page);
  tracker_->clear_users(page);
}

/// The L1s forget the lines of a page, and the L2 if its home is elsewhere.
void Gpu::drop_lines(PhysPage page) {
  const std::uint64_t lines = tracker_->lines(page);
  for (std::uint64_t i = 0; i < page_size_.frames(); ++i) {
    const PhysPage frame{page.device(), page.frame() + i};
    l2_.drop_remote_lines(frame);
    tracker_->for_users(page, cus_.size(), [&](unsigned cu) {
      cus_[cu].load_store().drop(frame, lines);
      scalars_[cu / spec_.cus_per_array].l1().drop(frame, lines);
    });
  }
}

void Gpu::frame_reused(PhysPage page) {
  write_back(page, true);
  drop_lines(page);
}

bool Gpu::can_write_back(PhysPage page) {
  for (std::uint64_t i = 0; i < page_size_.frames(); ++i) {
    if (l2_.page_pending(PhysPage{page.device(), page.frame() + i})) return false;
  }
  return true;
}

void Gpu::write_back(PhysPage page, bool moves) {
  for (std::uint64_t i = 0; i < page_size_.frames(); ++i) {
    const PhysPage frame{page.device(), page.frame() + i};
    l2_.write_back_page(frame, moves);
    if (watch_ != nullptr) watch_->page_leaves(frame);
  }
}

void Gpu::page_came(PhysPage from, PhysPage to) {
  // The frame may have held a replica that was given up: what the L2 still has of it is old.
  for (std::uint64_t i = 0; i < page_size_.frames(); ++i) {
    const PhysPage frame{to.device(), to.frame() + i};
    if (replicates_) l2_.write_back_page(frame, true);
    if (watch_ != nullptr) watch_->page_came(PhysPage{from.device(), from.frame() + i}, frame);
  }
}

/// A walker's read: through the L2 cache like data, or, beside an IOMMU, straight from memory.
void Gpu::read_table(PhysLine line, Event* event, HandlerId done, Cycle delay) {
  if (svm_) {
    l2_.dram().read(line, event, done, delay + 2 * memory_hop_);
    return;
  }
  table_reader_.read(line, event, done, delay);
}

// ----------------------------------------------------------------------------------------------------------- account

bool Gpu::idle() {
  return l2_.pending() == 0 && l2_.dram().pending() == 0 && network_.waiting() == 0 &&
         std::all_of(cus_.begin(), cus_.end(), [](const ComputeUnit& cu) { return cu.idle(); }) &&
         std::all_of(scalars_.begin(), scalars_.end(), [](ScalarCache& scalar) { return scalar.idle(); }) &&
         std::all_of(scalar_tlbs_.begin(), scalar_tlbs_.end(), [](const ScalarTlb& tlb) { return tlb.idle(); }) &&
         (!l2_tlb_ || l2_tlb_->idle()) && (!gmmu_ || gmmu_->idle()) && (!svm_ || svm_->iommu().idle()) &&
         (!tracker_ || tracker_->outstanding() == 0) && copies_.idle() && parts_.idle() &&
         (!coherence_ || coherence_->idle()) && (!egress_ || (egress_->idle() && ingress_->idle()));
}

bool Gpu::computes() const {
  return std::any_of(cus_.begin(), cus_.end(), [](const ComputeUnit& cu) { return cu.computes(); });
}

bool Gpu::starves() {
  bool any = false;
  for (ComputeUnit& cu : cus_) any |= cu.starves();  // each is asked: it remembers what it sees
  return any;
}

std::string Gpu::describe_waiting() {
  std::string text = l2_.describe_waiting() + network_.describe_waiting();
  if (l2_tlb_) text += l2_tlb_->describe_waiting();
  if (gmmu_) text += gmmu_->describe_waiting();
  if (svm_) text += svm_->iommu().describe_waiting();
  text += parts_.describe_waiting();
  if (coherence_) text += coherence_->describe_waiting();
  if (egress_) text += egress_->describe_waiting() + ingress_->describe_waiting();
  for (const ComputeUnit& cu : cus_) text += cu.describe_waiting();
  text += dispatcher_.describe_waiting() + copies_.describe_waiting();
  return text.empty() ? text : fmt::format("GPU {}:\n{}", partition_.device().value, text);
}

}  // namespace nearfar
