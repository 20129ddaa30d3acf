#include "cli/timeline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/timeline_tracks.h"
#include "sim/timeline_end.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

/// Processes of the trace are devices, threads the tracks of their units.
class Writer {
 public:
  explicit Writer(const Report& report)
      : report_(report),
        gpus_(report.machine.loaded.spec.gpus),
        line_bytes_(report.machine.loaded.spec.gpu.line),
        page_shift_(kPageShift + report.machine.loaded.spec.page.size.bits),
        hertz_(report.machine.loaded.spec.gpu.clock.hertz) {
    const std::uint64_t lost = report.result.timeline_lost;
    text_ = fmt::format(R"({{"displayTimeUnit":"ns","metadata":{{"highres-ticks":true}},"otherData":{{)");
    text_ += fmt::format(R"("events_left_out":{})", lost);
    if (lost > 0) text_ += fmt::format(R"(,"complete_until_cycle":{})", timeline_end(report));
    text_ += "},\"traceEvents\":[";
  }

  void name_tracks(const std::vector<TimelineTrack>& tracks) {
    std::set<unsigned> devices;
    for (const TimelineEvent& event : report_.result.timeline) devices.insert(event.device);
    for (const TimelineTrack& track : tracks) devices.insert(track.device);
    for (const unsigned device : devices) {
      add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", device, device_name(device));
      add(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", device, device);
    }
    for (const TimelineTrack& track : tracks) {
      add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", track.device, track.tid,
          track_name(track, track.device >= gpus_));
      add(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", track.device,
          track.tid, track.tid);
    }
  }

  void slices(const std::vector<TimelineSlice>& slices) {
    for (const TimelineSlice& each : slices) {
      if (each.event->kind == TimelineEvent::Kind::Instant) {
        instant(each);
      } else {
        slice(each);
      }
      if (each.role != TimelineSlice::Role::Whole) flow(each);
    }
  }

  void levels(const std::vector<TimelineEvent>& events) {
    for (const TimelineEvent& event : events) {
      if (event.kind != TimelineEvent::Kind::Level) continue;
      add(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"requests":{}}}}})", event.name, event.device,
          time(event.start), event.value);
    }
  }

  /// Viewers nest what carries one id by the order of begins and ends: a request comes before its parts, and of what
  /// meets in one cycle the end before the begin.
  void requests(const std::vector<TimelineEvent>& events) {
    std::vector<const TimelineEvent*> all;
    for (auto event = events.rbegin(); event != events.rend(); ++event) {  // a request is noted after its parts
      if (event->kind == TimelineEvent::Kind::Request) all.push_back(&*event);
    }
    std::ranges::stable_sort(all, {}, [](const TimelineEvent* event) {
      return std::tuple(event->device, event->id, event->start, ~event->end);
    });
    for (unsigned lane = 0; !all.empty(); ++lane) all = nest(all, lane);
  }

  std::string finish() {
    if (const std::uint64_t lost = report_.result.timeline_lost; lost > 0) {
      const Cycle until = timeline_end(report_);
      add(R"({{"ph":"i","s":"g","name":"the timeline ends here, {} later events were left out","pid":0,"tid":0,"ts":{},"args":{{"cycle":{}}}}})",
          lost, time(until), until);
    }
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  std::string device_name(unsigned device) const {
    return device < gpus_ ? fmt::format("GPU {}", device) : std::string("host");
  }

  // ------------------------------------------------------------------------------------------ slices and instants

  void slice(const TimelineSlice& slice) {
    add(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}"cycle":{},"cycles":{}}}}})",
        name_of(*slice.event), category(slice), slice.device, slice.tid, time(slice.start),
        duration(slice.start, slice.end), arguments(*slice.event), slice.start, slice.end - slice.start);
  }

  void instant(const TimelineSlice& slice) {
    add(R"({{"ph":"i","s":"t","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"args":{{{}"cycle":{}}}}})",
        slice.event->name, category(slice), slice.device, slice.tid, time(slice.start), arguments(*slice.event),
        slice.start);
  }

  /// An arrow from the slice at the sender to that at the receiver. Its two ends carry the number of the message.
  void flow(const TimelineSlice& slice) {
    const bool sent = slice.role == TimelineSlice::Role::Sent;
    const auto message = static_cast<std::uint64_t>(slice.event - report_.result.timeline.data());
    add(R"({{"ph":"{}",{}"id":{},"name":"{}","cat":"links","pid":{},"tid":{},"ts":{}}})", sent ? "s" : "f",
        sent ? "" : R"("bp":"e",)", message, slice.event->name, slice.device, slice.tid, time(slice.start));
  }

  /// Kernels by their own names, which a workload of a user's may have chosen.
  std::string name_of(const TimelineEvent& event) const {
    const bool kernel = event.unit == TimelineUnit::Kernel || event.unit == TimelineUnit::Application;
    if (!kernel || std::string_view(event.name) != "kernel" || event.id >= report_.applications.size()) {
      return event.name;
    }
    return escaped(report_.applications[event.id].workload->launches()[event.value].kernel);
  }

  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
  }

  static std::string_view category(const TimelineSlice& slice) {
    return kTimelineSubjects[static_cast<std::size_t>(subject_of(slice.unit))];
  }

  /// What else there is to say, each with a comma behind it.
  std::string arguments(const TimelineEvent& event) const {
    std::string out = lines_text(event);
    switch (event.unit) {
      case TimelineUnit::Walker: out += fmt::format(R"("address":"{:#x}",)", address(event)); break;
      case TimelineUnit::Kernel:
      case TimelineUnit::Application:
        out += fmt::format(R"("application":{},"launch":{},)", event.id, event.value);
        break;
      case TimelineUnit::Dma: out += fmt::format(R"("application":{},"bytes":{},)", event.id, event.value); break;
      case TimelineUnit::ComputeUnit: out += fmt::format(R"("wavefront":{},)", event.value); break;
      case TimelineUnit::L2Bank: out += fmt::format(R"("requester":"{}",)", device_name(event.peer)); break;
      case TimelineUnit::L2Lines:
        if (event.peer != kNoPeer) out += fmt::format(R"("from":"{}",)", device_name(event.peer));
        break;
      case TimelineUnit::LinkOutput:
      case TimelineUnit::LinkInput: out += hop_text(event); break;
      default: break;
    }
    return out;
  }

  std::string hop_text(const TimelineEvent& event) const {
    const TimelineHop& hop = event.hop;
    return fmt::format(
        R"("source":"{}","destination":"{}","bytes":{},"class":"{}","type":"{}","leaves":{},"arrives":{},)",
        device_name(hop.origin), device_name(hop.destination), hop.bytes, hop.traffic_class, hop.type, event.start,
        event.end);
  }

  std::string lines_text(const TimelineEvent& event) const {
    const TimelineLines& lines = event.lines;
    if (lines.space == TimelineLines::Space::None) return "";
    const std::uint64_t offset =
        lines.mask == 0 ? 0 : static_cast<std::uint64_t>(std::countr_zero(lines.mask)) * line_bytes_;
    std::string out;
    if (lines.space == TimelineLines::Space::Virtual) {
      out = fmt::format(R"("address":"{:#x}",)", lines.address + offset);
      if (report_.applications.size() > 1) out += fmt::format(R"("application":{},)", lines.process);
    } else {
      const PhysPage frame{lines.address};
      out = fmt::format(R"("physical address":"{} {:#x}",)", device_name(frame.device().value),
                        (frame.frame() << kPageShift) + offset);
    }
    const int count = std::popcount(lines.mask);
    if (count > 1) out += fmt::format(R"("lines":{},"mask":"{:#x}",)", count, lines.mask);
    return out;
  }

  // ------------------------------------------------------------------------------------- requests of translation

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
    add(R"({{"ph":"b","name":"{}","cat":"request","id":"{:#x}","pid":{},"tid":0,"ts":{},"args":{{"address":"{:#x}","cycle":{},"cycles":{}}}}})",
        event.name, id_of(event, lane), event.device, time(event.start), address(event), event.start,
        event.end - event.start);
  }

  void end(const TimelineEvent& event, unsigned lane) {
    add(R"({{"ph":"e","name":"{}","cat":"request","id":"{:#x}","pid":{},"tid":0,"ts":{}}})", event.name,
        id_of(event, lane), event.device, time(event.end));
  }

  /// The first of its page, as --timeline-address takes it; an id is a page's number and its process.
  std::uint64_t address(const TimelineEvent& event) const { return event.id >> 8 << page_shift_; }

  // ------------------------------------------------------------------------------------------------- time and text

  /// Viewers count in nanoseconds. All times are rounded down to one, so that what lies within or beside another still
  /// does; `cycle` and `cycles` are exact.
  std::uint64_t nanoseconds(Cycle cycle) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(cycle) * kNanosecondsPerSecond / hertz_);
  }
  /// In microseconds, as the format wants it.
  static std::string microseconds(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }
  std::string time(Cycle cycle) const { return microseconds(nanoseconds(cycle)); }
  std::string duration(Cycle start, Cycle end) const { return microseconds(nanoseconds(end) - nanoseconds(start)); }

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += std::exchange(first_, false) ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  const Report& report_;
  unsigned gpus_;
  std::uint64_t line_bytes_;
  unsigned page_shift_;
  std::uint64_t hertz_;
  std::string text_;
  bool first_ = true;  ///< no event has been written
};

}  // namespace

Cycle timeline_end(const Report& report) {
  Cycle end = 0;
  for (const TimelineEvent& event : report.result.timeline) end = std::max(end, event.settled());
  return end;
}

std::string timeline_json(const Report& report) {
  const std::vector<TimelineEvent>& events = report.result.timeline;
  const std::uint64_t hertz = report.machine.loaded.spec.gpu.clock.hertz;
  const TimelineTracks tracks = timeline_tracks(events, (hertz + kNanosecondsPerSecond - 1) / kNanosecondsPerSecond);
  Writer writer(report);
  writer.name_tracks(tracks.tracks);
  writer.slices(tracks.slices);
  writer.levels(events);
  writer.requests(events);
  return writer.finish();
}

std::string timeline_json(Report& report, std::uint64_t bytes) {
  std::vector<TimelineEvent>& events = report.result.timeline;
  std::string text = timeline_json(std::as_const(report));
  while (text.size() > bytes && !events.empty()) {
    const std::size_t before = events.size();
    const double share = static_cast<double>(bytes) / static_cast<double>(text.size());
    const auto most = static_cast<std::size_t>(static_cast<double>(before) * share);
    shorten_timeline(events, std::min(most, before - 1), kNever, report.machine.loaded.spec.gpus);
    report.result.timeline_lost += before - events.size();
    text = std::string();  // there is not room for two
    text = timeline_json(std::as_const(report));
  }
  return text;
}

}  // namespace nearfar
