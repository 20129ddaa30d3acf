#include "translation/uvm/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/error.h"

namespace nearfar {

UvmDriver::UvmDriver(Partition& partition, const UvmOptions& options, FrameAllocator& frames, HostTables& tables,
                     Messenger& messenger, LatencyLedger& parts, TranslationOracle* oracle)
    : partition_(partition),
      options_(options),
      tables_(tables),
      messenger_(messenger),
      parts_(parts),
      placement_(make_placement(options.policy, options.host_first_touch)),
      records_(options, frames),
      answers_(partition, options, tables, messenger),
      migrations_(partition, options, {records_, answers_, tables, messenger, parts, stats_, oracle}, *this),
      prefetcher_(options.uvm.prefetch == UvmPrefetch::Tree
                      ? std::make_unique<TreePrefetcher>(options, records_, migrations_)
                      : nullptr),
      fetch_handler_(partition.add_handler<&UvmDriver::on_fetch>(this)),
      batch_handler_(partition.add_handler<&UvmDriver::on_batch>(this)),
      act_handler_(partition.add_handler<&UvmDriver::on_act>(this)),
      retained_handler_(partition.add_handler<&UvmDriver::on_retained>(this)) {}

// ------------------------------------------------------------------------------------------------------------- batches

void UvmDriver::take(Fault* fault) {
  ++stats_.faults;
  fault->handed_over = partition_.now();
  input_.push(fault);
  if (!busy_) {
    take_batch();
  } else if (collects_ && input_.size() >= options_.uvm.batch_size) {
    fetch_at(partition_.now());
  }
}

/// The driver is free: it takes what is there at the end of this cycle, or, if that is not a full batch, when the
/// oldest has waited for more.
void UvmDriver::take_batch() {
  if (input_.empty()) return;
  busy_ = true;
  const bool full = input_.size() >= options_.uvm.batch_size;
  const Cycle due = full ? 0 : input_.front()->handed_over + options_.uvm.batch_wait;
  fetch_at(std::max(due, partition_.now()));
}

void UvmDriver::fetch_at(Cycle when) {
  collects_ = when > partition_.now();
  auto* fetch = partition_.pool().allocate<IndexEvent>();
  fetch->index = ++fetches_;
  partition_.schedule(fetch, fetch_handler_, when);
}

void UvmDriver::on_fetch(IndexEvent* fetch) {
  if (fetch->index != fetches_) {
    // The batch was full before its time.
    partition_.pool().release(fetch);
    return;
  }
  collects_ = false;
  const std::uint32_t size = std::min(input_.size(), options_.uvm.batch_size);
  ++stats_.batches;
  stats_.batch_size.add(size);
  for (std::uint32_t i = 0; i < size; ++i) batch_.push_back(input_.pop());
  partition_.schedule(fetch, batch_handler_,
                      partition_.now() + options_.uvm.batch_fixed + size * options_.uvm.per_fault);
}

/// A batch has been fetched and the driver is free again; software that does not occupy it may follow.
void UvmDriver::on_batch(Event* event) {
  handed_on_.push_back(std::exchange(batch_, {}));
  partition_.schedule(event, act_handler_, partition_.now() + options_.uvm.fault_software);
  busy_ = false;
  take_batch();
}

/// The action of each fault of a batch starts, in order.
void UvmDriver::on_act(Event* event) {
  partition_.pool().release(event);
  const std::vector<Fault*> batch = std::move(handed_on_.front());
  handed_on_.pop_front();
  if (options_.uvm.replay == BatchReplay::PerBatch) deciding_ = answers_.open_batch();
  for (Fault* fault : batch) {
    // What is only to be closed is not yet known to have taken any time here.
    if (!fault->answered) charge(*fault, LatencyComponent::DriverBatch);
    decide(fault);
  }
  answers_.release(std::exchange(deciding_, AnswerSender::kNoBatch));
}

// ----------------------------------------------------------------------------------------------------------- decisions

/// What a fault asks for, of a page that is not moving.
PlacementAction UvmDriver::action_of(const PageRecord& r, const Fault& fault) const {
  const bool has = r.holders.test(fault.gpu.value) && (!fault.write || !r.shared);
  if (has || r.pinned) return PlacementAction::Map;
  return placement_->on_fault(r, fault.gpu, fault.write, options_.host);
}

bool UvmDriver::would_map(const Fault& fault) {
  return action_of(records_.of(fault.page), fault) == PlacementAction::Map;
}

/// What a fault leads to, with the record as it is now.
void UvmDriver::decide(Fault* fault) {
  PageRecord& r = records_.of(fault->page);
  if (fault->answered && close_answered(fault, r)) return;
  if (r.moving) {
    ++stats_.parked;
    migrations_.park(fault);
    return;
  }
  const PlacementAction action = action_of(r, *fault);
  if (action == PlacementAction::Map) {
    map(fault, r);
    return;
  }
  if (action == PlacementAction::Move && is_retained(r)) {
    retain(fault, r.stays_until);
    return;
  }
  if (migrations_.full()) {
    waiting_.push(fault);
    return;
  }
  if (action != PlacementAction::Upgrade && !make_room(fault->gpu, fault)) return;
  const bool from_host = r.owner.device() == options_.host;
  const PageKey page = fault->page;
  const DeviceId gpu = fault->gpu;
  migrations_.start(page, action, gpu, fault, deciding_);
  if (prefetcher_ && from_host) prefetch(page, gpu);
}

/// A page that has come to a GPU stays there for a while before another may take it.
bool UvmDriver::is_retained(const PageRecord& r) const {
  return partition_.now() < r.stays_until && r.owner.device() != options_.host;
}

void UvmDriver::retain(Fault* fault, Cycle until) {
  ++retained_;
  ++stats_.parked;
  auto* event = partition_.pool().allocate<PointerEvent<Fault>>();
  event->what = fault;
  partition_.schedule(event, retained_handler_, until);
}

void UvmDriver::on_retained(PointerEvent<Fault>* event) {
  Fault* fault = event->what;
  partition_.pool().release(event);
  --retained_;
  charge(*fault, LatencyComponent::DriverParked);
  decide(fault);
}

/// Pages that the prefetcher names follow, as long as there is room for them.
void UvmDriver::prefetch(PageKey page, DeviceId gpu) {
  for (const PageKey next : prefetcher_->behind(page, gpu)) {
    if (migrations_.full() || !records_.has_free_frame(gpu)) return;
    ++prefetcher_->stats().pages;
    migrations_.start(next, PlacementAction::Move, gpu, nullptr, AnswerSender::kNoBatch);
  }
}

/// A fault whose GPU has had a mapping from another device: it is closed, if that mapping is what it would get.
bool UvmDriver::close_answered(Fault* fault, const PageRecord& r) {
  const bool valid = !r.moving && r.epoch == fault->epoch && action_of(r, *fault) == PlacementAction::Map;
  forwarder_->answer_seen(*fault, valid);
  if (valid) {
    if (r.copy_for(fault->gpu).device() != fault->gpu) ++stats_.remote_mappings;
    tables_.answered(fault);
    return true;
  }
  fault->answered = false;
  charge(*fault, LatencyComponent::DriverBatch);
  return false;
}

/// Answers a fault without a migration.
void UvmDriver::map(Fault* fault, PageRecord& r) {
  const PhysPage copy = r.copy_for(fault->gpu);
  if (copy.device() != fault->gpu) ++stats_.remote_mappings;
  migrations_.note_holder(fault->page, fault->gpu);
  Message message;
  message.kind = MessageKind::Map;
  message.page = fault->page;
  message.mapping = {copy, !r.shared, r.epoch};
  message.faulted = true;
  message.number = fault->number;
  message.accounted = static_cast<std::uint32_t>(fault->time.accounted);
  message.stamp = static_cast<std::uint32_t>(fault->shared);
  answers_.hand_out(deciding_, {fault->gpu, message});
  tables_.answered(fault);
}

void UvmDriver::move_requested(const Message& message) {
  PageRecord& r = records_.of(message.page);
  if (r.moving || r.epoch != message.mapping.epoch || r.owner.device() == message.from || r.pinned || is_retained(r) ||
      migrations_.full() || !make_room(message.from, nullptr)) {
    ++stats_.requests_dropped;
    Message answer;
    answer.kind = MessageKind::MoveRefused;
    answer.page = message.page;
    messenger_.send(message.from, answer);
    return;
  }
  migrations_.start(message.page, PlacementAction::Move, message.from, nullptr, AnswerSender::kNoBatch);
}

// ---------------------------------------------------------------------------------------------------------------- room

/// A frame for one more page of a GPU, or, where there is none, a page of it on its way to the host: then the fault
/// waits. Where all its pages are moving, the end of a migration tries again.
bool UvmDriver::make_room(DeviceId gpu, Fault* fault) {
  if (records_.has_frame(gpu)) return true;
  if (fault != nullptr) records_.waiting(gpu).push(fault);
  if (records_.is_evicting(gpu)) return false;
  // Where the page is replicated, all its copies are given up.
  for (const PageKey victim : records_.begin_eviction(gpu)) {
    migrations_.start(victim, PlacementAction::Move, options_.host, nullptr, AnswerSender::kNoBatch);
  }
  return false;
}

/// Something on a GPU has changed: faults that waited for room there are decided anew.
void UvmDriver::retry_room(DeviceId gpu) {
  if (gpu != options_.host) decide_all(std::exchange(records_.waiting(gpu), {}), LatencyComponent::DriverParked);
}

void UvmDriver::decide_all(FaultQueue faults, LatencyComponent waited) {
  while (!faults.empty()) {
    Fault* fault = faults.pop();
    charge(*fault, waited);
    decide(fault);
  }
}

void UvmDriver::migration_ended(std::span<const DeviceId> places, FaultQueue parked) {
  for (const DeviceId place : places) retry_room(place);
  decide_all(std::move(parked), LatencyComponent::DriverParked);
  while (!waiting_.empty() && !migrations_.full()) {
    Fault* fault = waiting_.pop();
    charge(*fault, LatencyComponent::DriverTurn);
    decide(fault);
  }
}

// ------------------------------------------------------------------------------------------------------------ messages

void UvmDriver::on_message(const Message& message) {
  switch (message.kind) {
    case MessageKind::MoveRequest: move_requested(message); break;
    case MessageKind::Acknowledge: migrations_.acknowledged(message.page); break;
    case MessageKind::Done: migrations_.arrived(message.page); break;
    case MessageKind::Part: break;
    case MessageKind::Data:
      tables_.page_came(PhysPage{message.from, message.stamp}, message.mapping.page);
      migrations_.arrived(message.page);
      break;
    default: throw SimulationError("the host received a message that is not for it");
  }
}

std::string UvmDriver::describe_waiting() const {
  if (idle()) return {};
  return fmt::format("  UVM driver: {} faults not taken, {} waiting, {} pages moving", input_.size(), waiting_.size(),
                     migrations_.count()) +
         migrations_.describe_waiting() + "\n";
}

}  // namespace nearfar
