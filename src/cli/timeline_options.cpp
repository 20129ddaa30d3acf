// Ranges and GPUs of a timeline.
#include "cli/timeline_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/numbers.h"
#include "cli/timeline_json.h"
#include "config/error.h"
#include "config/words.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostEvents = 1'000'000'000;

/// Digits and nothing else: no sign, no space, and no octal, which nobody means by a leading zero.
std::optional<std::uint64_t> parse_digits(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, hexadecimal ? 16 : 10);
  return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

/// "FROM-TO", each end included.
std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& option, const std::string& text) {
  const std::vector<std::string> ends = split(text, '-');
  if (ends.size() == 2) {
    const auto first = parse_digits(ends[0]), last = parse_digits(ends[1]);
    if (first && last && *first <= *last) return {*first, *last};
  }
  throw InputError(
      fmt::format("{} takes a range FROM-TO in decimal or hexadecimal, such as 1000-2000 or 0x1000-0x1fff; `{}` is not "
                  "one.",
                  option, text));
}

}  // namespace

TimelineFilter timeline_filter(const TimelineArguments& arguments, const SystemSpec& system) {
  TimelineFilter filter;
  filter.on = !arguments.file.empty();
  const bool filtered =
      !arguments.bytes.empty() || !arguments.cycles.empty() || !arguments.gpu.empty() || !arguments.events.empty();
  if (filtered && !filter.on) {
    throw InputError("--timeline-… choose what goes into a timeline; name its file with --timeline FILE.");
  }
  if (!arguments.bytes.empty()) {
    std::tie(filter.first_byte, filter.last_byte) = parse_range("--timeline-addresses", arguments.bytes);
  }
  if (!arguments.cycles.empty()) {
    std::tie(filter.from, filter.to) = parse_range("--timeline-cycles", arguments.cycles);
  }
  if (!arguments.gpu.empty()) {
    const auto gpu = parse_digits(arguments.gpu);
    if (!gpu || *gpu >= system.gpus) {
      throw InputError(fmt::format("--timeline-gpu takes the number of a GPU of the system, 0 to {}; `{}` is not one.",
                                   system.gpus - 1, arguments.gpu));
    }
    filter.device = *gpu;
  }
  filter.most = kUsualTimelineEvents;
  if (!arguments.events.empty()) filter.most = parse_whole("--timeline-events", arguments.events, 1, kMostEvents);
  return filter;
}

std::string timeline_note(const Report& report) {
  if (!report.experiment.timeline.on) return "";
  const std::uint64_t lost = report.result.timeline_lost;
  if (lost > 0) {
    return fmt::format(
        "The timeline ends at cycle {} of {} with {} events; {} later {} left out. --timeline-events N takes more; "
        "--timeline-cycles, --timeline-gpu and --timeline-addresses select others.",
        grouped(timeline_end(report)), grouped(report.result.cycles), grouped(report.result.timeline.size()),
        grouped(lost), lost == 1 ? "one was" : "ones were");
  }
  if (!report.result.timeline.empty()) return "";
  if (report.machine.loaded.spec.translation.kind == TranslationKind::Ideal) {
    return fmt::format(
        "The timeline is empty: the system `{}` translates addresses without requests (translation.kind is ideal).",
        report.machine.system);
  }
  return "The timeline is empty: nothing happened in what the --timeline-… options select.";
}

}  // namespace nearfar
