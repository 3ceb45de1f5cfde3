// A run's networks, evaluated here by ONNX Runtime on one thread.
import { InferenceSession, Tensor, env } from "unweave/ort.mjs";

let started = null;

/** Unpack the runtime, once; `compressed` gives its gzipped bytes as a stream. */
function start(compressed) {
  started ??= (async () => {
    env.wasm.numThreads = 1;
    env.logLevel = "error";
    const unpacked = (await compressed()).pipeThrough(new DecompressionStream("gzip"));
    env.wasm.wasmBinary = await new Response(unpacked).arrayBuffer();
  })();
  return started;
}

/** A run's encoder, of one image at a time. */
export class Encoder {
  constructor(session, shape) {
    this.session = session;
    this.shape = shape;
  }

  static async create(model, shape, compressedRuntime) {
    await start(compressedRuntime);
    return new Encoder(await InferenceSession.create(model), shape);
  }

  /** The code of an image: floats in [0, 1], channel after channel. */
  async encode(image) {
    const { codes } = await this.session.run({ images: new Tensor("float32", image, [1, ...this.shape]) });
    return Array.from(codes.data);
  }
}

export class Decoder {
  /** @param session the network  @param shape channels, height, width of its images */
  constructor(session, shape) {
    this.session = session;
    this.shape = shape;
    this.size = shape[0] * shape[1] * shape[2];
    this.takesMany = typeof session.inputMetadata[0].shape[0] !== "number";
    this.turn = Promise.resolve();
  }

  static async create(model, shape, compressedRuntime) {
    await start(compressedRuntime);
    return new Decoder(await InferenceSession.create(model), shape);
  }

  /** Decode `count` codes that lie one after the other: floats in [0, 1], image after image. */
  decode(codes, count) {
    // A session computes one thing at a time.
    const result = this.turn.then(() => this.#decode(codes, count));
    this.turn = result.catch(() => {});
    return result;
  }

  /** Give the memory back, after what is being decoded. */
  release() {
    this.turn = this.turn.then(() => this.session.release());
  }

  async #decode(codes, count) {
    const length = codes.length / count;
    if (this.takesMany || count === 1) return this.#run(codes, count, length);
    const images = new Float32Array(count * this.size);
    for (let i = 0; i < count; i++) {
      const code = codes.slice(i * length, (i + 1) * length);
      images.set(await this.#run(code, 1, length), i * this.size);
    }
    return images;
  }

  async #run(codes, count, length) {
    const { images } = await this.session.run({ codes: new Tensor("float32", codes, [count, length]) });
    return images.data;
  }
}
