// How long @carillon/client waits, by a clock that this file turns: a recording takes as long as it goes on coming, an upload as long as it goes on
// being sent, other responses have a bound.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mock } from "node:test";
import { CarillonClient, Unreachable } from "../../clients/typescript/dist/index.js";

mock.timers.enable({ apis: ["setTimeout"] });
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** started has a request under way: piece adds a part of its response, end ends it. */
async function started(request) {
  let body, signal;
  const response = new ReadableStream({ start(c) { body = c; } });
  const c = new CarillonClient("http://carillon.test", {
    companyToken: "token", retries: { attempts: 1 },
    fetch: async (_, options) => {
      signal = options.signal;
      signal.addEventListener("abort", () => body.error(signal.reason));
      return new Response(response);
    },
  });
  const result = request(c).then((value) => ({ value }), (error) => ({ error }));
  await settled();
  return {
    result, signal,
    async piece(text, afterSeconds) {
      mock.timers.tick(afterSeconds * 1000);
      await settled();
      if (!signal.aborted) body.enqueue(new TextEncoder().encode(text));
      await settled();
    },
    end() { body.close(); },
  };
}

const lasting = await started((c) => c.recording("a"));
for (let i = 0; i < 20; i++) await lasting.piece("0123456789", 50);
lasting.end();
assert.equal(new TextDecoder().decode((await lasting.result).value), "0123456789".repeat(20));
mock.timers.tick(3_600_000);
assert.equal(lasting.signal.aborted, false, "an attempt that ended leaves a timer");

const stuck = await started((c) => c.recording("a"));
await stuck.piece("0123456789", 50);
mock.timers.tick(60_000);
assert.ok((await stuck.result).error instanceof Unreachable);

const other = await started((c) => c.usage());
await other.piece('{"used":', 50);
await other.piece("1}", 50);
assert.ok((await other.result).error instanceof Unreachable);

// Uploads: in Node fetch takes a file piece by piece.
const file = new Blob(["0123456789".repeat(1 << 17)]);

/** sending has an upload under way: take takes the next piece of its file, respond responds. */
async function sending() {
  let asked, respond;
  const c = new CarillonClient("http://carillon.test", {
    companyToken: "token", retries: { attempts: 1 },
    fetch: (_, options) => new Promise((resolve, reject) => {
      asked = options;
      respond = resolve;
      options.signal.addEventListener("abort", () => reject(options.signal.reason));
    }),
  });
  const result = c.upload("a.pdf", file).then((value) => ({ value }), (error) => ({ error }));
  await settled();
  const sent = asked.body.get("file");
  let reader, got = "";
  return {
    result, asked, sent,
    async take(afterSeconds) {
      mock.timers.tick(afterSeconds * 1000);
      await settled();
      if (asked.signal.aborted) return true;
      const { done, value } = await (reader ??= sent.stream().getReader()).read();
      if (value) got += new TextDecoder().decode(value);
      return done;
    },
    async respond() {
      respond(new Response('{"id":"m1"}'));
      return result;
    },
    read: () => got,
  };
}

const slow = await sending();
let pieces = 0;
while (!await slow.take(50)) pieces++;
assert.ok(pieces > 10, `it is sent in ${pieces} pieces`);
mock.timers.tick(5_000);
assert.deepEqual(await slow.respond(), { value: { id: "m1" } });
assert.ok(slow.sent.name === "a.pdf" && slow.read() === await file.text(), "another file is sent");
mock.timers.tick(3_600_000);
assert.equal(slow.asked.signal.aborted, false, "an upload that ended leaves a timer");

const held = await sending();
for (let i = 0; i < 3; i++) await held.take(50);
mock.timers.tick(60_000);
assert.ok((await held.result).error instanceof Unreachable, "an upload that stands still goes on");

const early = await sending(); // the response comes before all is sent
await early.take(0);
await early.respond();
await early.take(0);
mock.timers.tick(60_000);
assert.equal(early.asked.signal.aborted, false, "a piece after the response begins a bound");

for (const late of [false, true]) { // nobody follows it: 1.25 MiB have 60 and 40 seconds in all
  const whole = await sending();
  mock.timers.tick(late ? 101_000 : 99_000);
  const { value, error } = late ? await whole.result : await whole.respond();
  assert.ok(late ? error instanceof Unreachable : value?.id === "m1", "an upload that cannot be followed");
}
mock.timers.reset();

// A server that takes three seconds and more for what it reads, and a bound of two.
const large = new Blob([new Uint8Array(64 << 20)]), some = 2 << 20;
let taken = 0, length;
const server = createServer((request, response) => {
  length = Number(request.headers["content-length"]);
  let left = some;
  request.on("data", (piece) => {
    taken += piece.length;
    left -= piece.length;
    if (left > 0) return;
    left = some;
    request.pause();
    setTimeout(() => request.resume(), 100);
  });
  request.on("end", () => response.end('{"id":"m2"}'));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const real = new CarillonClient(`http://127.0.0.1:${server.address().port}`, { companyToken: "token", retries: { attempts: 1 }, timeout: 2000 });
const begun = performance.now();
assert.deepEqual(await real.upload("a.pdf", large), { id: "m2" });
assert.ok(performance.now() - begun > 2500 && taken > large.size && length === taken, `${taken} bytes in ${performance.now() - begun} ms`);
server.closeAllConnections();
server.close();
