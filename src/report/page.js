// What makes a page answer: hints where the pointer is, series that come and go, filters, light and dark.
"use strict";

// The words of a shape are in its <title>. They become a hint that shows at once, and the browser's own one is gone.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("svg title")) {
  const shape = title.parentNode;
  shape.dataset.tip = title.textContent;
  shape.setAttribute("aria-label", title.textContent);
  title.remove();
}
document.addEventListener("pointermove", (event) => {
  const shape = event.target.closest ? event.target.closest("[data-tip]") : null;
  tip.style.display = shape ? "block" : "none";
  if (!shape) return;
  tip.textContent = shape.dataset.tip;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  tip.style.left = left + "px";
  tip.style.top = Math.max(event.clientY - tip.offsetHeight - 10, 4) + "px";
});

// Stacked bars close the gap that a hidden series leaves. Bars of one column share their x.
function restack(svg) {
  if (!svg.closest("[data-kind=stacked]")) return;
  const bottoms = new Map();
  for (const bar of svg.querySelectorAll("[data-series] rect")) {
    const height = Number(bar.getAttribute("height"));
    const x = bar.getAttribute("x");
    if (!("bottom" in bar.dataset)) bar.dataset.bottom = Number(bar.getAttribute("y")) + height;
    const bottom = bottoms.has(x) ? bottoms.get(x) : Number(bar.dataset.bottom);
    const hidden = bar.parentNode.classList.contains("off");
    if (!hidden) bar.setAttribute("y", bottom - height);
    bottoms.set(x, hidden ? bottom : bottom - height);
  }
}
for (const key of document.querySelectorAll("[data-key]")) {
  const toggle = () => {
    const svg = key.ownerSVGElement;
    const off = key.classList.toggle("off");
    for (const series of svg.querySelectorAll(`[data-series="${key.dataset.key}"]`)) series.classList.toggle("off", off);
    key.setAttribute("aria-pressed", String(!off));
    restack(svg);
  };
  key.setAttribute("role", "button");
  key.setAttribute("tabindex", "0");
  key.setAttribute("aria-pressed", "true");
  key.addEventListener("click", toggle);
  key.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
  });
}

const filters = { paper: document.getElementById("paper"), verdict: document.getElementById("verdict"),
                  words: document.getElementById("words") };
if (filters.words) {
  const rows = [...document.querySelectorAll("#claims tbody tr")];
  const shown = document.getElementById("shown");
  const apply = () => {
    const words = filters.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = (filters.paper.value && row.dataset.paper !== filters.paper.value) ||
                   (filters.verdict.value && row.dataset.verdict !== filters.verdict.value) ||
                   !words.every((word) => text.includes(word));
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${rows.length} claims`;
  };
  for (const filter of Object.values(filters)) filter.addEventListener("input", apply);
  apply();
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
