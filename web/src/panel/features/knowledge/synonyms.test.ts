import { expect, it } from "vitest";
import { firstFault, groupsOf, lineOf } from "./synonyms";

it("takes a group a line, without empty lines", () => {
  expect(groupsOf(" buggy, pram \n\nmobile, cell phone\n")).toEqual(["buggy, pram", "mobile, cell phone"]);
});

it("finds the line of a group that the server refuses", () => {
  const text = "\nbuggy, pram\n \n\nmobile, cell phone\na, b";
  expect([0, 1, 2].map((group) => lineOf(text, group))).toEqual([2, 5, 6]);
});

it("names the first line that the server would refuse", () => {
  const many = (n: number) => Array.from({ length: n }, (_, i) => "w" + i).join(", ");
  expect([
    firstFault(""),
    firstFault("buggy, pram\n\nvélo, 自転車"),
    firstFault("buggy, pram\n\nalone"),
    firstFault("buggy, pram, "),
    firstFault("buggy, ?!"),
    firstFault("how, which # a comment"),
    firstFault(many(16)),
    firstFault(many(17)),
    firstFault("x, " + "é".repeat(148)),
    firstFault("x, " + "é".repeat(149)),
    firstFault(Array(200).fill("a, b").join("\n")),
    firstFault(Array(201).fill("a, b").join("\n")),
  ]).toEqual([undefined, undefined, 3, 1, 1, 1, undefined, 1, undefined, 1, undefined, "many"]);
});
