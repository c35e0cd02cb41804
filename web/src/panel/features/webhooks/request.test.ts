import { describe, expect, it } from "vitest";
import { curlOf, pretty, whole } from "./request";
import { addressOf, hostOf, type Attempt } from "./types";

const attempt = { event_id: "evt_1", at: "2026-11-24T09:30:01Z", request: `{"data":{"text":"it's"}}` } as Attempt;

describe("a request to an endpoint", () => {
  it("is a command in which quotes stay quotes, and no signature", () => {
    const curl = curlOf(
      { url: "https://a.test/hook?x=1&y='", events: ["*"], headers: [{ name: "Authorization" }] },
      attempt,
    );
    expect(curl).toContain(`curl 'https://a.test/hook?x=1&y='\\'''`);
    expect(curl).toContain("-H 'webhook-timestamp: 1795512601'");
    expect(curl).toContain(`--data-raw '{"data":{"text":"it'\\''s"}}'`);
    expect(curl).not.toMatch(/signature|Authorization/i);
  });
  it("is shown over lines where it is JSON, and known to be cut", () => {
    expect(pretty(`{"a":1}`)).toBe(`{\n  "a": 1\n}`);
    expect(pretty("not found")).toBe("not found");
    expect([whole(attempt), whole({ ...attempt, request: "é".repeat(4096) })]).toEqual([true, false]);
  });
  it("stands in the address by its id alone", () => {
    expect(addressOf({ failed: true, delivery: "019ac5b3-9a41-7c0d-b2e6-7f81a3c5d9e2", other: 1 })).toEqual({
      failed: true,
      delivery: "019ac5b3-9a41-7c0d-b2e6-7f81a3c5d9e2",
    });
    expect(addressOf({ failed: "no", delivery: "<b>" })).toEqual({});
    expect([hostOf("https://a.test:8443/x?y"), hostOf("?")]).toEqual(["a.test:8443", "?"]);
  });
});
