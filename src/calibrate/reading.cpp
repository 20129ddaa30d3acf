#include "calibrate/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "designs/names.h"

namespace nearfar {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Three significant digits: what is written is what is set, and the same reading has the same text.
double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10, 2 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::string range_text(const OpenRange& range, double value) { return fmt::format("{:g}{}", value, range.unit); }

/// Everything that a machine and its workloads are made of, by which two settings are the same or not.
std::string made_of(const Calibration& calibration, const Settings& settings) {
  const std::string system = settings.system.empty() ? calibration.system : settings.system;
  std::string text = fmt::format("{}\n", size_name(settings.size.value_or(calibration.size)));
  for (const EffectiveParameter& parameter :
       make_machine(system, std::string(kBaseline), settings.overrides).loaded.parameters)
    text += parameter.path + "=" + parameter.value + "\n";
  Experiment experiment;
  experiment.size = settings.size.value_or(calibration.size);
  experiment.parameters = merged_texts(calibration.parameters, settings.parameters);
  for (const std::string& workload : calibration.workloads) {
    for (const Application& application : plan_applications(workload, experiment, calibration.workloads)) {
      for (const ParameterSetting& setting : application.parameters)
        text += fmt::format("{}.{}={}\n", application.name, setting.name, setting.value);
    }
  }
  return text;
}

}  // namespace

bool Reading::is_placed() const {
  return std::ranges::none_of(at, [](double value) { return std::isnan(value); });
}

double value_at(const OpenParameter& parameter, double place) {
  if (!parameter.range) {
    const auto levels = static_cast<double>(parameter.levels());
    return std::min(std::floor(place * levels), levels - 1);
  }
  const OpenRange& range = *parameter.range;
  const double value = range.logarithmic ? range.low * std::pow(range.high / range.low, place)
                                         : range.low + (range.high - range.low) * place;
  return std::clamp(range.whole ? std::round(value) : rounded(value), range.low, range.high);
}

double place_of(const OpenParameter& parameter, double value) {
  if (!parameter.range) return (value + 0.5) / static_cast<double>(parameter.levels());
  const OpenRange& range = *parameter.range;
  return range.logarithmic ? std::log(value / range.low) / std::log(range.high / range.low)
                           : (value - range.low) / (range.high - range.low);
}

std::vector<std::string> value_labels(const Calibration& calibration, const Reading& reading) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < calibration.open.size(); ++i) {
    const OpenParameter& parameter = calibration.open[i];
    if (std::isnan(reading.at[i])) {
      labels.push_back("as it is");
    } else {
      labels.push_back(parameter.range ? range_text(*parameter.range, reading.at[i])
                                       : parameter.values[static_cast<std::size_t>(reading.at[i])].label);
    }
  }
  return labels;
}

Settings settings_of(const Calibration& calibration, const Reading& reading) {
  Settings settings;
  if (reading.own) return settings;
  for (std::size_t i = 0; i < calibration.open.size(); ++i) {
    const OpenParameter& parameter = calibration.open[i];
    if (!parameter.range) {
      settings = merged(settings, parameter.values[static_cast<std::size_t>(reading.at[i])].settings);
      continue;
    }
    Settings own;
    for (const std::string& key : parameter.range->keys) {
      (parameter.range->is_parameter ? own.parameters : own.overrides)
          .push_back(key + "=" + range_text(*parameter.range, reading.at[i]));
    }
    settings = merged(settings, own);
  }
  return settings;
}

Reading own_reading(const Calibration& calibration) {
  Reading reading{.name = "own", .wave = 1, .at = {}, .own = true};
  const std::string plain = made_of(calibration, {});
  for (const OpenParameter& parameter : calibration.open) {
    reading.at.push_back(kUnknown);
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      if (made_of(calibration, parameter.values[i].settings) == plain) reading.at.back() = static_cast<double>(i);
    }
  }
  return reading;
}

double distance(const Calibration& calibration, const Reading& a, const Reading& b) {
  double sum = 0;
  for (std::size_t i = 0; i < calibration.open.size(); ++i) {
    const OpenParameter& parameter = calibration.open[i];
    if (std::isnan(a.at[i]) || std::isnan(b.at[i])) {
      sum += 1;
    } else if (parameter.range) {
      sum += std::abs(place_of(parameter, a.at[i]) - place_of(parameter, b.at[i]));
    } else {
      sum += a.at[i] == b.at[i] ? 0 : 1;
    }
  }
  return calibration.open.empty() ? 0 : sum / static_cast<double>(calibration.open.size());
}

}  // namespace nearfar
