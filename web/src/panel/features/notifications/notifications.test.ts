import { describe, expect, it } from "vitest";
import { setLanguage } from "../../i18n";
import { addressOf, idIn, queryOf } from "./address";
import { chosenOf, shownOf } from "./chosen";
import { codes, pageTexts, reasons } from "./texts";
import { corrected } from "./corrected";
import { curlOf } from "./curl";
import { codeOf, explained } from "./reasons";
import { inOrder } from "./State";
import { lasted, stepsOf } from "./steps";
import type { Recipient, SentPage } from "./types";
import { instantIn, localIn } from "./zones";

describe("addresses", () => {
  it("take nothing that they do not know", () => {
    expect(
      addressOf({
        state: "gone",
        channel: "fax",
        campaign: " ",
        number: 34600111222,
        from: "2026-13-99",
        to: "2026-01-31",
      }),
    ).toEqual({ number: "34600111222", to: "2026-01-31" });
    expect(queryOf({ to: "2026-01-31" }).to).toBe(new Date(2026, 1, 1).toISOString().replace(".000", ""));
    expect(chosenOf({ state: "x", m: -1 })).toEqual({});
    expect(chosenOf({ state: "failed", m: 3 })).toEqual({ state: "failed", m: 3 });
  });
  it("know numbers and ids from other texts", () => {
    expect([
      idIn("wamid.HBgLMzQ2"),
      idIn("01a211ff-5250-7000-817f-c48c2d9a05b6.3"),
      idIn("go to agents"),
      idIn("agents"),
    ]).toEqual([true, true, false, false]);
  });
  it("show who failed first", () => {
    const r = (n: number, state: string) => ({ n, state }) as Recipient;
    expect(shownOf([r(0, "read"), r(1, "failed")], {})!.n).toBe(1);
    expect(shownOf([r(0, "read"), r(1, "failed")], { state: "read" })!.n).toBe(0);
    expect(shownOf([r(0, "read"), r(1, "failed")], { m: 0 })!.n).toBe(0);
  });
});

describe("a message", () => {
  it("has its counts from the best to the worst", () =>
    expect(inOrder({ failed: 1, read: 2, queued: 0, sent: 3 })).toEqual([
      ["read", 2],
      ["sent", 3],
      ["failed", 1],
    ]));
  const page = { created_at: "2026-11-25T10:00:00.000Z" } as SentPage;
  const times = {
    queued_at: "2026-11-25T10:00:00.000Z",
    sending_at: "2026-11-25T10:00:00.100Z",
    sent_at: "2026-11-25T10:00:01.300Z",
  };
  const texts = (r: Partial<Recipient>) =>
    stepsOf(
      { n: 0, number: "", message_id: "", state: "sent", attempts: 1, times, ...r },
      page,
      pageTexts.now,
      (state) => state,
      "en",
      Date.parse("2026-11-25T10:01:00Z"),
    ).map((s) => [s.text, s.more ?? ""].filter(Boolean).join(" | "));
  it("has a timeline with what each step took", () => {
    expect(texts({})).toEqual([
      "Accepted",
      "Sending | after 100 ms",
      "Accepted by WhatsApp | after 1.2 s",
      "Waiting for a receipt",
    ]);
    expect(
      texts({
        state: "read",
        times: { ...times, read_at: "2026-11-25T10:01:01.300Z", delivered_at: "2026-11-25T10:00:02.300Z" },
      }).slice(3),
    ).toEqual(["Delivered to the device | after 1 s", "Read | after 59 s"]);
    expect(
      texts({
        state: "queued",
        attempts: 2,
        due_at: "2026-11-25T10:02:00Z",
        detail: "131016 service unavailable",
        times: { queued_at: times.queued_at, sending_at: times.sending_at },
      }).slice(1)[1],
    ).toMatch(/^Next attempt at .* \| 131016/);
    expect(
      texts({
        state: "sending",
        unknown: true,
        due_at: "2026-11-25T10:10:00Z",
        times: { sending_at: times.sending_at },
      }).at(-1),
    ).toMatch(/^No response yet/);
    expect(texts({ state: "skipped", attempts: 0, times: { skipped_at: page.created_at } })).toEqual([
      "Accepted",
      "Not sent",
    ]);
    expect([lasted(340, "en"), lasted(250_000, "en"), lasted(7_500_000, "en")]).toEqual([
      "340 ms",
      "4 min 10 s",
      "2 h 5 min",
    ]);
  });
  it("goes on with the call that follows it", () => {
    const fallback = (f: Partial<NonNullable<Recipient["fallback"]>>, more: Partial<Recipient> = {}) =>
      texts({ fallback: { channel: "call", state: "waiting", ...f } as Recipient["fallback"], ...more }).slice(3);
    expect(fallback({ due_at: "2026-11-25T10:15:01.300Z" })[0]).toMatch(/^Will be called at .* if it isn't delivered$/);
    expect(fallback({})).toContain("Will be called if it isn't delivered");
    expect(fallback({ state: "not_needed", decided_at: "2026-11-25T10:00:30Z" })[0]).toBe(
      "Delivered in time: not called",
    );
    expect(fallback({ state: "skipped", decided_at: "2026-11-25T10:20:00Z", reason: "quota_exceeded" })[0]).toMatch(
      /^Not delivered, and not called: The company's calls/,
    );
    expect(
      fallback(
        { state: "called", decided_at: "2026-11-25T10:15:01Z", call_id: "x.0", call_state: "completed" },
        {
          call: {
            call_id: "x.0",
            has_recording: false,
            ringing_at: "2026-11-25T10:15:03Z",
            answered_at: "2026-11-25T10:15:08Z",
            ended_at: "2026-11-25T10:16:00Z",
          },
        },
      ),
    ).toEqual(["Not delivered: called by an agent", "Dialed", "Answered", "Call: completed", "Waiting for a receipt"]);
  });
  it("is explained by the provider's code, else by the reason; each reason and code says what to do", async () => {
    expect(codeOf("131026 undeliverable (trace Ax)")).toBe("131026");
    expect(codeOf("132000/33 x")).toBe("132000");
    expect([codeOf("sandbox: refused"), codeOf(undefined), codeOf("12345678901 x")]).toEqual(["", "", ""]);
    expect(explained("provider_refused", "131021 recipient is the sender")!.why).toBe(
      "The recipient is the sender itself",
    );
    await setLanguage("es");
    expect(explained("undeliverable", "sandbox: refused")!.next).toMatch(/^Compruebe/);
    expect(explained("new_reason", "")).toEqual({ why: "new reason", next: "" });
    for (const language of ["es", "pt", "en"] as const) {
      await setLanguage(language);
      for (const all of [reasons.now, codes.now] as Record<string, string>[])
        for (const key of Object.keys(all)) if (!key.endsWith("_next")) expect(all[key + "_next"], key).toBeTruthy();
    }
  });
  it("goes to another number of one of its recipients, now", () => {
    const body = JSON.stringify({
      contacts: [{ number: "1" }, { number: "2", name: "Bea", user_id: "u" }],
      campaign_name: "c",
      datetime_sending: "2026-01-01T00:00:00",
      timezone: "UTC",
    });
    expect(corrected({ body, unflatten: false }, 1, "3")).toEqual({
      campaign_name: "c",
      contact: { number: "3", name: "Bea" },
    });
    expect(corrected({ body, unflatten: true }, 1, "3")).toBeUndefined();
  });
  it("is asked for again by a command without a key in it", () => {
    expect(curlOf("https://a.test", { channel: "messaging", unflatten: true, body: '{"a": "it\'s"}' })).toBe(
      "curl \"https://a.test/functions/v1/notify?access_key=$CARILLON_ACCESS_KEY&unflatten=true\" \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"a\":\"it'\\''s\"}'",
    );
  });
});

describe("the clocks of a zone", () => {
  it("show an instant, and the other way round", () => {
    const at = Date.UTC(2026, 6, 1, 10, 30);
    expect(localIn(at, "Europe/Madrid")).toBe("2026-07-01T12:30");
    for (const zone of ["UTC", "America/Lima", "Asia/Kathmandu", "Pacific/Apia"])
      expect(instantIn(localIn(at, zone), zone)).toBe(at);
    expect(instantIn("2026-10-25T02:30", "Europe/Madrid")).toBe(Date.UTC(2026, 9, 25, 0, 30)); // twice: the first
    expect(instantIn("2026-03-29T02:30", "Europe/Madrid")).toBe(Date.UTC(2026, 2, 29, 1, 0)); // never: just after the gap
    expect(instantIn("", "UTC")).toBeUndefined();
  });
});
