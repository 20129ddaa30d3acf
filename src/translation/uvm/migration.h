// Pages that move: from the lock of a page to its new mapping. While a page is moving, faults for it are parked.
//
//   start       the page is locked, the host forgets it, a frame is taken
//   invalidate  all old mappings become void (a copy: read-only), those that the record or a directory names
//   ready       all have acknowledged: the page may leave its old place
//   transfer    the page goes to its new place, if it has another, with its new mapping
//   arrived     the record says so, and parked faults are decided anew
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>

#include "sim/partition.h"
#include "translation/host_mmu/host_seams.h"
#include "translation/message.h"
#include "translation/page_event.h"
#include "translation/translation_oracle.h"
#include "translation/uvm/answers.h"
#include "translation/uvm/placement.h"
#include "translation/uvm/records.h"
#include "translation/uvm/uvm_stats.h"

namespace nearfar {

class MigrationClient {
 public:
  virtual ~MigrationClient() = default;
  /// A page has arrived. `places` are the devices on which something has changed; `parked` are the faults that waited.
  virtual void migration_ended(std::span<const DeviceId> places, FaultQueue parked) = 0;
};

class Migrations {
 public:
  struct Parts {
    PageRecords& records;
    AnswerSender& answers;
    HostTables& tables;
    Messenger& messenger;
    LatencyLedger& ledger;
    UvmStats& stats;
    TranslationOracle* oracle;
  };
  Migrations(Partition& partition, const UvmOptions& options, const Parts& parts, MigrationClient& client);

  // The seams.
  void set_directory(MappingDirectory& directory) { directory_ = &directory; }
  void set_residency_observer(ResidencyObserver& observer) { observer_ = &observer; }
  /// Tells them of a page as it is before the first cycle.
  void tell_at_start(PageKey page);

  /// As many pages are moving as may.
  bool full() const { return migrations_.size() >= options_.uvm.concurrent_migrations; }
  bool idle() const { return migrations_.empty(); }
  std::size_t count() const { return migrations_.size(); }
  /// A page moves to a device, for a fault or none. Its answer belongs to `batch`.
  void start(PageKey page, PlacementAction action, DeviceId to, Fault* fault, std::uint32_t batch);
  /// Where a page that is moving goes.
  DeviceId destination(PageKey page) const { return migrations_.at(page.value).to.device(); }
  /// A fault waits for a page that is moving.
  void park(Fault* fault) { migrations_.at(fault->page.value).parked.push(fault); }
  /// A GPU is sent a mapping of a page where it lies.
  void note_holder(PageKey page, DeviceId gpu);

  /// A GPU has acknowledged an invalidation.
  void acknowledged(PageKey page);
  /// The host's walk for a migration has ended.
  void host_walk_done(PageKey page);
  /// The directory's answer for a page that moves.
  void targets_known(PageKey page, const GpuSet& gpus);
  /// The page has arrived and its new mapping is written.
  void arrived(PageKey page);

  /// The oldest of them, for a report of who waits.
  std::string describe_waiting() const;

 private:
  /// A migration of a page, from its lock to its end.
  struct Migration {
    PlacementAction action = PlacementAction::Move;
    PhysPage from;
    PhysPage to;
    unsigned pending = 0;  ///< acknowledgements and walks not yet there
    Fault* fault = nullptr;
    bool evicts = false;
    bool directory_waits = false;  ///< for the host's walk
    std::uint32_t batch = AnswerSender::kNoBatch;
    Cycle requested = 0;
    FaultQueue parked;
  };

  static const char* name_of(const Migration& migration);
  DeviceId kept_by(const Migration& migration) const;
  void invalidate(PageKey page, PageRecord& record, Migration& migration, bool walks);
  void ask_directory(PageKey page, const Migration& migration);
  void invalidate_all(PageKey page, PageRecord& record, Migration& migration);
  void downgrade(PageKey page, PageRecord& record, Migration& migration);
  void send_invalidation(PageKey page, const PageRecord& record, Migration& migration, MessageKind kind, DeviceId gpu);
  void one_less(PageKey page);
  void ready(PageKey page, Migration& migration);
  void begin_transfer(Migration& migration, const PageRecord& record, Message& message, std::uint64_t shared);
  void arrive_on_host(PageKey page, PhysPage frame);
  void on_arrival(PageEvent* event);
  void settle(PageKey page, PageRecord& record, const Migration& migration);
  void tell_of_move(PageKey page, const PageRecord& record, const Migration& migration);

  Partition& partition_;
  UvmOptions options_;
  PageRecords& records_;
  AnswerSender& answers_;
  HostTables& tables_;
  Messenger& messenger_;
  LatencyLedger& ledger_;
  UvmStats& stats_;
  TranslationOracle* oracle_;
  MigrationClient& client_;
  MappingDirectory* directory_ = nullptr;
  ResidencyObserver* observer_ = nullptr;
  boost::unordered_flat_map<std::uint64_t, Migration> migrations_;  ///< by page
  HandlerId arrival_handler_;
};

}  // namespace nearfar
