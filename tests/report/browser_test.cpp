// The report in a real browser: it draws, answers, and asks nobody for anything. Chromium loads the page with a script
// of the test behind it, which uses the page as a person would and writes what it saw into the document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "cli/process.h"
#include "report/claims_file.h"
#include "report/report_page.h"

namespace nearfar::browser_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using testing::run_shell;
using testing::ScratchFolder;

constexpr const char* kClaims = R"(title: Made up
claims:
  p.fast:
    {sentence: speedup of the new, figure: Fig 1, published: 2.0, unit: x, quality: speedup, study: s, plot: bars,
     series: new, over: A B, take: mean}
  p.slow:
    {sentence: speedup of the old, figure: Fig 1, published: 3.0, unit: x, quality: speedup, study: s, plot: bars,
     series: old, over: A B, take: mean}
  p.unknown:
    {sentence: nobody measures it, figure: Fig 2, published: 3, unit: x, quality: speedup}
)";

FigureData figure(const std::string& id, FigureKind kind) {
  FigureData out;
  out.id = id, out.title = "A figure of " + id, out.study = "s", out.kind = kind, out.unit = "x";
  out.categories = {"A", "B", "mean"};
  out.series = {{"old", {1, 1, 1}}, {"new", {1, 3, 2}}};
  return out;
}

/// Bars on both sides of zero, with intervals, and with what was published close to their ends.
FigureData crowded() {
  FigureData out = figure("crowded", FigureKind::Bars);
  out.unit = "%", out.neutral = 0;
  out.series = {{"gain", {12, -30, 5}, {{5, 12, 10, 14}, {5, -30, -36, -24}, {}}}};
  for (const double value : {14.5, -38.0, 5.2}) {
    const std::string& category = out.categories[out.published.size()];
    out.published.push_back({"p.gain", "gain", category, value, value, ""});
  }
  return out;
}

/// More bars than there is room for numbers.
FigureData many() {
  FigureData out = figure("many", FigureKind::Bars);
  out.categories.clear();
  out.series = {{"a", {}}, {"b", {}}, {"c", {}}, {"d", {}}};
  for (int k = 0; k < 12; ++k) {
    out.categories.push_back("workload " + std::to_string(k));
    for (FigureSeries& series : out.series) series.values.emplace_back(1.0 + 0.001 * k);
  }
  return out;
}

ReportContent content() {
  ReportContent out;
  out.version = "1.2.3", out.model = "0123456789abcdef", out.database = "made-up.db";
  out.papers = {read_paper_text(kClaims, "claims/p.yaml", "p")};
  ReportedStudy study;
  study.id = "s", study.title = "A study", study.runs = study.measured = 2;
  study.figures = {figure("bars", FigureKind::Bars),
                   figure("stacks", FigureKind::Stacked),
                   figure("lines", FigureKind::Lines),
                   figure("heat", FigureKind::Heat),
                   crowded(),
                   many()};
  mark_published(study.figures, out.papers);
  out.claims = measure_claims(out.papers, study.figures);
  out.studies = {study};
  out.machines = {{"mmu-4gpu", "", {{"gpus", "4", "default"}}}};
  out.runs = {{"A small", "1.2.3", "0123", 1, 100, 10, 5, 1 << 20, 0.5}};
  return out;
}

// Each line of `seen` is one observation.
constexpr const char* kVisitor = R"~(<script>
const seen = [];
const say = (name, value) => seen.push(name + "=" + value);
addEventListener("error", (event) => say("error", event.message));
addEventListener("securitypolicyviolation", (event) => say("refused", event.blockedURI));
addEventListener("load", () => {
  const rows = () => [...document.querySelectorAll("#claims tbody tr")].filter((row) => !row.hidden).length;
  const put = (id, value) => {
    const control = document.getElementById(id);
    control.value = value;
    control.dispatchEvent(new Event("input"));
  };
  const shown = (shape) => shape.getBoundingClientRect().width > 0;
  const pictures = [...document.querySelectorAll("figure svg")].filter(shown);
  say("figures", pictures.length);
  // Words that are not turned: no two of one picture may cover each other.
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  let covered = 0;
  for (const picture of pictures) {
    const boxes = [...picture.querySelectorAll("text:not([transform])")].map((text) => text.getBoundingClientRect());
    boxes.forEach((box, i) => { covered += boxes.slice(i + 1).filter((other) => over(box, other)).length; });
  }
  say("labels over another", covered);
  const sizes = pictures.map((picture) => 12 * picture.getBoundingClientRect().width / picture.viewBox.baseVal.width);
  say("letters can be read", Math.min(...sizes) > 10);
  say("wider than the screen", document.documentElement.scrollWidth > innerWidth);
  const kind = (name) => pictures.find((picture) => picture.closest(`[data-kind=${name}]`));
  const bar = kind("bars").querySelector("[data-series='1'] rect");
  say("bar is drawn", bar.getBoundingClientRect().height > 10);
  say("rows", rows());
  put("verdict", "met"); say("rows met", rows()); put("verdict", "");
  put("paper", "p"); say("rows of p", rows());
  put("words", "old"); say("rows of old", rows()); say("shown", document.getElementById("shown").textContent);
  say("not measured", document.body.textContent.match(/Not measured: (.*)\./)[1]);
  put("words", "");
  const box = bar.getBoundingClientRect();
  bar.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: box.x, clientY: box.y }));
  say("hint", document.getElementById("tip").textContent);
  kind("bars").querySelector("[data-key='1']").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  say("bar after click", bar.getBoundingClientRect().height);
  const upper = kind("stacked").querySelector("[data-series='1'] rect");
  const lower = kind("stacked").querySelector("[data-series='0'] rect");
  const bottom = Number(lower.getAttribute("y")) + Number(lower.getAttribute("height"));
  kind("stacked").querySelector("[data-key='0']").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const gap = bottom - Number(upper.getAttribute("y")) - Number(upper.getAttribute("height"));
  say("gap under stack", Math.abs(gap) < 0.2 ? "none" : gap);
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const before = paper();
  document.getElementById("theme").click();
  say("theme changes", paper() !== before);
  say("requests", performance.getEntriesByType("resource").length);
  const list = document.createElement("pre");
  list.id = "seen";
  list.textContent = seen.join("\n");
  document.body.append(list);
});
</script>)~";

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return "";
  return text.substr(begin + from.size(), text.find(to, begin) - begin - from.size());
}

class Screen : public ::testing::TestWithParam<const char*> {};

TEST_P(Screen, OpensTheReportAndUsesIt) {
  if (run_shell("command -v chromium").code != 0) {
    ASSERT_EQ(std::getenv("NEARFAR_TEST_EXTRAS"), nullptr) << "chromium is needed and not installed";
    GTEST_SKIP() << "chromium is not installed; ./test extras installs it.";
  }
  const ScratchFolder scratch;
  std::ofstream(scratch.file("report.html")) << report_html(content()) << kVisitor;
  const Outcome outcome =
      run_shell("cd " + scratch.path().string() + " && timeout 60 chromium --window-size=" + GetParam() +
                " --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
                "--disable-background-networking --disable-component-update --disable-sync --disable-extensions "
                "--enable-logging=stderr --user-data-dir=profile --virtual-time-budget=2000 --dump-dom "
                "file://$PWD/report.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string seen = between(outcome.out, "<pre id=\"seen\">", "</pre>");
  EXPECT_EQ(seen,
            "figures=6\n"
            "labels over another=0\n"
            "letters can be read=true\n"
            "wider than the screen=false\n"
            "bar is drawn=true\n"
            "rows=2\n"
            "rows met=1\n"
            "rows of p=2\n"
            "rows of old=1\n"
            "shown=1 of 2 claims\n"
            "not measured=1 of 3 claims of Made up\n"
            "hint=A, new: 1.000×\n"
            "bar after click=0\n"
            "gap under stack=none\n"
            "theme changes=true\n"
            "requests=0");
  EXPECT_THAT(outcome.err, Not(HasSubstr("CONSOLE"))) << "the page complained";
}

INSTANTIATE_TEST_SUITE_P(Browser, Screen, ::testing::Values("1280,1000", "500,900"),
                         [](const auto& of) { return of.index == 0 ? "Desktop" : "Phone"; });

}  // namespace
}  // namespace nearfar::browser_test
