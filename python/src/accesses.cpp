// The accesses of a workload, lane by lane, in the order of launches, workgroups and wavefronts: what its streams
// yield, without a machine.
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "bindings.h"
#include "characterize/characterization.h"
#include "cli/result_json.h"
#include "config/error.h"
#include "program/split.h"
#include "study/experiment.h"

namespace nearfar {
namespace {

namespace py = pybind11;
using namespace py::literals;

/// What one lane touches, or a wavefront with a scalar load.
struct AccessRow {
  std::uint64_t address;
  std::uint64_t workgroup;
  std::uint32_t launch;
  std::uint32_t wavefront;
  std::uint32_t instruction;  ///< instructions of the wavefront before this one
  std::uint16_t gpu;
  std::uint8_t bytes;
  std::uint8_t lane;
  std::uint8_t kind;  ///< place in kKinds
};

constexpr std::array kKinds{"load", "store", "atomic", "scalar load"};

std::optional<std::uint8_t> kind_number(OpKind kind) {
  switch (kind) {
    case OpKind::Load: return std::uint8_t{0};
    case OpKind::Store: return std::uint8_t{1};
    case OpKind::Atomic: return std::uint8_t{2};
    case OpKind::ScalarLoad: return std::uint8_t{3};
    default: return std::nullopt;
  }
}

struct SingleWorkload {
  Application application;
  Experiment experiment;
};

SingleWorkload make_single(const std::string& what_for, const std::string& workload, const std::string& size,
                           const std::vector<std::string>& parameters, std::uint64_t seed, const std::string& input) {
  Experiment experiment;
  experiment.size = parse_size(size);
  experiment.parameters = parameters;
  experiment.seed = seed;
  experiment.input = input;
  if (plan_applications(workload, experiment, {workload}).size() > 1) {
    throw InputError(fmt::format("{} one workload; {} is several.", what_for, workload));
  }
  return {make_applications(workload, experiment, {workload}).front(), experiment};
}

class AccessReader {
 public:
  AccessReader(const std::string& workload, const std::string& size, const std::vector<std::string>& parameters,
               std::uint64_t seed, const std::string& input, unsigned gpus, unsigned cus_per_gpu, std::uint32_t lanes)
      : workload_(make_single("Accesses are those of", workload, size, parameters, seed, input).application.workload),
        gpus_(gpus),
        cus_per_gpu_(cus_per_gpu),
        lanes_(workload_->lanes() != 0 ? workload_->lanes() : lanes) {
    if (gpus == 0 || gpus > kMaxGpus) throw InputError(fmt::format("gpus must be from 1 to {}.", kMaxGpus));
    if (lanes != 32 && lanes != 64) throw InputError(fmt::format("lanes is 32 or 64, not {}.", lanes));
    begin_launch();
  }

  /// Of as many whole wavefronts as have about `rows` accesses together; none when all have been read.
  py::array_t<AccessRow> next(std::size_t rows) {
    {
      const py::gil_scoped_release others_may_run;
      rows_.clear();
      while (rows_.size() < rows && launch_ < workload_->launches().size()) read_wavefront();
    }
    return py::array_t<AccessRow>(static_cast<py::ssize_t>(rows_.size()), rows_.data());
  }

  py::list buffers() const {
    py::list out;
    for (const Buffer& each : workload_->buffers()) out.append(py::make_tuple(each.name, each.base.value, each.bytes));
    return out;
  }

 private:
  void begin_launch() {
    group_ = wave_ = 0;
    if (launch_ == workload_->launches().size()) return;
    const Launch& launch = workload_->launches()[launch_];
    const bool as_asked = launch.split != Split::Greedy && places_fit(launch, gpus_, cus_per_gpu_);
    gpu_of_.assign(launch.groups(), 0);
    for (unsigned gpu = 0; gpu < gpus_; ++gpu) {
      const Share share(launch, as_asked ? launch.split : Split::RoundRobin, gpu, gpus_, cus_per_gpu_);
      for (std::uint64_t i = 0; i < share.size(); ++i) gpu_of_[share[i]] = static_cast<std::uint16_t>(gpu);
    }
  }

  void read_wavefront() {
    const Launch& launch = workload_->launches()[launch_];
    Stream stream = workload_->wavefront(launch_, launch.wave(group_, wave_, lanes_));
    AccessRow row{};
    row.launch = static_cast<std::uint32_t>(launch_);
    row.workgroup = group_;
    row.wavefront = wave_;
    row.gpu = gpu_of_[group_];
    for (Plain op = stream.step(); kind_of(op) != OpKind::End; op = stream.step()) {
      if (const auto kind = kind_number(kind_of(op))) {
        row.kind = *kind;
        row.bytes = bytes_of(op);
        add(stream, op, row);
      }
      row.instruction += instructions(op);
    }
    if (++wave_ < launch.waves(lanes_)) return;
    wave_ = 0;
    if (++group_ < launch.groups()) return;
    ++launch_;
    begin_launch();
  }

  void add(const Stream& stream, Plain op, AccessRow row) {
    if (kind_of(op) == OpKind::ScalarLoad) {
      row.address = address_of(op);
      rows_.push_back(row);
      return;
    }
    stream.lanes(lanes_, addresses_);
    addresses_.expand();
    for (std::uint64_t left = addresses_.active; left != 0; left &= left - 1) {
      row.lane = static_cast<std::uint8_t>(std::countr_zero(left));
      row.address = addresses_.address[row.lane];
      rows_.push_back(row);
    }
  }

  std::shared_ptr<const Workload> workload_;
  unsigned gpus_, cus_per_gpu_;
  std::uint32_t lanes_;
  std::size_t launch_ = 0;
  std::uint64_t group_ = 0;
  std::uint32_t wave_ = 0;
  std::vector<std::uint16_t> gpu_of_;  ///< by workgroup of the launch
  std::vector<AccessRow> rows_;
  LaneAddresses addresses_;
};

std::string characterize_json(const std::string& workload, const std::string& size,
                              const std::vector<std::string>& parameters, std::uint64_t seed, const std::string& input,
                              unsigned gpus, unsigned resident) {
  if (gpus == 0 || gpus > kMaxGpus) throw InputError(fmt::format("gpus must be from 1 to {}.", kMaxGpus));
  if (resident == 0) throw InputError("resident must be at least 1.");
  const py::gil_scoped_release others_may_run;
  const SingleWorkload single = make_single("`nearfar characterize` looks at", workload, size, parameters, seed, input);
  CharacterizeSpec spec;
  spec.gpus = gpus;
  spec.resident = resident;
  return characterization_json(single.application, single.experiment, characterize(*single.application.workload, spec));
}

}  // namespace

void bind_accesses(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(AccessRow, address, workgroup, launch, wavefront, instruction, gpu, bytes, lane, kind);
  module.attr("KINDS") = py::tuple(py::cast(std::vector<std::string>(kKinds.begin(), kKinds.end())));
  py::class_<AccessReader>(module, "AccessReader")
      .def(py::init<const std::string&, const std::string&, const std::vector<std::string>&, std::uint64_t,
                    const std::string&, unsigned, unsigned, std::uint32_t>(),
           py::kw_only(), "workload"_a, "size"_a, "parameters"_a, "seed"_a, "input"_a, "gpus"_a, "cus_per_gpu"_a,
           "lanes"_a)
      .def("next", &AccessReader::next, "rows"_a)
      .def("buffers", &AccessReader::buffers);
  module.def("characterize", characterize_json, py::kw_only(), "workload"_a, "size"_a, "parameters"_a, "seed"_a,
             "input"_a, "gpus"_a, "resident"_a);
}

}  // namespace nearfar
