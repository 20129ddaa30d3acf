#include "translation/uvm/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/error.h"

namespace nearfar {

void UvmStats::describe(StatVisitor& visitor) {
  visitor.counter("faults", "faults", "Far faults that reached the driver.", faults);
  visitor.counter("batches", "batches", "Batches in which it took them.", batches);
  visitor.histogram("batch_size", "faults", "Faults in a batch.", batch_size);
  visitor.counter("parked", "faults", "Faults that waited since their page was moving.", parked);
  visitor.counter("migration.count", "pages", "Pages moved to a GPU, from the host or from another GPU.", migrations);
  visitor.counter("migration.first_touches", "pages", "Those among them that came from the host.", first_touches);
  visitor.counter("migration.evictions", "pages", "Pages moved back to the host since a GPU's memory was full.",
                  evictions);
  visitor.counter("migration.remote_mappings", "faults", "Faults answered with a mapping to another device.",
                  remote_mappings);
  visitor.counter("migration.replications", "pages", "Copies made for readers.", replications);
  visitor.counter("migration.write_upgrades", "pages", "Copies made the only one for a writer.", write_upgrades);
  visitor.counter(
      "migration.requests_dropped", "messages",
      "Requests of access counters that were refused: the page moves, has moved or stays, or there is no room.",
      requests_dropped);
  visitor.counter("migration.wait", "cycles", "Time from a migration's lock until all old mappings were void, summed.",
                  wait);
  visitor.counter("migration.total", "cycles", "Time from a migration's lock to its end, summed.", total);
  visitor.histogram("migration.wait_histogram", "cycles", "Distribution of that wait.", wait_histogram);
  visitor.histogram("migration.total_histogram", "cycles", "Distribution of that time.", total_histogram);
  visitor.counter("invalidation.sent", "messages", "Invalidations sent to GPUs.", invalidations_sent);
}

UvmDriver::UvmDriver(Partition& partition, const UvmOptions& options, FrameAllocator& frames, HostTables& tables,
                     Messenger& messenger, ServedMisses& parts, TranslationOracle* oracle)
    : partition_(partition),
      options_(options),
      frames_(frames),
      tables_(tables),
      messenger_(messenger),
      parts_(parts),
      oracle_(oracle),
      placement_(make_placement(options.policy, options.host_first_touch)),
      frame_pools_(options.gpus),
      fetch_handler_(partition.add_handler<&UvmDriver::on_fetch>(this)),
      batch_handler_(partition.add_handler<&UvmDriver::on_batch>(this)),
      act_handler_(partition.add_handler<&UvmDriver::on_act>(this)),
      transfer_handler_(partition.add_handler<&UvmDriver::on_transfer>(this)),
      arrival_handler_(partition.add_handler<&UvmDriver::on_arrival>(this)) {}

void UvmDriver::add_process(Pid pid, std::uint64_t first, std::uint64_t pages) {
  if (records_.size() <= pid) records_.resize(pid + std::size_t{1});
  records_[pid].first = first;
  records_[pid].pages.resize(pages);
}

void UvmDriver::note_resident(PhysPage frame) {
  if (frame.device() != options_.host) ++frame_pools_[frame.device().value].used;
}

void UvmDriver::note_resident(PageKey page, PhysPage frame) {
  note_resident(frame);
  if (frame.device() == options_.host || !options_.migration.evict) return;
  frame_pools_[frame.device().value].residents.push_back(page);
}

PageRecord& UvmDriver::record(PageKey page) {
  Records& records = records_[page.pid()];
  const std::uint64_t index = page.number() - records.first;
  if (index >= records.pages.size() || !records.pages[index].exists) {
    throw SimulationError(fmt::format("a wavefront touched page {:#x}, which belongs to no buffer", page.number()));
  }
  return records.pages[index];
}

void UvmDriver::tell_at_start(PageKey page) {
  const PageRecord& r = record(page);
  if (r.pinned) return;
  for (unsigned g = 0; g < options_.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint8_t>(g)};
    if (!r.holders.test(g)) continue;
    if (directory_ != nullptr) directory_->add_at_start(page, gpu);
    if (watch_ != nullptr) r.owner.device() == gpu ? watch_->came(page, gpu) : watch_->mapped_remotely(page, gpu);
  }
}

void UvmDriver::charge(Fault& fault, LatencyComponent part, Cycle until) {
  const Cycle cycles = until - fault.stamp;
  parts_.add(fault.gpu, part, cycles);
  add_timeline_component(partition_.timeline(), fault, part, until);
  fault.accounted += static_cast<std::uint32_t>(cycles);
  fault.stamp = until;
}

// -------------------------------------------------------------------------------------------------------------- faults

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
  Transaction* t = partition_.pool().allocate();
  t->user = ++fetches_;
  partition_.schedule(t, fetch_handler_, when);
}

void UvmDriver::on_fetch(Transaction* t) {
  if (t->user != fetches_) {
    // The batch was full before its time.
    partition_.pool().release(t);
    return;
  }
  collects_ = false;
  const std::uint32_t size = std::min(input_.size(), options_.uvm.batch_size);
  ++stats_.batches;
  stats_.batch_size.add(size);
  for (std::uint32_t i = 0; i < size; ++i) batch_.push_back(input_.pop());
  partition_.schedule(t, batch_handler_, partition_.now() + options_.uvm.batch_fixed + size * options_.uvm.per_fault);
}

/// A batch has been fetched and the driver is free again; software that does not occupy it may follow.
void UvmDriver::on_batch(Transaction* t) {
  handed_on_.push_back(std::exchange(batch_, {}));
  partition_.schedule(t, act_handler_, partition_.now() + options_.uvm.fault_software);
  busy_ = false;
  take_batch();
}

/// The action of each fault of a batch starts, in order.
void UvmDriver::on_act(Transaction* t) {
  partition_.pool().release(t);
  const std::vector<Fault*> batch = std::move(handed_on_.front());
  handed_on_.pop_front();
  if (options_.uvm.replay == BatchReplay::PerBatch) deciding_ = open_batch();
  for (Fault* fault : batch) {
    // What is only to be closed is not yet known to have taken any time here.
    if (!fault->answered) charge(*fault, LatencyComponent::DriverBatch);
    decide(fault);
  }
  const std::uint32_t decided = std::exchange(deciding_, kNoBatch);
  if (decided != kNoBatch) one_less_open(decided);
}

/// A batch that stays open until it is told that all its faults have been decided.
std::uint32_t UvmDriver::open_batch() {
  if (free_batches_.empty()) {
    free_batches_.push_back(static_cast<std::uint32_t>(batches_.size()));
    batches_.emplace_back();
  }
  const std::uint32_t batch = free_batches_.back();
  free_batches_.pop_back();
  batches_[batch].open = 1;
  return batch;
}

void UvmDriver::hand_out(std::uint32_t batch, const Outgoing& outgoing) {
  if (batch == kNoBatch) {
    dispatch(outgoing);
  } else {
    batches_[batch].ready.push_back(outgoing);
  }
}

void UvmDriver::one_less_open(std::uint32_t batch) {
  if (--batches_[batch].open != 0) return;
  for (const Outgoing& outgoing : batches_[batch].ready) dispatch(outgoing);
  batches_[batch].ready.clear();
  free_batches_.push_back(batch);
}

void UvmDriver::dispatch(const Outgoing& outgoing) {
  if (outgoing.message.kind != MessageKind::Data) {
    messenger_.send(outgoing.to, outgoing.message);
    return;
  }
  Transaction* t = partition_.pool().allocate();
  outgoing.message.put(*t);
  partition_.schedule(t, transfer_handler_, partition_.now() + options_.migration.setup);
}

/// What a fault asks for, of a page that is not moving.
PlacementAction UvmDriver::action_of(const PageRecord& r, const Fault& fault) const {
  const bool has = r.holders.test(fault.gpu.value) && (!fault.write || !r.shared);
  if (has || r.pinned) return PlacementAction::Map;
  return placement_->on_fault(r, fault.gpu, fault.write, options_.host);
}

bool UvmDriver::would_map(const Fault& fault) { return action_of(record(fault.page), fault) == PlacementAction::Map; }

void UvmDriver::note_holder(PageKey page, DeviceId gpu) {
  PageRecord& r = record(page);
  if (directory_ != nullptr) directory_->add(page, gpu);
  if (r.holders.test(gpu.value)) return;
  r.holders.set(gpu.value);
  if (watch_ != nullptr && r.copy_for(gpu).device() != gpu) watch_->mapped_remotely(page, gpu);
}

/// What a fault leads to, with the record as it is now.
void UvmDriver::decide(Fault* fault) {
  PageRecord& r = record(fault->page);
  if (fault->answered) {
    const bool valid = !r.moving && r.epoch == fault->epoch && action_of(r, *fault) == PlacementAction::Map;
    forwarder_->answer_seen(*fault, valid);
    if (valid) {
      // Its GPU has had the mapping from another, and the record says so.
      if (r.copy_for(fault->gpu).device() != fault->gpu) ++stats_.remote_mappings;
      tables_.answered(fault);
      return;
    }
    fault->answered = false;
    charge(*fault, LatencyComponent::DriverBatch);
  }
  if (r.moving) {
    ++stats_.parked;
    migrations_.at(fault->page.value).parked.push(fault);
    return;
  }
  const PlacementAction action = action_of(r, *fault);
  if (action == PlacementAction::Map) {
    map(fault, r);
    return;
  }
  if (migrations_.size() >= options_.uvm.concurrent_migrations) {
    waiting_.push(fault);
    return;
  }
  if (action != PlacementAction::Upgrade && !make_room(fault->gpu, fault)) return;
  start(fault->page, action, fault->gpu, fault);
}

/// Answers a fault without a migration.
void UvmDriver::map(Fault* fault, PageRecord& r) {
  const PhysPage copy = r.copy_for(fault->gpu);
  if (copy.device() != fault->gpu) ++stats_.remote_mappings;
  note_holder(fault->page, fault->gpu);
  Message message;
  message.kind = MessageKind::Map;
  message.page = fault->page;
  message.mapping = {copy, !r.shared, r.epoch};
  message.faulted = true;
  message.number = fault->number;
  message.accounted = fault->accounted;
  message.stamp = fault->shared;
  hand_out(deciding_, {fault->gpu, message});
  tables_.answered(fault);
}

void UvmDriver::move_requested(const Message& message) {
  PageRecord& r = record(message.page);
  if (r.moving || r.epoch != message.mapping.epoch || r.owner.device() == message.from || r.pinned ||
      migrations_.size() >= options_.uvm.concurrent_migrations || !make_room(message.from, nullptr)) {
    ++stats_.requests_dropped;
    Message answer;
    answer.kind = MessageKind::MoveRefused;
    answer.page = message.page;
    messenger_.send(message.from, answer);
    return;
  }
  start(message.page, PlacementAction::Move, message.from, nullptr);
}

// ---------------------------------------------------------------------------------------------------------- migrations

/// A frame for one more page of a GPU, or, where there is none, a page of it on its way to the host: then the fault
/// waits.
bool UvmDriver::make_room(DeviceId gpu, Fault* fault) {
  if (gpu == options_.host) return true;
  FramePool& room = frame_pools_[gpu.value];
  if (room.used < options_.gpu_pages) return true;
  if (!options_.migration.evict) {
    throw SimulationError(
        fmt::format("GPU {} has no room for another page: its {} pages are in use (gpu.dram.capacity; "
                    "migration.evict lets pages go back to the host)",
                    gpu.value, options_.gpu_pages));
  }
  if (fault != nullptr) room.waiting.push(fault);
  if (room.evicting == PageKey{}) evict_one(gpu);
  return false;
}

/// Sends the page that has been on a GPU longest back to the host; where it is replicated, all its copies are given up.
/// Where all of them are moving, the end of a migration tries again.
void UvmDriver::evict_one(DeviceId gpu) {
  FramePool& room = frame_pools_[gpu.value];
  if (room.residents.empty()) {
    throw SimulationError(
        fmt::format("GPU {} has no room for another page: none of its {} pages can be evicted (gpu.dram.capacity)",
                    gpu.value, options_.gpu_pages));
  }
  const auto victim = std::ranges::find_if(room.residents, [&](PageKey page) { return !record(page).moving; });
  if (victim == room.residents.end()) return;
  room.evicting = *victim;
  start(room.evicting, PlacementAction::Move, options_.host, nullptr);
}

/// Something on a GPU has changed: faults that waited for room there are decided anew.
void UvmDriver::retry_room(DeviceId gpu) {
  if (gpu == options_.host) return;
  FaultQueue waiting = std::exchange(frame_pools_[gpu.value].waiting, {});
  while (!waiting.empty()) {
    Fault* fault = waiting.pop();
    charge(*fault, LatencyComponent::DriverParked);
    decide(fault);
  }
}

void UvmDriver::start(PageKey page, PlacementAction action, DeviceId to, Fault* fault) {
  const bool needs_frame = action != PlacementAction::Upgrade;
  PageRecord& r = record(page);
  Migration& migration = migrations_[page.value];
  migration = {};
  migration.action = action;
  migration.from = r.owner;
  migration.fault = fault;
  migration.evicts = to == options_.host;
  migration.requested = partition_.now();
  migration.to = needs_frame ? frames_.take(to) : r.copy_for(to);
  migration.batch = fault == nullptr ? kNoBatch : deciding_;
  if (migration.batch != kNoBatch) ++batches_[migration.batch].open;
  r.moving = true;
  if (needs_frame && to != options_.host) {
    ++frame_pools_[to.value].used;
    if (options_.migration.evict) frame_pools_[to.value].residents.push_back(page);
  }
  tables_.forget(page);
  // One extra hold, so that nothing is ready before all has been sent.
  migration.pending = 1;
  const bool walks = fault == nullptr && !migration.evicts;
  if (walks) {
    ++migration.pending;
    tables_.walk_for(page);
  }
  if (action == PlacementAction::Copy) {
    downgrade(page, r, migration);
  } else {
    ++r.epoch;
    // What nobody holds lies on the host, as the host's own entry says.
    if (r.holders.any() && directory_ == nullptr) invalidate_all(page, r, migration);
    if (r.holders.any() && directory_ != nullptr) {
      ++migration.pending;
      migration.directory_waits = walks && directory_->needs_walk();
      if (!migration.directory_waits) ask_directory(page, migration);
    }
  }
  one_less(page);
}

/// Who keeps its mapping when a page moves: the GPU that becomes its only writer.
DeviceId UvmDriver::kept_by(const Migration& migration) const {
  return migration.action == PlacementAction::Upgrade ? migration.to.device() : options_.host;
}

void UvmDriver::ask_directory(PageKey page, const Migration& migration) {
  directory_->read(page, migration.to.device(), kept_by(migration));
}

void UvmDriver::targets_known(PageKey page, const std::bitset<kMaxGpus>& gpus) {
  Migration& migration = migrations_.at(page.value);
  for (unsigned g = 0; g < options_.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint8_t>(g)};
    if (gpus.test(g) && gpu != kept_by(migration)) {
      send_invalidation(page, record(page), migration, MessageKind::Invalidate, gpu);
    }
  }
  one_less(page);
}

/// Whom to invalidate: everyone, or whom the record names.
void UvmDriver::invalidate_all(PageKey page, PageRecord& r, Migration& migration) {
  bool everyone = options_.invalidate.targets == InvalidateTargets::Broadcast;
  if (options_.invalidate.targets == InvalidateTargets::Auto) {
    everyone = options_.policy == PagePolicy::AccessCounter || options_.policy == PagePolicy::Replication;
  }
  for (unsigned g = 0; g < options_.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint8_t>(g)};
    if (gpu == kept_by(migration) || (!everyone && !r.holders.test(g))) continue;
    send_invalidation(page, r, migration, MessageKind::Invalidate, gpu);
  }
}

/// A reader joins: the only writer, if there is one, becomes a reader too.
void UvmDriver::downgrade(PageKey page, PageRecord& r, Migration& migration) {
  if (r.shared) return;
  for (unsigned g = 0; g < options_.gpus; ++g) {
    if (!r.holders.test(g)) continue;
    send_invalidation(page, r, migration, MessageKind::Downgrade, DeviceId{static_cast<std::uint8_t>(g)});
  }
}

void UvmDriver::send_invalidation(PageKey page, const PageRecord& r, Migration& migration, MessageKind kind,
                                  DeviceId gpu) {
  if (kind == MessageKind::Invalidate) ++stats_.invalidations_sent;
  if (!options_.migration.free_invalidation()) ++migration.pending;
  Message message;
  message.kind = kind;
  message.page = page;
  message.mapping.epoch = r.epoch;
  messenger_.send(gpu, message);
}

void UvmDriver::on_message(const Message& message) {
  switch (message.kind) {
    case MessageKind::MoveRequest: move_requested(message); break;
    case MessageKind::Acknowledge:
      if (!options_.migration.free_invalidation()) one_less(message.page);
      break;
    case MessageKind::Done: done(message.page); break;
    case MessageKind::Part: break;
    case MessageKind::Data:
      tables_.page_came(PhysPage{message.from, message.stamp}, message.mapping.page);
      done(message.page);
      break;
    default: throw SimulationError("the host received a message that is not for it");
  }
}

void UvmDriver::host_walk_done(PageKey page) {
  Migration& migration = migrations_.at(page.value);
  if (std::exchange(migration.directory_waits, false)) ask_directory(page, migration);
  one_less(page);
}

void UvmDriver::one_less(PageKey page) {
  Migration& migration = migrations_.at(page.value);
  if (--migration.pending == 0) ready(page, migration);
}

/// All old mappings are void: the page may leave its old place.
void UvmDriver::ready(PageKey page, Migration& migration) {
  const Cycle waited = partition_.now() - migration.requested;
  PageRecord& r = record(page);
  stats_.wait += waited;
  stats_.wait_histogram.add(waited);
  if (migration.fault != nullptr) charge(*migration.fault, LatencyComponent::MigrationInvalidate);
  if (oracle_ != nullptr && migration.action != PlacementAction::Copy && !options_.migration.free_invalidation()) {
    oracle_->about_to_move(page, options_.gpus, kept_by(migration));
  }
  Message message;
  message.page = page;
  message.mapping = {migration.to, migration.action != PlacementAction::Copy, r.epoch};
  message.faulted = migration.fault != nullptr;
  message.tells_done = true;
  message.to = migration.to.device();
  message.write = migration.action == PlacementAction::Move;
  std::uint32_t shared = 0;
  if (migration.fault != nullptr) {
    message.number = migration.fault->number;
    message.accounted = migration.fault->accounted;
    shared = migration.fault->shared;
    tables_.answered(std::exchange(migration.fault, nullptr));
  }
  const std::uint32_t batch = migration.batch;
  if (options_.migration.ideal && migration.evicts) {
    arrive_on_host(page, migration.to);
    return;
  }
  if (migration.action == PlacementAction::Upgrade || options_.migration.ideal) {
    message.kind = MessageKind::Map;
    message.brings_page = migration.action != PlacementAction::Upgrade;
    message.stamp = shared;
    hand_out(batch, {message.to, message});
    if (batch != kNoBatch) one_less_open(batch);
    return;
  }
  message.extra = static_cast<std::uint16_t>(std::min<std::uint32_t>(shared, 0xffff));
  if (migration.action == PlacementAction::Copy) {
    // The lowest-numbered holder sends it.
    for (const PhysPage& copy : r.replicas) {
      if (copy.device() < migration.from.device()) migration.from = copy;
    }
  }
  message.stamp = static_cast<std::uint32_t>(migration.from.frame());
  message.kind = migration.from.device() == options_.host ? MessageKind::Data : MessageKind::Transfer;
  hand_out(batch, {migration.from.device(), message});
  if (batch != kNoBatch) one_less_open(batch);
}

/// Ideal migration: a page that leaves a GPU is on the host in this cycle, behind what this cycle has begun.
void UvmDriver::arrive_on_host(PageKey page, PhysPage frame) {
  // Pages leave the host without their lines then: what the cache has of the frame is another page's.
  tables_.write_back(frame);
  Transaction* t = partition_.pool().allocate();
  t->mask = page.value;
  partition_.schedule(t, arrival_handler_, partition_.now());
}

void UvmDriver::on_arrival(Transaction* t) {
  const PageKey page{t->mask};
  partition_.pool().release(t);
  done(page);
}

void UvmDriver::on_transfer(Transaction* t) {
  const Message message = Message::get(*t);
  const PhysPage old{options_.host, message.stamp};
  if (!tables_.can_write_back(old)) {
    // A store that has been ordered still waits for the rest of its line.
    partition_.schedule(t, transfer_handler_, partition_.now() + kTransferRetry);
    return;
  }
  partition_.pool().release(t);
  tables_.write_back(old);
  messenger_.send(message.to, message);
}

/// The page has arrived and its new mapping is written.
void UvmDriver::done(PageKey page) {
  Migration migration = std::move(migrations_.at(page.value));
  migrations_.erase(page.value);
  PageRecord& r = record(page);
  // Where it was, in the order in which room there is looked at again.
  std::vector<DeviceId> places = {migration.from.device(), migration.to.device()};
  for (const PhysPage& copy : r.replicas) places.push_back(copy.device());
  settle(page, r, migration);
  r.moving = false;
  tables_.publish(page, {r.owner, !r.shared, r.epoch});
  const Cycle took = partition_.now() - migration.requested;
  stats_.total += took;
  stats_.total_histogram.add(took);
  if (Timeline* timeline = partition_.timeline()) {
    timeline->note({TimelineEvent::Kind::Request, options_.host.value, 0, name_of(migration), migration.requested,
                    partition_.now(), page.value, 0},
                   page.number());
  }
  partition_.progress().steps += 1;
  if (migration.evicts) {
    for (FramePool& room : frame_pools_) {
      if (room.evicting == page) room.evicting = {};
    }
  }
  for (const DeviceId place : places) retry_room(place);
  while (!migration.parked.empty()) {
    Fault* fault = migration.parked.pop();
    charge(*fault, LatencyComponent::DriverParked);
    decide(fault);
  }
  while (!waiting_.empty() && migrations_.size() < options_.uvm.concurrent_migrations) {
    Fault* fault = waiting_.pop();
    charge(*fault, LatencyComponent::DriverTurn);
    decide(fault);
  }
}

const char* UvmDriver::name_of(const Migration& migration) {
  if (migration.evicts) return "eviction";
  switch (migration.action) {
    case PlacementAction::Copy: return "replication";
    case PlacementAction::Upgrade: return "write upgrade";
    default: return "migration";
  }
}

/// The record after a migration.
void UvmDriver::settle(PageKey page, PageRecord& r, const Migration& migration) {
  tell_of_move(page, r, migration);
  const DeviceId to = migration.to.device();
  if (migration.action == PlacementAction::Copy) {
    ++stats_.replications;
    r.replicas.push_back(migration.to);
    r.shared = true;
    r.holders.set(to.value);
    return;
  }
  const auto give_up = [&](PhysPage copy) {
    if (copy == migration.to) return;
    frames_.give(copy);
    if (copy.device() == options_.host) return;
    FramePool& room = frame_pools_[copy.device().value];
    --room.used;
    const auto resident = std::ranges::find(room.residents, page);
    if (resident != room.residents.end()) room.residents.erase(resident);
  };
  give_up(r.owner);
  for (const PhysPage& copy : r.replicas) give_up(copy);
  if (migration.action == PlacementAction::Upgrade) {
    ++stats_.write_upgrades;
  } else if (migration.evicts) {
    ++stats_.evictions;
  } else {
    ++stats_.migrations;
    if (migration.from.device() == options_.host) ++stats_.first_touches;
  }
  r.owner = migration.to;
  r.replicas.clear();
  r.shared = false;
  r.holders.reset();
  if (to != options_.host) r.holders.set(to.value);
}

/// The directory and the watch hear of a migration that ends; the record still says what was before it.
void UvmDriver::tell_of_move(PageKey page, const PageRecord& r, const Migration& migration) {
  const DeviceId to = migration.to.device();
  if (directory_ != nullptr && to != options_.host) directory_->add(page, to);
  if (watch_ == nullptr) return;
  const bool had_a_copy = r.copy_for(to).device() == to;
  if (migration.action != PlacementAction::Copy) {
    for (unsigned g = 0; g < options_.gpus; ++g) {
      const DeviceId gpu{static_cast<std::uint8_t>(g)};
      const bool has_a_copy = r.copy_for(gpu).device() == gpu;
      if (has_a_copy && gpu != to) watch_->left(page, gpu);
      if (!has_a_copy && r.holders.test(g)) watch_->remote_mapping_void(page, gpu);
    }
  }
  if (to != options_.host && !had_a_copy) watch_->came(page, to);
}

std::string UvmDriver::describe_waiting() const {
  if (idle()) return {};
  std::string text = fmt::format("  UVM driver: {} faults not taken, {} waiting, {} pages moving", input_.size(),
                                 waiting_.size(), migrations_.size());
  Cycle oldest = kNever;
  std::uint64_t page = 0;
  unsigned pending = 0;
  for (const auto& [key, migration] : migrations_) {  // the oldest of them: its order does not matter
    if (migration.requested > oldest || (migration.requested == oldest && key > page)) continue;
    oldest = migration.requested;
    page = key;
    pending = migration.pending;
  }
  if (oldest != kNever) {
    text += fmt::format(" (page {:#x} since cycle {}, {} acknowledgements missing)", PageKey{page}.number(), oldest,
                        pending);
  }
  return text + "\n";
}

}  // namespace nearfar
