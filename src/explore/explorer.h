// What the page of `nearfar explore` asks for, without HTTP: what can be run, runs in the background by the study's
// runner, how far they are, and what a result says. Every text it gives is JSON. Any thread may ask.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "study/runner.h"

namespace nearfar {

class Explorer {
 public:
  struct Options {
    std::string database;
    unsigned jobs = 0;      ///< runs at once; 0: one for each core
    std::string program{};  ///< what is started; empty: this program itself
  };

  /// Opens the store, or makes it.
  explicit Explorer(Options options);
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;
  /// Ends the runs that are under way; what the store has stays.
  ~Explorer();

  /// Workloads, systems, designs and sizes, each with what it is.
  std::string choices() const;

  /// Plans every workload on every system with every design, and runs what the store lacks. `request` is
  /// {"workloads": [...], "systems": [...], "designs": [...], "size": "small", "settings": ["key=value"]}. What can
  /// never run is an InputError, and then nothing is run. The answer names each run by its key.
  std::string submit(const std::string& request);

  /// Ends the runs that are under way and those that wait.
  void stop_runs();

  /// What a result says: cycles, what bounds the run, latency components, utilizations. An InputError where the page
  /// has not asked for such a run; a run without a result yet says so.
  std::string result(const std::string& key);

  /// The parameters in which the machines of two results differ.
  std::string difference(const std::string& key, const std::string& against);

  /// How far the runs are, and a number that grows with every news.
  struct News {
    std::uint64_t number = 0;
    std::string json;
  };
  /// Waits until there is news behind `seen`, at most `seconds`, or until close().
  News news_after(std::uint64_t seen, double seconds);
  /// Lets nobody wait for news any more.
  void close();
  bool closed() const { return closed_; }

 private:
  PlannedRun known(const std::string& key);
  void work();
  void perform(const std::vector<PlannedRun>& batch);
  void publish(const StudyProgress& progress);

  Options options_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::map<std::string, PlannedRun> known_;  ///< by key: what the page asked for
  std::deque<std::vector<PlannedRun>> waiting_;
  News news_;
  std::atomic<bool> stop_ = false;    ///< the runs that are under way
  std::atomic<bool> closed_ = false;  ///< everything
  std::thread worker_;                ///< lives as long as this: its children die with it
};

}  // namespace nearfar
