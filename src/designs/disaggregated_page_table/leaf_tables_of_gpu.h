// A GPU's part of the disaggregated page table: it asks the homes of leaf tables for the entries that its misses need
// and has new mappings written there, and it serves the leaf tables whose home it is.
//
// A request for an entry (LeafRead, Update, Clear) goes its way by what this GPU's upper levels say:
//
//   the sender knows a later home             it waits until this GPU has heard of it
//   this GPU is the home, the table is here   a walk of one access, then the answer
//   this GPU is the home, the table is coming it waits for the table, and until all have heard of its new home
//   another GPU is the home                   it is sent on, once
//
// What else can race, and what decides, is in README.md.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "designs/access_bits.h"
#include "designs/disaggregated_page_table/spec.h"
#include "designs/disaggregated_page_table/table_homes.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"

namespace nearfar {

struct LeafTableStats {
  std::uint64_t local_reads = 0;
  std::uint64_t remote_reads = 0;
  std::uint64_t served_reads = 0;
  std::uint64_t unmapped_reads = 0;
  std::uint64_t updates = 0;
  std::uint64_t remote_updates = 0;
  std::uint64_t refused_updates = 0;
  std::uint64_t clears = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t migrations = 0;
  std::uint64_t migration_cycles = 0;
  std::uint64_t waited = 0;
  std::uint64_t waited_cycles = 0;
  // At the end of a run, of the leaf tables whose home this GPU is.
  std::uint64_t tables = 0;
  std::uint64_t bytes = 0;
  std::uint64_t replicated_bytes = 0;
  std::uint64_t shared_tables = 0;
  std::uint64_t tables_with_shared_entries = 0;

  void describe(StatVisitor& visitor);
};

struct LeafTableOptions {
  DeviceId host;
  unsigned gpus = 1;
  bool large_pages = false;
  bool remote_mappings = true;  ///< a GPU may use an entry that names another device's memory
  DptSpec spec;
};

class LeafTablesOfGpu final : public DesignComponent, public LeafTables, public WalkOwner {
 public:
  LeafTablesOfGpu(Gmmu& gmmu, L2Tlb& tlb, Messenger& messenger, const LeafTableOptions& options);

  // Before the first cycle.
  TableHomes& homes() { return homes_; }
  /// This GPU is the home of a page's leaf table.
  void start_table(PageKey page);
  /// An entry of such a table is valid, and a GPU has its mapping.
  void write_at_start(PageKey page, const Mapping& mapping, DeviceId holder);

  const char* name() const override { return "dpt"; }
  void describe(StatVisitor& visitor) override;
  bool on_message(const Message& message) override;
  bool idle() const override;
  std::string describe_waiting() const override;

  bool keeps(PageKey page) const override { return homes_.is_disaggregated(page); }
  bool is_here(PageKey page) const override { return table_here(page) != nullptr; }
  void walked(const Walk& walk, Miss& miss) override;
  void mapping_came(const Message& message, Miss* miss) override;

  void walked(Walk& walk) override;

  LeafTableStats& stats() { return stats_; }

 private:
  /// For an entry; from another device, or from this one.
  struct Request {
    Message message;
    Cycle since = 0;  ///< when it came
    bool own = false;
    Walk* walk = nullptr;
  };
  /// A leaf table whose home is this GPU.
  struct Table {
    TablePage* page = nullptr;  ///< none: it is on its way
    unsigned unaware = 0;       ///< devices that have not said that they know
    bool open = false;          ///< it is here, and all know
    std::vector<Request> held;
  };

  DeviceId device() const { return gmmu_.partition().device(); }
  Cycle now() const { return gmmu_.partition().now(); }
  TablePage* table_here(PageKey page) const;
  void route(Request request);
  void send_on(Request request, const TableHomes::Place& place);
  void walk(const Request& request);
  Request take_request(const Walk& walk);
  Message read(TablePage& table, PageKey page, DeviceId reader);
  void read_for_miss(TablePage& table, PageKey page, Miss& miss);
  void serve_read(TablePage& table, const Request& request, const Walk& walk);
  void serve_update(TablePage& table, const Message& message);
  void serve_clear(TablePage& table, const Message& message);
  void take_answer(const Message& answer);
  void take_updated(const Message& answer);
  void answer(DeviceId to, const Message& message);

  void migrate_where_needed(TablePage& table, DeviceId reader);
  void migrate(TablePage& table, DeviceId to);
  void take_back_walks(PageKey first);
  void table_came(const Message& message);
  void open_when_known(PageKey first, Table& table);
  void home_heard(const Message& message);
  void set_home(PageKey page, std::uint16_t home, std::uint16_t version);
  void go_on(std::vector<Request> requests);

  Gmmu& gmmu_;
  L2Tlb& tlb_;
  Messenger& messenger_;
  LeafTableOptions options_;
  AccessBits bits_;
  TableHomes homes_;
  std::vector<std::unique_ptr<TablePage>> made_;              ///< wherever they are now
  boost::unordered_flat_map<std::uint64_t, Table> tables_;    ///< by their first page
  boost::unordered_flat_map<std::uint64_t, unsigned> known_;  ///< acknowledgements that came before their table
  /// Requests that know of a later home than this GPU does; with `own` requests for tables without a home.
  boost::unordered_flat_map<std::uint64_t, std::vector<Request>> ahead_;
  std::vector<Request> walking_;  ///< by the number in their walk's note
  std::vector<std::uint32_t> free_;
  LeafTableStats stats_;
};

}  // namespace nearfar
