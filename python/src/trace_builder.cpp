// Programs written in Python. Either kernels as arrays, an instruction of all items of a launch at a time, or the
// accesses of a log, a row each. What comes of both is a trace file, which is complete or not there.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

#include "bindings.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "trace/assembler.h"
#include "trace/stream_code.h"
#include "trace/touched_regions.h"
#include "trace/trace_file.h"

namespace nearfar {
namespace {

namespace py = pybind11;
using namespace py::literals;

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <class Kind>
Kind parse_kind(const char* what, const std::string& text, const std::vector<std::pair<std::string, Kind>>& kinds) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) {
    if (name == text) return kind;
    names.push_back(name);
  }
  throw InputError(
      fmt::format("{} is one of {}, not `{}`.{}", what, join(names, ", "), text, did_you_mean(text, names)));
}

OpKind parse_access(const std::string& text) {
  return parse_kind<OpKind>("The kind of an access", text,
                            {{"load", OpKind::Load}, {"store", OpKind::Store}, {"atomic", OpKind::Atomic}});
}

OpKind parse_other(const std::string& text) {
  return parse_kind<OpKind>("An operation", text,
                            {{"valu", OpKind::VectorAlu},
                             {"salu", OpKind::ScalarAlu},
                             {"local", OpKind::Local},
                             {"barrier", OpKind::Barrier},
                             {"wait", OpKind::Wait},
                             {"fence", OpKind::Fence}});
}

Placement parse_placement(const std::string& text) {
  return parse_kind<Placement>("A placement", text,
                               {{"distribute", Placement::Distribute},
                                {"interleave", Placement::Interleave},
                                {"private", Placement::Private},
                                {"host", Placement::Host}});
}

Split parse_split(const std::string& text) {
  return parse_kind<Split>("A split", text,
                           {{"offset", Split::Offset},
                            {"blocks", Split::Blocks},
                            {"round_robin", Split::RoundRobin},
                            {"greedy", Split::Greedy}});
}

/// An instruction of a whole launch.
struct ArrayOp {
  Plain plain{};
  std::vector<std::uint64_t> addresses{};  ///< of loads, stores and atomics: one for each item, ~0 for those without
};

/// The accesses of a log that belong to one launch.
struct LoggedAccesses {
  std::vector<std::uint64_t> workgroup, address;
  std::vector<std::uint32_t> wavefront, instruction;
  std::vector<std::uint8_t> lane, kind, bytes;
};

struct BuiltLaunch {
  Launch launch;
  std::variant<std::vector<ArrayOp>, LoggedAccesses> what;
};

void check_lane_bytes(unsigned bytes) {
  if (bytes == 0 || bytes > kMostLaneBytes) {
    throw InputError(fmt::format("A lane touches 1 to {} bytes, not {}.", kMostLaneBytes, bytes));
  }
}

void check_count(std::int64_t count) {
  if (count < 0 || count > 0xffff) throw InputError(fmt::format("A count is from 0 to 65535, not {}.", count));
}

class TraceBuilder {
 public:
  TraceBuilder(std::string source, std::uint32_t lanes) {
    if (lanes != 32 && lanes != 64) throw InputError(fmt::format("lanes is 32 or 64, not {}.", lanes));
    header_.source = std::move(source);
    header_.lanes = lanes;
    header_.page = kPageBytes;
  }

  /// Returns the address.
  std::uint64_t buffer(const std::string& name, std::int64_t bytes, const std::string& placement) {
    if (bytes <= 0) throw InputError(fmt::format("The buffer `{}` would have {} bytes.", name, bytes));
    if (std::ranges::find(buffers_, name, &Buffer::name) != buffers_.end()) {
      throw InputError(fmt::format("There are two buffers `{}`.", name));
    }
    std::uint64_t base = kFirstBuffer.value;
    if (!buffers_.empty())
      base = (buffers_.back().base.value + buffers_.back().bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    buffers_.push_back({name, VirtAddr{base}, static_cast<std::uint64_t>(bytes), parse_placement(placement)});
    return base;
  }

  void copy_in(const std::string& buffer) { steps_.emplace_back(copy_of(buffer, true)); }
  void copy_out(const std::string& buffer) { steps_.emplace_back(copy_of(buffer, false)); }
  void host(std::uint64_t cycles) { steps_.emplace_back(HostPhase{cycles}); }

  /// Returns how many items it has.
  std::uint64_t launch(const std::string& kernel, std::uint32_t groups, std::uint32_t size, std::uint64_t local_bytes,
                       const std::string& split) {
    if (groups == 0 || size == 0) throw InputError(fmt::format("The launch `{}` has no items.", kernel));
    BuiltLaunch built;
    built.launch.kernel = kernel;
    built.launch.groups_x = groups;
    built.launch.size_x = size;
    built.launch.local_bytes = local_bytes;
    built.launch.split = parse_split(split);
    steps_.emplace_back(std::move(built));
    return std::uint64_t{groups} * size;
  }

  void access(const std::string& kind, unsigned bytes, const Array<std::uint64_t>& addresses) {
    check_lane_bytes(bytes);
    const Launch& launch = launch_under_way().launch;
    const std::uint64_t items = launch.groups() * launch.items();
    if (static_cast<std::uint64_t>(addresses.size()) != items) {
      throw InputError(fmt::format("The launch `{}` has {} items, and the array has {} addresses.", launch.kernel,
                                   items, addresses.size()));
    }
    operations().push_back({plain(parse_access(kind), 1, bytes), {addresses.data(), addresses.data() + items}});
  }
  void scalar_load(unsigned bytes, std::uint64_t address) {
    check_lane_bytes(bytes);
    if (address >= kTraceAddresses)
      throw InputError(fmt::format("The address {:#x} is beyond what a trace has.", address));
    operations().push_back({nearfar::scalar_load(bytes, VirtAddr{address})});
  }
  void other(const std::string& kind, std::int64_t count) {
    check_count(count);
    operations().push_back({plain(parse_other(kind), static_cast<std::uint64_t>(count))});
  }

  /// A launch of accesses, sorted by workgroup, wavefront, instruction. `gpus` has the GPU of each workgroup, or
  /// nothing.
  void log(const std::string& kernel, const Array<std::uint64_t>& workgroup, const Array<std::uint32_t>& wavefront,
           const Array<std::uint32_t>& instruction, const Array<std::uint8_t>& lane, const Array<std::uint8_t>& kind,
           const Array<std::uint8_t>& bytes, const Array<std::uint64_t>& address,
           const std::optional<std::vector<std::uint16_t>>& gpus) {
    const auto values = [](const auto& array) { return std::vector(array.data(), array.data() + array.size()); };
    LoggedAccesses accesses{values(workgroup), values(address), values(wavefront), values(instruction),
                            values(lane),      values(kind),    values(bytes)};
    if (accesses.address.empty()) throw InputError(fmt::format("The launch `{}` has no accesses.", kernel));
    for (std::size_t i = 0; i < accesses.address.size(); ++i) {
      check_lane_bytes(accesses.bytes[i]);
      if (accesses.lane[i] >= header_.lanes) {
        throw InputError(fmt::format("Lane {} is beyond the {} of a wavefront.", accesses.lane[i], header_.lanes));
      }
    }
    BuiltLaunch built;
    built.launch.kernel = kernel;
    built.launch.groups_x = static_cast<std::uint32_t>(std::ranges::max(accesses.workgroup) + 1);
    built.launch.size_x = (std::ranges::max(accesses.wavefront) + 1) * header_.lanes;
    built.launch.split = Split::RoundRobin;
    if (gpus) {
      built.launch.split = Split::Listed;
      built.launch.places = std::make_shared<GroupPlaces>(GroupPlaces{*gpus, {}});
    }
    built.what = std::move(accesses);
    steps_.emplace_back(std::move(built));
  }

  /// Returns what the file says of itself.
  py::dict write(const std::string& path) {
    {
      const py::gil_scoped_release others_may_run;
      write_file(path);
    }
    const auto file = TraceFile::open(path);
    return py::dict("wavefronts"_a = file->first_wavefronts().back(), "accesses"_a = file->counts().accesses,
                    "instructions"_a = file->counts().instructions, "bytes"_a = file->bytes());
  }

 private:
  using AnyStep = std::variant<Copy, HostPhase, BuiltLaunch>;

  Copy copy_of(const std::string& name, bool in) const {
    const auto found = std::ranges::find(buffers_, name, &Buffer::name);
    if (found == buffers_.end()) throw InputError(fmt::format("There is no buffer `{}`.", name));
    Copy copy;
    (in ? copy.to : copy.from) = found->base;
    copy.bytes = found->bytes;
    return copy;
  }

  BuiltLaunch& launch_under_way() {
    BuiltLaunch* launch = steps_.empty() ? nullptr : std::get_if<BuiltLaunch>(&steps_.back());
    if (launch == nullptr || !std::holds_alternative<std::vector<ArrayOp>>(launch->what)) {
      throw InputError("Operations belong to the last launch, and steps have followed it.");
    }
    return *launch;
  }
  std::vector<ArrayOp>& operations() { return std::get<std::vector<ArrayOp>>(launch_under_way().what); }

  void write_file(const std::string& path) const {
    if (steps_.empty()) throw InputError("The program does nothing: it has no launch.");
    TouchedRegions regions;
    std::vector<Buffer> buffers = buffers_;
    const bool logged = buffers.empty();  // without buffers they are the pages that are touched
    if (logged) {
      for (const AnyStep& step : steps_) touch(step, regions);
      regions.settle();
      buffers = regions.buffers();
    }
    TraceOutput output(path);
    TraceAssembler assembler(output, header_, std::move(buffers));
    for (const AnyStep& step : steps_) {
      if (const auto* launch = std::get_if<BuiltLaunch>(&step)) {
        assembler.begin_launch(launch->launch);
        add_streams(*launch, logged ? &regions : nullptr, assembler);
      } else if (const auto* copy = std::get_if<Copy>(&step)) {
        assembler.add_step(*copy);
      } else {
        assembler.add_step(std::get<HostPhase>(step));
      }
    }
    assembler.finish();
    output.commit();
  }

  static void touch(const AnyStep& step, TouchedRegions& regions) {
    const auto* launch = std::get_if<BuiltLaunch>(&step);
    if (launch == nullptr) return;
    if (const auto* operations = std::get_if<std::vector<ArrayOp>>(&launch->what)) {
      for (const ArrayOp& op : *operations) {
        if (kind_of(op.plain) == OpKind::ScalarLoad) regions.touch(address_of(op.plain), bytes_of(op.plain));
        for (const std::uint64_t address : op.addresses) {
          if (address != kIdle.value) regions.touch(address, bytes_of(op.plain));
        }
      }
      return;
    }
    const auto& accesses = std::get<LoggedAccesses>(launch->what);
    for (std::size_t i = 0; i < accesses.address.size(); ++i) regions.touch(accesses.address[i], accesses.bytes[i]);
  }

  void add_streams(const BuiltLaunch& built, const TouchedRegions* regions, TraceAssembler& assembler) const {
    if (const auto* operations = std::get_if<std::vector<ArrayOp>>(&built.what)) {
      add_arrays(built.launch, *operations, regions, assembler);
    } else {
      add_log(std::get<LoggedAccesses>(built.what), regions, assembler);
    }
  }

  void add_arrays(const Launch& launch, const std::vector<ArrayOp>& operations, const TouchedRegions* regions,
                  TraceAssembler& assembler) const {
    StreamEncoder encoder(header_.lanes);
    LaneAddresses lanes;
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t wave = 0; wave < launch.waves(header_.lanes); ++wave) {
        encoder.begin();
        for (const ArrayOp& op : operations) {
          if (!op.addresses.empty()) {
            fill(lanes, launch, op, group, wave, regions);
            if (lanes.active != 0) encoder.add(kind_of(op.plain), bytes_of(op.plain), lanes);
          } else if (kind_of(op.plain) == OpKind::ScalarLoad) {
            const std::uint64_t at = address_of(op.plain);
            encoder.add(nearfar::scalar_load(bytes_of(op.plain), VirtAddr{regions ? regions->address(at) : at}));
          } else {
            encoder.add(op.plain);
          }
        }
        assembler.add_stream(group, wave, encoder.bytes());
      }
    }
  }

  void fill(LaneAddresses& lanes, const Launch& launch, const ArrayOp& op, std::uint64_t group, std::uint32_t wave,
            const TouchedRegions* regions) const {
    lanes.active = 0;
    lanes.rows = {};
    for (unsigned lane = 0; lane < header_.lanes; ++lane) {
      const std::uint64_t item = std::uint64_t{wave} * header_.lanes + lane;
      if (item >= launch.items()) break;
      const std::uint64_t address = op.addresses[group * launch.items() + item];
      if (address == kIdle.value) continue;
      lanes.address[lane] = regions != nullptr ? regions->address(address) : address;
      lanes.active |= std::uint64_t{1} << lane;
    }
  }

  void add_log(const LoggedAccesses& log, const TouchedRegions* regions, TraceAssembler& assembler) const {
    StreamEncoder encoder(header_.lanes);
    LaneAddresses lanes;
    const auto same = [&](std::size_t a, std::size_t b, bool instruction) {
      return log.workgroup[a] == log.workgroup[b] && log.wavefront[a] == log.wavefront[b] &&
             (!instruction || log.instruction[a] == log.instruction[b]);
    };
    encoder.begin();
    for (std::size_t i = 0; i < log.address.size();) {
      lanes.active = 0;
      lanes.rows = {};
      std::size_t end = i;
      for (; end < log.address.size() && same(i, end, true); ++end) {
        const std::uint64_t bit = std::uint64_t{1} << log.lane[end];
        if ((lanes.active & bit) != 0 || log.kind[end] != log.kind[i] || log.bytes[end] != log.bytes[i]) {
          throw InputError(fmt::format(
              "Instruction {} of wavefront {} of workgroup {}: the lanes of an instruction differ, and have one kind "
              "and one number of bytes.",
              log.instruction[i], log.wavefront[i], log.workgroup[i]));
        }
        lanes.active |= bit;
        lanes.address[log.lane[end]] = regions != nullptr ? regions->address(log.address[end]) : log.address[end];
      }
      constexpr std::uint8_t kScalar = 3;
      if (log.kind[i] == kScalar) {
        encoder.add(nearfar::scalar_load(log.bytes[i], VirtAddr{lanes.address[log.lane[i]]}));
      } else {
        encoder.add(log.kind[i] == 0   ? OpKind::Load
                    : log.kind[i] == 1 ? OpKind::Store
                                       : OpKind::Atomic,
                    log.bytes[i], lanes);
      }
      if (end == log.address.size() || !same(i, end, false)) {
        assembler.add_stream(log.workgroup[i], log.wavefront[i], encoder.bytes());
        encoder.begin();
      }
      i = end;
    }
  }

  TraceHeader header_;
  std::vector<Buffer> buffers_;
  std::vector<AnyStep> steps_;
};

}  // namespace

void bind_trace_builder(py::module_& module) {
  module.attr("IDLE") = kIdle.value;
  py::class_<TraceBuilder>(module, "TraceBuilder")
      .def(py::init<std::string, std::uint32_t>(), "source"_a, "lanes"_a)
      .def("buffer", &TraceBuilder::buffer, "name"_a, "bytes"_a, "placement"_a)
      .def("copy_in", &TraceBuilder::copy_in, "buffer"_a)
      .def("copy_out", &TraceBuilder::copy_out, "buffer"_a)
      .def("host", &TraceBuilder::host, "cycles"_a)
      .def("launch", &TraceBuilder::launch, "kernel"_a, "groups"_a, "size"_a, "local_bytes"_a, "split"_a)
      .def("access", &TraceBuilder::access, "kind"_a, "bytes"_a, "addresses"_a)
      .def("scalar_load", &TraceBuilder::scalar_load, "bytes"_a, "address"_a)
      .def("other", &TraceBuilder::other, "kind"_a, "count"_a)
      .def("log", &TraceBuilder::log, "kernel"_a, "workgroup"_a, "wavefront"_a, "instruction"_a, "lane"_a, "kind"_a,
           "bytes"_a, "address"_a, "gpus"_a)
      .def("write", &TraceBuilder::write, "path"_a);
}

}  // namespace nearfar
