// Line plots and scatters as drawings; colours that colour-blind eyes can tell apart.
import { h, short, svg } from "unweave/dom.js";

export const COLORS = Array.from({ length: 8 }, (_, i) => `var(--line-${i})`); // of the style, light or dark
const WIDTH = 320, HEIGHT = 170, LEFT = 46, RIGHT = 8, TOP = 8, BOTTOM = 30;
const STEEP = 20; // ratio from which a curve is drawn on a logarithmic scale

/** Lines over steps: [{ label, x, y, color }]; `reach` makes the scale run as far below 0 as above. */
export function linePlot(title, lines, { xLabel = "step", xLabels = null, legend = lines.length > 1, reach = null, isLinear = false } = {}) {
  const drawn = lines.filter((line) => line.x.length);
  const ys = reach === null ? drawn.flatMap((line) => line.y) : [-reach, reach];
  const frame = scales(drawn.flatMap((line) => line.x), ys, { xLabels, isLogarithmic: !isLinear && isSteep(ys) });
  const paths = drawn.map((line, i) => {
    const color = line.color ?? COLORS[i % COLORS.length];
    if (line.x.length === 1) return svg("circle", { cx: frame.x(line.x[0]), cy: frame.y(line.y[0]), r: 3, style: { fill: color } });
    const points = line.x.flatMap((x, j) => (line.y[j] === null ? [] : [`${frame.x(x).toFixed(1)},${frame.y(line.y[j]).toFixed(1)}`]));
    const dashes = i < COLORS.length ? null : "5 3"; // colours come round again
    return svg("polyline", { class: "line", points: points.join(" "), style: { stroke: color }, "stroke-dasharray": dashes },
      svg("title", {}, line.label));
  });
  return figure(title, frame, paths, { xLabel, legend: legend ? lines : [] });
}

/** Points: x, y, and a class each. */
export function scatterPlot(title, x, y, { classes = null, labels = [], xLabel, yLabel, xLabels = null }) {
  // Whole numbers would stand on each other; each is moved aside by a share that its order gives.
  const whole = x.every(Number.isInteger);
  const sides = whole && x.length ? [Math.min(...x) - 0.3, Math.max(...x) + 0.3] : [];
  const frame = scales([...x, ...sides], y, { xLabels });
  const room = whole ? 0.32 : 0;
  const points = x.map((value, i) => svg("circle", {
    cx: frame.x(value + room * (((i * 0.618034) % 1) - 0.5)).toFixed(1), cy: frame.y(y[i]).toFixed(1), r: 1.7,
    style: { fill: COLORS[classes ? classes[i] % COLORS.length : 0] }, "fill-opacity": 0.55,
  }));
  const legend = classes ? labels.map((label, i) => ({ label, color: COLORS[i % COLORS.length] })) : [];
  return figure(title, frame, points, { xLabel, yLabel, legend });
}

function figure(title, frame, marks, { xLabel, yLabel = "", legend }) {
  const middle = LEFT + (WIDTH - LEFT - RIGHT) / 2;
  const height = TOP + (HEIGHT - TOP - BOTTOM) / 2;
  return h("figure", { class: "plot" },
    h("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
      svg("rect", { class: "frame", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM }),
      frame.yTicks.map(([at, text]) => svg("text", { x: LEFT - 5, y: frame.y(at) + 4, "text-anchor": "end" }, text)),
      frame.xTicks.map(([at, text]) => svg("text", { x: frame.x(at), y: HEIGHT - BOTTOM + 14, "text-anchor": "middle" }, text)),
      svg("text", { x: middle, y: HEIGHT - 3, "text-anchor": "middle" }, xLabel),
      svg("text", { transform: `translate(11 ${height}) rotate(-90)`, "text-anchor": "middle" }, yLabel),
      marks),
    legend.length ? h("ul", { class: "legend" }, legend.map((line, i) =>
      h("li", {}, h("i", { style: { background: swatch(line.color ?? COLORS[i % COLORS.length], i) } }), line.label))) : null);
}

function swatch(color, i) {
  return i < COLORS.length ? color : `repeating-linear-gradient(90deg, ${color} 0 4px, transparent 4px 6px)`; // a dashed line
}

/** Whether a steep start would leave the rest of a linear scale flat. */
function isSteep(values) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  return sorted.length > 2 && sorted[0] > 0 && sorted.at(-1) / sorted[sorted.length >> 1] > STEEP;
}

function scales(xs, ys, { xLabels = null, isLogarithmic = false }) {
  const bent = isLogarithmic ? Math.log10 : (value) => value;
  const [x0, x1] = ends(xs), [y0, y1] = ends(ys.filter((value) => value !== null).map(bent));
  const x = (value) => LEFT + ((value - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((bent(value) - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const xTicks = xLabels ? spread(xLabels) : numbered(ticks(x0, x1));
  const yTicks = isLogarithmic ? powers(y0, y1).map((at) => [at, tickText(at, 0)]) : numbered(ticks(y0, y1));
  return { x, y, xTicks, yTicks };
}

/** Some of the names of values, at even distances. */
function spread(labels) {
  const step = Math.ceil(labels.length / 6);
  return labels.flatMap((label, i) => (i % step === 0 ? [[i, label]] : []));
}

/** Round numbers between two powers of ten. */
function powers(low, high) {
  const found = [];
  for (let n = Math.floor(low); n <= high; n++) found.push(...[1, 2, 5].map((k) => k * 10 ** n));
  const within = found.filter((at) => at >= 10 ** low && at <= 10 ** high);
  return within.length > 6 ? within.filter((at) => Number.isInteger(Math.round(Math.log10(at) * 1e9) / 1e9)) : within;
}

/** Ticks with as many digits as tell them apart. */
function numbered(found) {
  const step = found.length > 1 ? found[1] - found[0] : 1;
  const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return found.map((at) => [at, tickText(at, digits)]);
}

function tickText(value, digits) {
  if (Math.abs(value) >= 1e4) return `${(value / 1000).toLocaleString("en", { maximumFractionDigits: 1 })}k`;
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(0);
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, Math.abs(value) < 1 ? 3 : 0) });
}

function ends(values) {
  if (!values.length) return [0, 1];
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  const room = high - low > 1e-12 ? 0.04 * (high - low) : Math.max(0.5, Math.abs(low) * 0.1);
  return [low - room, high + room];
}

/** A few round numbers between two ends. */
function ticks(low, high) {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const found = [];
  // Adding 0 makes of −0, which would be written with its sign, a plain 0.
  for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(n * step + 0);
  return found;
}
