#include "study/study_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "config/error.h"

namespace nearfar::study_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Study read(const std::string& text) { return read_study_text(text, "s.yaml"); }

const std::string kHead = "title: T\nsystem: ats-4gpu\nworkloads: [MT, PR]\n";
const std::string kFigures = "figures:\n  f: {value: speedup}\n";

TEST(StudyFile, VariantsTakeFromTheWholeAndChangeIt) {
  const Study study = read(kHead +
                           "size: small\nset: {gpus: 2, gpu.l2.size: 1MiB}\nvariants:\n  base: {}\n"
                           "  big: {set: {gpu.l2.size: 4MiB}, size: paper, design: infinite-iommu-tlb}\n" +
                           kFigures);
  ASSERT_EQ(study.variants.size(), 2U);
  EXPECT_THAT(study.variants[0].overrides, ElementsAre("gpus=2", "gpu.l2.size=1MiB"));
  EXPECT_THAT(study.variants[1].overrides, ElementsAre("gpus=2", "gpu.l2.size=4MiB"));
  EXPECT_EQ(study.variants[0].size, SizeClass::Small);
  EXPECT_EQ(study.variants[1].size, SizeClass::Paper);
  EXPECT_EQ(study.variants[1].designs, "infinite-iommu-tlb");
  EXPECT_EQ(study.figures[0].against, "base");
  EXPECT_THAT(study.figures[0].variants, ElementsAre("big"));
}

TEST(StudyFile, AGridIsEveryCombination) {
  const Study study = read(kHead +
                           "seeds: [1, 2]\nvariants: {a: {}, b: {design: infinite-iommu-tlb}}\n"
                           "grid: {set: {gpus: [2, 4]}, size: [small]}\n" +
                           kFigures);
  std::vector<std::string> labels;
  for (const StudyVariant& variant : study.variants) labels.push_back(variant.label);
  EXPECT_THAT(labels, ElementsAre("a, gpus=2", "a, gpus=4", "b, gpus=2", "b, gpus=4"));
  EXPECT_EQ(study_runs(study).size(), 2U * 4U * 2U);
}

TEST(StudyFile, AParameterGoesToTheWorkloadsThatHaveIt) {
  const Study study = read(kHead + "param: {width: 1024, PR.iterations: 1}\n" + kFigures);
  EXPECT_THAT(cell_run(study, "MT", study.variants[0], 1).parameters, ElementsAre("width=1024"));
  EXPECT_THAT(cell_run(study, "PR", study.variants[0], 1).parameters, ElementsAre("PR.iterations=1"));
}

TEST(StudyFile, AWindowIsOfTheStudysOwnSize) {
  const std::string text = kHead + "size: paper\nwindow: {PR.iterations: 1}\n" + kFigures;
  const auto parameters = [&](const StudyChanges& changes) {
    const Study study = read_study_text(text, "s.yaml", changes);
    return cell_run(study, "PR", study.variants[0], 1).parameters;
  };
  EXPECT_THAT(parameters({}), ElementsAre("PR.iterations=1"));
  StudyChanges whole, small;
  whole.whole = true;
  small.size = SizeClass::Small;
  EXPECT_THAT(parameters(whole), IsEmpty());
  EXPECT_THAT(parameters(small), IsEmpty());
  const Study over = read(kHead + "size: paper\nparam: {PR.iterations: 3}\nwindow: {PR.iterations: 1}\n" + kFigures);
  EXPECT_THAT(cell_run(over, "PR", over.variants[0], 1).parameters, ElementsAre("PR.iterations=1"));
  EXPECT_THAT([&] { read(kHead + "window: {PR.iteration: 1}\n" + kFigures); },
              ThrowsMessage<InputError>(HasSubstr("iterations")));
}

TEST(StudyFile, TheCommandLineMayChooseTheSize) {
  StudyChanges changes;
  changes.size = SizeClass::Small;
  const Study study = read_study_text(kHead + "size: paper\ngrid: {size: [medium]}\n" + kFigures, "s.yaml", changes);
  EXPECT_EQ(study.variants[0].size, SizeClass::Small);
  EXPECT_EQ(study.other_size, SizeClass::Small);
  EXPECT_FALSE(read_study_text(kHead + "size: small\n" + kFigures, "s.yaml", changes).other_size)
      << "the size that the file says";
}

TEST(StudyFile, AWeightedSpeedupNeedsEachApplicationAlone) {
  const Study study = read(
      "title: T\nsystem: ats-4gpu\nworkloads: [W10]\nvariants: {baseline: {}, inf: {design: infinite-iommu-tlb}}\n"
      "figures: {f: {value: weighted-speedup, as: gain}}\n");
  const std::vector<NamedRun> runs = study_runs(study);
  EXPECT_EQ(runs.size(), 2U + 2U) << "MT and ST of W10 run alone once each, whatever the design";
  const NamedRun alone = alone_run(study, "W10", 2, study.variants[1], 1);
  EXPECT_EQ(alone.workload, "ST");
  EXPECT_EQ(alone.designs, "baseline");
  EXPECT_THAT(alone.overrides, ElementsAre("gpus=1"));
  EXPECT_THAT(alone.parameters, ElementsAre("rows=4098", "columns=4098", "iterations=1"));
}

TEST(StudyFile, AnApplicationAloneHasTheInstanceThatItHasInTheMix) {
  const Study study = read(
      "title: T\nsystem: mig-a100\nworkloads: [MT+ATAX+MT]\nvariants: {default: {}, set: {set: {mig.instances: "
      "4g:2g:1g}}}\nfigures: {f: {value: change-from-alone}}\n");
  EXPECT_THAT(alone_run(study, "MT+ATAX+MT", 0, study.variants[0], 1).overrides, ElementsAre("mig.instances=3g"));
  EXPECT_THAT(alone_run(study, "MT+ATAX+MT", 2, study.variants[1], 1).overrides, ElementsAre("mig.instances=1g"));
  EXPECT_EQ(study_runs(study).size(), 2U + 5U) << "ATAX is alone on 2g for both";
}

TEST(StudyFile, AnApplicationAloneHasNothingOfTheDesign) {
  const Study study = read(
      "title: T\nsystem: ats-4gpu\nworkloads: [W10]\nvariants: {baseline: {}, probing: {design: tlb-probing, set: "
      "{tlb_probing.hops: 2, gpu.l2.size: 1MiB}}}\nfigures: {f: {value: weighted-speedup, as: gain}}\n");
  const NamedRun alone = alone_run(study, "W10", 0, study.variants[1], 1);
  EXPECT_THAT(alone.overrides, ElementsAre("gpu.l2.size=1MiB", "gpus=1"));
  Planner planner;
  for (const NamedRun& run : study_runs(study)) EXPECT_NO_THROW(planner.plan(run)) << run_label(run);
}

TEST(StudyFile, DesignsThatAreExpectedAreNoMistake) {
  const Study study = read(kHead +
                           "expects: [no_such.statistic, no-such-design]\nvariants: {b: {}, x: {design: "
                           "no-such-design}}\nfigures: {f: {value: no_such.statistic}}\n");
  EXPECT_EQ(study.variants[1].designs, "no-such-design");
}

TEST(StudyFile, EveryShippedStudyIsRight) {
  const std::vector<StudySummary> studies = list_studies();
  ASSERT_GE(studies.size(), 1U);
  for (const StudySummary& summary : studies) {
    const Study study = read_study(summary.name);
    EXPECT_EQ(study.id, summary.name);
    EXPECT_EQ(study.title, summary.title);
    EXPECT_FALSE(study_runs(study).empty()) << summary.name;
  }
  EXPECT_EQ(read_study(studies.front().path).title, studies.front().title);
}

TEST(StudyFile, TheExampleOfTheManualIsRight) {
  std::ifstream file(NEARFAR_SOURCE_DIR "/docs/studies.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("```yaml\n") + 8, end = text.find("```", begin);
  const Study study = read(text.substr(begin, end - begin));
  EXPECT_EQ(study.variants.size(), 3U * 2U);
  EXPECT_EQ(study.figures.size(), 2U);
}

struct Mistake {
  const char* name;
  std::string text;
  const char* message;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, PointAtTheirPlace) {
  try {
    read(GetParam().text);
    FAIL() << "expected: " << GetParam().message;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

std::string figure(const std::string& text) {
  return kHead + "variants: {b: {}, i: {design: ideal-translation}}\nfigures:\n  f: " + text + "\n";
}

INSTANTIATE_TEST_SUITE_P(
    Studies, Mistakes,
    ::testing::Values(
        Mistake{"Empty", "", "s.yaml:1:1: the file is empty; a study is a mapping of keys to values."},
        Mistake{"List", "- a\n", "a study is a mapping of keys to values, not a list."},
        Mistake{"Anchor", "title: &x T\n", "anchors (&) are not used in studies"},
        Mistake{"NoTitle", "system: ats-4gpu\n", "s.yaml:1:1: a study needs `title`"},
        Mistake{"UnknownKey", kHead + "variatns: {}\n" + kFigures,
                "s.yaml:4:1: a study has no key `variatns`. Did you mean `variants`?"},
        Mistake{"NoWorkloads", "title: T\nsystem: ats-4gpu\n" + kFigures,
                "a study needs `workloads`, such as `workloads: [MT, PR]`."},
        Mistake{"UnknownWorkload", "title: T\nsystem: ats-4gpu\nworkloads: [MT, PRR]\n" + kFigures,
                "s.yaml:3:17: There is no workload `PRR`"},
        Mistake{"WorkloadTwice", "title: T\nworkloads: [MT, MT]\n", "s.yaml:2:17: `MT` is named twice."},
        Mistake{"WorkloadsNoList", "title: T\nworkloads: {MT: 1}\n", "`workloads` takes a list, such as [a, b]."},
        Mistake{"NoSystem", "title: T\nworkloads: [MT]\n" + kFigures, "a study needs a `system`"},
        Mistake{"UnknownSystem", "title: T\nsystem: ats-4gp\nworkloads: [MT]\n" + kFigures,
                "s.yaml:2:9: there is no system `ats-4gp`"},
        Mistake{"UnknownSetting", kHead + "set: {gpu.l2.sise: 4MiB}\n" + kFigures,
                "s.yaml:4:7: `gpu.l2` has no key `sise`. Did you mean `size`?"},
        Mistake{"BadSetting", kHead + "set: {gpus: many}\n" + kFigures, "s.yaml:4:7: "},
        Mistake{"UnknownParameter", kHead + "param: {widht: 64}\n" + kFigures, "s.yaml:4:9: "},
        Mistake{"ImpossibleParameter", kHead + "param: {width: 63}\n" + kFigures,
                "s.yaml:4:9: The parameter `width` of MT is 63"},
        Mistake{"BadSize", kHead + "size: smal\n" + kFigures, "s.yaml:4:7: There is no size `smal`"},
        Mistake{"BadSeed", kHead + "seeds: [one]\n" + kFigures, "s.yaml:4:9: a seed must be a whole number"},
        Mistake{"EmptyDesign", kHead + "design: a+\n" + kFigures, "s.yaml:4:9: designs are named as a or a+b"},
        Mistake{"UnknownDesign", kHead + "variants: {x: {design: least-tlp}}\n" + kFigures,
                "s.yaml:4:24: there is no design `least-tlp`. Did you mean `least-tlb`?"},
        Mistake{"UnknownDesignOfTwo", kHead + "grid: {design: [baseline, dws+xyz]}\n" + kFigures,
                "s.yaml:4:27: there is no design `xyz`."},
        Mistake{"WrongDesign", kHead + "variants: {x: {design: ideal-no-fault}}\n" + kFigures, "s.yaml:4:12: "},
        Mistake{"ValueList", kHead + "set: {gpus: [1, 2]}\n" + kFigures,
                "`gpus` takes one value here; several go into `grid`."},
        Mistake{"SameLabel", kHead + "grid: {design: [baseline, baseline]}\n" + kFigures,
                "two variants are called `baseline`."},
        Mistake{"VariantKey", kHead + "variants: {x: {desing: a}}\n" + kFigures,
                "a variant has no key `desing`. Did you mean `design`?"},
        Mistake{"FigurePath", kHead + "figures:\n  ../../x: {value: speedup}\n",
                "s.yaml:5:3: a figure's name becomes part of a file's name: at most 100 characters, without `/`"},
        Mistake{"FigureLongName", kHead + "figures:\n  " + std::string(101, 'f') + ": {value: speedup}\n",
                "s.yaml:5:3: a figure's name becomes part of a file's name"},
        Mistake{"NoFigures", kHead, "a study needs `figures`"},
        Mistake{"FigureKey", figure("{vlaue: speedup}"),
                "s.yaml:6:7: a figure has no key `vlaue`. Did you mean `value`?"},
        Mistake{"FigureValue", figure("{kind: bars}"), "s.yaml:6:3: the figure `f` needs either a `value`"},
        Mistake{"FigureKind", figure("{kind: bar, value: speedup}"),
                "s.yaml:6:13: there is no `kind` `bar`. Did you mean `bars`?"},
        Mistake{"FigureStatistic", figure("{value: iommu.tlb.hits / iommu.tlb.lookupz}"),
                "s.yaml:6:31: there is no statistic `iommu.tlb.lookupz`. Did you mean `iommu.tlb.lookups`?"},
        Mistake{"FigureRenamedStatistic", figure("{value: run.l2_tlb_mpki_joined}"),
                "s.yaml:6:14: the statistic `run.l2_tlb_mpki_joined` is now called `run.l2_tlb_mpki_merged`."},
        Mistake{"FigureRenamedStatisticOfAGpu", figure("{value: run.cycles / gpu2.gmmu.move_requests}"),
                "the statistic `gpu2.gmmu.move_requests` is now called `gpu2.gmmu.migration_requests`."},
        Mistake{"FigureSyntax", figure("{value: iommu.tlb.hits /}"),
                "a number or the name of a statistic is missing at the end."},
        Mistake{"FigureAgainst", figure("{value: speedup, against: bb}"), "s.yaml:6:32: there is no variant `bb`."},
        Mistake{"FigureAgainstNothing", figure("{value: run.cycles, against: b}"), "`against` needs `as: ratio`"},
        Mistake{"FigureWorkload", figure("{value: speedup, workloads: [MT, KM]}"),
                "there is no workload in this study `KM`."},
        Mistake{"FigureMean", figure("{value: speedup, mean: geometrical}"),
                "there is no mean `geometrical`. Did you mean `geometric`?"},
        Mistake{"FigureCdf", figure("{kind: cdf, value: iommu.tlb.hits}"),
                "`iommu.tlb.hits` is one number, not a histogram."},
        Mistake{"FigureAs", figure("{value: speedup, as: value}"), "a speedup is always against something."},
        Mistake{"FigureWeighted", figure("{value: weighted-speedup}"),
                "a weighted speedup is of several applications; MT is one."},
        Mistake{"FigureAloneWhose", figure("{value: change-from-alone.app7}"), "as in `change-from-alone.app0`"},
        Mistake{"FigureAlone", figure("{value: change-from-alone}"),
                "a change from alone is of several applications; MT is one."}),
    [](const auto& mistake) { return std::string(mistake.param.name); });

TEST(StudyFile, AnUnknownNameSaysTheNearest) {
  try {
    read_study("no-such-study");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("There is no study `no-such-study`"));
  }
}

TEST(StudyFile, RepeatsAreRunsOfTheirOwn) {
  const Study study = read(kHead + "repeat: 3\nvariants: {a: {}, b: {set: {gpus: 2}}}\n" + kFigures);
  EXPECT_EQ(study.repeat, 3U);
  EXPECT_EQ(study_runs(study).size(), 2U * 2U * 3U);
  EXPECT_EQ(study_runs(study)[1].draw, 1U);
  EXPECT_EQ(study_runs(read(kHead + kFigures))[0].draw, std::nullopt) << "a run that is not repeated is as it is";
  StudyChanges changes;
  changes.repeat = 2;
  EXPECT_EQ(read_study_text(kHead + "repeat: 3\n" + kFigures, "s.yaml", changes).repeat, 2U);
}

TEST(StudyFile, RepeatsThatCannotBeArePointedAt) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(kHead + "repeat: 0\n" + kFigures), HasSubstr("s.yaml:4:9: `repeat`"));
  EXPECT_THAT(message(kHead + "repeat: often\n" + kFigures), HasSubstr("s.yaml:4:9: `repeat`"));
  EXPECT_THAT(message(kHead + "repeat: 2\nset: {perturb.draw: 1}\n" + kFigures),
              HasSubstr("s.yaml:5:7: `perturb.draw` is decided by the 2 repeats"));
  EXPECT_EQ(message(kHead + "set: {perturb.draw: 1}\n" + kFigures), "");
}

}  // namespace
}  // namespace nearfar::study_file_test
