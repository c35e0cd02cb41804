import { expect, test } from "vitest";
import panelSource from "../../../../../internal/edge/panel/channels/check.go?raw";
import checkSource from "../../../../../internal/send/whatsapp/check.go?raw";
import registerSource from "../../../../../internal/send/whatsapp/register.go?raw";
import signUpSource from "../../../../../internal/send/whatsapp/signup.go?raw";
import signUpRoutes from "../../../../../internal/edge/panel/channels/signup.go?raw";
import { languages, setLanguage } from "../../i18n";
import { messageOf } from "./signup";
import { callsTexts, checkTexts, signUpTexts } from "./texts";
import { sent } from "./fields";
import { reachable } from "./reachable";
import { limitText, people, span } from "./limits";
import { stateOf } from "./SenderState";
import { idsOf, whereOf } from "./where";

test("each item and code that a check can find has a text, and what is wrong has a next step, in every language", async () => {
  const source = checkSource + panelSource;
  const items = [...source.matchAll(/\bitem[A-Z]\w+ += "(\w+)"/g)].map((m) => m[1]!);
  const codes = [
    ...new Set(
      [
        ...source.matchAll(
          /"((?:token|phone|account|version|number|secret|name|quality|limit|callback|not|subscribed|address|on|settings)_[a-z_]+|unreachable|connected|registered|subscribed)"/g,
        ),
      ].map((m) => m[1]!),
    ),
  ].filter(
    (c) =>
      !c.endsWith("_at") &&
      !["phone_number_id", "phone_numbers", "phone_number", "name_status", "quality_rating", "account_mode"].includes(
        c,
      ),
  );
  expect(items.length).toBe(14);
  codes.push("coexistence", "templates_misclassified");
  expect(codes.length).toBeGreaterThan(40);
  const bad = [...source.matchAll(/Finding(?:Bad|Warn), "(\w+)"/g)].map((m) => m[1]!);
  for (const language of Object.keys(languages) as (keyof typeof languages)[]) {
    await setLanguage(language);
    const t = { ...callsTexts.now, ...checkTexts.now } as Record<string, string>;
    for (const item of items) expect(t["item_" + item], `${language} ${item}`).toBeTruthy();
    for (const code of codes) expect(t[code], `${language} ${code}`).toBeTruthy();
    for (const code of [...bad, "templates_misclassified"])
      expect(t["do_" + code], `${language} do_${code}`).toBeTruthy();
    for (const item of items.filter((i) => i !== "connection")) {
      expect(t["where_" + item], `${language} where_${item}`).toBeTruthy();
      expect(whereOf(item, {}), item).toMatch(/^https:\/\/(developers|business)\.facebook\.com\//);
    }
    for (const why of registerSource.match(/(?<=: ")\w+(?=")/g)!.filter((w) => w.includes("_")))
      if (!["messaging_product", "sync_type"].includes(why))
        expect(t["refused_" + why], `${language} refused_${why}`).toBeTruthy();
  }
});

test("pages at Meta are found by the ids that are known, and by nothing else", () => {
  const finding = (app: string) => ({ item: "token", state: "ok" as const, code: "token_permanent", values: { app } });
  expect(whereOf("app_secret", idsOf("2000001", [finding("3000001")]))).toBe(
    "https://developers.facebook.com/apps/3000001/settings/basic/",
  );
  expect(whereOf("registration", idsOf("2000001", []))).toBe(
    "https://business.facebook.com/wa/manage/phone-numbers/?waba_id=2000001",
  );
  expect(whereOf("app_secret", idsOf("x", [finding("../evil")]))).toBe("https://developers.facebook.com/apps/");
  expect(whereOf("registration", idsOf("1&x", undefined))).toBe(
    "https://business.facebook.com/wa/manage/phone-numbers/",
  );
});

test("limits and durations are read", () => {
  expect(["TIER_250", "TIER_2K", "TIER_100K", "TIER_UNLIMITED", "TIER_NOT_SET"].map(people)).toEqual([
    250,
    2000,
    100_000,
    null,
    undefined,
  ]);
  const t = { limitMany: "{n} people", limitAny: "any" };
  expect(["TIER_2K", "TIER_UNLIMITED", "NEW"].map((l) => limitText(l, "en", t))).toEqual([
    "2,000 people",
    "any",
    "NEW",
  ]);
  expect([5_000, 90_000, 3_600_000, 7_260_000, 200_000_000].map((ms) => span(ms, "en"))).toEqual([
    "5 sec",
    "1 min",
    "1 hr",
    "2 hr 1 min",
    "2 days",
  ]);
});

test("an empty field means the usual, and a secret that is not typed stays", () => {
  expect(sent({ phone_number_id: "1", access_token: undefined, base_url: "", version: "" })).toEqual({
    phone_number_id: "1",
  });
  expect(sent({ base_url: "", version: "v24.0" }, { base_url: "https://x.example", version: "v23.0" })).toEqual({
    base_url: "https://graph.facebook.com",
    version: "v24.0",
  });
});

test("what holds messages back goes before what a check found", () => {
  const report = { worst: "ok" } as never;
  const breaker = { state: "open" } as never;
  expect(stateOf({ provider: "whatsapp", breaker, report }).text).toBe("paused");
  expect(stateOf({ provider: "whatsapp", breaker: { state: "closed" } as never, report }).text).toBe("connected");
  expect(
    stateOf({ provider: "whatsapp", breaker: { state: "closed" } as never, report: { worst: "" } as never }).text,
  ).toBe("unchecked");
  expect(
    stateOf({ provider: "sandbox", breaker: { state: "closed" } as never, report: { worst: "" } as never }).text,
  ).toBe("ready");
});

test("private addresses are distinguished from public ones", () => {
  const own = ["http://carillon.example.com", "https://localhost", "https://a.localhost", "https://10.1.2.3"];
  own.push(
    "https://192.168.0.4:8443",
    "https://carillon",
    "https://[::1]",
    "https://[fd00::1]",
    "https://box.internal",
  );
  for (const address of own) expect(reachable(address), address).toBe(false);
  for (const address of ["https://carillon.example.com", "https://10.example.com", "https://[2a00::1]"])
    expect(reachable(address), address).toBe(true);
});

test("each step and refusal of a sign-up has a text in every language", async () => {
  const source = signUpSource + signUpRoutes;
  const steps = [...source.matchAll(/\bstep[A-Z]\w+ += "(\w+)"/g)].map((m) => m[1]!);
  const refusals = [...source.matchAll(/(?:refused|failed)Step\(step\w+, "(\w+)"/g)].map((m) => m[1]!);
  expect(new Set(steps)).toEqual(new Set(["code", "number", "subscription", "sender", "callbacks"]));
  expect(refusals.length).toBeGreaterThan(9);
  for (const language of Object.keys(languages) as (keyof typeof languages)[]) {
    await setLanguage(language);
    const t = signUpTexts.now as Record<string, string>;
    for (const step of steps) expect(t["step_" + step], `${language} step_${step}`).toBeTruthy();
    for (const why of refusals) expect(t["refused_" + why], `${language} refused_${why}`).toBeTruthy();
  }
});

test("only messages of Facebook's dialog are read", () => {
  const finish = (
    event: string,
    data: object = { waba_id: "2000001", phone_number_id: "1000001", business_id: "3" },
  ) => ({ type: "WA_EMBEDDED_SIGNUP", event, data });
  const origin = "https://www.facebook.com";
  const finished = { kind: "finished", account: "2000001", number: "1000001" };
  for (const from of ["https://facebook.com", "https://business.facebook.com", origin])
    expect(messageOf({ origin: from, data: finish("FINISH") }), from).toEqual(finished);
  for (const from of [
    "http://www.facebook.com",
    "https://facebook.com.evil.test",
    "https://evilfacebook.com",
    "https://www.facebook.com:8443",
    "null",
    "",
  ])
    expect(messageOf({ origin: from, data: finish("FINISH") }), from).toBeUndefined();
  expect(messageOf({ origin, data: JSON.stringify(finish("FINISH")) })).toEqual(finished);
  expect(messageOf({ origin, data: finish("FINISH_WHATSAPP_BUSINESS_APP_ONBOARDING", { waba_id: 2000001 }) })).toEqual({
    kind: "finished",
    account: "2000001",
    number: undefined,
  });
  expect(messageOf({ origin, data: finish("FINISH_ONLY_WABA", { waba_id: "2000001" }) })).toEqual({
    kind: "numberMissing",
  });
  expect(messageOf({ origin, data: finish("CANCEL", { current_step: "PHONE" }) })).toEqual({ kind: "canceled" });
  expect(messageOf({ origin, data: finish("CANCEL", { error_message: "No" }) })).toEqual({
    kind: "failed",
    text: "No",
  });
  for (const data of [
    "cb=f1&domain=x",
    "{",
    null,
    7,
    { type: "other" },
    finish("LATER"),
    finish("FINISH", { waba_id: "x" }),
  ])
    expect(messageOf({ origin, data })).toBeUndefined();
});
