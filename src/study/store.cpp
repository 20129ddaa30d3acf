// The SQL of the store. Statistics are kept twice: in the complete JSON, compressed, and as a plain array of numbers
// under a list of names that alike results share, so that ten thousand results are read in a second.
#include "study/store.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "config/error.h"
#include "config/words.h"
#include "study/lock_holder.h"
#include "study/run_key.h"

namespace nearfar {

/// A wait for another program that has the file locked.
struct LockWait {
  std::string path{};
  std::chrono::steady_clock::time_point since{};
  bool told = false;
};

namespace {

constexpr int kApplicationId = 0x4e454152;  // "NEAR"
constexpr int kSchemaVersion = 1;
/// Another program may be writing; a writer never holds the file for longer than one result takes.
constexpr std::chrono::seconds kLockPatience{120};
/// Who waits longer than this is told why.
constexpr std::chrono::seconds kSilence{1};
constexpr int kNapMilliseconds = 20;
constexpr int kCompression = 3;

constexpr const char* kSchema = R"(
CREATE TABLE layouts (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE results (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, version TEXT NOT NULL, program TEXT NOT NULL,
  workload TEXT NOT NULL, size TEXT NOT NULL, system TEXT NOT NULL, designs TEXT NOT NULL, seed TEXT NOT NULL,
  cycles INTEGER NOT NULL, instructions INTEGER NOT NULL, accesses INTEGER NOT NULL,
  host_seconds REAL NOT NULL, peak_rss_bytes INTEGER NOT NULL,
  layout INTEGER NOT NULL REFERENCES layouts (id), "values" BLOB NOT NULL);
CREATE TABLE complete_results (key TEXT PRIMARY KEY REFERENCES results (key), json BLOB NOT NULL);
CREATE TABLE failures (key TEXT PRIMARY KEY, label TEXT NOT NULL, error TEXT NOT NULL, attempts INTEGER NOT NULL);
)";

/// Tables that came later. A program that does not know them reads and writes the others all the same.
constexpr const char* kLaterTables = R"(
CREATE TABLE IF NOT EXISTS result_times (
  key TEXT PRIMARY KEY REFERENCES results (key), machine TEXT NOT NULL, time INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS journal (
  id INTEGER PRIMARY KEY, time INTEGER NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (subject, text));
)";

constexpr const char* kColumns =
    "key, model, version, workload, size, system, designs, seed, cycles, instructions, accesses, host_seconds, "
    "peak_rss_bytes, layout, \"values\"";

std::uint64_t seconds_now() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<seconds>(system_clock::now().time_since_epoch()).count());
}

[[noreturn]] void fail(sqlite3* database, const std::string& path) {
  throw StoreError(fmt::format("The store `{}` cannot be used: {}.", path, sqlite3_errmsg(database)));
}

std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), kCompression);
  if (ZSTD_isError(size) != 0)
    throw StoreError(fmt::format("A result cannot be compressed: {}.", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

std::string decompressed(std::string_view bytes) {
  const auto length = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (length == ZSTD_CONTENTSIZE_ERROR || length == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw StoreError("A complete result in the store is damaged.");
  }
  std::string out(length, '\0');
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0 || size != length) throw StoreError("A complete result in the store is damaged.");
  return out;
}

/// What SQLite calls again and again while the file is locked; `times` of one wait count from 0. Returns whether to go
/// on trying.
int wait_for_lock(void* argument, int times) {
  LockWait& wait = *static_cast<LockWait*>(argument);
  const auto now = std::chrono::steady_clock::now();
  if (times == 0) wait.since = now, wait.told = false;
  if (now - wait.since >= kLockPatience) return 0;
  if (!wait.told && now - wait.since >= kSilence) {
    fmt::print(stderr, "nearfar: waiting for the store `{}`, which {} has locked\n", wait.path, lock_holder(wait.path));
    wait.told = true;
  }
  sqlite3_sleep(kNapMilliseconds);
  return 1;
}

}  // namespace

std::optional<double> Statistics::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(*names_, name);
  if (found == names_->end() || *found != name) return std::nullopt;
  return values_[static_cast<std::size_t>(found - names_->begin())];
}

/// A prepared statement: bound from left to right, read column by column.
class ResultStore::Statement {
 public:
  Statement(const ResultStore& store, const std::string& sql) : store_(store) {
    if (sqlite3_prepare_v2(store.database_, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) fail();
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  Statement& bind(std::string_view text) {
    check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
    return *this;
  }
  Statement& bind_blob(std::string_view bytes) {
    check(sqlite3_bind_blob64(statement_, ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
    return *this;
  }
  Statement& bind(std::uint64_t value) {
    check(sqlite3_bind_int64(statement_, ++bound_, static_cast<sqlite3_int64>(value)));
    return *this;
  }
  Statement& bind(double value) {
    check(sqlite3_bind_double(statement_, ++bound_, value));
    return *this;
  }

  /// True while there is a row.
  bool step() {
    column_ = 0;
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
    return code == SQLITE_ROW;
  }
  void rewind() {
    sqlite3_reset(statement_);
    bound_ = 0;
  }

  std::string text() { return std::string(blob()); }
  std::string_view blob() {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column_));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_++));
    return {bytes, bytes == nullptr ? 0 : size};
  }
  std::uint64_t whole() { return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column_++)); }
  double real() { return sqlite3_column_double(statement_, column_++); }

 private:
  [[noreturn]] void fail() const { nearfar::fail(store_.database_, store_.path_); }
  void check(int code) const {
    if (code != SQLITE_OK) fail();
  }

  const ResultStore& store_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int column_ = 0;
};

/// Lists of names, read once and shared by the results that have them.
struct ResultStore::Layouts {
  std::map<std::int64_t, std::shared_ptr<const Statistics::Names>> by_id;
  LockWait wait;
};

ResultStore::ResultStore(const std::string& path) : path_(path), layouts_(std::make_unique<Layouts>()) {
  // SQLite would take it for a store that nobody keeps.
  if (path.empty()) throw InputError("The name of the store is empty.");
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw InputError(fmt::format("`{}` is a folder; the file of a store was expected.", path));
  }
  try {
    if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK) {
      fail(database_, path_);
    }
    layouts_->wait.path = path;
    sqlite3_busy_handler(database_, wait_for_lock, &layouts_->wait);
    prepare_schema();
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

ResultStore ResultStore::to_look_at(const std::string& path) {
  std::error_code error;
  const bool missing = !std::filesystem::exists(path, error) && !error;  // what cannot be looked at is said by opening
  return ResultStore(missing ? ":memory:" : path);
}

ResultStore::~ResultStore() { sqlite3_close(database_); }

void ResultStore::execute(const char* sql) const {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(database_, path_);
}

/// All or nothing, rolled back unless it was committed.
class ResultStore::Transaction {
 public:
  /// A deferred one only reads: it takes one lock for several statements.
  explicit Transaction(const ResultStore& store, const char* begin = "BEGIN IMMEDIATE") : store_(store) {
    store.execute(begin);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!committed_) sqlite3_exec(store_.database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() {
    store_.execute("COMMIT");
    committed_ = true;
  }

 private:
  const ResultStore& store_;
  bool committed_ = false;
};

void ResultStore::prepare_schema() {
  execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  const auto pragma = [&](const char* name) {
    Statement statement(*this, fmt::format("PRAGMA {}", name));
    statement.step();
    return static_cast<int>(statement.whole());
  };
  if (pragma("user_version") == 0) {
    Transaction transaction(*this);
    // Another program may have been quicker.
    if (pragma("user_version") == 0) {
      Statement tables(*this, "SELECT count(*) FROM sqlite_schema");
      tables.step();
      if (tables.whole() != 0) throw InputError(fmt::format("`{}` is a database, but not a store of results.", path_));
      execute(kSchema);
      execute(
          fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion).c_str());
    }
    transaction.commit();
  }
  if (pragma("application_id") != kApplicationId) {
    throw InputError(fmt::format("`{}` is a database, but not a store of results.", path_));
  }
  if (const int version = pragma("user_version"); version != kSchemaVersion) {
    throw InputError(
        fmt::format("The store `{}` has the format {}; this program reads {}.", path_, version, kSchemaVersion));
  }
}

bool ResultStore::has_later_tables() const {
  Statement statement(*this, "SELECT count(*) FROM sqlite_schema WHERE name IN ('result_times', 'journal')");
  statement.step();
  return statement.whole() == 2;
}

bool ResultStore::contains(const std::string& key) const {
  Statement statement(*this, "SELECT 1 FROM results WHERE key = ?");
  return statement.bind(key).step();
}

const std::shared_ptr<const Statistics::Names>& ResultStore::names_of(std::int64_t layout) const {
  auto& names = layouts_->by_id[layout];
  if (!names) {
    Statement statement(*this, "SELECT names FROM layouts WHERE id = ?");
    statement.bind(static_cast<std::uint64_t>(layout)).step();
    names = std::make_shared<const Statistics::Names>(split(statement.text(), '\n'));
  }
  return names;
}

StoredResult ResultStore::read(Statement& row) const {
  StoredResult result;
  result.key = row.text();
  result.model = row.text();
  result.version = row.text();
  result.workload = row.text();
  result.size = row.text();
  result.system = row.text();
  result.designs = row.text();
  result.seed = std::stoull(row.text());
  result.cycles = row.whole();
  result.instructions = row.whole();
  result.accesses = row.whole();
  result.host_seconds = row.real();
  result.peak_rss_bytes = row.whole();
  const auto& names = names_of(static_cast<std::int64_t>(row.whole()));
  const std::string_view bytes = row.blob();
  if (bytes.size() != names->size() * sizeof(double)) {
    throw StoreError(
        fmt::format("The store `{}` is damaged: the result {} does not fit its names.", path_, result.key));
  }
  std::vector<double> values(names->size());
  std::memcpy(values.data(), bytes.data(), bytes.size());
  result.statistics = Statistics(names, std::move(values));
  return result;
}

std::optional<StoredResult> ResultStore::find(const std::string& key) const {
  Statement statement(*this, fmt::format("SELECT {} FROM results WHERE key = ?", kColumns));
  if (!statement.bind(key).step()) return std::nullopt;
  return read(statement);
}

std::vector<StoredResult> ResultStore::find_all(std::span<const std::string> keys) const {
  Transaction transaction(*this, "BEGIN DEFERRED");
  Statement statement(*this, fmt::format("SELECT {} FROM results WHERE key = ?", kColumns));
  std::vector<StoredResult> results;
  for (const std::string& key : keys) {
    statement.rewind();
    if (statement.bind(key).step()) results.push_back(read(statement));
  }
  statement.rewind();
  transaction.commit();
  return results;
}

std::vector<StoredResult> ResultStore::all(bool any_model) const {
  Statement statement(*this,
                      fmt::format("SELECT {} FROM results WHERE model = ? OR ? ORDER BY workload, system, designs, "
                                  "size, key",
                                  kColumns));
  statement.bind(model_version()).bind(std::uint64_t{any_model});
  std::vector<StoredResult> results;
  while (statement.step()) results.push_back(read(statement));
  return results;
}

std::string ResultStore::json(const std::string& key) const {
  Statement statement(*this, "SELECT json FROM complete_results WHERE key = ?");
  if (!statement.bind(key).step()) throw StoreError(fmt::format("The store `{}` has no result {}.", path_, key));
  return decompressed(statement.blob());
}

std::uint64_t ResultStore::layout_of(const std::string& names) {
  Statement insert(*this, "INSERT INTO layouts (names) VALUES (?) ON CONFLICT DO NOTHING");
  insert.bind(names).step();
  Statement found(*this, "SELECT id FROM layouts WHERE names = ?");
  found.bind(names).step();
  return found.whole();
}

void ResultStore::add(const ResultFile& result, const std::string& program, const std::string& machine) {
  const std::string json = compressed(result.json);
  std::vector<std::string> names;
  std::string values(result.statistics.size() * sizeof(double), '\0');
  for (const auto& [name, value] : result.statistics) {
    std::memcpy(values.data() + names.size() * sizeof(double), &value, sizeof(double));
    names.push_back(name);
  }
  Transaction transaction(*this);
  const std::uint64_t layout = layout_of(join(names, "\n"));
  Statement row(*this,
                "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  row.bind(result.key).bind(result.model).bind(result.version).bind(program);
  row.bind(result.workload)
      .bind(result.size)
      .bind(result.system)
      .bind(result.designs)
      .bind(std::to_string(result.seed));
  row.bind(result.cycles).bind(result.instructions).bind(result.accesses).bind(result.host_seconds);
  row.bind(result.peak_rss_bytes).bind(layout).bind_blob(values).step();
  Statement whole(*this, "INSERT INTO complete_results VALUES (?, ?) ON CONFLICT DO NOTHING");
  whole.bind(result.key).bind_blob(json).step();
  Statement forget(*this, "DELETE FROM failures WHERE key = ?");
  forget.bind(result.key).step();
  if (!machine.empty()) {
    execute(kLaterTables);
    Statement time(*this, "INSERT INTO result_times VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
    time.bind(result.key).bind(machine).bind(seconds_now()).step();
  }
  transaction.commit();
}

std::optional<FirstRun> ResultStore::first_run(std::span<const std::string> machines, const std::string& size) const {
  std::optional<FirstRun> first;
  if (!has_later_tables()) return first;
  Statement statement(*this,
                      "SELECT time, workload, designs FROM result_times JOIN results USING (key) "
                      "WHERE machine = ? AND size = ? ORDER BY time LIMIT 1");
  for (const std::string& machine : machines) {
    statement.rewind();
    if (!statement.bind(machine).bind(size).step()) continue;
    FirstRun found;
    found.time = static_cast<std::int64_t>(statement.whole());
    found.workload = statement.text();
    found.designs = statement.text();
    if (!first || found.time < first->time) first = std::move(found);
  }
  return first;
}

void ResultStore::note(const std::string& subject, const std::string& text) {
  Transaction transaction(*this);
  execute(kLaterTables);
  Statement statement(*this, "INSERT INTO journal (time, subject, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  statement.bind(seconds_now()).bind(subject).bind(text).step();
  transaction.commit();
}

std::vector<JournalEntry> ResultStore::journal(const std::string& subject) const {
  std::vector<JournalEntry> entries;
  if (!has_later_tables()) return entries;
  Statement statement(*this, "SELECT time, text FROM journal WHERE subject = ? ORDER BY id");
  statement.bind(subject);
  while (statement.step()) {
    JournalEntry entry;
    entry.time = static_cast<std::int64_t>(statement.whole());
    entry.text = statement.text();
    entries.push_back(std::move(entry));
  }
  return entries;
}

void ResultStore::add_failure(const std::string& key, const std::string& label, const std::string& error) {
  Transaction transaction(*this);
  Statement statement(*this,
                      "INSERT INTO failures VALUES (?, ?, ?, 1) ON CONFLICT (key) DO UPDATE SET "
                      "error = excluded.error, attempts = attempts + 1");
  statement.bind(key).bind(label).bind(error).step();
  transaction.commit();
}

std::optional<FailedRun> ResultStore::failure(const std::string& key) const {
  Statement statement(*this, "SELECT key, label, error, attempts FROM failures WHERE key = ?");
  if (!statement.bind(key).step()) return std::nullopt;
  FailedRun failed;
  failed.key = statement.text();
  failed.label = statement.text();
  failed.error = statement.text();
  failed.attempts = static_cast<unsigned>(statement.whole());
  return failed;
}

std::vector<KnownCost> ResultStore::known_costs() const {
  Statement statement(*this,
                      "SELECT program, max(host_seconds), max(accesses), max(peak_rss_bytes) FROM results "
                      "GROUP BY program ORDER BY program");
  std::vector<KnownCost> costs;
  while (statement.step()) {
    KnownCost cost;
    cost.program = statement.text();
    cost.host_seconds = statement.real();
    cost.accesses = statement.real();
    cost.peak_rss_bytes = statement.whole();
    costs.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace nearfar
