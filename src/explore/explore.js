// The page asks the server that it came from, and nobody else. Texts become text nodes, never HTML.
"use strict";

const token = new URLSearchParams(location.search).get("token") || "";
const $ = (id) => document.getElementById(id);

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function ask(path, body) {
  const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers: { "X-Nearfar-Token": token },
                                     body: body === undefined ? undefined : JSON.stringify(body) });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

const say = (problem) => { $("problem").textContent = problem; };
const grouped = (number) => number.toLocaleString("en");
const percent = (share) => (100 * share).toFixed(1) + " %";

// --- what can be chosen

const preset = { workloads: ["MT"], systems: ["mmu-4gpu"], designs: ["baseline"] };

function fill(set, choices) {
  const list = set.querySelector(".list");
  for (const choice of choices) {
    const box = make("input", { type: "checkbox", value: choice.name, checked: preset[set.dataset.of].includes(choice.name) });
    list.append(make("label", {}, box, " " + choice.name, make("small", { textContent: choice.sentence })));
  }
  const filter = set.querySelector("input[type=search]");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const label of list.children) {
      const text = label.textContent.toLowerCase();
      label.hidden = !label.querySelector("input").checked && !words.every((word) => text.includes(word));
    }
  });
}

const chosen = (of) =>
  [...document.querySelectorAll(`[data-of=${of}] .list input:checked`)].map((box) => box.value);

// --- runs and their bars

let runs = [];       // of the last request, each with its result once it has one
let selected = null; // the run that is looked at

$("choice").addEventListener("submit", async (event) => {
  event.preventDefault();
  say("");
  const request = { workloads: chosen("workloads"), systems: chosen("systems"), designs: chosen("designs"),
                    size: $("size").value, settings: $("settings").value.split(/\s+/).filter(Boolean) };
  try {
    runs = (await ask("api/runs", request)).runs;
    selected = null;
    $("detail").replaceChildren();
    await fetch_results();
  } catch (problem) { say(problem.message); }
});
$("stop").addEventListener("click", () => ask("api/stop", {}).catch((problem) => say(problem.message)));

// Results are asked for one after another: news come several times a second.
let fetching = false, again = false;
async function fetch_results() {
  again = true;
  if (fetching) return;
  fetching = true;
  try {
    while (again) {
      again = false;
      for (const run of runs) {
        if (!run.result) {
          const result = await ask("api/result?key=" + encodeURIComponent(run.key));
          if (result.stored) run.result = result; else run.error = result.error;
        }
      }
      draw();
    }
  } catch (problem) { say(problem.message); } finally { fetching = false; }
}

const base_of = (run) => runs.find((each) => each.workload === run.workload);

function draw() {
  const parts = [];
  for (const workload of [...new Set(runs.map((run) => run.workload))]) {
    const group = runs.filter((run) => run.workload === workload);
    const most = Math.max(...group.map((run) => run.result ? run.result.cycles : 0));
    parts.push(make("h3", { textContent: workload + ", cycles" }));
    for (const run of group) {
      const row = make("div", { className: "row" }, make("span", { textContent: `${run.system}, ${run.design}` }));
      if (!run.result) {
        row.append(make("span", { className: "pale", textContent: run.error ? "failed: " + run.error : "not measured yet" }));
      } else {
        const base = base_of(run).result;
        const speedup = base && run !== base_of(run) ? `, speedup ${(base.cycles / run.result.cycles).toFixed(3)}×` : "";
        const bar = make("i");
        bar.style.width = 60 * run.result.cycles / most + "%";
        const button = make("button", { type: "button", className: "bar" }, bar,
                            make("span", { textContent: grouped(run.result.cycles) + speedup }));
        button.setAttribute("aria-pressed", String(run === selected));
        button.addEventListener("click", () => { selected = run; draw(); show(run); });
        row.append(button);
      }
      parts.push(row);
    }
  }
  $("results").replaceChildren(...parts);
}

// --- one run

function table(titles, rows) {
  const cells = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, { textContent: text })));
  return make("div", { className: "scroll" },
              make("table", {}, make("thead", {}, cells("th", titles)), make("tbody", {}, ...rows.map((row) => cells("td", row)))));
}

function latency(of) {
  const parts = of.parts.map((part) => {
    const bar = make("i");
    bar.style.width = 100 * part.cycles / of.parts[0].cycles + "%";
    return make("div", { className: "row" }, make("span", { textContent: part.name }),
                make("div", { className: "part" }, bar),
                make("span", { textContent: `${part.cycles.toFixed(1)} cycles, ${percent(part.share)}` }));
  });
  return make("div", {}, make("h4", { textContent: `mean latency of ${of.of}: ${of.mean.toFixed(1)} cycles` }), ...parts);
}

async function show(run) {
  const base = base_of(run);
  let differences = [];
  try {
    if (run !== base && base.result) {
      differences = (await ask(`api/difference?key=${encodeURIComponent(run.key)}&against=${encodeURIComponent(base.key)}`)).differences;
    }
  } catch (problem) { say(problem.message); }
  if (run !== selected) return;
  const panes = make("div", { className: "panes" }, ...run.result.latencies.map(latency));
  if (run !== base && base.result) {
    panes.prepend(make("div", {}, make("h4", { textContent: `configuration, against ${base.label}` }),
                       differences.length ? table(["parameter", "before", "value", "origin"],
                                                  differences.map((each) => [each.parameter, each.before, each.value, each.origin]))
                                          : make("p", { textContent: "No parameter differs." })));
  }
  panes.append(make("div", {}, make("h4", { textContent: "utilization" }),
                    table(["resource", "busy"], run.result.utilizations.slice(0, 8).map((each) => [each.of, percent(each.share)])),
                    make("h4", { textContent: "rates" }),
                    table(["rate", "share"], run.result.rates.map((each) => [each.name, percent(each.share)]))));
  $("detail").replaceChildren(
    make("h2", { textContent: run.label }),
    make("p", { id: "bound", textContent: run.result.bound_by ? "bound by " + run.result.bound_by : "" }), panes);
  $("detail").scrollIntoView({ block: "nearest" });
}

// --- progress

function progress(news) {
  const parts = [];
  if (news.total > 0) {
    parts.push(make("progress", { max: news.total, value: news.done + news.failed + news.active.reduce((sum, run) => sum + run.share, 0) }));
    parts.push(make("p", { className: "pale", textContent:
      `${news.done} of ${news.total} runs done` + (news.failed ? `, ${news.failed} failed` : "") +
      (news.waiting ? `, ${news.waiting} requests wait` : "") + (news.event ? `; ${news.event}` : "") }));
  }
  for (const run of news.active) {
    parts.push(make("div", { className: "row" }, make("span", { textContent: run.label }),
                    make("progress", { max: 1, value: run.share })));
  }
  $("progress").replaceChildren(...parts);
  if (news.event && runs.some((run) => !run.result)) fetch_results();
}

(async () => {
  try {
    const choices = await ask("api/choices");
    for (const set of document.querySelectorAll("[data-of]")) fill(set, choices[set.dataset.of]);
    for (const size of choices.sizes) $("size").append(make("option", { textContent: size }));
  } catch (problem) { return say(problem.message); }
  const events = new EventSource("api/events?token=" + encodeURIComponent(token));
  events.onmessage = (event) => progress(JSON.parse(event.data));
  events.onerror = () => say("The program has ended, or cannot be reached.");
  events.onopen = () => say("");
})();
