// Enhances the pages: times in the reader's time zone, countdowns, and regular requests for the parts that change.
"use strict";

const EVERY = 4000; // milliseconds between requests
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
const ahead = 1000 * Number(document.body.dataset.now) - Date.now(); // milliseconds that the service's clock is ahead of ours

function serverNow() {
  return (Date.now() + ahead) / 1000;
}

function remaining(seconds) {
  let whole = Math.ceil(seconds);
  const parts = [];
  for (const [size, name] of UNITS) {
    if (whole >= size && parts.length < 2) parts.push(`${Math.floor(whole / size)} ${name}`);
    whole = ((whole % size) + size) % size;
  }
  return seconds > 0 && parts.length ? `in ${parts.join(" ")}` : "now";
}

function countDown() {
  for (const place of document.querySelectorAll("[data-until]")) {
    const text = remaining(Number(place.dataset.until) - serverNow());
    if (place.textContent !== text) place.textContent = text;
  }
}

function local(when, shape) {
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  const day = { day: "numeric", month: "short", year: "numeric" };
  if (shape === "time" && when % 60000 === 0) delete clock.second;
  return when.toLocaleString("en-GB", { time: clock, day }[shape] ?? { ...day, ...clock });
}

function localTimes(root) {
  for (const place of root.querySelectorAll("time[datetime]:not([title])")) {
    place.title = place.textContent;
    place.textContent = local(new Date(place.getAttribute("datetime")), place.dataset.shape);
  }
}

function refresh() {
  if (document.visibilityState === "visible") document.body.dispatchEvent(new CustomEvent("refresh"));
}

function refreshAtStepEnd() {
  // Steps end at known times: request an update then.
  const ends = [...document.querySelectorAll("[data-until]")].map((place) => Number(place.dataset.until) - serverNow());
  const next = Math.min(...ends.filter((seconds) => seconds > 0), Infinity);
  if (next < EVERY / 1000) setTimeout(refresh, 1000 * next + 150);
}

const opened = new Set(); // details that the reader has opened

document.addEventListener("toggle", (event) => {
  if (event.target.id && event.target.matches("details")) opened[event.target.open ? "add" : "delete"](event.target.id);
}, true);

// Screen readers announce the variant, the result and the alarm when they change, not every step.
const ANNOUNCED = { "#now .live strong": " is live. ", "#now .lede": " ", "#now .alarm-text": "" };
const words = ([place, end]) => { const text = document.querySelector(place)?.textContent; return text ? text + end : ""; };
const sentence = () => Object.entries(ANNOUNCED).map(words).join("").trim();
let announced = document.getElementById("announcement") ? sentence() : "";

function announce() {
  const place = document.getElementById("announcement");
  if (place && sentence() !== announced) place.textContent = announced = sentence();
}

function enhance(root) {
  localTimes(root);
  countDown();
  announce();
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
}

document.addEventListener("htmx:afterSwap", () => enhance(document));
document.addEventListener("htmx:oobAfterSwap", (event) => {
  enhance(document);
  if (event.detail.target.id === "now") document.querySelector(".notice")?.remove(); // outdated by the update
});

// When the page was last updated, and whether the service can't be reached
const offline = document.getElementById("offline");
document.addEventListener("htmx:sendError", () => { offline.hidden = false; });
document.addEventListener("htmx:afterOnLoad", (event) => {
  offline.hidden = event.detail.xhr.status < 500;
  if (offline.hidden) document.getElementById("as-of").textContent = local(new Date(1000 * serverNow()));
});

// The explanation of a step, within this page
function explain(step, ofUnit) {
  const place = document.getElementById("explained");
  const from = document.getElementById("explain").dataset.steps;
  const unit = document.getElementById("explain-unit");
  if (unit && ofUnit !== undefined) unit.value = ofUnit;
  document.getElementById("explain-step").value = step;
  const query = unit ? `?unit=${encodeURIComponent(unit.value)}` : "";
  htmx.ajax("GET", from + step + query, { target: place, swap: "innerHTML" })
    .then(() => document.getElementById("explain-section").scrollIntoView({ block: "nearest" }));
}
document.addEventListener("explain", (event) => explain(event.detail));
document.getElementById("explain")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const step = event.target.elements.step.value.trim();
  if (/^\d+$/.test(step)) explain(step);
});
document.addEventListener("click", (event) => {
  const track = event.target.closest("svg.track[data-first]");
  if (!track || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const box = track.getBoundingClientRect();
  const first = Number(track.dataset.first), last = Number(track.dataset.last);
  const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.999999);
  explain(first + Math.floor(share * (last - first + 1)), track.dataset.unit);
});

document.getElementById("print")?.addEventListener("click", () => window.print());
// Folded tables are part of a printed document.
window.addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll("details#proved, details#runs")) place.open = true;
});

if (new URLSearchParams(location.search).has("done")) history.replaceState(null, "", location.pathname);
for (const place of document.querySelectorAll(".scripted")) place.hidden = false;
enhance(document);
document.getElementById("zone").textContent = `Times are in ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
setInterval(countDown, 1000);
setInterval(() => { refresh(); refreshAtStepEnd(); }, EVERY);
refreshAtStepEnd();
document.addEventListener("visibilitychange", refresh);
