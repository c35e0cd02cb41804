import { describe, expect, it } from "vitest";
import { whoOf, wordOf } from "./who";

describe("whoOf", () => {
  it.each([
    ["34600111222", { number: "34600111222" }],
    [" +34 600 111-222 ", { number: "34600111222" }],
    ["US.13491208655302741918", { user_id: "US.13491208655302741918" }],
    ["US.ENT.118abc", { user_id: "US.ENT.118abc" }],
    ["019AC5B3-9a40-7c0d-b2e6-7f81a3c5d9e1", { contact_id: "019ac5b3-9a40-7c0d-b2e6-7f81a3c5d9e1" }],
    ["", null],
    ["Ana", null],
    ["123456", null],
    ["1234567890123456", null],
    ["us.123", null],
  ])("reads %j", (typed, who) => expect(whoOf(typed)).toEqual(who));
});

describe("wordOf", () => {
  it("is what was given", () => {
    expect(wordOf({ number: "34600111222" }, [])).toBe("34600111222");
    expect(wordOf({ user_id: "US.1" }, [])).toBe("US.1");
  });
});
