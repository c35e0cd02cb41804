import { expect, it } from "vitest";
import { ahead } from "./texts";

it("says who is ahead in a line, in a widget's own words too", () => {
  const text = "You're next.|1 person is ahead of you.|{n} people are ahead of you.";
  expect([1, 2, 3, 12].map((n) => ahead(text, n))).toEqual([
    "You're next.",
    "1 person is ahead of you.",
    "2 people are ahead of you.",
    "11 people are ahead of you.",
  ]);
  expect(ahead("Number {n}", 2)).toBe("Number 2");
});
