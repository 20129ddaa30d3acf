// The parameters of memory, and what the standards say about them.
#include "memory/dram/dram_spec.h"

#include <array>
#include <string_view>

#include "config/schema.h"

namespace nearfar {
namespace {

// First-generation HBM: 128-bit channels at 500 MHz, two transfers a clock. Checked against DRAMsim3's HBM1
// configuration, which agrees but for tFAW (30 ns there) and tRTP (6 ns there): ours are the defaults of DramSpec.
constexpr std::array kHbm = {
    Preset{"ranks", "1"},      Preset{"banks", "16"},    Preset{"row", "2KiB"},
    Preset{"t_cl", "14ns"},    Preset{"t_rcd", "14ns"},  Preset{"t_rp", "14ns"},
    Preset{"t_ras", "34ns"},   Preset{"t_rrd", "4ns"},   Preset{"t_faw", "16ns"},
    Preset{"t_wr", "16ns"},    Preset{"t_wtr", "8ns"},   Preset{"t_rtp", "7ns"},
    Preset{"t_refi", "3.9us"}, Preset{"t_rfc", "260ns"}, Preset{"channel_bandwidth", "16GB/s"},
};

// GDDR5 at 4.8 Gbit/s a pin, two 32-bit devices a channel. tRAS to tRTP and tRFC as gem5 gives them for a 1 Gbit part
// (H5GQ1H24AFR), tREFI as in DRAMsim3. Ours: 14 ns for tCL, tRCD and tRP (gem5 has 12), and the row.
constexpr std::array kGddr5 = {
    Preset{"ranks", "1"},      Preset{"banks", "16"},    Preset{"row", "2KiB"},
    Preset{"t_cl", "14ns"},    Preset{"t_rcd", "14ns"},  Preset{"t_rp", "14ns"},
    Preset{"t_ras", "28ns"},   Preset{"t_rrd", "5.5ns"}, Preset{"t_faw", "23ns"},
    Preset{"t_wr", "12ns"},    Preset{"t_wtr", "5ns"},   Preset{"t_rtp", "2ns"},
    Preset{"t_refi", "7.8us"}, Preset{"t_rfc", "65ns"},  Preset{"channel_bandwidth", "38.4GB/s"},
};

// DDR3-1600 (11-11-11), 64-bit channel of x8 devices of 4 Gbit, two ranks. Agrees with DRAMsim3's configuration of that
// part to a clock.
constexpr std::array kDdr3_1600 = {
    Preset{"ranks", "2"},      Preset{"banks", "8"},       Preset{"row", "8KiB"},
    Preset{"t_cl", "13.75ns"}, Preset{"t_rcd", "13.75ns"}, Preset{"t_rp", "13.75ns"},
    Preset{"t_ras", "35ns"},   Preset{"t_rrd", "6ns"},     Preset{"t_faw", "30ns"},
    Preset{"t_wr", "15ns"},    Preset{"t_wtr", "7.5ns"},   Preset{"t_rtp", "7.5ns"},
    Preset{"t_refi", "7.8us"}, Preset{"t_rfc", "260ns"},   Preset{"channel_bandwidth", "12.8GB/s"},
};

// DDR4-2400 (17-17-17), 64-bit channel of x8 devices of 8 Gbit, two ranks. Agrees with DRAMsim3's 16-16-16 part to a
// clock, apart from those three; tRTP is ours. Bank groups are not modelled, so tRRD and tWTR are the longer ones,
// within a group.
constexpr std::array kDdr4_2400 = {
    Preset{"ranks", "2"},      Preset{"banks", "16"},      Preset{"row", "8KiB"},
    Preset{"t_cl", "14.16ns"}, Preset{"t_rcd", "14.16ns"}, Preset{"t_rp", "14.16ns"},
    Preset{"t_ras", "32ns"},   Preset{"t_rrd", "4.9ns"},   Preset{"t_faw", "21ns"},
    Preset{"t_wr", "15ns"},    Preset{"t_wtr", "7.5ns"},   Preset{"t_rtp", "7.5ns"},
    Preset{"t_refi", "7.8us"}, Preset{"t_rfc", "350ns"},   Preset{"channel_bandwidth", "19.2GB/s"},
};

void describe_organization(Section& section, DramSpec& spec) {
  section.choice<DramModel>("model", spec.model, {{"banked", DramModel::Banked}, {"fixed", DramModel::Fixed}},
                            "How memory is modelled: banked is banks with row buffers and a scheduler, fixed is a "
                            "fixed latency behind each channel's bus.");
  section.choice<DramStandard>(
      "standard", spec.standard,
      {{"hbm", DramStandard::Hbm, kHbm},
       {"gddr5", DramStandard::Gddr5, kGddr5},
       {"ddr3-1600", DramStandard::Ddr3_1600, kDdr3_1600},
       {"ddr4-2400", DramStandard::Ddr4_2400, kDdr4_2400},
       {"custom", DramStandard::Custom}},
      "The memory standard (hbm, gddr5, ddr3-1600 or ddr4-2400), which fills in ranks, banks, row, channel_bandwidth "
      "and all timings where keys given beside it or in a more derived place do not; custom fills in nothing.");
  section.bytes("capacity", spec.capacity, {1_MiB, 64_GiB},
                "Memory capacity of the device, at most 2^24 frames of 4KiB.");
  section.integer("channels", spec.channels, {1, 256}, "channels",
                  "Channels of the memory, over which lines are interleaved.");
  section.integer("ranks", spec.ranks, Limits::powers_of_two(1, 16), "ranks", "Ranks in a channel of the memory.");
  section.integer("banks", spec.banks, Limits::powers_of_two(1, 64), "banks", "Banks in a rank of the memory.");
  section.bytes("row", spec.row, Limits::powers_of_two(64_B, 64_KiB), "Size of the row buffer of a bank.");
  section.bandwidth("channel_bandwidth", spec.channel_bandwidth, {Bandwidth{1'000'000}, 10'000_GBps},
                    "Bandwidth of the data bus of one channel.");
  section.cycles("latency", spec.latency, {1, 100'000},
                 "With model fixed, the time from a request to its data, without the transfer.");
  section.cycles("controller_latency", spec.controller_latency, {0, 100'000},
                 "With model banked, the constant latency of the memory controller, in and out together.");
}

void describe_timings(Section& section, DramSpec& spec) {
  const Limits timing{0, 100'000};
  section.cycles("t_cl", spec.t_cl, timing, "Time from a read command to its first data.");
  section.cycles("t_rcd", spec.t_rcd, timing, "Time from an activate to a read or write of the row.");
  section.cycles("t_rp", spec.t_rp, timing, "Time from a precharge to an activate of the bank.");
  section.cycles("t_ras", spec.t_ras, timing, "Time from an activate to a precharge of the bank.");
  section.cycles("t_rrd", spec.t_rrd, timing, "Time from an activate to an activate of another bank of the rank.");
  section.cycles("t_faw", spec.t_faw, timing, "Length of the window in which a rank may have at most four activates.");
  section.cycles("t_wr", spec.t_wr, timing, "Time from the end of write data to a precharge of the bank.");
  section.cycles("t_wtr", spec.t_wtr, timing, "Time from the end of write data to a read of the rank.");
  section.cycles("t_rtp", spec.t_rtp, timing, "Time from a read to a precharge of the bank.");
  section.cycles("t_refi", spec.t_refi, {1, 10'000'000}, "Time between refreshes of a rank.");
  section.cycles("t_rfc", spec.t_rfc, {0, 1'000'000}, "Time that a refresh keeps its rank busy.");
  section.flag("refresh", spec.refresh, "If true, the memory is refreshed.");
}

void describe_controller(Section& section, DramSpec& spec) {
  section.choice<DramScheduler>("scheduler", spec.scheduler,
                                {{"fr-fcfs", DramScheduler::FrFcfs}, {"fcfs", DramScheduler::Fcfs}},
                                "Which request of a channel is served next: fr-fcfs is row hits first, then the "
                                "oldest; fcfs is always the oldest.");
  section.integer("read_queue", spec.read_queue, {1, 64}, "requests",
                  "Reads of a channel that the scheduler can choose from.");
  section.integer("write_queue", spec.write_queue, {1, 4096}, "requests", "Writes that can wait in a channel.");
  section.integer("write_high", spec.write_high, {1, 4096}, "requests",
                  "Number of waiting writes at which a channel starts to drain them.");
  section.integer("write_low", spec.write_low, {0, 4095}, "requests",
                  "Number of waiting writes at which a channel ends its drain.");
  section.choice<IndexHash>(
      "channel_index", spec.channel_index, {{"modulo", IndexHash::Modulo}, {"xor", IndexHash::Xor}},
      "How a line number picks its channel: modulo is the plain remainder, xor has the upper bits folded in.");
}

}  // namespace

void DramSpec::describe(Section& section) {
  describe_organization(section, *this);
  describe_timings(section, *this);
  describe_controller(section, *this);
}

void DramSpec::set_standard(DramStandard chosen, Frequency clock) {
  standard = chosen;
  Schema schema(*this);
  const auto field = [&](std::string_view key) -> Field& {
    return *schema.parameters()[schema.find(key).value()].field;
  };
  for (const Preset& preset : field("standard").presets()) field(preset.key).assign(preset.text, clock);
}

}  // namespace nearfar
