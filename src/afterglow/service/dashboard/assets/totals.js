// Interactive chart of totals: a thin line for the totals, thick lines for the averages of runs in their variant's
// colour, and the variants as bands behind them. It replaces the static chart, which is kept for printing.
"use strict";

const place = document.getElementById("totals");
const plot = document.getElementById("plot");
const NAMES = ["blue", "orange", "green", "pink", "sky", "red", "grey", "ink"];
let chart = null;
let data = null;
let drawn = "";

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ink: read("ink"), soft: read("soft"), rule: read("rule"), pale: read("pale"), variants: NAMES.map(read) };
}

function bands({ ctx, bbox, scales, valToPos }) {
  // Behind the lines: where each variant was served; fainter where steps are excluded.
  const look = colours();
  ctx.save();
  for (const [first, last, variant, role] of data.runs) {
    const from = valToPos(Math.max(first - 0.5, scales.x.min), "x", true);
    const to = valToPos(Math.min(last + 0.5, scales.x.max), "x", true);
    if (to <= from) continue;
    ctx.globalAlpha = role === "plan" || role === "shadow" ? 0.14 : 0.05;
    ctx.fillStyle = look.variants[variant % 8];
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
  }
  ctx.restore();
}

function means({ ctx, bbox, valToPos }) {
  const look = colours();
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 3 * devicePixelRatio;
  for (const [first, last, variant] of data.runs) {
    const mean = data.means[first - data.steps[0]];
    if (mean === null) continue;
    const y = valToPos(mean, "y", true);
    ctx.strokeStyle = look.variants[variant % 8];
    ctx.beginPath();
    ctx.moveTo(valToPos(first - 0.5, "x", true), y);
    ctx.lineTo(valToPos(last + 0.5, "x", true), y);
    ctx.stroke();
  }
  ctx.restore();
}

function number(value) {
  return value === null || value === undefined ? "–" : value.toLocaleString("en-GB", { maximumSignificantDigits: 4 });
}

function stepAndTime(step) {
  if (step === null) return "–";
  const begins = new Date(1000 * (data.begins + step * data.step_seconds));
  const time = data.begins === null ? "" : `, ${begins.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}`;
  return step.toLocaleString("en-GB") + time;
}

function variantAt(at) {
  const run = data.runs.find(([first, last]) => first <= data.steps[at] && data.steps[at] <= last);
  return run ? `${data.variants[run[2]]}, ${data.roles[run[3]] ?? run[3]}` : "–";
}

const SIZES = [1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2419200, 7257600, 31449600]; // seconds

function timeOf(step) {
  return data.begins + step * data.step_seconds;
}

function dateSplits(chart, axis, low, high) {
  // Steps at round local times, at most one for each 90 pixels.
  const most = Math.max(2, chart.bbox.width / devicePixelRatio / 90);
  const size = SIZES.find((one) => (timeOf(high) - timeOf(low)) / one <= most) ?? SIZES.at(-1);
  const shift = 60 * new Date(1000 * timeOf(low)).getTimezoneOffset();
  const splits = [];
  for (let at = Math.ceil((timeOf(low) - shift) / size) * size + shift; at <= timeOf(high); at += size) splits.push((at - data.begins) / data.step_seconds);
  return splits;
}

function dateLabels(chart, splits) {
  const apart = splits.length > 1 ? (splits[1] - splits[0]) * data.step_seconds : 86400;
  return splits.map((split) => {
    const when = new Date(1000 * timeOf(split));
    const midnight = when.getHours() + when.getMinutes() + when.getSeconds() === 0;
    if (apart >= 86400 || midnight) return when.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
    return when.toLocaleTimeString("en-GB", apart < 60 ? { timeStyle: "medium" } : { timeStyle: "short" });
  });
}

function stepAxis(axis) {
  if (data.begins !== null) return { ...axis, splits: dateSplits, values: dateLabels };
  return { ...axis, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? number(tick) : "")) };
}

function options() {
  const look = colours();
  const narrow = place.clientWidth < 500;
  const axis = { stroke: look.soft, grid: { stroke: look.rule, width: 1 }, ticks: { stroke: look.rule, width: 1 }, font: "12px Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif" };
  return {
    width: place.clientWidth,
    height: narrow ? 240 : 300,
    scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low), (high || 1) * 1.05] } },
    axes: [stepAxis(axis), { ...axis, size: narrow ? 48 : 64, values: (_, ticks) => ticks.map(number) }],
    series: [
      { label: "step", value: (_, step) => stepAndTime(step) },
      { label: "total", stroke: look.soft, width: 1, points: { size: 4 }, value: (_, value) => number(value) },
      { label: "average of the run", stroke: "transparent", points: { show: false }, value: (_, value) => number(value) },
      ...(data.expected ? [{ label: "expected", stroke: look.variants[0], width: 1, dash: [5, 3], points: { show: false }, value: (_, value) => number(value) }] : []),
      { label: "variant", stroke: "transparent", points: { show: false }, value: (_, value, series, at) => variantAt(at) },
    ],
    cursor: { drag: { x: true, y: false }, bind: { dblclick: () => () => zoomTo(whole()) } },
    hooks: { drawClear: [bands], draw: [means] },
  };
}

function columns() {
  return [data.steps, data.totals, data.means, ...(data.expected ? [data.expected] : []), data.totals];
}

function whole() {
  return { min: data.steps[0] - 0.5, max: data.steps.at(-1) + 0.5 };
}

function zoomTo(range) {
  chart.setScale("x", range);
}

async function fetchTotals() {
  try {
    const answer = await fetch(place.dataset.from, { headers: { Accept: "application/json" } });
    return answer.ok && !answer.redirected ? await answer.text() : drawn; // signed out
  } catch {
    return drawn; // the service can't be reached: dashboard.js shows a message
  }
}

async function draw() {
  const text = await fetchTotals();
  if (text === drawn) return;
  drawn = text;
  const before = data && whole();
  data = JSON.parse(text);
  if (data.totals.every((total) => total === null)) return; // the page says that there are none
  if (!chart) return redraw();
  const { min, max } = chart.scales.x; // keep the zoom
  chart.setData(columns(), false);
  zoomTo(min === before.min && max === before.max ? whole() : { min, max });
}

function redraw() {
  chart?.destroy();
  place.classList.add("drawn");
  plot.hidden = false;
  chart = new uPlot(options(), columns(), plot);
  zoomTo(whole());
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
  document.addEventListener("htmx:oobAfterSwap", (event) => { if (event.detail.target.id === "timeline") draw(); });
  new ResizeObserver(() => { if (chart && chart.width !== place.clientWidth) chart.setSize({ width: place.clientWidth, height: chart.height }); }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (chart) redraw(); });
}
