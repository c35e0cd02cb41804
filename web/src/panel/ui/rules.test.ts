import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import table from "../../../../internal/edge/panel/form/rules.json?raw";
import { Problem } from "../api";
import { setLanguage, type Language } from "../i18n";
import { why } from "./problem";
import { sentenceOf } from "./rules";
import { rules, shared } from "./texts";

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

const shown = (details: Record<string, unknown>, code = "validation_failed") =>
  renderToStaticMarkup(why(new Problem(400, code, "Invalid value", details)));

it("says what the server refused in the language of the page, else that it did, and the server's sentence as English", async () => {
  const long = { reason: "Must have at most 60 characters", rule: "max_characters", values: { max: "60" } };
  await setLanguage("es");
  expect(shown(long)).toBe("Use como máximo 60 caracteres.");
  expect(shown({ reason: "Must be 13" })).toBe('No es válido. <span lang="en">Must be 13</span>');
  expect(shown({ reason: "Later on", rule: "of_a_later_version" })).toContain('<span lang="en">Later on</span>');
  expect(shown({ reason: "changed_meanwhile" }, "conflict")).toBe(shared.now.conflict);
  expect(shown({}, "of_a_later_version")).toBe(shared.now.failed);
  expect(sentenceOf({ rule: "placeholder" })).toContain("{{order_id}}");
  await setLanguage("en");
  expect(shown({ reason: "Must be 13" })).toBe('<span lang="en">Must be 13</span>');
});
