import { describe, expect, it } from "vitest";
import { dialed, withNumbers } from "./transfer";

describe("the numbers of a transfer", () => {
  it("are one or a list", () => {
    expect(dialed(undefined)).toEqual([]);
    expect(dialed({ number: "34600111333" })).toEqual(["34600111333"]);
    expect(dialed({ numbers: ["34600111333", "34600111444"] })).toEqual(["34600111333", "34600111444"]);
  });
  it("keep the other settings", () => {
    const one = { number: "34600111333", phrases: ["sales"], message: "Wait." };
    const two = withNumbers(one, ["34600111333", "34600111444"]);
    expect(two).toEqual({ numbers: ["34600111333", "34600111444"], phrases: ["sales"], message: "Wait." });
    expect(withNumbers(two, ["34600111333"])).toEqual(one);
    expect(withNumbers(one, [])).toBeUndefined();
  });
});
