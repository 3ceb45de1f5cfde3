// What a page of a run needs before it can decode: the networks, and where to start from.
import { getBytes, getJson, post } from "unweave/api.js";

/** An image from the middle of the set rather than its very first, which is often an extreme. */
export function firstRow(rows) {
  return Math.floor(rows * 0.4142);
}

export async function loadDecoder(run, address) {
  const { Decoder } = await import("unweave/decoder.js");
  const model = await getBytes(address("/decoder.onnx"));
  return Decoder.create(model, run.image_shape, async () => (await fetch("/page/ort.wasm.gz")).body);
}

/** Starts that the server finds. */
export function servedStarts({ run, address, latents }) {
  return {
    rows: latents.rows,
    row: latents.rows ? (row) => getJson(address(`/row.json?row=${row}`)) : null,
    prior: (seed) => getJson(address(`/prior.json?seed=${seed}`)),
    upload: run.codes_from === "images" ? (file) => post(address("/encode"), file) : null,
    twin: (start) => start.row !== undefined ? ["row.json", address(`/row.json?row=${start.row}`)]
      : start.seed !== undefined ? ["prior.json", address(`/prior.json?seed=${start.seed}`)] : null,
  };
}
