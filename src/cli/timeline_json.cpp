#include "cli/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace nearfar {
namespace {

/// Processes of the trace are devices; threads are walkers, and one more for what else a device does.
std::string device_name(unsigned device, unsigned gpus) {
  return device < gpus ? fmt::format("GPU {}", device) : std::string("host");
}

class Writer {
 public:
  explicit Writer(const Report& report)
      : gpus_(report.machine.loaded.spec.gpus),
        page_shift_(kPageShift + report.machine.loaded.spec.page.size.bits),
        // Timestamps are microseconds.
        per_cycle_(1e6 / static_cast<double>(report.machine.loaded.spec.gpu.clock.hertz)) {}

  void name_tracks(const std::vector<TimelineEvent>& events) {
    std::set<std::pair<unsigned, unsigned>> walkers;
    std::set<unsigned> devices;
    for (const TimelineEvent& event : events) {
      devices.insert(event.device);
      if (event.kind == TimelineEvent::Kind::Span) walkers.emplace(event.device, event.track);
    }
    for (const unsigned device : devices) {
      add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", device, device_name(device, gpus_));
    }
    for (const auto& [device, walker] : walkers) {
      add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"page walker {}"}}}})", device,
          walker + 1, walker);
    }
  }

  void event(const TimelineEvent& event) {
    switch (event.kind) {
      case TimelineEvent::Kind::Span:
        add(R"({{"ph":"X","name":"{}","cat":"walk","pid":{},"tid":{},"ts":{:.4f},"dur":{:.4f},"args":{{"address":"{:#x}","cycle":{}}}}})",
            event.name, event.device, event.track + 1, time(event.start), time(event.end - event.start), address(event),
            event.start);
        break;
      case TimelineEvent::Kind::Request: break;  // with all others of its request
      case TimelineEvent::Kind::Level:
        add(R"({{"ph":"C","name":"{}","pid":{},"ts":{:.4f},"args":{{"requests":{}}}}})", event.name, event.device,
            time(event.start), event.value);
        break;
    }
  }

  /// Viewers nest what carries one id by the order of begins and ends: a request comes before its parts, and of what
  /// meets in one cycle the end before the begin.
  void requests(const std::vector<TimelineEvent>& events) {
    std::vector<const TimelineEvent*> all;
    for (const TimelineEvent& event : std::views::reverse(events)) {  // a request is noted after its parts
      if (event.kind == TimelineEvent::Kind::Request) all.push_back(&event);
    }
    std::ranges::stable_sort(all, {}, [](const TimelineEvent* event) {
      return std::tuple(event->device, event->id, event->start, ~event->end);
    });
    for (unsigned lane = 0; !all.empty(); ++lane) all = nest(all, lane);
  }

  /// `until` is the cycle up to which a timeline is complete that events were left out of.
  std::string finish(std::uint64_t lost, Cycle until) {
    std::string other = fmt::format("\"events_left_out\":{}", lost);
    if (lost > 0) {
      other += fmt::format(",\"complete_until_cycle\":{}", until);
      add(R"({{"ph":"i","s":"g","name":"the timeline ends here, {} later events were left out","pid":0,"tid":0,"ts":{:.4f},"args":{{"cycle":{}}}}})",
          lost, time(until), until);
    }
    return fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"metadata\":{{\"highres-ticks\":true}},\"otherData\":{{{}}},"
        "\"traceEvents\":[\n{}\n]}}\n",
        other, text_);
  }

 private:
  /// Writes requests and parts that lie within one another. Those that overlap another in part, as when two paths race
  /// for a request, are given back, for a lane of their own.
  std::vector<const TimelineEvent*> nest(const std::vector<const TimelineEvent*>& events, unsigned lane) {
    std::vector<const TimelineEvent*> beside, open;
    const auto close = [&] {
      end(*open.back(), lane);
      open.pop_back();
    };
    for (const TimelineEvent* event : events) {
      const auto is_over = [&](const TimelineEvent& other) {
        return other.device != event->device || other.id != event->id || other.end <= event->start;
      };
      while (!open.empty() && is_over(*open.back())) close();
      if (!open.empty() && event->end > open.back()->end) {
        beside.push_back(event);
        continue;
      }
      begin(*event, lane);
      open.push_back(event);
    }
    while (!open.empty()) close();
    return beside;
  }

  /// Ids are those of the whole trace: a page's requests on two devices are two.
  static std::uint64_t id_of(const TimelineEvent& event, unsigned lane) {
    return std::uint64_t{event.device} << 56 | std::uint64_t{lane} << 48 | event.id;
  }

  void begin(const TimelineEvent& event, unsigned lane) {
    add(R"({{"ph":"b","name":"{}","cat":"request","id":"{:#x}","pid":{},"tid":0,"ts":{:.4f},"args":{{"address":"{:#x}","cycle":{},"cycles":{}}}}})",
        event.name, id_of(event, lane), event.device, time(event.start), address(event), event.start,
        event.end - event.start);
  }

  void end(const TimelineEvent& event, unsigned lane) {
    add(R"({{"ph":"e","name":"{}","cat":"request","id":"{:#x}","pid":{},"tid":0,"ts":{:.4f}}})", event.name,
        id_of(event, lane), event.device, time(event.end));
  }

  /// The first of its page, as --timeline-addresses takes it; an id is a page's number and its process.
  std::uint64_t address(const TimelineEvent& event) const { return event.id >> 8 << page_shift_; }

  double time(Cycle cycle) const { return static_cast<double>(cycle) * per_cycle_; }

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!text_.empty()) text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  unsigned gpus_;
  unsigned page_shift_;
  double per_cycle_;
  std::string text_;
};

}  // namespace

Cycle timeline_end(const Report& report) {
  Cycle end = 0;
  for (const TimelineEvent& event : report.result.timeline) end = std::max(end, event.end);
  return end;
}

std::string timeline_json(const Report& report) {
  Writer writer(report);
  writer.name_tracks(report.result.timeline);
  for (const TimelineEvent& event : report.result.timeline) writer.event(event);
  writer.requests(report.result.timeline);
  return writer.finish(report.result.timeline_lost, timeline_end(report));
}

}  // namespace nearfar
