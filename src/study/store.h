// The store: every finished run in one SQLite file, found by its key.
//
// One transaction adds one result, with SQLite's rollback journal and full synchronisation: after a kill, a full disk
// or a power cut a result is there whole or not at all, several programs may use one file at once, and at rest it is a
// single file that also works on network file systems (a write-ahead log would not).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "study/result_file.h"

struct sqlite3;

namespace nearfar {

/// The store cannot be read or written: no room, no permission, not a store.
class StoreError : public InputError {
 public:
  using InputError::InputError;
};

/// The statistics of one result by name. Results of alike runs share their names.
class Statistics {
 public:
  using Names = std::vector<std::string>;  ///< sorted

  Statistics() = default;
  Statistics(std::shared_ptr<const Names> names, std::vector<double> values)
      : names_(std::move(names)), values_(std::move(values)) {}

  std::optional<double> find(std::string_view name) const;
  const Names& names() const { return *names_; }
  const std::vector<double>& values() const { return values_; }  ///< in the order of names()

 private:
  std::shared_ptr<const Names> names_ = std::make_shared<const Names>();
  std::vector<double> values_;
};

struct StoredResult {
  std::string key;
  std::string model;    ///< model_version() of the program that made it
  std::string version;  ///< of the program
  std::string workload, size, system, designs;
  std::uint64_t seed = 0;
  std::uint64_t cycles = 0, instructions = 0, accesses = 0;
  double host_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  Statistics statistics;
};

/// What went wrong the last time, of a run without a result.
struct FailedRun {
  std::string key, label, error;
  unsigned attempts = 0;
};

/// The first run of a machine.
struct FirstRun {
  std::int64_t time = 0;  ///< seconds since 1970
  std::string workload, designs;
};

struct JournalEntry {
  std::int64_t time = 0;  ///< seconds since 1970
  std::string text;
};

/// What runs of one program cost.
struct KnownCost {
  std::string program;
  double host_seconds = 0;  ///< the most
  double accesses = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< the most
};

class ResultStore {
 public:
  /// Opens the file, or makes it. A file that is no store, or one of a later version, is an InputError.
  explicit ResultStore(const std::string& path);
  /// The same for who only looks: where there is no file none is made, and the store is empty.
  static ResultStore to_look_at(const std::string& path);
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;
  ~ResultStore();

  const std::string& path() const { return path_; }

  bool contains(const std::string& key) const;
  std::optional<StoredResult> find(const std::string& key) const;
  /// Those of the keys that are there, in the order of the keys.
  std::vector<StoredResult> find_all(std::span<const std::string> keys) const;
  /// The results of this version of the model, by label; of every version with `any_model`.
  std::vector<StoredResult> all(bool any_model = false) const;
  /// The complete result as JSON, configuration included.
  std::string json(const std::string& key) const;

  /// Adds a result, once: a second one under its key is left out. A failure under the key is forgotten. `machine` is
  /// what PlannedRun has; with it the store knows when that machine first ran.
  void add(const ResultFile& result, const std::string& program, const std::string& machine = "");
  void add_failure(const std::string& key, const std::string& label, const std::string& error);
  std::optional<FailedRun> failure(const std::string& key) const;
  std::vector<KnownCost> known_costs() const;

  /// When the first result of one of these machines on inputs of this size was added, and what had run; nothing where
  /// there is none. Of any version of the model; results that older programs added have no time and are left out.
  std::optional<FirstRun> first_run(std::span<const std::string> machines, const std::string& size) const;

  /// A journal of what was done in which order: an entry is added once, with the time of the first time.
  void note(const std::string& subject, const std::string& text);
  std::vector<JournalEntry> journal(const std::string& subject) const;

 private:
  class Statement;
  class Transaction;
  struct Layouts;

  void execute(const char* sql) const;
  void prepare_schema();
  bool has_later_tables() const;
  std::uint64_t layout_of(const std::string& names);
  const std::shared_ptr<const std::vector<std::string>>& names_of(std::int64_t layout) const;
  StoredResult read(Statement& row) const;

  std::string path_;
  sqlite3* database_ = nullptr;
  std::unique_ptr<Layouts> layouts_;
};

}  // namespace nearfar
