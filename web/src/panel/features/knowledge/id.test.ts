import { expect, it } from "vitest";
import { idOf } from "./id";

it("makes an id of any name", () => {
  expect(idOf("Tour FAQ")).toBe("Tour-FAQ");
  expect(idOf("  Días & precios: 2026! ")).toBe("Dias-precios-2026");
  expect(idOf("v1.2_notes")).toBe("v1.2_notes");
  expect(idOf("--_x")).toBe("x");
  expect(idOf("?!")).toBe("");
  expect(idOf("a".repeat(63) + " b")).toBe("a".repeat(63));
});
