// What a DRAM standard demands, written down plainly: goes through all commands of a run in order of time and asks of
// each whether it was legal. It knows nothing of schedulers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/dram/banked_dram.h"

namespace nearfar {

class DramChecker : public DramObserver {
 public:
  DramChecker(const DramSpec& spec, std::uint64_t parts, ExactTime burst, Cycle turn_around)
      : spec_(spec), parts_(parts), burst_(ticks(burst)), turn_around_(turn_around * parts) {}

  void command(const DramCommandTime& command) override { commands_.push_back(command); }
  const std::vector<DramCommandTime>& commands() const { return commands_; }

  /// The first violation, or nothing.
  std::string violation() const {
    for (std::uint32_t channel = 0; channel < spec_.channels; ++channel) {
      std::vector<DramCommandTime> own;
      std::copy_if(commands_.begin(), commands_.end(), std::back_inserter(own),
                   [&](const auto& c) { return c.channel == channel; });
      std::stable_sort(own.begin(), own.end(), [&](const auto& a, const auto& b) { return begin(a) < begin(b); });
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::string complaint = check(own, i);
        if (!complaint.empty()) {
          return fmt::format("channel {} bank {} at {} + {}/{}: {}", channel, own[i].bank, own[i].when,
                             own[i].begin.part(), parts_, complaint);
        }
      }
    }
    return {};
  }

 private:
  using Ticks = std::uint64_t;
  using Commands = std::vector<DramCommandTime>;

  Ticks ticks(ExactTime time) const { return time.cycle() * parts_ + time.part(); }
  static bool is_column(const DramCommandTime& c) {
    return c.command == DramCommand::Read || c.command == DramCommand::Write;
  }
  /// A column command may begin within a cycle: its data begin t_cl later.
  Ticks begin(const DramCommandTime& c) const {
    return is_column(c) ? ticks(c.begin) - spec_.t_cl * parts_ : c.when * parts_;
  }
  std::uint32_t rank(const DramCommandTime& c) const { return c.bank / spec_.banks; }
  /// Whether `c` is at least `cycles` after the point in time `earlier`.
  bool after(const DramCommandTime& c, Ticks earlier, Cycle cycles) const {
    return begin(c) >= earlier + cycles * parts_;
  }

  std::string check(const Commands& own, std::size_t i) const {
    switch (own[i].command) {
      case DramCommand::Activate: return check_activate(own, i);
      case DramCommand::Precharge: return check_precharge(own, i);
      case DramCommand::Refresh: return check_refresh(own, i);
      case DramCommand::Read:
      case DramCommand::Write: return check_column(own, i);
    }
    return "unknown command";
  }

  /// The last command of the bank that opened or closed its row, before command i; -1: none.
  std::ptrdiff_t last_row_command(const Commands& own, std::size_t i, std::uint32_t bank) const {
    for (auto k = static_cast<std::ptrdiff_t>(i) - 1; k >= 0; --k) {
      const DramCommandTime& c = own[static_cast<std::size_t>(k)];
      if (c.command == DramCommand::Refresh && rank(c) == bank / spec_.banks) return k;
      if (c.bank == bank && (c.command == DramCommand::Activate || c.command == DramCommand::Precharge)) return k;
    }
    return -1;
  }

  std::string check_activate(const Commands& own, std::size_t i) const {
    const DramCommandTime& c = own[i];
    const std::ptrdiff_t k = last_row_command(own, i, c.bank);
    if (k >= 0) {
      const DramCommandTime& last = own[static_cast<std::size_t>(k)];
      if (last.command == DramCommand::Activate) return "activate of an open bank";
      if (last.command == DramCommand::Precharge && !after(c, begin(last), spec_.t_rp)) return "t_rp";
      if (last.command == DramCommand::Refresh && !after(c, begin(last), spec_.t_rfc)) return "t_rfc";
    }
    std::vector<Ticks> before;
    for (std::size_t j = 0; j < i; ++j) {
      if (own[j].command == DramCommand::Activate && rank(own[j]) == rank(c)) before.push_back(begin(own[j]));
    }
    if (!before.empty() && !after(c, before.back(), spec_.t_rrd)) return "t_rrd";
    if (before.size() >= 4 && !after(c, before[before.size() - 4], spec_.t_faw)) return "t_faw";
    return {};
  }

  std::string check_precharge(const Commands& own, std::size_t i) const {
    const DramCommandTime& c = own[i];
    const std::ptrdiff_t k = last_row_command(own, i, c.bank);
    if (k < 0 || own[static_cast<std::size_t>(k)].command != DramCommand::Activate) return "precharge of a closed bank";
    if (!after(c, begin(own[static_cast<std::size_t>(k)]), spec_.t_ras)) return "t_ras";
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_column(own[j]) || own[j].bank != c.bank) continue;
      if (own[j].command == DramCommand::Read && !after(c, begin(own[j]), spec_.t_rtp)) return "t_rtp";
      if (own[j].command == DramCommand::Write && !after(c, ticks(own[j].end), spec_.t_wr)) return "t_wr";
    }
    return {};
  }

  std::string check_refresh(const Commands& own, std::size_t i) const {
    const DramCommandTime& c = own[i];
    for (std::uint32_t bank = c.bank; bank < c.bank + spec_.banks; ++bank) {
      const std::ptrdiff_t k = last_row_command(own, i, bank);
      if (k < 0) continue;
      const DramCommandTime& last = own[static_cast<std::size_t>(k)];
      if (last.command == DramCommand::Activate) return "refresh with an open bank";
      if (last.command == DramCommand::Precharge && !after(c, begin(last), spec_.t_rp)) return "t_rp before refresh";
      if (last.command == DramCommand::Refresh && !after(c, begin(last), spec_.t_rfc)) return "refresh in a refresh";
    }
    return {};
  }

  std::string check_column(const Commands& own, std::size_t i) const {
    const DramCommandTime& c = own[i];
    const std::ptrdiff_t k = last_row_command(own, i, c.bank);
    if (k < 0 || own[static_cast<std::size_t>(k)].command != DramCommand::Activate) return "column of a closed bank";
    if (own[static_cast<std::size_t>(k)].row != c.row) return "column of another row";
    if (!after(c, begin(own[static_cast<std::size_t>(k)]), spec_.t_rcd)) return "t_rcd";
    if (ticks(c.end) != ticks(c.begin) + burst_) return "length of the burst";
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_column(own[j])) continue;
      const bool turns = own[j].command != c.command || rank(own[j]) != rank(c);
      if (ticks(c.begin) < ticks(own[j].end) + (turns ? turn_around_ : 0)) return "bus";
      const bool write_then_read = own[j].command == DramCommand::Write && c.command == DramCommand::Read;
      if (write_then_read && rank(own[j]) == rank(c) && !after(c, ticks(own[j].end), spec_.t_wtr)) return "t_wtr";
    }
    return {};
  }

  const DramSpec spec_;
  const std::uint64_t parts_;
  const Ticks burst_;
  const Ticks turn_around_;
  Commands commands_;
};

}  // namespace nearfar
