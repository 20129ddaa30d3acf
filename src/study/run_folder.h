// The folder beside a store in which the results of runs under way appear. Whoever works on a run holds its lock, which
// ends with the process however it ends, so that several studies share the work and a killed one leaves nothing locked.
#pragma once

#include <set>
#include <string>

#include "study/named_run.h"
#include "study/store.h"

namespace nearfar {

class RunFolder {
 public:
  /// `<store>.runs`, made when it is not there.
  explicit RunFolder(const std::string& store_path);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();

  const std::string& path() const { return path_; }
  /// Absolute, since a child may run elsewhere.
  std::string file(const std::string& key, const std::string& extension) const;
  std::string result_path(const std::string& key) const { return file(key, "json"); }

  /// False when another process works on this run.
  bool lock(const std::string& key);
  void unlock(const std::string& key);

  /// Moves the result of a run into the store. False when there is none; BadResult, and the file removed, when it is
  /// not to be believed.
  bool harvest(const PlannedRun& run, ResultStore& store) const;
  /// Removes what runs of `key` have left here.
  void clean(const std::string& key) const;
  /// Whether something of `key` was here at the start.
  bool has_leftover(const std::string& key) const;
  /// A StoreError when there is no room for results.
  void check_room() const;

 private:
  bool set_lock(const std::string& key, short type);

  std::string path_;
  int lock_file_ = -1;
  std::set<std::string> leftovers_;  ///< names of files that were here at the start
};

}  // namespace nearfar
