// Writes src/unweave/explorer/runtime/: ONNX Runtime for the browser, as the package keeps it.
// Run by `make explorer-runtime`; the same lock file gives the same bytes.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "unweave", "explorer", "runtime");
const dist = dirname(createRequire(import.meta.url).resolve("onnxruntime-web/wasm"));

await build({
  entryPoints: [join(here, "runtime.mjs")],
  bundle: true,
  format: "esm",
  platform: "browser",
  minify: true,
  legalComments: "inline",
  outfile: join(target, "ort.mjs"),
});
const wasm = readFileSync(join(dist, "ort-wasm-simd-threaded.wasm"));
writeFileSync(join(target, "ort.wasm.gz"), gzipSync(wasm, { level: 9 }));
console.log(`wrote ort.mjs and ort.wasm.gz to ${target}`);
