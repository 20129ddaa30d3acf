#include "designs/disaggregated_page_table/leaf_tables_of_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "designs/disaggregated_page_table/messages.h"
#include "sim/error.h"

namespace nearfar {
namespace {

/// A leaf table does not go into a message: the simulator hands it over where it is. Its old home does not touch it any
/// more.
void put_table(Message& message, TablePage* table) {
  const auto place = reinterpret_cast<std::uintptr_t>(table);
  message.stamp = static_cast<std::uint32_t>(place);
  message.accounted = static_cast<std::uint32_t>(std::uint64_t{place} >> 32);
}

TablePage& table_in(const Message& message) {
  const std::uint64_t place = std::uint64_t{message.accounted} << 32 | message.stamp;
  return *reinterpret_cast<TablePage*>(static_cast<std::uintptr_t>(place));
}

}  // namespace

void LeafTableStats::describe(StatVisitor& visitor) {
  visitor.counter("leaf_reads.local", "reads",
                  "Page walks for misses that read their leaf entry in a leaf table whose home is this GPU.",
                  local_reads);
  visitor.counter("leaf_reads.remote", "messages",
                  "Requests of this GPU to read a leaf entry in a leaf table whose home is another GPU.", remote_reads);
  visitor.counter("leaf_reads.served", "reads", "Leaf entries that this GPU read for other GPUs.", served_reads);
  visitor.counter("leaf_reads.unmapped", "reads",
                  "Leaf entries that were read and had no mapping that the asking GPU may use.", unmapped_reads);
  visitor.counter("updates", "entries", "Mappings that this GPU wrote into leaf tables whose home it is.", updates);
  visitor.counter("updates.remote", "messages",
                  "Mappings that this GPU sent to another GPU, to be written into a leaf table there.", remote_updates);
  visitor.counter("updates.refused", "entries",
                  "Mappings that were not written into a leaf table since its entry was newer.", refused_updates);
  visitor.counter("clears", "entries", "Entries of leaf tables that this GPU made invalid when their page migrated.",
                  clears);
  visitor.counter("forwarded", "messages",
                  "Requests for entries of leaf tables that this GPU sent on since the table had migrated.", forwarded);
  visitor.counter("migrations", "tables", "Leaf tables that migrated to this GPU.", migrations);
  visitor.counter("migration_cycles", "cycles",
                  "Time from the departure of a leaf table to the moment at which its new home serves it, summed over "
                  "leaf tables that migrated to this GPU.",
                  migration_cycles);
  visitor.counter("migration_waits", "requests",
                  "Requests for entries of a leaf table that waited at its new home while it migrated.", waited);
  visitor.counter(
      "migration_wait_cycles", "cycles",
      "Time that requests for entries of a leaf table waited at its new home while it migrated, summed over "
      "requests.",
      waited_cycles);
  visitor.counter("tables", "tables", "Leaf tables with entries whose home this GPU is, at the end of a run.", tables);
  visitor.counter("table_bytes", "bytes",
                  "Memory of the leaf tables whose home this GPU is, at the end of a run: one copy of each.", bytes);
  visitor.counter("replicated_bytes", "bytes",
                  "Memory that the leaf tables whose home this GPU is would take if each GPU that used one had a copy.",
                  replicated_bytes);
  visitor.counter("tables_shared", "tables", "Leaf tables whose home this GPU is and that several GPUs used.",
                  shared_tables);
  visitor.counter("tables_shared_entry", "tables",
                  "Leaf tables whose home this GPU is and that have an entry that several GPUs used.",
                  tables_with_shared_entries);
}

LeafTablesOfGpu::LeafTablesOfGpu(Gmmu& gmmu, L2Tlb& tlb, Messenger& messenger, const LeafTableOptions& options)
    : gmmu_(gmmu), tlb_(tlb), messenger_(messenger), options_(options), bits_(options.gpus, options.spec.access_bits) {}

void LeafTablesOfGpu::describe(StatVisitor& visitor) {
  stats_.tables = stats_.bytes = stats_.replicated_bytes = stats_.shared_tables = stats_.tables_with_shared_entries = 0;
  for (const auto& [first, table] : tables_) {
    if (table.page == nullptr || !table.page->exists()) continue;
    ++stats_.tables;
    stats_.bytes += kPageBytes;
    stats_.replicated_bytes += table.page->users() * kPageBytes;
    stats_.shared_tables += table.page->users() > 1;
    stats_.tables_with_shared_entries += table.page->has_shared_entry();
  }
  stats_.describe(visitor);
}

// --------------------------------------------------------------------------------------------- before the first cycle

void LeafTablesOfGpu::start_table(PageKey page) {
  const PageKey first = TableHomes::first_of(page);
  made_.push_back(std::make_unique<TablePage>(first, options_.gpus));
  Table& table = tables_[first.value];
  table.page = made_.back().get();
  table.open = true;
}

void LeafTablesOfGpu::write_at_start(PageKey page, const Mapping& mapping, DeviceId holder) {
  TablePage& table = *table_here(page);
  TablePage::Entry& entry = table.entry(page);
  entry.pte = Pte::leaf(mapping, options_.large_pages);
  entry.pte.set_access_bits(bits_.bit(holder));
  entry.epoch = mapping.epoch;
  table.written();
  table.note_use(page, holder);
}

// -------------------------------------------------------------------------------------- requests, from where to where

TablePage* LeafTablesOfGpu::table_here(PageKey page) const {
  if (homes_.of(page).home != device().value) return nullptr;
  const auto found = tables_.find(TableHomes::first_of(page).value);
  return found != tables_.end() && found->second.open ? found->second.page : nullptr;
}

bool LeafTablesOfGpu::on_message(const Message& message) {
  if (message.kind == dpt::kLeafRead || message.kind == dpt::kUpdate || message.kind == dpt::kClear) {
    route({message, now(), false, nullptr});
  } else if (message.kind == dpt::kLeafAnswer) {
    take_answer(message);
  } else if (message.kind == dpt::kUpdated) {
    take_updated(message);
  } else if (message.kind == dpt::kHome) {
    home_heard(message);
  } else if (message.kind == dpt::kTablePage) {
    table_came(message);
  } else if (message.kind == dpt::kHomeKnown) {
    const PageKey first = TableHomes::first_of(message.page);
    const auto found = tables_.find(first.value);
    if (found == tables_.end()) {
      ++known_[first.value];
    } else {
      --found->second.unaware;
      open_when_known(first, found->second);
    }
  } else {
    return false;
  }
  return true;
}

void LeafTablesOfGpu::route(Request request) {
  const PageKey first = TableHomes::first_of(request.message.page);
  const TableHomes::Place& place = homes_.of(first);
  const bool sender_knows_more = !request.own && TableHomes::newer(request.message.number, place.version);
  if (place.home == TableHomes::kNone || sender_knows_more) {
    ahead_[first.value].push_back(request);
    return;
  }
  if (place.home != device().value) {
    send_on(request, place);
    return;
  }
  Table& table = tables_.at(first.value);
  if (table.open) {
    walk(request);
  } else {
    ++stats_.waited;
    table.held.push_back(request);
  }
}

/// To the home that this GPU knows.
void LeafTablesOfGpu::send_on(Request request, const TableHomes::Place& place) {
  Message message = request.message;
  message.number = place.version;
  if (!request.own) ++stats_.forwarded;
  message.stamp += static_cast<std::uint32_t>(now() - request.since);
  messenger_.send(DeviceId{place.home}, message);
}

/// The sender knows where the table is. Only an update that begins here has to go down the upper levels first.
void LeafTablesOfGpu::walk(const Request& request) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(walking_.size()));
    walking_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  const bool reads = request.message.kind == dpt::kLeafRead;
  Walk& walk = gmmu_.walk_for(*this, reads ? dpt::kLeafReadWalk : dpt::kLeafWriteWalk, request.message.page);
  walk.note = std::uint64_t{index} << 1;  // beside kInvalidated
  const bool knows_table = reads || !request.own;
  if (knows_table) walk.known = static_cast<std::uint8_t>(gmmu_.table(request.message.page.pid()).leaf() + 1);
  walking_[index] = request;
  walking_[index].walk = &walk;
  gmmu_.walkers().submit(walk, request.own ? WalkSource::Response : WalkSource::Request);
}

LeafTablesOfGpu::Request LeafTablesOfGpu::take_request(const Walk& walk) {
  const auto index = static_cast<std::uint32_t>(walk.note >> 1);
  free_.push_back(index);
  return std::exchange(walking_[index], {});
}

void LeafTablesOfGpu::walked(Walk& walk) {
  const Request request = take_request(walk);
  const Message& message = request.message;
  TablePage* table = table_here(message.page);
  if (table == nullptr) {
    // It has migrated under the walk.
    route(request);
  } else if (message.kind == dpt::kLeafRead) {
    serve_read(*table, request, walk);
  } else if (message.kind == dpt::kUpdate) {
    serve_update(*table, message);
  } else {
    serve_clear(*table, message);
  }
}

/// To a GPU that may be this one.
void LeafTablesOfGpu::answer(DeviceId to, const Message& message) {
  if (to == device()) {
    on_message(message);
  } else {
    messenger_.send(to, message);
  }
}

// -------------------------------------------------------------------------------------------------------------- reads

/// A walk for a miss has reached the leaf table, or the entry above it that says where it is.
void LeafTablesOfGpu::walked(const Walk& walk, Miss& miss) {
  const PageKey page = walk.page;
  if (walk.cut_short || homes_.of(page).home == TableHomes::kNone) {
    gmmu_.fault(page, miss);
    return;
  }
  TablePage* table = table_here(page);
  if (table != nullptr && !walk.ends_above) {
    read_for_miss(*table, page, miss);
    return;
  }
  miss.state = MissState::LeafRead;
  Message message;
  message.kind = dpt::kLeafRead;
  message.page = page;
  message.to = device();
  if (homes_.of(page).home != device().value) ++stats_.remote_reads;
  route({message, now(), true, nullptr});
}

/// What an entry says to a GPU, which has its mapping from then on.
Message LeafTablesOfGpu::read(TablePage& table, PageKey page, DeviceId reader) {
  table.note_use(page, reader);
  table.count_read(reader);
  TablePage::Entry& entry = table.entry(page);
  Message found;
  found.kind = dpt::kLeafAnswer;
  found.page = page;
  const PhysPage frame = entry.pte.page();
  found.held = entry.pte.valid() && (options_.remote_mappings || frame.device() == reader);
  if (!found.held) {
    ++stats_.unmapped_reads;
    return found;
  }
  found.mapping = {frame, entry.pte.writable(), entry.epoch};
  entry.pte.set_access_bits(entry.pte.access_bits() | bits_.bit(reader));
  return found;
}

void LeafTablesOfGpu::read_for_miss(TablePage& table, PageKey page, Miss& miss) {
  ++stats_.local_reads;
  const Message found = read(table, page, device());
  if (found.held) {
    gmmu_.give(page, found.mapping);
  } else {
    gmmu_.fault(page, miss);
  }
}

void LeafTablesOfGpu::serve_read(TablePage& table, const Request& request, const Walk& walk) {
  const DeviceId reader = request.message.to;
  ++(request.own ? stats_.local_reads : stats_.served_reads);
  Message found = read(table, walk.page, reader);
  found.stamp = request.message.stamp + static_cast<std::uint32_t>(walk.started - request.since);
  found.extra = static_cast<std::uint16_t>(std::min<Cycle>(now() - walk.started, 0xffff));
  answer(reader, found);
  migrate_where_needed(table, reader);
}

/// A home has read the entry that a miss needs.
void LeafTablesOfGpu::take_answer(const Message& found) {
  Miss& miss = *tlb_.pending(found.page);
  tlb_.charge(miss, LatencyComponent::RemoteLink, now() - found.stamp - found.extra);
  tlb_.charge(miss, LatencyComponent::RemoteQueue, now() - found.extra);
  tlb_.charge(miss, LatencyComponent::RemoteWalk);
  if (found.held) {
    gmmu_.give(found.page, found.mapping);
  } else {
    gmmu_.fault(found.page, miss);
  }
}

// ------------------------------------------------------------------------------------------------------------ updates

/// A mapping that the host has sent, alone or with its page, is written at the home.
void LeafTablesOfGpu::mapping_came(const Message& message, Miss* miss) {
  Message update;
  update.kind = dpt::kUpdate;
  update.page = message.page;
  update.mapping = message.mapping;
  update.to = device();
  update.faulted = miss != nullptr;
  update.tells_done = message.tells_done;
  const std::uint16_t home = homes_.of(message.page).home;
  if (home == TableHomes::kNone) {
    Message wanted;
    wanted.kind = dpt::kHomeWanted;
    wanted.page = message.page;
    messenger_.send(options_.host, wanted);
  } else if (home != device().value) {
    ++stats_.remote_updates;
  }
  route({update, now(), true, nullptr});
}

void LeafTablesOfGpu::serve_update(TablePage& table, const Message& update) {
  TablePage::Entry& entry = table.entry(update.page);
  const bool is_old = older(update.mapping.epoch, entry.epoch);
  if (is_old) {
    // The page has migrated since the host sent this mapping.
    if (update.tells_done) {
      throw SimulationError(
          fmt::format("the leaf table of page {:#x} has a newer mapping than the one that the host "
                      "waits for",
                      update.page.number()));
    }
    ++stats_.refused_updates;
  } else {
    ++stats_.updates;
    table.written();
    unsigned readers = entry.pte.valid() && entry.epoch == update.mapping.epoch ? entry.pte.access_bits() : 0;
    if (update.faulted) {
      readers |= bits_.bit(update.to);
      table.note_use(update.page, update.to);
    }
    entry.pte = Pte::leaf(update.mapping, options_.large_pages);
    entry.pte.set_access_bits(readers);
    entry.epoch = update.mapping.epoch;
  }
  if (update.tells_done) {
    Message done;
    done.kind = MessageKind::Done;
    done.page = update.page;
    messenger_.send(options_.host, done);
  }
  if (!update.faulted) return;
  Message written = update;
  written.kind = dpt::kUpdated;
  written.held = !is_old;
  answer(update.to, written);
}

void LeafTablesOfGpu::take_updated(const Message& message) {
  Miss& miss = *tlb_.pending(message.page);
  tlb_.charge(miss, LatencyComponent::GmmuUpdate);
  if (message.held) {
    gmmu_.give(message.page, message.mapping);
  } else {
    gmmu_.fault_again(message.page, miss);
  }
}

void LeafTablesOfGpu::serve_clear(TablePage& table, const Message& clear) {
  ++stats_.clears;
  TablePage::Entry& entry = table.entry(clear.page);
  Message cleared;
  cleared.kind = dpt::kCleared;
  cleared.page = clear.page;
  cleared.extra = static_cast<std::uint16_t>(entry.pte.access_bits());
  entry.pte.invalidate();
  entry.pte.set_access_bits(0);
  entry.epoch = clear.mapping.epoch;
  messenger_.send(options_.host, cleared);
}

// ------------------------------------------------------------------------------------------- migration of leaf tables

void LeafTablesOfGpu::migrate_where_needed(TablePage& table, DeviceId reader) {
  if (!options_.spec.migrate || reader == device()) return;
  const std::uint64_t limit = std::uint64_t{table.reads(device())} + options_.spec.threshold;
  if (table.reads(reader) > limit) migrate(table, reader);
}

/// The table leaves, and everybody hears of it at once. What comes for it from now on is sent on; the new home holds it
/// until all have said that they know.
void LeafTablesOfGpu::migrate(TablePage& table, DeviceId to) {
  const PageKey first = table.first();
  table.forget_reads();
  table.left = now();
  tables_.erase(first.value);
  const auto version = static_cast<std::uint16_t>(homes_.of(first).version + 1);
  set_home(first, to.value, version);
  Message message;
  message.page = first;
  message.to = to;
  message.number = version;
  message.kind = dpt::kHome;
  message.held = true;
  const TableHomes::Range& process = homes_.process(first.pid());
  for (unsigned g = process.first_gpu; g < process.first_gpu + process.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint16_t>(g)};
    if (gpu != to && gpu != device()) messenger_.send(gpu, message);
  }
  messenger_.send(options_.host, message);
  message.kind = dpt::kTablePage;
  put_table(message, &table);
  messenger_.send(to, message);
  take_back_walks(first);
}

/// Requests for the table that wait for a walker go after it.
void LeafTablesOfGpu::take_back_walks(PageKey first) {
  std::vector<Walk*> waiting;
  for (const Request& request : walking_) {
    if (request.walk != nullptr && TableHomes::first_of(request.message.page) == first) waiting.push_back(request.walk);
  }
  // In the order in which they came.
  std::ranges::stable_sort(waiting, {}, &Walk::submitted);
  for (Walk* each : waiting) {
    const Walk was = *each;
    // A walker may have it: its end finds the table gone.
    if (gmmu_.withdraw(*each)) route(take_request(was));
  }
}

void LeafTablesOfGpu::table_came(const Message& message) {
  const PageKey first = message.page;
  ++stats_.migrations;
  Table& table = tables_[first.value];
  table.page = &table_in(message);
  // All GPUs but the two of them, and the host.
  table.unaware = homes_.process(first.pid()).gpus - 1;
  const auto known = known_.find(first.value);
  if (known != known_.end()) {
    table.unaware -= known->second;
    known_.erase(known);
  }
  set_home(first, device().value, message.number);
  open_when_known(first, tables_.at(first.value));
}

void LeafTablesOfGpu::open_when_known(PageKey first, Table& table) {
  if (table.open || table.unaware != 0) return;
  table.open = true;
  stats_.migration_cycles += now() - table.page->left;
  for (const Request& request : table.held) stats_.waited_cycles += now() - request.since;
  std::vector<Request> held = std::exchange(tables_.at(first.value).held, {});
  go_on(std::move(held));
}

void LeafTablesOfGpu::home_heard(const Message& message) {
  if (TableHomes::newer(message.number, homes_.of(message.page).version)) {
    if (message.to == device()) start_table(message.page);
    set_home(message.page, message.to.value, message.number);
  }
  if (!message.held) return;
  Message known;
  known.kind = dpt::kHomeKnown;
  known.page = message.page;
  messenger_.send(message.to, known);
}

/// The upper entry says something new.
void LeafTablesOfGpu::set_home(PageKey page, std::uint16_t home, std::uint16_t version) {
  const PageKey first = TableHomes::first_of(page);
  homes_.of(first) = {home, version};
  PageTable& table = gmmu_.local_table(first.pid());
  gmmu_.walkers().cache().drop(TableHomes::range_of(first), table.leaf(), table.root());
  // It is there from now on, also where upper levels are made on demand.
  table.write(first.number(), table.read(first.number()));
  const auto ahead = ahead_.find(first.value);
  if (ahead == ahead_.end()) return;
  std::vector<Request> requests = std::move(ahead->second);
  ahead_.erase(ahead);
  go_on(std::move(requests));
}

void LeafTablesOfGpu::go_on(std::vector<Request> requests) {
  for (const Request& request : requests) route(request);
}

// ------------------------------------------------------------------------------------------------------------ the end

bool LeafTablesOfGpu::idle() const {
  return ahead_.empty() && known_.empty() && free_.size() == walking_.size() &&
         std::ranges::all_of(tables_, [](const auto& each) { return each.second.open && each.second.held.empty(); });
}

std::string LeafTablesOfGpu::describe_waiting() const {
  std::size_t held = 0;
  std::size_t coming = 0;
  std::size_t ahead = 0;
  for (const auto& [first, table] : tables_) {
    held += table.held.size();
    coming += !table.open;
  }
  for (const auto& [first, requests] : ahead_) ahead += requests.size();
  if (held + coming + ahead == 0) return {};
  return fmt::format("  leaf tables: {} on their way here, {} requests held for them, {} wait to hear of a home\n",
                     coming, held, ahead);
}

}  // namespace nearfar
