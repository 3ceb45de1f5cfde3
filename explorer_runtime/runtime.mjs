// What the page needs of ONNX Runtime: sessions, tensors and the settings of its wasm part.
export { InferenceSession, Tensor, env } from "onnxruntime-web/wasm";
