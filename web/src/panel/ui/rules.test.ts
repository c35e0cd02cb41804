import { expect, it } from "vitest";
import table from "../../../../internal/edge/panel/form/rules.json?raw";
import { Problem } from "../api";
import { setLanguage, type Language } from "../i18n";
import { sentenceOf } from "./rules";
import { rules } from "./texts";

const all = JSON.parse(table) as { rule: string; reasons: string[] }[];
const placesIn = (text: string) => [...text.matchAll(/(?<!\{)\{(\w+)\}(?!\})/g)].map((m) => m[1]!);

it.each(["en", "es", "pt"] as Language[])(
  "has a sentence of each rule in %s, with values that each reason has",
  async (l) => {
    await setLanguage(l);
    expect(Object.keys(rules.now).sort()).toEqual(all.map((r) => r.rule).sort());
    for (const { rule, reasons } of all)
      for (const place of placesIn((rules.now as Record<string, string>)[rule]!))
        for (const reason of reasons) expect(placesIn(reason), `${rule}: ${reason}`).toContain(place);
    await setLanguage("en");
  },
);

it("says what the server refused in the language of the page, else in the server's words", async () => {
  const refused = (details: Record<string, unknown>) => new Problem(400, "validation_failed", "Invalid value", details);
  const long = {
    field: "name",
    reason: "Must have at most 60 characters",
    rule: "max_characters",
    values: { max: "60" },
  };
  await setLanguage("es");
  expect(refused(long).reason).toBe("Use como máximo 60 caracteres.");
  expect(refused({ reason: "Must be 13" }).reason).toBe("Must be 13");
  expect(refused({ reason: "Later", rule: "of_a_later_version" }).reason).toBe("Later");
  expect(sentenceOf({ rule: "placeholder" })).toContain("{{order_id}}");
  expect(refused({}).reason).toBe("");
  await setLanguage("en");
});
