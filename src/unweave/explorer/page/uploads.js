// An image file as a network takes it, without a server: read, cut and scaled as `image_from_bytes` does.

const LARGEST = 64_000_000; // pixels
const LOBES = 3; // of Lanczos's filter

/** Read a file: floats in [0, 1], channel after channel, and the same as a picture. */
export async function readImage(file, [channels, height, width]) {
  const image = await createImageBitmap(file).catch(() => { throw new Error(`${file.name} is not a readable image`); });
  if (image.width * image.height > LARGEST) {
    throw new Error(`${file.name} has ${image.width} × ${image.height} pixels; the limit is ${LARGEST.toLocaleString("en")}`);
  }
  // The largest part of that form, from the middle; transparent parts become white.
  const share = Math.min(image.width / width, image.height / height);
  const [cutWidth, cutHeight] = [width * share, height * share];
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, image.width, image.height).data;
  const across = weights(image.width, (image.width - cutWidth) / 2, cutWidth, width);
  const down = weights(image.height, (image.height - cutHeight) / 2, cutHeight, height);
  const planes = planesOf(bytes, channels).map((plane) => scaled(plane, image.width, across, down));
  const pixels = new Float32Array(channels * height * width);
  planes.forEach((plane, i) => pixels.set(Float32Array.from(plane, (value) => value / 255), i * height * width));
  return { pixels, picture: pictureOf(planes, height, width) };
}

function planesOf(bytes, channels) {
  const plane = (value) => {
    const found = new Uint8ClampedArray(bytes.length / 4); // clamps and rounds what is assigned to it
    for (let i = 0; i < found.length; i++) found[i] = value(4 * i);
    return found;
  };
  if (channels === 3) return [0, 1, 2].map((channel) => plane((i) => bytes[i + channel]));
  // Luma of ITU-R 601-2.
  return [plane((i) => (bytes[i] * 19595 + bytes[i + 1] * 38470 + bytes[i + 2] * 7471) / 65536)];
}

/** For each target pixel the source pixels it is made of: Lanczos, widened when it scales down. */
function weights(size, from, length, target) {
  const scale = length / target, wide = Math.max(scale, 1);
  return Array.from({ length: target }, (_, i) => {
    const middle = from + (i + 0.5) * scale;
    const first = Math.max(0, Math.floor(middle - LOBES * wide + 0.5));
    const last = Math.min(size, Math.floor(middle + LOBES * wide + 0.5));
    const found = Array.from({ length: last - first }, (_, j) => lanczos((first + j - middle + 0.5) / wide));
    const sum = found.reduce((a, b) => a + b, 0);
    return { first, shares: found.map((value) => value / sum) };
  });
}

function lanczos(x) {
  if (x === 0) return 1;
  if (Math.abs(x) >= LOBES) return 0;
  const turn = Math.PI * x;
  return (LOBES * Math.sin(turn) * Math.sin(turn / LOBES)) / (turn * turn);
}

/** Scale a plane across, then down, rounded to bytes after each. */
function scaled(plane, width, across, down) {
  const height = plane.length / width;
  const middle = new Uint8ClampedArray(across.length * height);
  for (let y = 0; y < height; y++) {
    across.forEach(({ first, shares }, x) => {
      middle[y * across.length + x] = shares.reduce((sum, share, j) => sum + share * plane[y * width + first + j], 0);
    });
  }
  const result = new Uint8ClampedArray(across.length * down.length);
  down.forEach(({ first, shares }, y) => {
    for (let x = 0; x < across.length; x++) {
      result[y * across.length + x] = shares.reduce((sum, share, j) => sum + share * middle[(first + j) * across.length + x], 0);
    }
  });
  return result;
}

function pictureOf(planes, height, width) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const picture = new ImageData(width, height);
  for (let i = 0; i < height * width; i++) {
    for (let c = 0; c < 3; c++) picture.data[4 * i + c] = planes[Math.min(c, planes.length - 1)][i];
    picture.data[4 * i + 3] = 255;
  }
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas.toDataURL();
}
