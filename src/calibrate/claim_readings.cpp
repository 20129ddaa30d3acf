#include "calibrate/claim_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "calibrate/calibration_file.h"
#include "study/derive.h"

namespace nearfar {
namespace {

const Frozen* frozen_of(const std::vector<Frozen>& frozen, const std::string& paper) {
  const auto found = std::ranges::find(frozen, paper, &Frozen::paper);
  return found == frozen.end() ? nullptr : &*found;
}

/// The studies that a paper's claims name.
std::vector<const Study*> studies_named(const Paper& paper, const std::vector<Study>& studies, bool results_only) {
  std::set<std::string> names;
  for (const Claim& claim : paper.claims) {
    if (!results_only || claim.role == Role::Result) names.insert(claim.study);
  }
  std::vector<const Study*> found;
  for (const Study& study : studies) {
    if (names.contains(study.id)) found.push_back(&study);
  }
  return found;
}

std::vector<std::string> reference_designs_of(const std::string& paper) {
  const std::vector<std::string> names = calibration_names();
  if (std::ranges::find(names, paper) == names.end()) return {};
  return read_calibration(paper).reference_designs;
}

std::string label_of(const Frozen& frozen) {
  const std::string& name = frozen.readings.front().name;
  return frozen.by_hand ? fmt::format("{}, frozen by hand", name)
                        : fmt::format("{}, frozen {}", name, time_text(frozen.time));
}

/// What the paper's claims come to on one reading.
std::vector<MeasuredClaim> measured_on(const FrozenReading& reading, const Frozen& frozen,
                                       const std::vector<Paper>& one_paper, const std::vector<Study>& studies,
                                       const ResultStore& store) {
  std::vector<FigureData> figures;
  for (const Study* study : studies_named(one_paper.front(), studies, true)) {
    const Study on = on_reading(*study, frozen, reading);
    for (FigureData& figure : derive(on, StudyResults(study_runs(on), store))) figures.push_back(std::move(figure));
  }
  return measure_claims(one_paper, figures);  // which point into the paper
}

void extend(UnderReadings& under, double value) {
  under.low = under.measured == 0 ? value : std::min(under.low, value);
  under.high = under.measured == 0 ? value : std::max(under.high, value);
  ++under.measured;
}

class PaperReadings {
 public:
  PaperReadings(const Paper& paper, const Frozen& frozen, const std::vector<Study>& studies, const ResultStore& store)
      : one_paper_{paper}, paper_(one_paper_.front()), frozen_(frozen), studies_(studies), store_(store) {}

  void add_to(std::vector<MeasuredClaim>& claims) {
    for (MeasuredClaim& measured : claims) {
      if (measured.claim->paper != paper_.id) continue;
      measured.readings.reading = label_of(frozen_);
      measured.readings.remaining = frozen_.readings.size();
      if (measured.values.size() == 1) extend(measured.readings, measured.values.front());
    }
    for (std::size_t i = 1; i < frozen_.readings.size(); ++i) add_reading(claims, frozen_.readings[i]);
    refuse_broken_order(claims);
  }

 private:
  void add_reading(std::vector<MeasuredClaim>& claims, const FrozenReading& reading) const {
    for (const MeasuredClaim& there : measured_on(reading, frozen_, one_paper_, studies_, store_)) {
      if (there.claim->role != Role::Result || there.verdict == Verdict::NotMeasured) continue;
      const auto measured =
          std::ranges::find_if(claims, [&](const auto& each) { return each.claim->id == there.claim->id; });
      if (measured == claims.end()) continue;
      if (there.values.size() == 1) extend(measured->readings, there.values.front());
      if (is_reproduced(there.verdict)) measured->readings.reproducing.push_back(reading.name);
    }
  }

  void refuse_broken_order(std::vector<MeasuredClaim>& claims) const {
    const std::vector<std::string> references = reference_designs_of(paper_.id);
    for (const Study* study : studies_named(paper_, studies_, true)) {
      const auto why = broken_order(frozen_, on_reading(*study, frozen_, frozen_.readings.front()), references, store_);
      if (!why) continue;
      for (MeasuredClaim& measured : claims) {
        const Claim& claim = *measured.claim;
        if (claim.paper != paper_.id || claim.study != study->id || claim.role != Role::Result) continue;
        measured.verdict = Verdict::NotMeasured;
        measured.note = *why;
      }
    }
  }

  std::vector<Paper> one_paper_;
  const Paper& paper_;
  const Frozen& frozen_;
  const std::vector<Study>& studies_;
  const ResultStore& store_;
};

}  // namespace

std::vector<Study> on_frozen(std::vector<Study> studies, const std::vector<Paper>& papers,
                             const std::vector<Frozen>& frozen) {
  for (const Paper& paper : papers) {
    const Frozen* own = frozen_of(frozen, paper.id);
    if (own == nullptr) continue;
    for (const Study* study : studies_named(paper, studies, false)) {
      const auto found = std::ranges::find(studies, study->id, &Study::id);
      *found = on_reading(*found, *own, own->readings.front());
    }
  }
  return studies;
}

std::vector<NamedRun> runs_on_readings(const std::vector<Study>& studies, const std::vector<Paper>& papers,
                                       const std::vector<Frozen>& frozen) {
  std::vector<NamedRun> runs;
  for (const Paper& paper : papers) {
    const Frozen* own = frozen_of(frozen, paper.id);
    if (own == nullptr) continue;
    for (const FrozenReading& reading : own->readings) {
      for (const Study* study : studies_named(paper, studies, true)) {
        for (NamedRun& run : study_runs(on_reading(*study, *own, reading))) runs.push_back(std::move(run));
      }
    }
  }
  return runs;
}

void add_readings(std::vector<MeasuredClaim>& claims, const std::vector<Study>& studies,
                  const std::vector<Paper>& papers, const std::vector<Frozen>& frozen, const ResultStore& store) {
  for (const Paper& paper : papers) {
    const Frozen* own = frozen_of(frozen, paper.id);
    if (own != nullptr) PaperReadings(paper, *own, studies, store).add_to(claims);
  }
}

}  // namespace nearfar
