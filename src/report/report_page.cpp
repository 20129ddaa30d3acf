// Sections of the report.
#include "report/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "config/bibliography.h"
#include "plot/svg.h"
#include "report/figure_text.h"
#include "report/page.h"

namespace nearfar {
namespace {

using plot::escaped;

constexpr std::array kVerdicts = {Verdict::Met,      Verdict::WithinBand, Verdict::Missed,     Verdict::WithinNoise,
                                  Verdict::Opposite, Verdict::NotJudged,  Verdict::NotMeasured};

/// A verdict as a class of the style sheet.
std::string css_name(Verdict verdict) {
  std::string name(verdict_name(verdict));
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::size_t count_of(const std::vector<MeasuredClaim>& claims, const std::string& paper, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count_if(claims, [&](const MeasuredClaim& measured) {
    return (paper.empty() || measured.claim->paper == paper) && measured.verdict == verdict;
  }));
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string anchor(const std::string& study, const std::string& figure) {
  return fmt::format("fig-{}-{}", study, figure);
}

// --- claims

/// Whether there is anything to say of a claim: a number, or why one of its study's is missing.
bool is_shown(const MeasuredClaim& measured, const ReportContent& content) {
  if (measured.verdict != Verdict::NotMeasured || !measured.values.empty()) return true;
  const auto study = std::ranges::find(content.studies, measured.claim->study, &ReportedStudy::id);
  return study != content.studies.end() && has_values(*study);
}

/// Claims of one paper: how many there are, and how many are shown.
struct PaperCount {
  std::size_t all = 0, shown = 0;
};

PaperCount count_of_paper(const ReportContent& content, const std::string& paper) {
  PaperCount count;
  for (const MeasuredClaim& measured : content.claims) {
    if (measured.claim->paper != paper) continue;
    ++count.all;
    count.shown += is_shown(measured, content) ? 1 : 0;
  }
  return count;
}

std::string claims_text(std::size_t count) { return fmt::format("{} claim{}", count, count == 1 ? "" : "s"); }

/// What is not in the table, in a line or two.
std::string not_measured(const ReportContent& content) {
  std::vector<std::string> partly, untouched;
  for (const Paper& paper : content.papers) {
    const PaperCount count = count_of_paper(content, paper.id);
    if (count.all == count.shown) continue;
    auto& list = count.shown > 0 ? partly : untouched;
    list.push_back(count.shown > 0
                       ? fmt::format("{} of {} of {}", count.all - count.shown, claims_text(count.all), paper.title)
                       : fmt::format("{} ({})", paper.title, claims_text(count.all)));
  }
  std::string out;
  if (!partly.empty()) out += fmt::format("<p class=\"pale\">Not measured: {}.</p>\n", escaped(joined(partly)));
  if (content.asked && !untouched.empty()) {
    out += fmt::format(
        "<p class=\"pale\">Nothing is measured of {}; <code>nearfar reproduce</code> measures what has a "
        "study.</p>\n",
        escaped(joined(untouched)));
  }
  return out;
}

/// How many claims of each paper have which verdict, and of all.
std::string tally(const ReportContent& content) {
  std::vector<std::string> titles = {"claims of"};
  const auto occurs = [&](Verdict verdict) { return count_of(content.claims, "", verdict) > 0; };
  for (const Verdict verdict : kVerdicts) {
    if (!occurs(verdict)) continue;
    titles.push_back(fmt::format("<span class=\"verdict {}\">{}</span>", css_name(verdict), verdict_name(verdict)));
  }
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](const std::string& name, const std::string& paper) {
    auto& cells = rows.emplace_back(std::vector<std::string>{name});
    for (const Verdict verdict : kVerdicts) {
      if (!occurs(verdict)) continue;
      const std::size_t count = count_of(content.claims, paper, verdict);
      cells.push_back(count == 0 ? "" : std::to_string(count));
    }
  };
  for (const Paper& paper : content.papers) {
    if (count_of_paper(content, paper.id).shown > 0) row(escaped(paper.title), paper.id);
  }
  if (rows.size() > 1) row("<b>all</b>", "");
  return "<div class=\"tally\">" + table_html(titles, rows, 1) + "</div>\n";
}

/// Who published the claims that are shown.
std::string citations(const ReportContent& content) {
  std::string out;
  for (const Paper& paper : content.papers) {
    if (paper.paper.empty() || count_of_paper(content, paper.id).shown == 0) continue;
    const std::string numbering = paper.figures_of.empty() ? ""
                                                           : fmt::format(" Figures and tables have the numbers of {}.",
                                                                         escaped(short_citation(paper.figures_of)));
    fmt::format_to(std::back_inserter(out), "<li>{}: {}.{}</li>\n", escaped(paper.title),
                   escaped(citation(paper.paper)), numbering);
  }
  return out.empty() ? "" : "<ul class=\"papers\">\n" + out + "</ul>\n";
}

std::string filters(const ReportContent& content) {
  std::string out =
      "<div class=\"filters\"><select id=\"paper\" aria-label=\"paper\"><option value=\"\">all papers</option>";
  for (const Paper& paper : content.papers) {
    if (count_of_paper(content, paper.id).shown == 0) continue;
    fmt::format_to(std::back_inserter(out), "<option value=\"{}\">{}</option>", escaped(paper.id),
                   escaped(paper.title));
  }
  out += "</select><select id=\"verdict\" aria-label=\"verdict\"><option value=\"\">all verdicts</option>";
  for (const Verdict verdict : kVerdicts) {
    fmt::format_to(std::back_inserter(out), "<option value=\"{}\">{}</option>", css_name(verdict),
                   verdict_name(verdict));
  }
  return out +
         "</select><input id=\"words\" type=\"search\" placeholder=\"words in a claim\" aria-label=\"words\">"
         "<span id=\"shown\" class=\"pale\"></span></div>\n";
}

/// Published, measured with its interval, and the range over readings, along one line. Nothing where there is no
/// single number to draw.
std::string claim_strip(const MeasuredClaim& measured) {
  const std::vector<double>& published = measured.claim->published.values;
  if (measured.values.size() != 1 || published.size() != 1) return "";
  const double value = measured.values.front();
  const bool spread = !measured.intervals.empty() && measured.intervals.front().has_spread();
  const bool ranged = measured.readings.measured > 1;
  std::vector<double> numbers = {value, published.front()};
  if (spread) numbers.insert(numbers.end(), {measured.intervals.front().low, measured.intervals.front().high});
  if (ranged) numbers.insert(numbers.end(), {measured.readings.low, measured.readings.high});
  const double low = std::ranges::min(numbers), high = std::ranges::max(numbers);
  if (!(high > low)) return "";
  constexpr double kStripWidth = 150, kStripMargin = 8;
  const auto x = [&](double number) {
    return kStripMargin + (kStripWidth - 2 * kStripMargin) * (number - low) / (high - low);
  };
  std::string out = fmt::format(
      "<svg class=\"strip\" width=\"{0:.0f}\" height=\"18\" viewBox=\"0 0 {0:.0f} 18\" role=\"img\" "
      "aria-label=\"published, measured and range over readings\">",
      kStripWidth);
  const auto bar = [&](double from, double to, double height, const char* name) {
    fmt::format_to(std::back_inserter(out),
                   "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", name, x(from),
                   9 - height / 2, std::max(1.0, x(to) - x(from)), height);
  };
  if (ranged) bar(measured.readings.low, measured.readings.high, 10, "strip-range");
  if (spread) bar(measured.intervals.front().low, measured.intervals.front().high, 3, "strip-interval");
  fmt::format_to(std::back_inserter(out), "<circle class=\"strip-measured\" cx=\"{:.1f}\" cy=\"9\" r=\"3.2\"/>",
                 x(value));
  const double p = x(published.front());
  fmt::format_to(std::back_inserter(out), "<path class=\"strip-published\" d=\"M{0:.1f} 4l5 5l-5 5l-5 -5z\"/></svg>",
                 p);
  return out;
}

/// What the verdict means for the paper, the range over readings, and what should be doubted.
std::string claim_words(const MeasuredClaim& measured) {
  std::string out = claim_strip(measured);
  // The verdict has said it already of what is not judged.
  if (measured.verdict != Verdict::NotJudged || measured.claim->role != Role::Result)
    out += escaped(outcome_text(measured));
  if (const std::string range = range_text(measured); !range.empty())
    out += "<br><small>" + escaped(range) + "</small>";
  if (!measured.readings.reading.empty() && measured.claim->role == Role::Result)
    out += "<br><small>reading " + escaped(measured.readings.reading) + "</small>";
  for (const std::string& warning : measured.warnings)
    out += "<br><span class=\"badge\">doubtful</span> <small>" + escaped(warning) + "</small>";
  return out;
}

/// The sentence, where it was published, and the numbers that are the mechanism behind it.
std::string claim_sentence(const MeasuredClaim& measured, const ReportContent& content) {
  const Claim& claim = *measured.claim;
  const auto paper = std::ranges::find(content.papers, claim.paper, &Paper::id);
  std::string where = escaped(fmt::format("{}, {}", paper->title, claim.figure));
  if (!claim.study.empty()) {
    where = fmt::format("<a href=\"#{}\">{}</a>", escaped(anchor(claim.study, claim.plot)), where);
  }
  std::string mechanism;
  for (const std::string& text : mechanism_texts(claim, content.claims)) mechanism += "<li>" + escaped(text) + "</li>";
  if (!mechanism.empty()) mechanism = "<br>by, published → measured:<ul>" + mechanism + "</ul>";
  return fmt::format("<span title=\"{}\">{}</span><div class=\"about\">{}{}</div>", escaped(claim.id),
                     escaped(claim.sentence), where, mechanism);
}

/// On which inputs it was measured; small ones stand out.
std::string inputs_badge(const MeasuredClaim& measured, const ReportContent& content) {
  const auto study = std::ranges::find(content.studies, measured.claim->study, &ReportedStudy::id);
  if (study == content.studies.end() || measured.values.empty()) return "";
  if (study->size.find("small") == std::string::npos) return escaped(study->size);
  return fmt::format("<span class=\"badge\">{}</span>", escaped(study->size));
}

std::string claim_row(const MeasuredClaim& measured, const ReportContent& content) {
  const Claim& claim = *measured.claim;
  std::string out =
      fmt::format("<tr data-paper=\"{}\" data-verdict=\"{}\">", escaped(claim.paper), css_name(measured.verdict));
  const auto cell = [&](const char* title, const std::string& html, bool number = false) {
    fmt::format_to(std::back_inserter(out), "<td data-title=\"{}\"{}><div>{}</div></td>", title,
                   number ? " class=\"number\"" : "", html);
  };
  const std::size_t repeats = measured.intervals.empty() ? 1 : measured.intervals.front().count;
  cell("claim", claim_sentence(measured, content));
  cell("published", escaped(published_text(claim)), true);
  cell("measured", escaped(measured_text(measured)), true);
  cell("ratio", measured.ratio ? fmt::format("{:.2f}", *measured.ratio) : "", true);
  cell("inputs", inputs_badge(measured, content));
  cell("repeats", measured.values.empty() ? "" : std::to_string(repeats), true);
  cell("verdict",
       fmt::format("<span class=\"verdict {}\">{}</span>{}", css_name(measured.verdict), verdict_name(measured.verdict),
                   measured.note.empty() ? "" : "<br><small>" + escaped(measured.note) + "</small>"));
  cell("over readings", claim_words(measured));
  return out + "</tr>\n";
}

/// Says of numbers that come from one run of each kind that nothing is known of their spread.
std::string spread_note(const std::vector<MeasuredClaim>& claims) {
  const std::size_t count = without_spread(claims);
  if (count == 0) return "";
  return fmt::format(
      "<p class=\"pale\">Measured without repeats, so that it is not known how far their numbers move by chance: {} "
      "of the claims.</p>\n",
      count);
}

/// How many results are reproduced; nothing else counts.
std::string results_line(const std::vector<MeasuredClaim>& claims) {
  std::size_t results = 0, reproduced = 0, reproducible = 0;
  for (const MeasuredClaim& measured : claims) {
    if (measured.claim->role != Role::Result || measured.verdict == Verdict::NotMeasured ||
        measured.verdict == Verdict::NotJudged)
      continue;
    ++results;
    reproduced += is_reproduced(measured.verdict) ? 1 : 0;
    reproducible += !is_reproduced(measured.verdict) && !measured.readings.reproducing.empty() ? 1 : 0;
  }
  if (results == 0) return "";
  return fmt::format(
      "<p>Of {} results of designs that have a verdict, {} are reproduced and {} more are reproducible under "
      "another reading.</p>\n",
      results, reproduced, reproducible);
}

std::string claims_section(const ReportContent& content) {
  const bool any = std::ranges::any_of(content.claims, [&](const auto& each) { return is_shown(each, content); });
  if (!any) return not_measured(content);
  std::string out =
      tally(content) + citations(content) + results_line(content.claims) + not_measured(content) + filters(content) +
      "<div class=\"scroll\"><table id=\"claims\"><thead><tr><th>claim</th><th class=\"number\">published</th>"
      "<th class=\"number\">measured</th><th class=\"number\">ratio</th><th>inputs</th><th "
      "class=\"number\">repeats</th>"
      "<th>verdict</th><th>over readings</th></tr></thead><tbody>\n";
  for (const bool whole : {true, false}) {  // what is measured comes first
    for (const MeasuredClaim& measured : content.claims) {
      const bool is_whole = measured.verdict != Verdict::NotMeasured;
      if (is_whole == whole && is_shown(measured, content)) out += claim_row(measured, content);
    }
  }
  return out +
         "</tbody></table></div>\n<p class=\"pale\">Met: a bound holds, or a number is within 5 % and shows at "
         "least half of the effect. Within the band: within 20 % unless the claim says otherwise, and some of the "
         "effect. "
         "Missed: further off, or no effect. Within noise: an effect was published, and the 95 % interval of what is "
         "measured holds the value of no effect. Opposite: the effect has the wrong sign. "
         "Not judged: measured on inputs of another size than the study's. Of repeated runs, a claim is as good as the "
         "whole interval (±) of its mean. The ratio is measured over published. Only results of designs count as "
         "reproduced: facts of a baseline choose its reading. In the small drawings the diamond is what was published, "
         "the "
         "dot what is measured on the frozen reading with its interval, and the band the range over the readings that "
         "the "
         "baseline's facts do not rule out.</p>\n" +
         spread_note(content.claims);
}

// --- studies

std::string study_html(const ReportedStudy& study) {
  const std::string size =
      study.other_size.empty() ? "" : fmt::format(" <span class=\"badge\">{} inputs</span>", escaped(study.other_size));
  std::string out = fmt::format(
      "<h3 id=\"study-{}\">{}{}</h3>\n<p class=\"pale\">{} <code>{}</code>: {} of {} runs measured.", escaped(study.id),
      escaped(study.title), size, escaped(study.description), escaped(study.id), study.measured, study.runs);
  for (const auto& [reason, count] : study.missing) {
    fmt::format_to(std::back_inserter(out), " {} not: {}.", count, escaped(reason));
  }
  out += "</p>\n";
  std::vector<std::string> without;
  for (const FigureData& figure : study.figures) {
    if (!has_values(figure)) {
      without.push_back(figure.title);
      continue;
    }
    // A study that is one figure has said its title already.
    fmt::format_to(std::back_inserter(out), "<h4 id=\"{}\">{}</h4>\n{}", escaped(anchor(study.id, figure.id)),
                   figure.title == study.title ? "" : escaped(figure.title), figure_html(figure));
  }
  if (!without.empty()) {
    out += fmt::format("<p class=\"pale\">Figures without any value yet: {}.</p>\n", escaped(joined(without)));
  }
  return out;
}

// --- machines

std::string machine_html(const ReportedMachine& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const MachineValue& value : machine.values) {
    rows.push_back({fmt::format("<code>{}</code>", escaped(value.path)), escaped(value.value), escaped(value.origin)});
  }
  const std::string what =
      machine.base.empty()
          ? fmt::format("{} parameters", rows.size())
          : fmt::format("{} {} from {}", rows.size(), rows.size() == 1 ? "difference" : "differences", machine.base);
  return fmt::format("<details><summary>{} <span class=\"pale\">({})</span></summary>\n{}</details>\n",
                     escaped(machine.name), escaped(what), table_html({"parameter", "value", "origin"}, rows, 3));
}

// --- runs

std::string runs_section(const std::vector<ReportedRun>& runs) {
  double seconds = 0;
  std::uint64_t rss = 0, accesses = 0;
  std::set<std::string> versions, models;
  std::set<std::uint64_t> seeds;
  for (const ReportedRun& run : runs) {
    seconds += run.host_seconds;
    accesses += run.accesses;
    rss = std::max(rss, run.peak_rss_bytes);
    versions.insert(run.version), models.insert(run.model.substr(0, 12)), seeds.insert(run.seed);
  }
  std::string out = fmt::format(
      "<p>{} runs; {:.1f} minutes of one core; {:.1f} M accesses a second; at most {:.0f} MiB of memory.</p>\n<p "
      "class=\"pale\">Versions: {}. Models: {}. Seeds: {}.</p>\n",
      runs.size(), seconds / 60, seconds > 0 ? static_cast<double>(accesses) / seconds / 1e6 : 0.0,
      static_cast<double>(rss) / (1 << 20), escaped(fmt::format("{}", fmt::join(versions, ", "))),
      escaped(fmt::format("{}", fmt::join(models, ", "))), fmt::join(seeds, ", "));
  std::vector<std::vector<std::string>> rows;
  rows.reserve(runs.size());
  for (const ReportedRun& run : runs) {
    rows.push_back({escaped(run.label), std::to_string(run.seed), std::to_string(run.cycles),
                    std::to_string(run.instructions), std::to_string(run.accesses),
                    fmt::format("{:.2f}", run.host_seconds),
                    fmt::format("{:.0f}", static_cast<double>(run.peak_rss_bytes) / (1 << 20))});
  }
  return out + "<details><summary>all runs</summary>\n" +
         table_html({"run", "seed", "cycles", "instructions", "accesses", "host seconds", "MiB"}, rows, 1) +
         "</details>\n";
}

}  // namespace

bool has_values(const FigureData& figure) {
  return std::ranges::any_of(figure.series, [](const FigureSeries& series) {
    return std::ranges::any_of(series.values, [](const auto& value) { return value.has_value(); });
  });
}

bool has_values(const ReportedStudy& study) {
  return std::ranges::any_of(study.figures, [](const FigureData& figure) { return has_values(figure); });
}

std::vector<std::string> mechanism_texts(const Claim& claim, const std::vector<MeasuredClaim>& claims) {
  std::vector<std::string> out;
  for (const std::string& id : claim.because) {
    const auto found = std::ranges::find_if(claims, [&](const auto& measured) { return measured.claim->id == id; });
    if (found == claims.end()) continue;
    out.push_back(
        fmt::format("{}: {} → {}", found->claim->sentence, published_text(*found->claim), measured_text(*found)));
  }
  return out;
}

std::string report_html(const ReportContent& content) {
  std::vector<PageSection> sections;
  if (!content.claims.empty()) sections.push_back({"claims-section", "Claims", claims_section(content)});
  std::string figures;
  std::vector<std::string> without;
  bool quick = false;
  for (const ReportedStudy& study : content.studies) {
    if (has_values(study)) {
      figures += study_html(study);
      quick = quick || !study.other_size.empty();
    } else {
      without.push_back(study.id);
    }
  }
  if (content.asked && !without.empty()) {
    figures +=
        fmt::format("<p class=\"pale\">Studies of which nothing can be shown yet: {}.</p>\n", escaped(joined(without)));
  }
  sections.push_back({"figures", "Figures", figures});
  std::string machines;
  for (const ReportedMachine& machine : content.machines) machines += machine_html(machine);
  sections.push_back({"machines", "Machines", machines});
  sections.push_back({"runs", "Runs", runs_section(content.runs)});
  std::string lead = fmt::format("<p class=\"pale\">nearfar {}, model {}; results of {}.</p>", escaped(content.version),
                                 escaped(content.model.substr(0, 12)), escaped(content.database));
  if (quick) {
    lead +=
        "<p>Some studies were measured on other inputs than their own, as <code>--quick</code> does. Their figures say "
        "so, and claims have no verdict by them.</p>";
  }
  return page_html("What was published, and what is measured", lead, sections);
}

}  // namespace nearfar
