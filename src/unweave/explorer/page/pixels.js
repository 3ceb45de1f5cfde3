// Floats in [0, 1] onto a canvas, rounded to bytes as figures are.

/** The space between two images of a line, in pixels of theirs. */
export function gapOf(width) {
  return Math.max(1, Math.round(width / 32));
}

/** Draw one image or several side by side, with gaps, on a canvas whose size becomes theirs. */
export function draw(canvas, images, count, shape) {
  const [, height, width] = shape;
  size(canvas, count * width + (count - 1) * gapOf(width), height);
  drawLine(canvas, images, count, shape, 0);
}

/** Draw a line of images at a height of a canvas that is large enough. */
export function drawLine(canvas, images, count, shape, top) {
  const [channels, height, width] = shape;
  const context = canvas.getContext("2d");
  for (let i = 0; i < count; i++) {
    const one = images.subarray(i * channels * height * width, (i + 1) * channels * height * width);
    context.putImageData(pictureOf(one, shape), i * (width + gapOf(width)), top);
  }
}

/** Give a canvas a size; what it shows stays if it had that. */
export function size(canvas, width, height) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
}

/** One image as pixels of a canvas. */
export function pictureOf(image, [channels, height, width]) {
  const picture = new ImageData(width, height);
  const bytes = picture.data; // clamps and rounds what is assigned to it
  const plane = height * width;
  const [green, blue] = channels === 3 ? [plane, 2 * plane] : [0, 0];
  for (let from = 0, to = 0; from < plane; from++, to += 4) {
    bytes[to] = image[from] * 255;
    bytes[to + 1] = image[from + green] * 255;
    bytes[to + 2] = image[from + blue] * 255;
    bytes[to + 3] = 255;
  }
  return picture;
}
