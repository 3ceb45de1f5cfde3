// Floats in [0, 1] onto a canvas, rounded to bytes as figures are.

/** Draw `count` images side by side on a canvas whose size becomes theirs. */
export function draw(canvas, images, count, [channels, height, width]) {
  const full = count * width;
  if (canvas.width !== full || canvas.height !== height) {
    canvas.width = full;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  const picture = new ImageData(full, height);
  const bytes = picture.data; // clamps and rounds what is assigned to it
  const plane = height * width;
  const [green, blue] = channels === 3 ? [plane, 2 * plane] : [0, 0];
  for (let i = 0; i < count; i++) {
    for (let y = 0; y < height; y++) {
      let from = i * channels * plane + y * width;
      let to = 4 * (y * full + i * width);
      for (let x = 0; x < width; x++, from++, to += 4) {
        bytes[to] = images[from] * 255;
        bytes[to + 1] = images[from + green] * 255;
        bytes[to + 2] = images[from + blue] * 255;
        bytes[to + 3] = 255;
      }
    }
  }
  context.putImageData(picture, 0, 0);
}
