// What a device's memory is: the part of a system's YAML that describes its DRAM.
#pragma once

#include <cstdint>

#include "config/quantity.h"
#include "memory/cache/cache_spec.h"

namespace nearfar {

enum class DramModel : std::uint8_t { Banked, Fixed };
enum class DramScheduler : std::uint8_t { FrFcfs, Fcfs };
/// Timings that `dram.standard` fills in; any single value may then be overridden.
enum class DramStandard : std::uint8_t { Hbm, Gddr5, Ddr3_1600, Ddr4_2400, Custom };

struct DramSpec {
  DramModel model = DramModel::Banked;
  DramStandard standard = DramStandard::Hbm;
  Bytes capacity = 4_GiB;
  std::uint32_t channels = 32;
  std::uint32_t ranks = 1;                // per channel
  std::uint32_t banks = 16;               // per rank
  Bytes row = 2_KiB;                      // per bank
  Bandwidth channel_bandwidth = 16_GBps;  // of one channel's data bus
  Cycle latency = 107;                    // model `fixed`: request to data, without the transfer
  Cycle controller_latency = 75;          // model `banked`: static part, in and out together
  Cycle t_cl = 14, t_rcd = 14, t_rp = 14;
  Cycle t_ras = 34, t_rrd = 4, t_faw = 16;
  Cycle t_wr = 16, t_wtr = 8, t_rtp = 7;
  Cycle t_refi = 3900, t_rfc = 260;
  bool refresh = false;
  DramScheduler scheduler = DramScheduler::FrFcfs;
  std::uint32_t read_queue = 32;   // per channel: what the scheduler can choose from
  std::uint32_t write_queue = 64;  // per channel
  std::uint32_t write_high = 48;   // writes waiting that start a drain
  std::uint32_t write_low = 16;    // writes waiting that end it
  IndexHash channel_index = IndexHash::Xor;

  /// Fills in what a standard says, with times rounded to cycles of `clock`.
  void set_standard(DramStandard chosen, Frequency clock);
  void describe(Section& section);
};

}  // namespace nearfar
