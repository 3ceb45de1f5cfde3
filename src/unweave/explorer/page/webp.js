// Frames as an animated WebP: each is encoded by the browser, as it encodes one image, and put
// into one file here (RIFF; the container's description is the WebP specification).
import { h } from "unweave/dom.js";

const ANIMATED = 2; // flag of the header
const COVERS = 2; // flag of a frame: it takes the place of what was there, nothing shines through

/** @param frames ImageData of one size  @param delay milliseconds of each  @returns its bytes */
export async function webp(frames, delay) {
  const { width, height } = frames[0];
  const size = [...bytesOf(width - 1, 3), ...bytesOf(height - 1, 3)];
  const parts = [chunk("VP8X", [ANIMATED, 0, 0, 0, ...size]), chunk("ANIM", bytesOf(0, 6))]; // again and again
  for (const frame of frames) {
    const place = [...bytesOf(0, 6), ...size, ...bytesOf(Math.round(delay), 3), COVERS];
    parts.push(chunk("ANMF", place, await imageChunks(frame)));
  }
  const body = joined(parts);
  return joined([letters("RIFF"), bytesOf(body.length + 4, 4), letters("WEBP"), body]);
}

/** The image of a frame as the browser writes it, without the header of a file of its own. */
async function imageChunks(frame) {
  const canvas = h("canvas", { width: frame.width, height: frame.height });
  canvas.getContext("2d").putImageData(frame, 0, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/webp", 1));
  if (blob?.type !== "image/webp") throw new Error("this browser writes no WebP; take the GIF");
  const file = new Uint8Array(await blob.arrayBuffer());
  const view = new DataView(file.buffer), found = [];
  for (let at = 12; at + 8 <= file.length;) {
    const length = 8 + view.getUint32(at + 4, true);
    const even = length + (length % 2);
    if (["ALPH", "VP8 ", "VP8L"].includes(String.fromCharCode(...file.subarray(at, at + 4)))) found.push(file.subarray(at, at + even));
    at += even;
  }
  return joined(found);
}

function chunk(name, ...parts) {
  const content = joined(parts);
  return joined([letters(name), bytesOf(content.length, 4), content, bytesOf(0, content.length % 2)]);
}

function letters(text) {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

/** A whole number in that many bytes, the least first. */
function bytesOf(value, count) {
  return Array.from({ length: count }, (_, i) => (value >>> (8 * i)) & 255);
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
