// Frames as an animated GIF: 256 colours, those of the frames if they are no more than that.

const COLORS = 256;
const LEVELS = [6, 7, 6]; // of red, green and blue, where frames have more colours than a GIF

/** @param frames ImageData of one size  @param delay milliseconds of each  @returns its bytes */
export function gif(frames, delay) {
  const { width, height } = frames[0];
  const { palette, indices } = reduced(frames);
  const bytes = [...letters("GIF89a"), ...word(width), ...word(height), 0xf7, 0, 0];
  for (let i = 0; i < COLORS; i++) bytes.push(...(palette[i] ?? [0, 0, 0]));
  bytes.push(0x21, 0xff, 11, ...letters("NETSCAPE2.0"), 3, 1, 0, 0, 0); // again and again
  for (const frame of indices) {
    bytes.push(0x21, 0xf9, 4, 4, ...word(Math.round(delay / 10)), 0, 0);
    bytes.push(0x2c, 0, 0, 0, 0, ...word(width), ...word(height), 0);
    const packed = compressed(frame);
    bytes.push(8);
    for (let i = 0; i < packed.length; i += 255) {
      const part = packed.slice(i, i + 255);
      bytes.push(part.length, ...part);
    }
    bytes.push(0);
  }
  bytes.push(0x3b);
  return Uint8Array.from(bytes);
}

function letters(text) {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

function word(value) {
  return [value & 255, value >> 8];
}

/** The colours of all frames, and each pixel's place among them. */
function reduced(frames) {
  const exact = new Map();
  for (const { data } of frames) {
    for (let i = 0; i < data.length && exact.size <= COLORS; i += 4) {
      const color = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      if (!exact.has(color)) exact.set(color, exact.size);
    }
  }
  if (exact.size <= COLORS) {
    const palette = [...exact.keys()].map((color) => [color >> 16, (color >> 8) & 255, color & 255]);
    return { palette, indices: frames.map((frame) => placed(frame, (r, g, b) => exact.get((r << 16) | (g << 8) | b))) };
  }
  const [reds, greens, blues] = LEVELS;
  const palette = [];
  for (let r = 0; r < reds; r++) for (let g = 0; g < greens; g++) for (let b = 0; b < blues; b++) {
    palette.push([r, g, b].map((level, i) => Math.round((255 * level) / (LEVELS[i] - 1))));
  }
  const level = (value, i) => Math.round((value / 255) * (LEVELS[i] - 1));
  const nearest = (r, g, b) => (level(r, 0) * greens + level(g, 1)) * blues + level(b, 2);
  return { palette, indices: frames.map((frame) => placed(frame, nearest)) };
}

function placed({ data }, find) {
  const found = new Uint8Array(data.length / 4);
  for (let i = 0; i < found.length; i++) found[i] = find(data[4 * i], data[4 * i + 1], data[4 * i + 2]);
  return found;
}

/** Lempel, Ziv and Welch's packing, with codes of 9 to 12 bits. */
function compressed(pixels) {
  const CLEAR = COLORS, END = COLORS + 1, MOST = 4096;
  const bytes = [];
  let held = 0, bits = 0, size = 9, next = END + 1;
  let known = new Map(); // (code before, pixel) to code
  const emit = (code) => {
    held |= code << bits;
    for (bits += size; bits >= 8; bits -= 8) {
      bytes.push(held & 255);
      held >>>= 8;
    }
  };
  emit(CLEAR);
  let before = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = before * COLORS + pixels[i];
    const longer = known.get(key);
    if (longer !== undefined) {
      before = longer;
      continue;
    }
    emit(before);
    if (next < MOST) {
      known.set(key, next);
      if (next++ === 1 << size) size++;
    } else {
      emit(CLEAR);
      [known, size, next] = [new Map(), 9, END + 1];
    }
    before = pixels[i];
  }
  emit(before);
  emit(END);
  if (bits) bytes.push(held & 255);
  return bytes;
}
