// The chart of totals: a thin line for what came in, thick lines for the means of runs in their variant's colour, and
// the variants as bands behind them.
"use strict";

const place = document.getElementById("totals");
const NAMES = ["blue", "orange", "green", "pink", "sky", "red", "grey", "ink"];
let chart = null;
let shown = "";

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: read("ink"), soft: read("soft"), rule: read("rule"), pale: read("pale"), arms: NAMES.map(read) };
}

function bands(data) {
  // Behind everything: where each variant was held; hatched where the step was not learned from.
  return (plot) => {
    const { ctx, bbox } = plot;
    const look = colours();
    ctx.save();
    for (const [first, last, variant, role] of data.runs) {
      const from = plot.valToPos(Math.max(first - 0.5, plot.scales.x.min), "x", true);
      const to = plot.valToPos(Math.min(last + 0.5, plot.scales.x.max), "x", true);
      if (to <= from) continue;
      ctx.globalAlpha = role === "plan" || role === "shadow" ? 0.14 : 0.05;
      ctx.fillStyle = look.arms[variant % 8];
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
    }
    ctx.restore();
  };
}

function means(data) {
  return (plot) => {
    const { ctx } = plot;
    const look = colours();
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    ctx.lineWidth = 3 * devicePixelRatio;
    for (const [first, last, variant] of data.runs) {
      const mean = data.means[first - data.steps[0]];
      if (mean === null) continue;
      const y = plot.valToPos(mean, "y", true);
      ctx.strokeStyle = look.arms[variant % 8];
      ctx.beginPath();
      ctx.moveTo(plot.valToPos(first - 0.5, "x", true), y);
      ctx.lineTo(plot.valToPos(last + 0.5, "x", true), y);
      ctx.stroke();
    }
    ctx.restore();
  };
}

function runAt(data, step) {
  return data.runs.find(([first, last]) => first <= step && step <= last);
}

function time(data, step) {
  if (data.begins === null) return "";
  return new Date(1000 * (data.begins + step * data.step_seconds)).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

function options(data) {
  const look = colours();
  const axis = { stroke: look.soft, grid: { stroke: look.rule, width: 1 }, ticks: { stroke: look.rule, width: 1 }, font: "12px Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif" };
  const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en-GB", { maximumSignificantDigits: 4 }));
  return {
    width: place.clientWidth,
    height: place.clientWidth < 500 ? 240 : 300,
    scales: { x: { time: false }, y: { range: (plot, low, high) => [Math.min(0, low), (high || 1) * 1.05] } },
    axes: [{ ...axis, values: (plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? number(tick) : "")) }, { ...axis, size: 64, values: (plot, ticks) => ticks.map(number) }],
    series: [
      { label: "step", value: (plot, step) => (step === null ? "–" : `${step.toLocaleString("en-GB")} ${time(data, step)}`) },
      { label: "total", stroke: look.soft, width: 1, points: { show: data.steps.length < 120, size: 4 }, value: (plot, value) => number(value) },
      { label: "mean of the run", stroke: "transparent", points: { show: false }, value: (plot, value) => number(value) },
      { label: "variant", stroke: "transparent", points: { show: false }, value: (plot, value, series, at) => {
        const run = at === null ? null : runAt(data, data.steps[at]);
        return run ? `${data.variants[run[2]]}, ${data.roles[run[3]] ?? run[3]}` : "–";
      } },
    ],
    cursor: { drag: { x: true, y: false } },
    hooks: { drawClear: [bands(data)], draw: [means(data)] },
  };
}

async function draw() {
  const answer = await fetch(place.dataset.from, { headers: { Accept: "application/json" } });
  if (!answer.ok || answer.redirected) return; // signed out
  const text = await answer.text();
  if (text === shown && chart) return;
  shown = text;
  redraw();
}

function redraw() {
  if (!shown) return;
  const data = JSON.parse(shown);
  chart?.destroy();
  place.replaceChildren();
  chart = new uPlot(options(data), [data.steps, data.totals, data.means, data.totals], place);
  let pressed = null;
  chart.over.addEventListener("mousedown", (event) => { pressed = event.clientX; });
  chart.over.addEventListener("click", (event) => {
    const at = chart.cursor.idx;
    if (at === null || at === undefined || Math.abs(event.clientX - pressed) > 3) return; // a drag zooms
    document.dispatchEvent(new CustomEvent("explain", { detail: data.steps[at] }));
  });
}

if (place) {
  draw();
  document.addEventListener("htmx:oobAfterSwap", (event) => { if (event.detail.target.id === "held") draw(); });
  new ResizeObserver(() => { if (chart && chart.width !== place.clientWidth) chart.setSize({ width: place.clientWidth, height: chart.height }); }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
