// How long @carillon/client waits, by a clock that this file turns: a recording takes as long as it goes on coming, other responses have a bound.
import assert from "node:assert/strict";
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
