// The host's DMA: carries out the copies between launches. Each device has a channel for the copies that read from it,
// which are set up and made one after another, in chunks of which a bounded number is under way at once. Transfers to
// GPUs have a channel for each GPU, so that all are written to at once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "gpu/copy_agent.h"
#include "memory/data_oracle.h"
#include "stats/stat.h"
#include "translation/process.h"

namespace nearfar {

struct CopyStats {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t cycles = 0;

  void describe(StatVisitor& visitor);
};

class CopyEngine final : public CopyListener {
 public:
  CopyEngine(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes, CopyAgent& agent,
             DataWatch* watch);

  /// Begins a copy of an application, behind those that it has begun before.
  void start(std::size_t application, const Copy& copy);
  /// Begins a transfer, as one copy for each run of pages in one device's memory; how many.
  unsigned start(std::size_t application, const Transfer& transfer);
  void chunk_done(std::uint32_t id) override;
  /// Is told when a copy of an application has ended.
  std::function<void(std::size_t)> on_done;

  CopyStats& stats() { return stats_; }
  bool idle() const { return live_ == 0; }
  std::string describe_waiting() const;

 private:
  /// Whether a side of a copy is the host's own copy of its pages.
  enum class HostSide : std::uint8_t { None, From, To };
  struct Job {
    std::size_t application = 0;
    Copy copy;
    HostSide host_side = HostSide::None;
    std::uint64_t bytes = 0;      ///< of a row, up to the end of the last line
    std::uint64_t row = 0;        ///< of the next chunk
    std::uint64_t offset = 0;     ///< of the next chunk, in its row
    unsigned replica = 0;         ///< to a page that each GPU has one of: whose is next
    std::uint32_t under_way = 0;  ///< chunks
    Cycle start = 0;
    std::size_t channel = 0;
  };
  struct Channel {
    Cycle set_up = 0;                 ///< when the copy begun last is set up
    std::deque<std::uint32_t> ready;  ///< jobs that have chunks to send, in order
    std::uint32_t under_way = 0;      ///< chunks
  };

  void begin(Job job);
  void on_set_up(IndexEvent* event);
  std::size_t channel_of(std::size_t application, const Copy& copy) const;
  void send_chunks(Channel& channel);
  void send_chunk(Channel& channel);
  bool sent(const Job& job) const { return job.row == job.copy.rows; }
  std::uint64_t place(const Job& job) const { return job.row * job.copy.pitch + job.offset; }
  std::uint64_t next_bytes(const Job& job) const;
  PhysLine line_at(std::size_t application, VirtAddr address, unsigned gpu, bool of_host) const;
  void note_copy(const Job& job, Timeline& timeline) const;
  void watch_chunk(const Job& job, const CopyChunk& chunk, VirtAddr to, DeviceId gpu);

  Partition& partition_;
  const SystemSpec& spec_;
  const std::vector<Process>& processes_;
  CopyAgent& agent_;
  DataWatch* watch_;
  HandlerId set_up_handler_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::vector<Channel> channels_;      ///< by the device that is read, the host's behind them; then by GPU of transfers
  std::vector<std::uint32_t> chunks_;  ///< by the number of a chunk under way: its job
  std::vector<std::uint32_t> free_chunks_;  ///< numbers
  std::uint64_t live_ = 0;                  ///< jobs
  CopyStats stats_;
};

}  // namespace nearfar
