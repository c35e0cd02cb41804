import { expect, it } from "vitest";
import { certainty } from "./Certainty";

it("names a probability by its quarter", () => {
  expect([0, 0.24, 0.25, 0.49, 0.5, 0.74, 0.75, 1].map(certainty)).toEqual([
    "unlikely",
    "unlikely",
    "possible",
    "possible",
    "likely",
    "likely",
    "sure",
    "sure",
  ]);
});
