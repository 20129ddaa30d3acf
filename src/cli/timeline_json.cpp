#include "cli/timeline_json.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <utility>

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
    const double start = static_cast<double>(event.start) * per_cycle_;
    const double length = static_cast<double>(event.end - event.start) * per_cycle_;
    const std::uint64_t page = event.id >> 8;
    switch (event.kind) {
      case TimelineEvent::Kind::Span:
        add(R"({{"ph":"X","name":"{}","cat":"walk","pid":{},"tid":{},"ts":{:.4f},"dur":{:.4f},"args":{{"page":"{:#x}","cycle":{}}}}})",
            event.name, event.device, event.track + 1, start, length, page, event.start);
        break;
      case TimelineEvent::Kind::Request:
        add(R"({{"ph":"b","name":"{}","cat":"request","id":"{:#x}","pid":{},"tid":0,"ts":{:.4f},"args":{{"page":"{:#x}","cycle":{},"cycles":{}}}}})",
            event.name, event.id, event.device, start, page, event.start, event.end - event.start);
        add(R"({{"ph":"e","name":"{}","cat":"request","id":"{:#x}","pid":{},"tid":0,"ts":{:.4f}}})", event.name,
            event.id, event.device, start + length);
        break;
      case TimelineEvent::Kind::Level:
        add(R"({{"ph":"C","name":"{}","pid":{},"ts":{:.4f},"args":{{"requests":{}}}}})", event.name, event.device,
            start, event.value);
        break;
    }
  }

  std::string finish(std::uint64_t lost) {
    return fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"events_left_out\":{}}},\"traceEvents\":[\n{}\n]}}\n", lost,
        text_);
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!text_.empty()) text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  unsigned gpus_;
  double per_cycle_;
  std::string text_;
};

}  // namespace

std::string timeline_json(const Report& report) {
  Writer writer(report);
  writer.name_tracks(report.result.timeline);
  for (const TimelineEvent& event : report.result.timeline) writer.event(event);
  return writer.finish(report.result.timeline_lost);
}

}  // namespace nearfar
