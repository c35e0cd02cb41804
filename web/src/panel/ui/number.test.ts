import { expect, it } from "vitest";
import table from "../../../../internal/base/number/testdata/numbers.json?raw";
import { cleaned, numberIn, phone } from "./number";

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

it("shows numbers one way, grouped behind the calling code", () => {
  const shown = (n: string) => phone(n).replaceAll("\u00a0", " ");
  expect(
    ["34600330005", "15550100100", "5511912345678", "33612345678", "351912345678", "4930123456", "1234567"].map(shown),
  ).toEqual([
    "+34 600 330 005",
    "+1 555 010 0100",
    "+55 11 91234 5678",
    "+33 6 12 34 56 78",
    "+351 912 345 678",
    "+49 3012 3456",
    "+1 234 567",
  ]);
  for (const other of ["", "0600111222", "anonymous", "US.13491208655302741918"]) expect(phone(other)).toBe(other);
  for (const n of ["34600330005", "5511912345678", "85512345678", "97212345678", "212612345678"])
    expect(cleaned(phone(n))).toBe(n);
});
