// Subjects, GPUs, windows and limits of a timeline.
#include "cli/timeline_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/arguments.h"
#include "cli/numbers.h"
#include "cli/timeline_addresses.h"
#include "cli/timeline_json.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/units.h"
#include "config/words.h"

namespace nearfar {
namespace {

/// What an event takes in the file, about: the run keeps no more of them than could fit.
constexpr std::uint64_t kBytesOfAnEvent = 150;
constexpr std::uint64_t kSmallestLimit = 10'000;

unsigned parse_subjects(const std::string& text) {
  std::vector<std::string> names(kTimelineSubjects.begin(), kTimelineSubjects.end());
  names.emplace_back("all");
  const std::vector<std::string> given = split(text, ',');
  refuse_repeated("subject", given);
  unsigned subjects = 0;
  for (const std::string& name : given) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw InputError(fmt::format("--timeline-of takes one or several of {}; `{}` is none of them.{}",
                                   join(names, ", "), name, did_you_mean(name, names)));
    }
    const auto bit = static_cast<unsigned>(found - names.begin());
    subjects |= name == "all" ? (1U << kTimelineSubjects.size()) - 1 : 1U << bit;
  }
  return subjects;
}

std::pair<Cycle, Cycle> parse_window(const std::string& text) {
  if (const auto range = parse_number_range(text)) return *range;
  throw InputError(
      fmt::format("--timeline-cycles takes a range FROM-TO in decimal or hexadecimal, such as 1000-2000 or "
                  "0x1000-0x1fff; `{}` is not one.",
                  text));
}

/// The sizes of files are usually said in powers of 1000; those of memory in powers of 1024 are taken too.
std::uint64_t parse_file_size(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kUnits{
      std::pair{"kB", 1'000}, std::pair{"MB", 1'000'000}, std::pair{"GB", 1'000'000'000}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const std::string amount = text.substr(0, text.size() - unit.size());
    return parse_whole(fmt::format("The number of {} in --timeline-limit", unit), amount, 1, 1'000'000) * bytes;
  }
  try {
    return parse_bytes(text);
  } catch (const BadValue& error) {
    throw InputError(
        fmt::format("--timeline-limit takes the size of a file, such as 100MB, 1GB or 64MiB; {}", error.what()));
  }
}

/// Whether it shows where accesses go, and not only how their addresses are translated.
bool wants_more(const TimelineFilter& filter) {
  return filter.wants(TimelineSubject::Data) || filter.wants(TimelineSubject::Links) ||
         filter.wants(TimelineSubject::Dram);
}

}  // namespace

TimelineFilter timeline_filter(const TimelineArguments& arguments, const SystemSpec& system) {
  TimelineFilter filter;
  filter.on = !arguments.file.empty();
  const bool filtered = !arguments.of.empty() || !arguments.address.empty() || !arguments.cycles.empty() ||
                        !arguments.gpu.empty() || !arguments.limit.empty();
  if (filtered && !filter.on) {
    throw InputError("--timeline-… choose what goes into a timeline; name its file with --timeline FILE.");
  }
  filter.subjects = parse_subjects(arguments.of.empty() ? kUsualTimelineSubjects : arguments.of);
  parse_addresses(arguments.address);
  if (!arguments.cycles.empty()) std::tie(filter.from, filter.to) = parse_window(arguments.cycles);
  if (!arguments.gpu.empty()) {
    const auto gpu = parse_digits(arguments.gpu);
    if (!gpu || *gpu >= system.gpus) {
      throw InputError(fmt::format("--timeline-gpu takes the number of a GPU of the system, 0 to {}; `{}` is not one.",
                                   system.gpus - 1, arguments.gpu));
    }
    filter.device = *gpu;
  }
  filter.most = timeline_limit(arguments) / kBytesOfAnEvent;
  return filter;
}

std::vector<TimelineRange> timeline_ranges(const TimelineArguments& arguments,
                                           const std::vector<Application>& applications) {
  return find_addresses(parse_addresses(arguments.address), applications);
}

std::uint64_t timeline_limit(const TimelineArguments& arguments) {
  const std::string text = arguments.limit.empty() ? kUsualTimelineLimit : arguments.limit;
  const std::uint64_t bytes = parse_file_size(text);
  if (bytes >= kSmallestLimit) return bytes;
  throw InputError(fmt::format("--timeline-limit {} is too small for a timeline: it must be at least 10kB.", text));
}

std::string timeline_note(const Report& report) {
  const TimelineFilter& filter = report.experiment.timeline;
  if (!filter.on) return "";
  const std::uint64_t lost = report.result.timeline_lost;
  if (lost > 0) {
    return fmt::format(
        "The timeline ends at cycle {} of {} with {} events; {} later {} left out. --timeline-limit SIZE takes more; "
        "--timeline-of, --timeline-address, --timeline-cycles and --timeline-gpu select others.",
        grouped(timeline_end(report)), grouped(report.result.cycles), grouped(report.result.timeline.size()),
        grouped(lost), lost == 1 ? "one was" : "ones were");
  }
  const bool ideal = report.machine.loaded.spec.translation.kind == TranslationKind::Ideal;
  if (ideal && filter.wants(TimelineSubject::Translation) && !wants_more(filter)) {
    return fmt::format(
        "The timeline has nothing of translation: the system `{}` translates addresses without requests "
        "(translation.kind is ideal). --timeline-of data,links,dram shows where its accesses go.",
        report.machine.system);
  }
  if (!report.result.timeline.empty()) return "";
  return "The timeline is empty: nothing happened in what the --timeline-… options select.";
}

}  // namespace nearfar
