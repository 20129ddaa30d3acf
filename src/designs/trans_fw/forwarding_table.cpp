#include "designs/trans_fw/forwarding_table.h"

#include <fmt/format.h>

#include <utility>

#include "designs/trans_fw/messages.h"

namespace nearfar {

void FtStats::describe(StatVisitor& visitor) {
  visitor.counter("lookups", "faults",
                  "Far faults that missed the host MMU's TLB and were looked up in the Forwarding Table.", lookups);
  visitor.counter("positives", "faults", "Far faults for which the Forwarding Table named at least one GPU.",
                  positives);
  visitor.counter("multiple", "faults", "Far faults for which the Forwarding Table named several GPUs.", multiple);
  visitor.counter("forwards", "faults", "Far faults that the host forwarded to a GPU.", forwards);
  visitor.counter("successes", "faults", "Forwarded far faults for which the GPU found a translation.", successes);
  visitor.counter("failures", "faults", "Forwarded far faults for which the GPU found no translation.", failures);
  visitor.counter("dropped", "items", "Fingerprints that the Forwarding Table dropped since no slot was free.",
                  dropped);
}

ForwardingTable::ForwardingTable(HostMmu& mmu, Messenger& messenger, unsigned gpus, const FtSpec& spec,
                                 CuckooFilter::Hash hash)
    : mmu_(mmu),
      messenger_(messenger),
      gpus_(gpus),
      spec_(spec),
      filter_(spec.filter, hash),
      send_handler_(mmu.partition().add_handler<&ForwardingTable::on_send>(this)) {
  mmu_.set_forwarder(*this);
  mmu_.driver().set_residency_observer(*this);
}

void ForwardingTable::insert(PageKey page, DeviceId gpu) {
  if (!filter_.insert(filter_key(page, gpu))) ++stats_.dropped;
}

void ForwardingTable::walk_asked(Fault& fault, std::uint32_t waiting) {
  ++stats_.lookups;
  // The nearest GPU behind the one that asks, of those that are named.
  unsigned named = 0;
  unsigned hashes = 1;
  DeviceId nearest;
  for (unsigned step = 1; step < gpus_; ++step) {
    const DeviceId gpu{static_cast<std::uint16_t>((fault.gpu.value + step) % gpus_)};
    const CuckooFilter::Match match = filter_.look_up(filter_key(fault.page, gpu));
    if (match == CuckooFilter::Match::None || named++ != 0) continue;
    nearest = gpu;
    hashes = match == CuckooFilter::Match::First ? 1 : 2;
  }
  if (named == 0) return;
  ++stats_.positives;
  if (named > 1) ++stats_.multiple;
  const std::uint64_t threshold = std::uint64_t{spec_.threshold_percent} * mmu_.walkers().walkers();
  if (std::uint64_t{waiting} * 100 <= threshold || mmu_.driver().record(fault.page).moving) return;
  // It was looked up beside the TLB, whose time is over.
  const Cycle latency = spec_.latency(gpus_, hashes);
  forward(fault, nearest, latency > mmu_.tlb_latency() ? latency - mmu_.tlb_latency() : 0);
}

void ForwardingTable::forward(Fault& fault, DeviceId to, Cycle after) {
  ++stats_.forwards;
  ++outstanding_;
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(records_.size()));
    records_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  fault.design_data = number + 1;
  const bool answers = mmu_.driver().would_map(fault);
  records_[number] = {.fault = &fault, .answers = answers};
  if (answers) {
    fault.shared = fault.time.accounted;
    mmu_.driver().note_holder(fault.page, fault.gpu);
  }
  Message message;
  message.kind = trans_fw::kForward;
  message.page = fault.page;
  message.write = fault.write;
  message.held = answers;
  message.to = fault.gpu;
  message.number = fault.number;
  message.stamp = number;
  message.accounted = static_cast<std::uint32_t>(fault.time.accounted);
  if (after == 0) {
    messenger_.send(to, message);
    return;
  }
  auto* waiting = mmu_.partition().pool().allocate<TranslationPacket>();
  message.put(*waiting);
  waiting->destination = to.value;
  mmu_.partition().schedule(waiting, send_handler_, mmu_.partition().now() + after);
}

void ForwardingTable::on_send(TranslationPacket* waiting) {
  const Message message = Message::get(*waiting);
  const DeviceId to{waiting->destination};
  mmu_.partition().pool().release(waiting);
  messenger_.send(to, message);
}

void ForwardingTable::walk_ended(Fault& fault) {
  if (fault.design_data != 0) records_[fault.design_data - 1].fault = nullptr;
  fault.design_data = 0;
}

bool ForwardingTable::on_message(const Message& message) {
  if (message.kind != trans_fw::kNotice) return false;
  const std::uint32_t number = message.accounted;
  Record& record = records_[number];
  --outstanding_;
  ++(message.held ? stats_.successes : stats_.failures);
  Fault* fault = std::exchange(record.fault, nullptr);
  if (fault == nullptr || !message.held) {
    if (fault != nullptr) {
      fault->design_data = 0;
    } else if (message.held) {
      ++mmu_.stats().duplicates;
    }
    free_.push_back(number);
    return true;
  }
  record.queue = message.stamp;
  record.walk = message.extra;
  record.told = mmu_.partition().now();
  mmu_.stop_walk(*fault);
  if (record.answers) {
    fault->answered = true;
    fault->epoch = message.mapping.epoch;
  } else {
    charge(*fault);
  }
  mmu_.driver().take(fault);
  return true;
}

void ForwardingTable::answer_seen(Fault& fault, bool valid) {
  if (valid) {
    free_.push_back(fault.design_data - 1);
  } else {
    charge(fault);
  }
}

/// A fault's time until its notice came is put to components, and the forward's record is no longer needed.
void ForwardingTable::charge(Fault& fault) {
  const std::uint32_t number = std::exchange(fault.design_data, 0) - 1;
  const Record& record = records_[number];
  UvmDriver& driver = mmu_.driver();
  driver.charge(fault, LatencyComponent::RemoteLink, record.told - record.queue - record.walk);
  driver.charge(fault, LatencyComponent::RemoteQueue, record.told - record.walk);
  driver.charge(fault, LatencyComponent::RemoteWalk, record.told);
  free_.push_back(number);
}

std::string ForwardingTable::describe_waiting() const {
  return outstanding_ == 0 ? std::string{}
                           : fmt::format("  Forwarding Table: {} forwards not answered\n", outstanding_);
}

}  // namespace nearfar
