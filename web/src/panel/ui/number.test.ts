import { expect, it } from "vitest";
import table from "../../../../internal/base/number/testdata/numbers.json?raw";
import { cleaned, numberIn } from "./number";

const rows = JSON.parse(table) as { text: string; number: string }[];

it("reads numbers as the server reads lists", () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const { text, number } of rows) expect(cleaned(text), JSON.stringify(text)).toBe(number);
});

it("takes digits as they are where somebody looks for a number", () => {
  expect([
    numberIn("0600111222"),
    numberIn(" +34 600 111-222 "),
    numberIn("+49 (0)30 1234567"),
    numberIn("12345"),
    numberIn("a34600111222"),
    numberIn("3.46E+10"),
  ]).toEqual(["0600111222", "34600111222", "49301234567", "", "", ""]);
});
