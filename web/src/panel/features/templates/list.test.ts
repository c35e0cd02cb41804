import { expect, it } from "vitest";
import { addressOf, newAddressOf } from "./address";
import { changed, difference } from "./diff";
import { filtered, ordered } from "./list";
import { explained } from "./reasons";
import { texts } from "./texts";
import type { TemplateRow } from "./types";

const row = (name: string, language: string, more: Partial<TemplateRow> = {}): TemplateRow => ({
  id: name + language,
  name,
  language,
  status: "approved",
  category: "UTILITY",
  sender: "main",
  number: "1",
  provider: "sandbox",
  parameter_format: "NAMED",
  components: [],
  variables: [],
  body: "Hi",
  created_at: "",
  updated_at: "",
  version: "1",
  ...more,
});

it("keeps the languages of a name together, and filters by every word without accents", () => {
  const all = [
    row("b", "es"),
    row("a", "pt"),
    row("b", "en"),
    row("b", "en", { sender: "other" }),
    row("c", "es", { body: "Excursión reservada", status: "draft" }),
  ];
  expect(ordered(all).map((t) => `${t.sender}/${t.name}/${t.language}`)).toEqual([
    "main/a/pt",
    "main/b/en",
    "main/b/es",
    "other/b/en",
    "main/c/es",
  ]);
  expect(filtered(all, { q: "reservada EXCURSION" }).map((t) => t.name)).toEqual(["c"]);
  expect(filtered(all, { status: "draft", language: "pt" })).toEqual([]);
});

it("reads addresses that anybody may have written", () => {
  expect(addressOf({ status: "lost", language: 5, q: 12 })).toEqual({ q: "12" });
  expect(addressOf({ status: "paused", language: "es_ES", q: " ", company: "x" })).toEqual({
    status: "paused",
    language: "es_ES",
  });
  expect(newAddressOf({ copy: "12" })).toEqual({ copy: "12" });
  expect(newAddressOf({ copy: "../1" })).toEqual({});
});

it("compares by words", () => {
  const short = (a: string, b: string) =>
    difference(a, b)
      .map((x) => ({ same: "", gone: "-", new: "+" })[x.kind] + x.text)
      .join("|");
  expect(short("Hello {{1}}, soon.", "Good morning {{1}}, soon.")).toBe("-Hello |+Good morning |{{1}}, soon.");
  expect(short("", "a b")).toBe("+a b");
  expect(difference("same", "same")).toEqual([{ kind: "same", text: "same" }]);
  const text = (t: string) => ({
    name: "x",
    language: "en",
    category: "UTILITY",
    components: [
      { type: "BODY", text: t },
      { type: "BUTTONS", buttons: [{ type: "URL", text: "Open", url: "https://x.test" }] },
    ],
  });
  expect(changed(text("a"), { ...text("b"), category: "MARKETING" }).map((p) => p.part)).toEqual(["category", "body"]);
});

it("explains what it knows, and shows the channel's words otherwise", () => {
  expect(explained(texts.now, "INVALID_FORMAT; Too many variables")).toMatchObject({
    what: texts.now.INVALID_FORMAT,
    words: "Too many variables",
  });
  expect(explained(texts.now, "NONE")).toEqual({ what: "", next: "", words: "" });
  expect(explained(texts.now, "Something else")).toEqual({ what: "", next: "", words: "Something else" });
});
