#include "translation/uvm/migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace nearfar {

Migrations::Migrations(Partition& partition, const UvmOptions& options, const Parts& parts, MigrationClient& client)
    : partition_(partition),
      options_(options),
      records_(parts.records),
      answers_(parts.answers),
      tables_(parts.tables),
      messenger_(parts.messenger),
      ledger_(parts.ledger),
      stats_(parts.stats),
      oracle_(parts.oracle),
      client_(client),
      arrival_handler_(partition.add_handler<&Migrations::on_arrival>(this)) {}

void Migrations::tell_at_start(PageKey page) {
  const PageRecord& r = records_.of(page);
  if (r.pinned) return;
  for (unsigned g = 0; g < options_.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint16_t>(g)};
    if (!r.holders.test(g)) continue;
    if (directory_ != nullptr) directory_->add_at_start(page, gpu);
    if (observer_ != nullptr)
      r.owner.device() == gpu ? observer_->came(page, gpu) : observer_->mapped_remotely(page, gpu);
  }
}

void Migrations::note_holder(PageKey page, DeviceId gpu) {
  PageRecord& r = records_.of(page);
  if (directory_ != nullptr) directory_->add(page, gpu);
  if (r.holders.test(gpu.value)) return;
  r.holders.set(gpu.value);
  if (observer_ != nullptr && r.copy_for(gpu).device() != gpu) observer_->mapped_remotely(page, gpu);
}

// --------------------------------------------------------------------------------------------------------------- start

void Migrations::start(PageKey page, PlacementAction action, DeviceId to, Fault* fault, std::uint32_t batch) {
  PageRecord& r = records_.of(page);
  Migration& migration = migrations_[page.value];
  migration = {};
  migration.action = action;
  migration.from = r.owner;
  migration.fault = fault;
  migration.evicts = to == options_.host;
  migration.requested = partition_.now();
  migration.to = action == PlacementAction::Upgrade ? r.copy_for(to) : records_.take_frame(page, to);
  if (fault != nullptr) migration.batch = batch;
  answers_.hold(migration.batch);
  r.moving = true;
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
    invalidate(page, r, migration, walks);
  }
  one_less(page);
}

// ---------------------------------------------------------------------------------------------------------- invalidate

void Migrations::invalidate(PageKey page, PageRecord& r, Migration& migration, bool walks) {
  ++r.epoch;
  // What nobody holds lies on the host, as the host's own entry says.
  if (!r.holders.any()) return;
  if (directory_ == nullptr) {
    invalidate_all(page, r, migration);
    return;
  }
  ++migration.pending;
  migration.directory_waits = walks && directory_->needs_walk();
  if (!migration.directory_waits) ask_directory(page, migration);
}

/// Who keeps its mapping when a page moves: the GPU that becomes its only writer.
DeviceId Migrations::kept_by(const Migration& migration) const {
  return migration.action == PlacementAction::Upgrade ? migration.to.device() : options_.host;
}

void Migrations::ask_directory(PageKey page, const Migration& migration) {
  directory_->read(page, migration.to.device(), kept_by(migration));
}

void Migrations::targets_known(PageKey page, const GpuSet& gpus) {
  Migration& migration = migrations_.at(page.value);
  for (unsigned g = 0; g < options_.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint16_t>(g)};
    if (gpus.test(g) && gpu != kept_by(migration)) {
      send_invalidation(page, records_.of(page), migration, MessageKind::Invalidate, gpu);
    }
  }
  one_less(page);
}

/// Whom to invalidate: everyone, or whom the record names.
void Migrations::invalidate_all(PageKey page, PageRecord& r, Migration& migration) {
  bool everyone = options_.invalidate.targets == InvalidateTargets::Broadcast;
  if (options_.invalidate.targets == InvalidateTargets::Auto) {
    everyone = options_.policy == PagePolicy::AccessCounter || options_.policy == PagePolicy::Replication;
  }
  for (unsigned g = 0; g < options_.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint16_t>(g)};
    if (gpu == kept_by(migration) || (!everyone && !r.holders.test(g))) continue;
    send_invalidation(page, r, migration, MessageKind::Invalidate, gpu);
  }
}

/// A reader joins: the only writer, if there is one, becomes a reader too.
void Migrations::downgrade(PageKey page, PageRecord& r, Migration& migration) {
  if (r.shared) return;
  for (unsigned g = 0; g < options_.gpus; ++g) {
    if (!r.holders.test(g)) continue;
    send_invalidation(page, r, migration, MessageKind::Downgrade, DeviceId{static_cast<std::uint16_t>(g)});
  }
}

void Migrations::send_invalidation(PageKey page, const PageRecord& r, Migration& migration, MessageKind kind,
                                   DeviceId gpu) {
  if (kind == MessageKind::Invalidate) ++stats_.invalidations_sent;
  if (!options_.migration.free_invalidation()) ++migration.pending;
  Message message;
  message.kind = kind;
  message.page = page;
  message.mapping.epoch = r.epoch;
  messenger_.send(gpu, message);
}

void Migrations::acknowledged(PageKey page) {
  if (!options_.migration.free_invalidation()) one_less(page);
}

void Migrations::host_walk_done(PageKey page) {
  Migration& migration = migrations_.at(page.value);
  if (std::exchange(migration.directory_waits, false)) ask_directory(page, migration);
  one_less(page);
}

void Migrations::one_less(PageKey page) {
  Migration& migration = migrations_.at(page.value);
  if (--migration.pending == 0) ready(page, migration);
}

// ---------------------------------------------------------------------------------------------------- ready, transfer

/// All old mappings are void: the page may leave its old place.
void Migrations::ready(PageKey page, Migration& migration) {
  const Cycle waited = partition_.now() - migration.requested;
  const PageRecord& r = records_.of(page);
  stats_.wait += waited;
  stats_.wait_histogram.add(waited);
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
  std::uint64_t shared = 0;
  if (Fault* fault = std::exchange(migration.fault, nullptr)) {
    ledger_.charge(fault->time, fault->gpu, fault->page, LatencyComponent::MigrationInvalidate);
    message.number = fault->number;
    message.accounted = static_cast<std::uint32_t>(fault->time.accounted);
    shared = fault->shared;
    tables_.answered(fault);
  }
  if (options_.migration.ideal && migration.evicts) {
    arrive_on_host(page, migration.to);
    return;
  }
  const std::uint32_t batch = migration.batch;
  begin_transfer(migration, r, message, shared);
  answers_.release(batch);
}

/// The page goes to its new place, or only its mapping does. `shared` is what another answer to its fault has been
/// charged too.
void Migrations::begin_transfer(Migration& migration, const PageRecord& r, Message& message, std::uint64_t shared) {
  if (migration.action == PlacementAction::Upgrade || options_.migration.ideal) {
    message.kind = MessageKind::Map;
    message.brings_page = migration.action != PlacementAction::Upgrade;
    message.stamp = static_cast<std::uint32_t>(shared);
    answers_.hand_out(migration.batch, {message.to, message});
    return;
  }
  message.extra = static_cast<std::uint16_t>(std::min<std::uint64_t>(shared, 0xffff));
  if (migration.action == PlacementAction::Copy) {
    // The lowest-numbered holder sends it.
    for (const PhysPage& copy : r.replicas) {
      if (copy.device() < migration.from.device()) migration.from = copy;
    }
  }
  message.stamp = static_cast<std::uint32_t>(migration.from.frame());
  message.kind = migration.from.device() == options_.host ? MessageKind::Data : MessageKind::Transfer;
  answers_.hand_out(migration.batch, {migration.from.device(), message});
}

/// Ideal migration: a page that leaves a GPU is on the host in this cycle, behind what this cycle has begun.
void Migrations::arrive_on_host(PageKey page, PhysPage frame) {
  // Pages leave the host without their lines then: what the cache has of the frame is another page's.
  tables_.write_back(frame);
  auto* event = partition_.pool().allocate<PageEvent>();
  event->page = page;
  partition_.schedule(event, arrival_handler_, partition_.now());
}

void Migrations::on_arrival(PageEvent* event) {
  const PageKey page = event->page;
  partition_.pool().release(event);
  arrived(page);
}

// ------------------------------------------------------------------------------------------------------------- arrived

void Migrations::arrived(PageKey page) {
  Migration migration = std::move(migrations_.at(page.value));
  migrations_.erase(page.value);
  PageRecord& r = records_.of(page);
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
    timeline->frame_holds(migration.to, page.value);
  }
  partition_.progress().steps += 1;
  if (migration.evicts) records_.end_eviction(page);
  client_.migration_ended(places, std::exchange(migration.parked, {}));
}

const char* Migrations::name_of(const Migration& migration) {
  if (migration.evicts) return "eviction";
  switch (migration.action) {
    case PlacementAction::Copy: return "replication";
    case PlacementAction::Upgrade: return "write upgrade";
    default: return "migration";
  }
}

/// The record after a migration.
void Migrations::settle(PageKey page, PageRecord& r, const Migration& migration) {
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
    if (copy != migration.to) records_.give_frame(page, copy);
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
  if (to == options_.host) return;
  r.holders.set(to.value);
  r.stays_until = partition_.now() + options_.migration.retention;
}

/// The directory and the watch hear of a migration that ends; the record still says what was before it.
void Migrations::tell_of_move(PageKey page, const PageRecord& r, const Migration& migration) {
  const DeviceId to = migration.to.device();
  if (directory_ != nullptr && to != options_.host) directory_->add(page, to);
  if (observer_ == nullptr) return;
  const bool had_a_copy = r.copy_for(to).device() == to;
  if (migration.action != PlacementAction::Copy) {
    for (unsigned g = 0; g < options_.gpus; ++g) {
      const DeviceId gpu{static_cast<std::uint16_t>(g)};
      const bool has_a_copy = r.copy_for(gpu).device() == gpu;
      if (has_a_copy && gpu != to) observer_->left(page, gpu);
      if (!has_a_copy && r.holders.test(g)) observer_->remote_mapping_void(page, gpu);
    }
  }
  if (to != options_.host && !had_a_copy) observer_->came(page, to);
}

std::string Migrations::describe_waiting() const {
  Cycle oldest = kNever;
  std::uint64_t page = 0;
  unsigned pending = 0;
  for (const auto& [key, migration] : migrations_) {  // the oldest of them: its order does not matter
    if (migration.requested > oldest || (migration.requested == oldest && key > page)) continue;
    oldest = migration.requested;
    page = key;
    pending = migration.pending;
  }
  if (oldest == kNever) return {};
  return fmt::format(" (page {:#x} since cycle {}, {} acknowledgements missing)", PageKey{page}.number(), oldest,
                     pending);
}

}  // namespace nearfar
