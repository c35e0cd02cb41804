// Verifies deliveries of webhooks, which it reads as JSON from its input, with the library of Standard Webhooks.
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const cases = JSON.parse(await text(process.stdin));
assert.ok(cases.length > 0);
const wrong = cases.filter(({ secret, headers, body, ok }) => {
  try {
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    return !ok;
  } catch (error) {
    if (error.name === "AssertionError") throw error;
    return ok;
  }
});
assert.deepEqual(
  wrong.map((c) => c.name),
  [],
);
