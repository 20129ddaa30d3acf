#include "memory/data_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "sim/error.h"

namespace nearfar {
namespace {

std::string name_of(PhysLine line) {
  return fmt::format("line {} of frame {} of device {}", line.index(), line.page().frame(), line.device().value);
}

std::string name_of(const LineImage& image, unsigned line_bytes) {
  const auto one = [](LineVersion version) {
    return version == kUndefinedByte ? std::string("undefined") : fmt::format("{}", version);
  };
  if (image.is_uniform()) return one(image.uniform());
  // Runs of bytes that hold the same write.
  std::string text;
  for (unsigned begin = 0; begin < line_bytes;) {
    unsigned end = begin + 1;
    while (end < line_bytes && image.at(end) == image.at(begin)) ++end;
    text += fmt::format("{}{}-{}:{}", text.empty() ? "" : " ", begin, end - 1, one(image.at(begin)));
    begin = end;
  }
  return text;
}

const LineImage kUnwritten;

/// A unit that has no loads and no fences: writes of copies are nobody's own.
constexpr unsigned kCopyUnit = 0x7fff;

/// What a unit does by way of a switch has no order with what it does to the same lines directly: another unit's.
LoadUnit by_way_of(DeviceId requester, LoadUnit unit) {
  return requester == unit.device() ? unit : LoadUnit{unit.value | 0x4000U};
}

}  // namespace

DataWatch::RecordLine& DataWatch::Record::part(unsigned line) {
  const std::uint64_t below = (std::uint64_t{1} << line) - 1;
  return parts[static_cast<std::size_t>(std::popcount(lines & below))];
}

DataWatch::DataWatch(DataOracle& oracle, Partition& partition, unsigned line_bytes)
    : oracle_(oracle), partition_(partition), line_bytes_(line_bytes) {}

DataWatch::Unit& DataWatch::unit(LoadUnit which) {
  std::vector<Unit>& units = which.scalar() ? scalar_units_ : vector_units_;
  if (which.index() >= units.size()) units.resize(which.index() + 1);
  return units[which.index()];
}

RecordId DataWatch::take_record() {
  if (free_record_ == 0) {
    if (used_chunks_ == kChunks) fail("more requests are in flight than it has records for");
    chunks_[used_chunks_] = std::make_unique<Chunk>();
    const auto first = static_cast<RecordId>(used_chunks_ * kChunk + 1);
    ++used_chunks_;
    for (std::size_t i = kChunk; i-- > 0;) {
      const RecordId id = first + static_cast<RecordId>(i);
      record(id).next_free = free_record_;
      free_record_ = id;
    }
  }
  const RecordId id = free_record_;
  Record& taken = record(id);
  free_record_ = taken.next_free;
  taken.lines = taken.open = 0;
  taken.loads = false;
  taken.parts.clear();
  return id;
}

/// Lines of a request have been answered; with the last of them its record is free.
void DataWatch::close(RecordId id, Record& closed, std::uint64_t lines) {
  if ((closed.open & lines) != lines) fail("a request was answered twice");
  closed.open &= ~lines;
  if (closed.open != 0) return;
  closed.next_free = free_record_;
  free_record_ = id;
}

DataWatch::Record& DataWatch::record_of(DeviceId requester, RecordId id) { return oracle_.watch(requester).record(id); }

void DataWatch::log(MemoryEvent event) {
  event.time = partition_.now();
  log_.push_back(std::move(event));
}

void DataWatch::fail(const std::string& why) const {
  throw SimulationError(
      fmt::format("check: at cycle {} in device {}: {}", partition_.now(), partition_.device().value, why));
}

// -------------------------------------------------------------------------------------------------- the unit that asks

std::uint64_t DataWatch::last_own_store(const Unit& unit, PhysLine line) const {
  const auto found = unit.own.find(line.value);
  return found == unit.own.end() ? 0 : found->second;
}

void DataWatch::check_unit_sees(LoadUnit which, PhysLine line, std::uint64_t newest_store, const char* what) {
  if (last_own_store(unit(which), line) <= newest_store) return;
  fail(fmt::format("{} {} {}, which is older than a store of its own", which.name(), what, name_of(line)));
}

RecordId DataWatch::loads_issued(LoadUnit which, std::uint8_t application, Location first, PhysPage page,
                                 std::uint64_t lines) {
  Unit& asks = unit(which);
  const RecordId id = take_record();
  Record& issued = record(id);
  issued.page = page;
  issued.first = first;
  issued.unit = which;
  issued.application = application;
  issued.loads = true;
  issued.acquired = asks.acquired;
  issued.lines = issued.open = lines;
  for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
    RecordLine& part = issued.parts.emplace_back();
    part.own_before = last_own_store(asks, line);
    asks.pending[line.value] = {id, asks.stores, asks.acquired};
  }
  return id;
}

RecordId DataWatch::store_issued(RecordId id, LoadUnit which, std::uint8_t application, Location first, PhysLine line,
                                 const ByteMask& mask) {
  Unit& asks = unit(which);
  if (id == 0) {
    id = take_record();
    Record& begun = record(id);
    begun.page = line.page();
    begun.first = first;
    begun.unit = which;
    begun.application = application;
  }
  Record& issued = record(id);
  const std::uint64_t bit = std::uint64_t{1} << line.index();
  issued.lines |= bit;
  issued.open |= bit;
  // Lines come in ascending order.
  RecordLine& part = issued.parts.emplace_back();
  part.mask = mask;
  part.store = ++asks.stores;
  ++asks.unacknowledged;
  asks.open.insert(part.store);
  asks.own[line.value] = part.store;
  return id;
}

void DataWatch::atomics_issued(RecordId id, LoadUnit which) {
  Unit& asks = unit(which);
  Record& issued = record(id);
  issued.loads = true;
  asks.unacknowledged -= issued.parts.size();
  for (const RecordLine& part : issued.parts) asks.open.erase(asks.open.find(part.store));
  for (std::uint64_t rest = issued.lines; rest != 0; rest &= rest - 1) {
    const PhysLine line{issued.page, static_cast<unsigned>(std::countr_zero(rest))};
    issued.part(line.index()).own_before = last_own_store(asks, line);
    asks.pending[line.value] = {id, asks.stores, asks.acquired};
  }
}

void DataWatch::l1_written(LoadUnit which, L1Image& copy, const ByteMask& mask) const {
  copy.image.write(mask, kOwnStore, line_bytes_);
  const std::vector<Unit>& units = which.scalar() ? scalar_units_ : vector_units_;
  copy.newest_store = units[which.index()].stores;
}

void DataWatch::l1_hit(LoadUnit which, std::uint8_t application, Location location, PhysLine line,
                       const L1Image& copy) {
  check_unit_sees(which, line, copy.newest_store, "hits");
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Returned;
  event.application = application;
  event.unit = which;
  event.location = location;
  event.acquired = unit(which).acquired;
  event.image = copy.image;
  log(std::move(event));
}

void DataWatch::load_merged(LoadUnit which, PhysLine line) {
  Unit& asks = unit(which);
  const auto found = asks.pending.find(line.value);
  if (found == asks.pending.end()) fail(fmt::format("{} merges {}, which is not pending", which.name(), name_of(line)));
  check_unit_sees(which, line, found->second.newest_store, "merges");
  found->second.acquired = asks.acquired;
}

void DataWatch::filled(LoadUnit which, PhysLine line, L1Image* copy) {
  Unit& asks = unit(which);
  const auto found = asks.pending.find(line.value);
  if (found == asks.pending.end()) {
    fail(fmt::format("{} was given {}, which it had not asked for", which.name(), name_of(line)));
  }
  const PendingLoad pending = found->second;
  asks.pending.erase(found);
  Record& asked = record(pending.record);
  RecordLine& part = asked.part(line.index());
  if (!part.served) fail(fmt::format("{} was given {}, which nobody had served", which.name(), name_of(line)));
  if (copy != nullptr) {
    check_unit_sees(which, line, pending.newest_store, "keeps");
    copy->image = part.image;
    copy->newest_store = pending.newest_store;
  }
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Returned;
  event.application = asked.application;
  event.unit = which;
  event.location = asked.location(line.index());
  event.acquired = pending.acquired;
  event.image = std::move(part.image);
  log(std::move(event));
  close(pending.record, asked, std::uint64_t{1} << line.index());
}

void DataWatch::stores_acknowledged(RecordId id, std::uint64_t lines) {
  Record& stored = record(id);
  for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
    acknowledged(stored, PhysLine{stored.page, static_cast<unsigned>(std::countr_zero(rest))});
  }
  close(id, stored, lines);
}

void DataWatch::acknowledged(const Record& stored, PhysLine line) {
  const RecordLine& part = const_cast<Record&>(stored).part(line.index());
  if (!part.ordered) {
    fail(fmt::format("a store of {} to {} was acknowledged before its home had ordered it", stored.unit.name(),
                     name_of(line)));
  }
  Unit& asks = unit(stored.unit);
  --asks.unacknowledged;
  asks.open.erase(asks.open.find(part.store));
}

void DataWatch::stores_merged(RecordId into, RecordId added, PhysLine line) {
  RecordLine& first = record(into).part(line.index());
  const RecordId before = first.last_joined == 0 ? into : first.last_joined;
  record(before).part(line.index()).joined = added;
  first.last_joined = added;
}

RecordId DataWatch::store_cut(RecordId id, PhysLine line, const ByteMask& piece) {
  const RecordId taken = take_record();
  Record& whole = record(id);
  Record& apart = record(taken);
  apart.page = whole.page;
  apart.first = whole.first;
  apart.unit = whole.unit;
  apart.application = whole.application;
  apart.lines = apart.open = std::uint64_t{1} << line.index();
  RecordLine& rest = whole.part(line.index());
  RecordLine& part = apart.parts.emplace_back();
  part.mask = piece;
  part.store = rest.store;
  rest.mask = rest.mask.without(piece);
  part.cut = rest.cut = true;
  Unit& asks = unit(whole.unit);
  ++asks.unacknowledged;
  asks.open.insert(part.store);
  return taken;
}

void DataWatch::stores_delivered(RecordId id, PhysLine line) {
  while (id != 0) {
    Record& stored = record(id);
    const RecordId next = stored.part(line.index()).joined;
    acknowledged(stored, line);
    close(id, stored, std::uint64_t{1} << line.index());
    id = next;
  }
}

void DataWatch::parked_runs(LoadUnit which, const WaveAccess& access) {
  std::vector<WaveAccess>& parked = unit(which).parked;
  const auto found = std::ranges::find_if(parked, [&](const WaveAccess& waits) {
    return waits.wave == access.wave && waits.page == access.page && waits.writes == access.writes &&
           (waits.lines & access.lines) == access.lines;
  });
  if (found == parked.end()) fail("an access that did not wait for its translation has got it");
  found->lines &= ~access.lines;
  if (found->lines == 0) parked.erase(found);
}

void DataWatch::passes_none_parked(LoadUnit which, const WaveAccess& access) {
  for (const WaveAccess& waits : unit(which).parked) {
    if (waits.wave != access.wave || waits.page != access.page || (waits.lines & access.lines) == 0) continue;
    if (!waits.writes && !access.writes) continue;
    fail(fmt::format("a {} of wavefront {} of {} passes an older {} of its own to line {} of virtual page {:#x}",
                     access.writes ? "store" : "load", access.wave, which.name(), waits.writes ? "store" : "load",
                     std::countr_zero(waits.lines & access.lines), access.page.value));
  }
}

void DataWatch::stores_settled(LoadUnit which) {
  if (unit(which).unacknowledged != 0) {
    fail(fmt::format("{} passes a fence, but {} of its stores have not been acknowledged", which.name(),
                     unit(which).unacknowledged));
  }
}

void DataWatch::release_ends(LoadUnit which, std::uint64_t last_store) {
  const std::multiset<std::uint64_t>& open = unit(which).open;
  if (open.empty() || *open.begin() > last_store) return;
  fail(fmt::format("{} passes a fence, but its store number {} has not been written, of {} before the fence",
                   which.name(), *open.begin(), last_store));
}

void DataWatch::released(LoadUnit which, Scope scope, Cycle begun) {
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Release;
  event.unit = which;
  event.scope = scope;
  event.begun = begun;
  log(std::move(event));
}

void DataWatch::acquired(LoadUnit which, Scope scope) {
  Unit& acquires = unit(which);
  acquires.acquired.gpu = partition_.now();
  if (scope == Scope::System) acquires.acquired.system = partition_.now();
  // What it stored before is at its home; loads that are pending still need to know of it.
  if (acquires.unacknowledged == 0 && acquires.pending.empty()) acquires.own.clear();
}

void DataWatch::boundary(std::uint8_t application) {
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Boundary;
  event.application = application;
  log(std::move(event));
}

// --------------------------------------------------------------------------------------------------- the home of a
// line

const LineImage& DataWatch::truth_of(PhysLine line) const {
  const auto found = truth_.find(line.value);
  return found == truth_.end() ? kUnwritten : found->second.image;
}

void DataWatch::write_ordered(DeviceId requester, RecordId id, PhysLine line) {
  for (; id != 0; id = record_of(requester, id).part(line.index()).joined) order_write(requester, id, line);
}

void DataWatch::order_write(DeviceId requester, RecordId id, PhysLine line) {
  Record& asked = record_of(requester, id);
  RecordLine& part = asked.part(line.index());
  if (asked.page != line.page()) fail(fmt::format("a store to another line was ordered at {}", name_of(line)));
  if (part.ordered) fail(fmt::format("a store to {} was ordered twice", name_of(line)));
  check_order(requester, asked, part, line);
  Truth& truth = truth_[line.value];
  ++truth.version;
  if (oracle_.host_with_copies_ == partition_.device()) truth.version = std::max(truth.version, next_version());
  part.version = truth.version;
  part.ordered = true;
  truth.image.write(part.mask, part.version, line_bytes_);
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Ordered;
  event.application = asked.application;
  event.unit = asked.unit;
  event.location = asked.location(line.index());
  event.version = part.version;
  event.mask = part.mask;
  log(std::move(event));
}

/// A unit's stores to a line come in order.
void DataWatch::check_order(DeviceId requester, const Record& asked, const RecordLine& part, PhysLine line) {
  std::uint64_t& last = ordered_[{line.value, by_way_of(requester, asked.unit).value}];
  if (part.store < last || (part.store == last && !part.cut)) {
    fail(fmt::format("two stores of {} to {} were ordered the wrong way round", asked.unit.name(), name_of(line)));
  }
  last = part.store;
}

/// And its loads behind them.
void DataWatch::check_passes_none(DeviceId requester, const Record& asked, const RecordLine& part, PhysLine line) {
  const auto found = ordered_.find({line.value, by_way_of(requester, asked.unit).value});
  const std::uint64_t last = found == ordered_.end() ? 0 : found->second;
  if (last < part.own_before) {
    fail(fmt::format("a load of {} by {} passed a store of its own", name_of(line), asked.unit.name()));
  }
}

void DataWatch::read_ordered(DeviceId requester, RecordId id, PhysLine line) {
  Record& asked = record_of(requester, id);
  RecordLine& part = asked.part(line.index());
  check_passes_none(requester, asked, part, line);
  part.image = truth_of(line);
}

void DataWatch::write_applied(DeviceId requester, RecordId id, PhysLine line, LineImage& copy) {
  while (id != 0) {
    const RecordLine& part = record_of(requester, id).part(line.index());
    if (!part.ordered) fail(fmt::format("a store to {} was performed before it was ordered", name_of(line)));
    copy.write(part.mask, part.version, line_bytes_);
    id = part.joined;
  }
}

RecordId DataWatch::keep_write(DeviceId requester, RecordId id, PhysLine line) {
  // What joined it is kept with it.
  const RecordId joined = record_of(requester, id).part(line.index()).joined;
  const RecordId behind = joined == 0 ? 0 : keep_write(requester, joined, line);
  const RecordId kept = take_record();
  const RecordLine& part = record_of(requester, id).part(line.index());
  Record& record = this->record(kept);
  record.page = line.page();
  record.lines = record.open = std::uint64_t{1} << line.index();
  RecordLine& copy = record.parts.emplace_back();
  copy.mask = part.mask;
  copy.version = part.version;
  copy.ordered = true;
  copy.joined = behind;
  return kept;
}

void DataWatch::kept_write_applied(RecordId id, PhysLine line, LineImage& copy) {
  write_applied(partition_.device(), id, line, copy);
  while (id != 0) {
    const RecordId next = record(id).part(line.index()).joined;
    close(id, record(id), std::uint64_t{1} << line.index());
    id = next;
  }
}

void DataWatch::read_served(DeviceId requester, RecordId id, PhysLine line, const LineImage& copy) {
  RecordLine& part = record_of(requester, id).part(line.index());
  if (!copy.same(part.image, line_bytes_)) {
    fail(fmt::format("the home of {} served versions {}, but {} were ordered before", name_of(line),
                     name_of(copy, line_bytes_), name_of(part.image, line_bytes_)));
  }
  part.served = true;
}

// ----------------------------------------------------------------------------------------- an L2 with other GPUs'
// lines

void DataWatch::l2_merged(RecordId id, PhysLine line) {
  const LoadUnit unit = record(id).unit;
  const auto found = fills_.find(line.value);
  if (found == fills_.end()) fail(fmt::format("a load merges {} in the L2, which is not pending", name_of(line)));
  if (std::ranges::find(found->second, unit.value) == found->second.end()) return;
  fail(fmt::format("a load of {} merges {} in the L2, which is older than a store of its own", unit.name(),
                   name_of(line)));
}

LineImage DataWatch::l2_filled(RecordId id, PhysLine line, bool fetched) {
  const RecordLine& part = record(id).part(line.index());
  if (!part.served) fail(fmt::format("the L2 was given {}, which nobody had served", name_of(line)));
  LineImage image = part.image;
  if (fetched) close(id, record(id), std::uint64_t{1} << line.index());
  return image;
}

RecordId DataWatch::l2_fetches(RecordId store, PhysLine line) {
  const RecordId id = take_record();
  Record& fetch = record(id);
  const Record& stored = record(store);
  fetch.page = line.page();
  fetch.first = stored.first;
  fetch.unit = stored.unit;
  fetch.application = stored.application;
  fetch.loads = true;
  fetch.lines = fetch.open = std::uint64_t{1} << line.index();
  // It must not pass the store at its home.
  fetch.parts.emplace_back().own_before = const_cast<Record&>(stored).part(line.index()).store;
  return id;
}

void DataWatch::l2_stores(RecordId id, PhysLine line, RemoteCopy* copy) {
  const Record& stored = record(id);
  const RecordLine& part = const_cast<Record&>(stored).part(line.index());
  passed_[{line.value, stored.unit.value}] = part.store;
  if (const auto fill = fills_.find(line.value); fill != fills_.end()) fill->second.push_back(stored.unit.value);
  if (copy == nullptr) return;
  copy->image.write(part.mask, kOwnStore, line_bytes_);
  copy->pending.push_back({id, part.mask});
}

void DataWatch::l2_keeps(RecordId id, PhysLine line, RemoteCopy& copy) {
  l2_stores(id, line, &copy);
  if (copy.pending.size() == 1) return;
  stores_merged(copy.pending.front().record, id, line);
  copy.pending.pop_back();
}

void DataWatch::l2_writes_back(const RemoteCopy& copy, PhysLine line, const ByteMask& changed) {
  ByteMask stored;
  RecordId last = 0;
  for (RecordId id = copy.pending.front().record; id != 0; id = record(id).part(line.index()).joined) {
    stored = stored | record(id).part(line.index()).mask;
    last = id;
  }
  if (stored == changed) return;
  fail(fmt::format("{} bytes of {} are written back, but stores, the last of {}, have changed {}", changed.count(),
                   name_of(line), record(last).unit.name(), stored.count()));
}

void DataWatch::l2_keeps_changed(RemoteCopy& copy, const ByteMask& changed) const {
  copy.image = undefined();
  copy.image.write(changed, kOwnStore, line_bytes_);
}

void DataWatch::l2_completed(RemoteCopy& copy, const ByteMask& changed, const LineImage& rest) const {
  copy.image = rest;
  copy.image.write(changed, kOwnStore, line_bytes_);
}

void DataWatch::l2_served(RecordId id, PhysLine line, const LineImage& image) {
  Record& asked = record(id);
  RecordLine& part = asked.part(line.index());
  const auto found = passed_.find({line.value, asked.unit.value});
  const std::uint64_t last = found == passed_.end() ? 0 : found->second;
  if (last < part.own_before) {
    fail(fmt::format("a load of {} by {} passed a store of its own in the L2", name_of(line), asked.unit.name()));
  }
  part.image = image;
  part.served = true;
}

/// The acknowledgement of a store of several lines waits for all of them, so that those of later stores may come first.
void DataWatch::l2_store_ordered(RecordId id, PhysLine line, RemoteCopy& copy) {
  const auto stored = std::ranges::find_if(
      copy.pending, [&](const RemoteCopy::PendingStore& store) { return store.record == id && !store.ordered; });
  if (stored == copy.pending.end()) return;
  ByteMask mask = stored->mask;
  for (auto later = stored + 1; later != copy.pending.end(); ++later) {
    for (std::size_t word = 0; word < mask.bits.size(); ++word) mask.bits[word] &= ~later->mask.bits[word];
  }
  copy.image.write(mask, record(id).part(line.index()).version, line_bytes_);
  stored->ordered = true;
  const auto open = std::ranges::find(copy.pending, false, &RemoteCopy::PendingStore::ordered);
  copy.pending.erase(copy.pending.begin(), open);
}

// ------------------------------------------------------------------------------------------------ multicast lines

void DataWatch::multicast_store_came(DeviceId source, RecordId id, PhysLine line) {
  Record& asked = record_of(source, id);
  check_order(source, asked, asked.part(line.index()), line);
}

void DataWatch::multicast_load_came(DeviceId source, RecordId id, PhysLine line) {
  Record& asked = record_of(source, id);
  check_passes_none(source, asked, asked.part(line.index()), line);
}

/// What is multicast goes to all members in their order, and so to each of them once.
void DataWatch::note_member(RecordLine& part, PhysPage multicast, PhysPage member) {
  const std::vector<PhysPage>& all = oracle_.members_.at(multicast.value);
  if (part.sent == all.size() || all[part.sent] != member) {
    fail(
        fmt::format("the switch sent what is for frame {} of it to frame {} of device {}, which is not the next member",
                    multicast.frame(), member.frame(), member.device().value));
  }
  ++part.sent;
}

void DataWatch::note_answer(const Record& record, const RecordLine& part, PhysLine member) {
  ++record_of(record.unit.device(), part.multicast).part(member.index()).answered;
}

void DataWatch::check_all_answered(const RecordLine& part, PhysLine line) const {
  const std::size_t all = oracle_.members_.at(line.page().value).size();
  if (part.sent == all && part.answered == all) return;
  fail(fmt::format("{} of {} members of {} have answered when all should have", part.answered, all, name_of(line)));
}

RecordId DataWatch::multicast_store(DeviceId source, RecordId id, PhysLine line, PhysLine member, Location first) {
  const RecordId taken = take_record();
  Record& asked = record_of(source, id);
  Record& copy = record(taken);
  copy.page = member.page();
  copy.first = first;
  copy.unit = asked.unit;
  copy.application = asked.application;
  copy.lines = copy.open = std::uint64_t{1} << member.index();
  RecordLine& stored = asked.part(line.index());
  note_member(stored, line.page(), member.page());
  RecordLine& part = copy.parts.emplace_back();
  part.multicast = id;
  part.mask = stored.mask;
  part.store = stored.store;
  return taken;
}

RecordId DataWatch::multicast_load(DeviceId source, RecordId id, PhysPage member, Location first, std::uint64_t lines) {
  const RecordId taken = take_record();
  Record& asked = record_of(source, id);
  Record& load = record(taken);
  load.page = member;
  load.first = first;
  load.unit = asked.unit;
  load.application = asked.application;
  load.loads = true;
  load.acquired = asked.acquired;
  load.lines = load.open = lines;
  for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
    RecordLine& of = asked.part(static_cast<unsigned>(std::countr_zero(rest)));
    note_member(of, asked.page, member);
    RecordLine& part = load.parts.emplace_back();
    part.multicast = id;
    part.own_before = of.own_before;
    part.mask = of.mask;
    part.store = of.store;
  }
  return taken;
}

void DataWatch::member_written(RecordId id, PhysLine member) {
  Record& copy = record(id);
  if (!copy.part(member.index()).ordered) {
    fail(fmt::format("a store to {} was said to be written before its home had ordered it", name_of(member)));
  }
  note_answer(copy, copy.part(member.index()), member);
  close(id, copy, std::uint64_t{1} << member.index());
}

void DataWatch::operand_came(RecordId id, PhysLine member) {
  Record& load = record(id);
  RecordLine& part = load.part(member.index());
  if (!part.served) fail(fmt::format("the switch was given {}, which nobody had served", name_of(member)));
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Returned;
  event.application = load.application;
  event.unit = by_way_of(partition_.device(), load.unit);
  event.location = load.location(member.index());
  event.acquired = load.acquired;
  event.image = std::move(part.image);
  log(std::move(event));
  note_answer(load, part, member);
  close(id, load, std::uint64_t{1} << member.index());
}

void DataWatch::multicast_written(DeviceId source, RecordId id, PhysLine line) {
  RecordLine& part = record_of(source, id).part(line.index());
  if (part.ordered) fail(fmt::format("a store to {} was written twice", name_of(line)));
  check_all_answered(part, line);
  part.ordered = true;
}

/// What the sum is, the memory model has judged by the members' lines: of the multicast line itself it knows no write.
void DataWatch::multicast_loaded(DeviceId source, RecordId id, PhysLine line) {
  RecordLine& part = record_of(source, id).part(line.index());
  check_all_answered(part, line);
  part.image = LineImage();
  part.served = true;
}

// --------------------------------------------------------------------------------------- unified memory hierarchy

/// Later ones are larger, and no two devices have the same.
LineVersion DataWatch::next_version() { return (partition_.now() + 1) * oracle_.devices() + partition_.device().value; }

void DataWatch::unified_store(RecordId id, PhysLine line, LineImage& copy) {
  Record& asked = record(id);
  RecordLine& part = asked.part(line.index());
  if (part.ordered) fail(fmt::format("a store to {} was performed twice", name_of(line)));
  std::uint64_t& last = ordered_[{line.value, asked.unit.value}];
  if (part.store <= last) {
    fail(fmt::format("two stores of {} to {} were performed the wrong way round", asked.unit.name(), name_of(line)));
  }
  last = part.store;
  part.version = next_version();
  part.ordered = true;
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Ordered;
  event.application = asked.application;
  event.unit = asked.unit;
  event.location = asked.location(line.index());
  event.version = part.version;
  event.mask = part.mask;
  unified_lines_[line.value] = {asked.application, event.location};
  log(std::move(event));
  copy.write(part.mask, part.version, line_bytes_);
  // An atomic returns what was there before; that it was the newest, the next one shows.
  if (asked.loads) {
    part.image = copy;
    part.served = true;
  }
}

void DataWatch::unified_load(RecordId id, PhysLine line, const LineImage& copy) {
  Record& asked = record(id);
  RecordLine& part = asked.part(line.index());
  const auto found = ordered_.find({line.value, asked.unit.value});
  if ((found == ordered_.end() ? 0 : found->second) < part.own_before) {
    fail(fmt::format("a load of {} by {} passed a store of its own", name_of(line), asked.unit.name()));
  }
  part.image = copy;
  part.served = true;
}

void DataWatch::unified_host_store(std::uint8_t application, Location location, PhysLine line, LineImage& copy) {
  MemoryEvent event;
  event.kind = MemoryEvent::Kind::Ordered;
  event.application = application;
  event.unit = LoadUnit::of(partition_.device(), application, false);
  event.location = location;
  event.version = next_version();
  event.mask = ByteMask::all(line_bytes_);
  copy.write(event.mask, event.version, line_bytes_);
  unified_lines_[line.value] = {application, location};
  log(std::move(event));
}

void DataWatch::unified_host_load(std::uint8_t application, Location location, const LineImage& copy) {
  MemoryEvent event;
  event.application = application;
  event.unit = LoadUnit::of(partition_.device(), application, false);
  event.location = location;
  event.image = copy;
  log(std::move(event));
}

void DataWatch::unified_end(PhysLine line, const LineImage& contents) {
  const auto found = unified_lines_.find(line.value);
  if (found == unified_lines_.end()) return;
  unified_host_load(found->second.application, found->second.location, contents);
}

// ---------------------------------------------------------------------------------------------------- memory, pages

LineImage DataWatch::fetched(PhysLine line) const {
  const auto found = memory_.find(line.value);
  return found == memory_.end() ? LineImage() : found->second;
}

void DataWatch::written_back(PhysLine line, const LineImage& copy) {
  if (!copy.same(truth_of(line), line_bytes_)) {
    fail(fmt::format("versions {} of {} were written to memory, but {} were ordered", name_of(copy, line_bytes_),
                     name_of(line), name_of(truth_of(line), line_bytes_)));
  }
  memory_[line.value] = copy;
}

/// A clean line leaves the cache: memory must have what it held.
void DataWatch::dropped(PhysLine line, const LineImage& copy) const {
  const LineImage memory = fetched(line);
  if (copy.same(memory, line_bytes_)) return;
  fail(fmt::format("versions {} of {} were dropped, but memory holds {}", name_of(copy, line_bytes_), name_of(line),
                   name_of(memory, line_bytes_)));
}

void DataWatch::page_leaves(PhysPage page) {
  if (oracle_.by_frame_) return;  // its data stays
  DataOracle::PageContents contents;
  for (unsigned i = 0; i < 1U << kLineIndexBits; ++i) {
    const PhysLine line{page, i};
    const auto truth = truth_.find(line.value);
    if (truth == truth_.end()) continue;
    const LineImage memory = fetched(line);
    if (!memory.same(truth->second.image, line_bytes_)) {
      fail(fmt::format("{} leaves with versions {}, but {} were ordered", name_of(line), name_of(memory, line_bytes_),
                       name_of(truth->second.image, line_bytes_)));
    }
    contents.lines.push_back({i, truth->second.version, memory});
  }
  const std::scoped_lock lock(oracle_.in_transit_mutex_);
  oracle_.in_transit_[page.value] = std::move(contents);
}

void DataWatch::page_came(PhysPage from, PhysPage to) {
  if (oracle_.by_frame_) return;
  for (unsigned i = 0; i < 1U << kLineIndexBits; ++i) {
    truth_.erase(PhysLine(to, i).value);
    memory_.erase(PhysLine(to, i).value);
  }
  const std::scoped_lock lock(oracle_.in_transit_mutex_);
  const auto found = oracle_.in_transit_.find(from.value);
  if (found == oracle_.in_transit_.end()) {
    fail(fmt::format("frame {} of device {} came from a frame that nobody sent", to.frame(), to.device().value));
  }
  for (const DataOracle::PageContents::Line& line : found->second.lines) {
    truth_[PhysLine(to, line.index).value] = {line.version, line.image};
    memory_[PhysLine(to, line.index).value] = line.image;
  }
}

void DataWatch::copy_sent(std::uint32_t chunk, std::uint8_t application, Location page) {
  const std::scoped_lock lock(oracle_.in_transit_mutex_);
  oracle_.copies_[chunk] = {application, page};
}

void DataWatch::transfer_sent(std::uint32_t chunk) {
  const std::scoped_lock lock(oracle_.in_transit_mutex_);
  oracle_.transfers_[chunk].clear();
}

void DataWatch::copied_from(std::uint32_t chunk, PhysLine line) const {
  const LineImage memory = fetched(line);
  if (!memory.same(truth_of(line), line_bytes_)) {
    fail(fmt::format("versions {} of {} were copied, but {} were ordered", name_of(memory, line_bytes_), name_of(line),
                     name_of(truth_of(line), line_bytes_)));
  }
  const std::scoped_lock lock(oracle_.in_transit_mutex_);
  const auto transfer = oracle_.transfers_.find(chunk);
  if (transfer == oracle_.transfers_.end()) return;
  const auto truth = truth_.find(line.value);
  transfer->second.push_back({line.index(), truth == truth_.end() ? 0 : truth->second.version, memory});
}

void DataWatch::copied_to(std::uint32_t chunk, PhysLine first, unsigned lines) {
  DataOracle::CopyTarget target;
  {
    const std::scoped_lock lock(oracle_.in_transit_mutex_);
    if (const auto transfer = oracle_.transfers_.find(chunk); transfer != oracle_.transfers_.end()) {
      for (unsigned i = 0; i < lines; ++i) {
        const DataOracle::PageContents::Line& from = transfer->second.at(i);
        const PhysLine line{first.page(), first.index() + i};
        truth_[line.value] = {from.version, from.image};
        memory_[line.value] = from.image;
      }
      oracle_.transfers_.erase(transfer);
      return;
    }
    target = oracle_.copies_.at(chunk);
  }
  for (unsigned i = first.index(); i < first.index() + lines; ++i) {
    const PhysLine line{first.page(), i};
    Truth& truth = truth_[line.value];
    ++truth.version;
    const ByteMask all = ByteMask::all(line_bytes_);
    truth.image.write(all, truth.version, line_bytes_);
    memory_[line.value] = truth.image;
    MemoryEvent event;
    event.kind = MemoryEvent::Kind::Ordered;
    event.application = target.application;
    event.unit = LoadUnit::of(partition_.device(), kCopyUnit, false);
    event.location = {target.page.value + i};
    event.version = truth.version;
    event.mask = all;
    log(std::move(event));
  }
}

void DataWatch::check_copy(DeviceId gpu, PhysLine line, const LineImage& copy) const {
  if (copy.same(truth_of(line), line_bytes_)) return;
  fail(fmt::format("at the end GPU {} holds versions {} of {}, but {} were ordered", gpu.value,
                   name_of(copy, line_bytes_), name_of(line), name_of(truth_of(line), line_bytes_)));
}

void DataWatch::check_written_back() const {
  for (const auto& [key, truth] : truth_) {
    const LineImage memory = fetched(PhysLine{key});
    if (memory.same(truth.image, line_bytes_)) continue;
    fail(fmt::format("at the end memory holds versions {} of {}, but {} were ordered", name_of(memory, line_bytes_),
                     name_of(PhysLine{key}), name_of(truth.image, line_bytes_)));
  }
}

// ----------------------------------------------------------------------------------------------------------- all of
// them

DataWatch& DataOracle::add_device(Partition& partition) {
  watches_.push_back(std::make_unique<DataWatch>(*this, partition, line_bytes_));
  return *watches_.back();
}

void DataOracle::merge() {
  merged_.clear();
  for (const auto& watch : watches_) {
    for (const MemoryEvent& event : watch->log_) merged_.push_back(&event);
  }
  std::ranges::stable_sort(merged_, [](const MemoryEvent* a, const MemoryEvent* b) {
    return std::tie(a->time, a->kind) < std::tie(b->time, b->kind);
  });
  for (const MemoryEvent* event : merged_) model_.see(*event);
  for (const auto& watch : watches_) watch->log_.clear();
}

}  // namespace nearfar
