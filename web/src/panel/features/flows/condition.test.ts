import { expect, test } from "vitest";
import { blank, lacks, operators, read, said, write, type Condition, type Row } from "./condition";
import { conditionTexts } from "./texts/en";

const row = (variable: string, operator: Row["operator"], value = ""): Row => ({ variable, operator, value });

test("rows are read from the expression that they write", () => {
  const rows = operators.map((o) =>
    row("x", o, o === "empty" || o === "filled" ? "" : /more|most|least|less/.test(o) ? "-1.5" : "a"),
  );
  const texts = ["it's", 'a "b"', "back\\slash", "two\nlines", "¿sí?", "a and b", "5"].map((v) =>
    row("x_1", "is_not", v),
  );
  for (const join of ["and", "or"] as const)
    for (const all of [...rows.map((r) => [r]), rows, texts]) {
      const c: Condition = { join: all.length > 1 ? join : "and", rows: all };
      expect(read(write(c)), write(c)).toEqual(c);
    }
});

test("expressions that people wrote are read, as far as rows can hold them", () => {
  const cases: [string, Row[], Condition["join"]?][] = [
    ["received == 'no'", [row("received", "is", "no")]],
    ['received=="no"', [row("received", "is", "no")]],
    ["(received == 'no')", [row("received", "is", "no")]],
    ["total > 100 and not (city contains 'Vigo')", [row("total", "more", "100"), row("city", "contains_not", "Vigo")]],
    ["city not contains 'Vigo'", [row("city", "contains_not", "Vigo")]],
    ["a == '' || b != \"\"", [row("a", "empty"), row("b", "filled")], "or"],
    ["status == 200", [{ ...row("status", "is", "200"), number: true }]],
  ];
  for (const [text, rows, join] of cases) expect(read(text), text).toEqual({ join: join ?? "and", rows });
  expect(write(read("status == 200 && a == 'b'")!)).toBe("status == 200 and a == 'b'");
});

test("an expression that rows can't hold stays", () => {
  for (const text of [
    "",
    "received",
    "choice is refund",
    "a == b",
    "a == 'x' and b == 'y' or c == 'z'",
    "a in ['x', 'y']",
    "a matches '^x'",
    "not (a == 'x')",
    "a > '5'",
    "a contains 5",
    "a contains ''",
    "a + 1 > 3",
    "'x' == a",
    "a == 'x' and",
    "a == 'x",
    "a == '\\u0041'",
    "not == 'x'",
    "a == -'x'",
    "true",
  ])
    expect(read(text), text).toBeNull();
});

test("a row says what it lacks, and its expression is invalid until then", () => {
  const cases: [Row, ReturnType<typeof lacks>, string][] = [
    [blank(), "variable", " =="],
    [blank("x"), "value", "x =="],
    [row("x", "more", "many"), "number", "x >"],
    [row("a b", "is", "c"), "variable", "a b == 'c'"],
    [row("not", "is", "c"), "variable", "not == 'c'"],
    [row("x", "empty"), undefined, "x == ''"],
    [row("x", "less", "3"), undefined, "x < 3"],
  ];
  for (const [r, want, text] of cases) expect([lacks(r), write({ join: "and", rows: [r] })]).toEqual([want, text]);
});

test("a condition is said in words, unless rows can't hold it", () => {
  expect(said("answer == 'Refund'", conditionTexts)).toBe("answer is “Refund”");
  expect(said("total > 100 or city == ''", conditionTexts)).toBe("total is greater than 100 or city is empty");
  expect(said("not (city contains 'Vigo')", conditionTexts)).toBe("city doesn't contain “Vigo”");
  expect(said("a in ['x', 'y']", conditionTexts)).toBe("a in ['x', 'y']");
});
