// A latent goes to and fro by itself, and what is seen is kept as an animation.
import { h } from "unweave/dom.js";
import { gif } from "unweave/gif.js";
import { decodeLine } from "unweave/painter.js";
import { pictureOf } from "unweave/pixels.js";
import { download } from "unweave/saving.js";
import { valueIn } from "unweave/turning.js";
import { webp } from "unweave/webp.js";

const ROUND = 4000; // milliseconds to and fro
const FRAMES = 24; // of a recorded round
const CHOICE = 700; // milliseconds a choice stands

/** A button that plays a line of the panel until it is pressed again or something else is done. */
export function playButton(panel, row) {
  let frame = 0;
  const button = h("button", { type: "button", class: "quiet play", "aria-pressed": "false", "aria-label": `Play ${row.unit.label}`, title: "to and fro" }, "▶");
  const stop = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    button.textContent = "▶";
    button.setAttribute("aria-pressed", "false");
  };
  button.addEventListener("click", () => {
    if (frame) return stop();
    panel().stopPlaying?.();
    panel().stopPlaying = stop;
    button.textContent = "■";
    button.setAttribute("aria-pressed", "true");
    const began = performance.now(), from = valueIn(panel().code, row.unit);
    const step = (now) => {
      if (!button.isConnected) return stop();
      panel().move(row, valueAt(row, from, now - began));
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  });
  return button;
}

/** Where a line is after some time: it begins where it stands. */
function valueAt(row, from, passed) {
  if (row.unit.kind === "category") return (from + Math.floor(passed / CHOICE)) % row.unit.size;
  if (row.unit.kind === "angle") return Math.atan2(Math.sin(from + wave(passed)), Math.cos(from + wave(passed)));
  const range = row.high - row.low;
  const begun = Math.min(1, Math.max(0, (from - row.low) / range));
  const turn = (begun + (2 * passed) / ROUND) % 2;
  return row.low + range * (turn < 1 ? turn : 2 - turn);
}

function wave(passed) {
  return (2 * Math.PI * passed) / ROUND;
}

/** The values of a round that is recorded: to and fro, once through choices, once about. */
export function roundOf({ unit, low, high, values }) {
  if (unit.kind === "category") return values;
  if (unit.kind === "angle") return Array.from({ length: FRAMES }, (_, i) => -Math.PI + (2 * Math.PI * i) / FRAMES);
  const half = FRAMES / 2;
  return Array.from({ length: FRAMES }, (_, i) => low + ((high - low) * (i <= half ? i : FRAMES - i)) / half);
}

const WRITERS = { gif, webp };

/** Decode a round of a line and give it to the reader: kind is gif, of few colours, or webp, of all. */
export async function record(panel, row, name, kind) {
  const values = roundOf(row);
  const { decoder } = panel;
  const images = await decodeLine(decoder, Float32Array.from(panel.code), { unit: row.unit, values });
  const frames = values.map((_, i) => pictureOf(images.subarray(i * decoder.size, (i + 1) * decoder.size), decoder.shape));
  const delay = row.unit.kind === "category" ? CHOICE : ROUND / FRAMES;
  download(`${name}.${kind}`, await WRITERS[kind](frames, delay), `image/${kind}`);
}
