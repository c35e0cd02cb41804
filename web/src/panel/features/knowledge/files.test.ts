import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Problem } from "../../api";
import { setLanguage } from "../../i18n";
import { fileTexts } from "./texts";
import { found, whyNot } from "./files";
import { inParts } from "./useArticles";

const article = (title: string, text = "x") => ({ title, text, url: "" });

test("duplicates are those of the base and of earlier files", () => {
  const all = found([article("A"), article("B"), article("B"), article("B", "y")], [article("A")]);
  expect(all.map((f) => f.duplicate)).toEqual([true, false, true, false]);
});

test("a fault is said in the language of the page, with its line", async () => {
  const problem = (fault: string, line?: number) =>
    new Problem(400, "validation_failed", "", { field: "file", reason: "The file is damaged", fault, line });
  await setLanguage("es");
  expect(whyNot(problem("no_answer", 7), fileTexts.now)).toBe("Línea 7: falta la respuesta.");
  await setLanguage("en");
  expect(whyNot(problem("encrypted"), fileTexts.now)).toBe("The file has a password. Save it without one.");
  expect(renderToStaticMarkup(whyNot(problem("new_one"), fileTexts.now))).toContain("The file is damaged");
  expect(whyNot(new Problem(413, "payload_too_large", ""), fileTexts.now)).toBe(fileTexts.now.tooBig);
});

test("articles are sent in requests of bounded size, in order", () => {
  const all = Array.from({ length: 7 }, (_, i) => article(String(i), "x".repeat(1_000_000)));
  const parts = inParts(all);
  expect(parts.map((p) => p.length)).toEqual([2, 2, 2, 1]);
  expect(parts.flat()).toEqual(all);
  expect(inParts([])).toEqual([]);
});
