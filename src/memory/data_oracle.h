// The data oracle of --check: follows the bytes of every line through caches, memory and messages.
//
// Each device has a watch of its own, which its caches tell what they do. Copies of lines carry images: for every byte
// the write that it holds. A watch checks at once what its own device must hold to, whatever designs are on:
//   - a home orders the writes to a line; what it serves, evicts, flushes or sends away holds exactly those, in order;
//   - a home orders a unit's load behind the stores that the unit had sent before it;
//   - an L1 never holds or merges a line that is older than a store of its own unit;
//   - accesses of a wavefront to one line, of which one writes, do not pass each other;
//   - a fence passes when all stores of its compute unit have been acknowledged.
// What takes more than one device to see, the memory model judges, from what the watches write down; their logs are
// merged between windows, in the order of time. So a checked run works on any number of threads.
//
// A request in flight has a record in the watch of the device that asked; its number travels with the request, and the
// home writes what it serves into the record. Requester and home use it in turns, a message apart.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "memory/line_image.h"
#include "memory/memory_model.h"
#include "sim/partition.h"
#include "sim/types.h"

namespace nearfar {

class DataOracle;

/// A line in an L1, by its slot.
struct L1Image {
  LineImage image;
  std::uint64_t newest_store = 0;  ///< stores of the unit up to this one are in it, or are other lines'
};

/// The number of a request's record; 0 is none.
using RecordId = std::uint32_t;

/// A line at home in another GPU, in an L2, by its slot. What stores of this GPU wrote that their home has not
/// acknowledged yet is later than all that is ordered.
struct RemoteCopy {
  struct PendingStore {
    RecordId record = 0;
    ByteMask mask;
    bool ordered = false;  ///< acknowledged before one in front of it, whose bytes it still covers
  };
  LineImage image;
  std::vector<PendingStore> pending;  ///< in the order in which the L2 looked them up
};

class DataWatch {
 public:
  DataWatch(DataOracle& oracle, Partition& partition, unsigned line_bytes);

  const DataOracle& oracle() const { return oracle_; }

  // ------------------------------------------------------------------------------------------ the unit that asks
  /// Loads that the L1 does not hold leave for their home: lines `lines` of `page`, the first of which is `first`.
  RecordId loads_issued(LoadUnit unit, std::uint8_t application, Location first, PhysPage page, std::uint64_t lines);
  /// A store, or the store of an atomic, enters the L1 on its way to its home. With a record of 0 it begins one, to
  /// which the other lines of the same page are added.
  RecordId store_issued(RecordId record, LoadUnit unit, std::uint8_t application, Location first, PhysLine line,
                        const ByteMask& mask);
  /// An atomic's lines, all of which store_issued() has been told of, are loads as well.
  void atomics_issued(RecordId record, LoadUnit unit);
  /// A store finds its line in the L1.
  void l1_written(LoadUnit unit, L1Image& copy, const ByteMask& mask) const;
  /// A load finds its line in the L1; or merges one that is pending.
  void l1_hit(LoadUnit unit, std::uint8_t application, Location location, PhysLine line, const L1Image& copy);
  void load_merged(LoadUnit unit, PhysLine line);
  /// A line that was asked for has come, and is kept in `copy` if that is not null.
  void filled(LoadUnit unit, PhysLine line, L1Image* copy);
  /// Stores have been acknowledged.
  void stores_acknowledged(RecordId record, std::uint64_t lines);

  /// A wavefront's access to lines of a page.
  struct WaveAccess {
    unsigned wave = 0;
    VirtPage page;
    std::uint64_t lines = 0;
    bool writes = false;
  };
  /// It waits aside for its translation; some of its lines are looked up at last; another that did not wait is looked
  /// up, and must not pass one of the same wavefront that waits.
  void parked(LoadUnit unit, const WaveAccess& access) { this->unit(unit).parked.push_back(access); }
  void parked_runs(LoadUnit unit, const WaveAccess& access);
  void passes_none_parked(LoadUnit unit, const WaveAccess& access);

  // Posted stores. One joins another that has not left yet, behind which it will be ordered; some bytes of one leave
  // apart, as a store of their own, whose record is the answer; the home has written one, and all that joined it.
  void stores_merged(RecordId into, RecordId added, PhysLine line);
  RecordId store_cut(RecordId record, PhysLine line, const ByteMask& piece);
  void stores_delivered(RecordId record, PhysLine line);

  /// A fence finds that all stores of its compute unit have been acknowledged; or, where stores are posted, it begins,
  /// and finds at its end that those of its unit up to then have been written.
  void stores_settled(LoadUnit unit);
  std::uint64_t release_begins(LoadUnit unit) { return this->unit(unit).stores; }
  void release_ends(LoadUnit unit, std::uint64_t last_store);
  /// A fence has released what had been ordered when it began; the unit's L1 drops what it holds (a fence, a kernel).
  void released(LoadUnit unit, Scope scope, Cycle begun);
  void acquired(LoadUnit unit, Scope scope);
  /// An application passes a kernel boundary; the host says so.
  void boundary(std::uint8_t application);

  // ------------------------------------------------------------------------------------------- the home of a line
  /// The home orders a write, or the read of a request: from now on every later request comes behind it.
  void write_ordered(DeviceId requester, RecordId record, PhysLine line);
  void read_ordered(DeviceId requester, RecordId record, PhysLine line);
  /// A write that has been ordered reaches the copy in the home's cache; a read takes its data from there.
  void write_applied(DeviceId requester, RecordId record, PhysLine line, LineImage& copy);
  /// A write that has been ordered waits for the rest of its line: it is acknowledged meanwhile, so the home keeps what
  /// it writes in a record of its own, until it reaches the copy.
  RecordId keep_write(DeviceId requester, RecordId record, PhysLine line);
  void kept_write_applied(RecordId record, PhysLine line, LineImage& copy);
  void read_served(DeviceId requester, RecordId record, PhysLine line, const LineImage& copy);
  /// A line comes from memory into the cache, or is allocated without it; a line goes to memory, or is dropped.
  LineImage fetched(PhysLine line) const;
  static LineImage undefined() { return LineImage(kUndefinedByte); }
  void written_back(PhysLine line, const LineImage& copy);
  void dropped(PhysLine line, const LineImage& copy) const;

  // ------------------------------------------------------------------------------- an L2 with other GPUs' lines
  /// The L2 asks the home of a line for it; a load that missed merges with that; the line has come with this image.
  void l2_fill_issued(PhysLine line) { fills_[line.value].clear(); }
  void l2_merged(RecordId record, PhysLine line);
  LineImage l2_filled(RecordId record, PhysLine line, bool fetched);
  /// The L2 reads a line for itself behind a store to part of it.
  RecordId l2_fetches(RecordId store, PhysLine line);
  /// The L2 looks up a store or an atomic on its way to the home; a store writes to `copy` if that is not null.
  void l2_stores(RecordId record, PhysLine line, RemoteCopy* copy);
  /// The same where the store stays in the copy: it will be ordered behind those that have stayed there before it.
  void l2_keeps(RecordId record, PhysLine line, RemoteCopy& copy);
  /// What has stayed in a copy leaves for its home: it has to be these bytes.
  void l2_writes_back(const RemoteCopy& copy, PhysLine line, const ByteMask& changed);
  /// Of a copy that is dropped what stores have changed stays, `changed`; or the rest of it has come.
  void l2_keeps_changed(RemoteCopy& copy, const ByteMask& changed) const;
  void l2_completed(RemoteCopy& copy, const ByteMask& changed, const LineImage& rest) const;
  /// A load is served from the L2's copy, or from the fill with which it merged.
  void l2_served(RecordId record, PhysLine line, const LineImage& image);
  /// The home has ordered a store that `copy` may hold.
  void l2_store_ordered(RecordId record, PhysLine line, RemoteCopy& copy);

  /// The contents of a frame, all of which are in memory, leave for another; or have come from one.
  void page_leaves(PhysPage page);
  void page_came(PhysPage from, PhysPage to);

  // A switch that multicasts stores and adds up loads. To the requester it is the home of multicast lines; to the homes
  // of their members it is the requester, with records of its own. The memory model sees what happens to the members.
  /// Stores or loads of `source` to multicast lines are next at the switch, which must keep a unit's stores in order.
  void multicast_store_came(DeviceId source, RecordId record, PhysLine line);
  void multicast_load_came(DeviceId source, RecordId record, PhysLine line);
  /// The record of a store to one member's line, or of loads or atomics of lines of one member's page; `first` is line
  /// 0 of it.
  RecordId multicast_store(DeviceId source, RecordId record, PhysLine line, PhysLine member, Location first);
  RecordId multicast_load(DeviceId source, RecordId record, PhysPage member, Location first, std::uint64_t lines);
  /// A member's home has written a store; an operand has come from one.
  void member_written(RecordId record, PhysLine member);
  void operand_came(RecordId record, PhysLine member);
  /// All members have written a store; all operands of a load have been added up.
  void multicast_written(DeviceId source, RecordId record, PhysLine line);
  void multicast_loaded(DeviceId source, RecordId record, PhysLine line);

  // Copies between launches. The host sends a chunk that will write lines of `page`, as programs know it; a line is
  // read from memory, which must hold all that was ordered; lines are overwritten in memory, each a write that is
  // ordered now.
  void copy_sent(std::uint32_t chunk, std::uint8_t application, Location page);
  void copied_from(std::uint32_t chunk, PhysLine line) const;
  void copied_to(std::uint32_t chunk, PhysLine first, unsigned lines);
  /// A chunk goes from one copy of a page to another: what it writes is what it has read, and no write of its own. So
  /// who reads a copy that has not been brought up to date is found out.
  void transfer_sent(std::uint32_t chunk);

  // ------------------------------------------------------------------------------------ a unified memory hierarchy
  // There is no home that orders writes: each is ordered where it is performed, in a cache whose copy of the line has
  // this image.
  void unified_store(RecordId record, PhysLine line, LineImage& copy);
  void unified_load(RecordId record, PhysLine line, const LineImage& copy);
  /// The same of the host's core, which has no L1 that is followed.
  void unified_host_store(std::uint8_t application, Location location, PhysLine line, LineImage& copy);
  void unified_host_load(std::uint8_t application, Location location, const LineImage& copy);
  /// At the end of a run: what all copies of a line come to, together with memory.
  void unified_end(PhysLine line, const LineImage& contents);
  /// Lines that stores of this device have been performed on, in no order.
  template <class Visit>
  void for_each_unified_line(Visit visit) const {
    for (const auto& [line, where] : unified_lines_) visit(PhysLine{line});
  }

  /// At the end of a run: the copy that the L2 of a GPU holds of a line at home here is what was ordered last.
  void check_copy(DeviceId gpu, PhysLine line, const LineImage& copy) const;
  /// At the end of a run, with all caches written back: memory holds what was ordered last.
  void check_written_back() const;

 private:
  friend class DataOracle;

  /// A line of a request.
  struct RecordLine {
    ByteMask mask;                 ///< writes
    LineVersion version = 0;       ///< writes: their number in the home's order
    std::uint64_t store = 0;       ///< writes: which store of the unit it is
    std::uint64_t own_before = 0;  ///< loads: the unit's last store to the line before it
    LineImage image;               ///< loads: what has been ordered before it, then what it was served
    bool served = false;
    bool ordered = false;
    bool cut = false;          ///< posted writes: it left in several pieces
    RecordId joined = 0;       ///< posted writes: the record of what will be ordered behind it, together with it
    RecordId last_joined = 0;  ///< of the first of them: the last one
    RecordId multicast = 0;    ///< a member's: the record of the store or the load that was multicast
    std::uint16_t sent = 0;    ///< multicast: members to which it has gone, and that have answered
    std::uint16_t answered = 0;
  };
  struct Record {
    PhysPage page;
    Location first;  ///< of line 0 of the page
    LoadUnit unit;
    std::uint64_t lines = 0;  ///< of which `parts` has one each, in order
    std::uint64_t open = 0;   ///< not answered yet
    std::uint8_t application = 0;
    bool loads = false;
    Acquires acquired;  ///< loads: the unit's last ones when they were issued
    std::vector<RecordLine> parts;
    RecordId next_free = 0;

    RecordLine& part(unsigned line);
    Location location(unsigned line) const { return {first.value + line}; }
  };
  struct PendingLoad {
    RecordId record = 0;
    std::uint64_t newest_store = 0;  ///< the unit's last store when it was issued
    Acquires acquired;               ///< the unit's last ones when the last load merged
  };
  struct Hash {
    std::size_t operator()(std::uint64_t key) const { return (key ^ key >> 29) * 0x9e3779b97f4a7c15ULL; }
  };
  template <class Value>
  using LineMap = boost::unordered_flat_map<std::uint64_t, Value, Hash>;
  struct Unit {
    std::uint64_t stores = 0;           ///< so far; a store's number is the count with it
    std::uint64_t unacknowledged = 0;   ///< stores, atomics not among them
    std::multiset<std::uint64_t> open;  ///< their numbers
    LineMap<std::uint64_t> own;         ///< last store to a line
    LineMap<PendingLoad> pending;
    Acquires acquired;
    std::vector<WaveAccess> parked;
  };
  struct Truth {
    LineVersion version = 0;
    LineImage image;
  };

  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kChunks = std::size_t{1} << 14;
  using Chunk = std::array<Record, kChunk>;

  Unit& unit(LoadUnit unit);
  Record& record(RecordId id) { return (*chunks_[(id - 1) / kChunk])[(id - 1) % kChunk]; }
  RecordId take_record();
  void close(RecordId id, Record& record, std::uint64_t lines);
  void acknowledged(const Record& record, PhysLine line);
  void order_write(DeviceId requester, RecordId id, PhysLine line);
  void note_member(RecordLine& part, PhysPage multicast, PhysPage member);
  void note_answer(const Record& record, const RecordLine& part, PhysLine member);
  void check_all_answered(const RecordLine& part, PhysLine line) const;
  void check_order(DeviceId requester, const Record& asked, const RecordLine& part, PhysLine line);
  void check_passes_none(DeviceId requester, const Record& asked, const RecordLine& part, PhysLine line);
  Record& record_of(DeviceId requester, RecordId id);
  std::uint64_t last_own_store(const Unit& unit, PhysLine line) const;
  void check_unit_sees(LoadUnit unit, PhysLine line, std::uint64_t newest_store, const char* what);
  void log(MemoryEvent event);
  const LineImage& truth_of(PhysLine line) const;
  [[noreturn]] void fail(const std::string& why) const;

  DataOracle& oracle_;
  Partition& partition_;
  unsigned line_bytes_;
  std::vector<Unit> vector_units_;
  std::vector<Unit> scalar_units_;
  std::array<std::unique_ptr<Chunk>, kChunks> chunks_;
  std::size_t used_chunks_ = 0;
  RecordId free_record_ = 0;
  LineMap<Truth> truth_;       ///< what the home has ordered, by line of this device
  LineMap<LineImage> memory_;  ///< what its memory holds
  struct UnitLine {
    std::uint64_t line;
    std::uint32_t unit;
    bool operator==(const UnitLine&) const = default;
  };
  struct UnitLineHash {
    std::size_t operator()(const UnitLine& key) const { return Hash()(key.line * 0x2545f4914f6cdd1dULL + key.unit); }
  };
  boost::unordered_flat_map<UnitLine, std::uint64_t, UnitLineHash> ordered_;  ///< a unit's last store ordered here
  LineMap<std::vector<std::uint32_t>> fills_;  ///< remote lines asked for by the L2: units that stored to them since
  boost::unordered_flat_map<UnitLine, std::uint64_t, UnitLineHash> passed_;  ///< a unit's last store that passed the L2
  std::vector<MemoryEvent> log_;
  struct UnifiedLine {
    std::uint8_t application = 0;
    Location location;
  };
  LineMap<UnifiedLine> unified_lines_;  ///< that were stored to here
  LineVersion next_version();
};

/// The watches of all devices, and what they come to together.
class DataOracle {
 public:
  /// Where pages are copied by nobody (ideal designs), frames are what programs know.
  DataOracle(unsigned line_bytes, bool by_frame) : line_bytes_(line_bytes), by_frame_(by_frame), model_(line_bytes) {}

  /// A unified memory hierarchy: devices order writes each for itself.
  void unify(unsigned devices) {
    devices_ = devices;
    model_.unify(devices);
  }
  unsigned devices() const { return devices_; }
  /// The host has copies of its own of what lies in GPUs, and may overwrite one without having seen what kernels did to
  /// the other: its writes are numbered by time, which is later than all of them.
  void host_has_copies(DeviceId host, unsigned devices) {
    host_with_copies_ = host;
    devices_ = devices;
  }

  DataWatch& add_device(Partition& partition);
  DataWatch& watch(DeviceId device) { return *watches_[device.value]; }
  /// Where a program's line lies for the oracle. `copies`: each GPU has a copy of its own.
  Location locate(std::uint8_t application, DeviceId gpu, VirtPage page, PhysPage frame, bool copies) const {
    if (by_frame_) return Location::of_frame(PhysLine{frame, 0});
    return copies ? Location::of_copy(application, gpu, page, 0) : Location::of_virtual(application, page, 0);
  }

  /// The pages that a page of multicast memory stands for, each of which must get every store to it once.
  void set_members(PhysPage multicast, std::vector<PhysPage> members) {
    members_[multicast.value] = std::move(members);
  }

  /// Judges what has happened since the last time. No device runs meanwhile, and all have come equally far. To be
  /// called at the end of a run too.
  void merge();

 private:
  friend class DataWatch;

  struct PageContents {
    struct Line {
      unsigned index = 0;
      LineVersion version = 0;
      LineImage image;
    };
    std::vector<Line> lines;
  };

  unsigned line_bytes_;
  bool by_frame_;
  unsigned devices_ = 0;  ///< where writes are numbered by time
  std::optional<DeviceId> host_with_copies_;
  MemoryModel model_;
  std::vector<std::unique_ptr<DataWatch>> watches_;
  std::vector<const MemoryEvent*> merged_;
  boost::unordered_flat_map<std::uint64_t, std::vector<PhysPage>> members_;  ///< by page of multicast memory
  /// What a chunk of a copy writes: whose, and line 0 of the page.
  struct CopyTarget {
    std::uint8_t application = 0;
    Location page;
  };
  boost::unordered_flat_map<std::uint32_t, CopyTarget> copies_;  ///< by chunk, under the same mutex
  boost::unordered_flat_map<std::uint32_t, std::vector<PageContents::Line>> transfers_;  ///< the same of transfers
  std::mutex in_transit_mutex_;
  boost::unordered_flat_map<std::uint64_t, PageContents> in_transit_;  ///< by the frame that a page left
};

}  // namespace nearfar
