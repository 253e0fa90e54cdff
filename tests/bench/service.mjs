// A client in another language: submits a batch, waits for it and reads its results.
// node tests/bench/service.mjs URL SAMPLES
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const [url, samples] = process.argv.slice(2);
const key = process.env.JUDGE_SERVICE_TOKEN;
const headers = key ? { Authorization: `Bearer ${key}` } : {};

async function call(path, options = {}) {
  const answer = await fetch(url + path, { headers, ...options });
  if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.json()).detail}`);
  return answer;
}

const body = Readable.toWeb(createReadStream(samples));
const sent = await call("/v1/batches?name=node", { method: "POST", body, duplex: "half" });
const place = sent.headers.get("location");
let batch;
do {
  await new Promise((done) => setTimeout(done, 200));
  batch = await (await call(place)).json();
} while (["queued", "checking", "running"].includes(batch.state));
const results = await call(`${place}/results`);
let read = 0;
let faithful = 0;
for await (const line of createInterface({ input: Readable.fromWeb(results.body) })) {
  const { scores } = JSON.parse(line);
  read += 1;
  faithful += scores.faithfulness === 1;
}
console.log(`node: ${batch.state}, ${read} results read, ${faithful} answers wholly faithful`);
process.exitCode = batch.state === "finished" && read === batch.done ? 0 : 1;
