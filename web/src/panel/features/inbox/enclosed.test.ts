import { expect, it } from "vitest";
import { money, total } from "./enclosed";

it("writes amounts as the language does, and leaves what is none", () => {
  expect(money("9.9", "EUR", "en")).toBe("€9.90");
  expect(money("1200", "CLP", "es")).toMatch(/1200/);
  expect(money("9.9", "no currency", "en")).toBe("9.9 no currency");
  expect(money("free", "EUR", "en")).toBe("free EUR");
  expect(money("5", undefined, "en")).toBe("5");
  expect(money(undefined, "EUR", "en")).toBe("");
});

it("adds up an order of one currency only", () => {
  const item = (price: string | undefined, quantity: string, currency = "EUR") => ({
    product_id: "a",
    price,
    quantity,
    currency,
  });
  expect(total({ items: [item("0.1", "3"), item("0.2", "1")] }, "en")).toBe("€0.50");
  expect(total({ items: [item("1", "1"), item("1", "1", "USD")] }, "en")).toBe("");
  expect(total({ items: [item(undefined, "1")] }, "en")).toBe("");
  expect(total({ items: [item("1", "some")] }, "en")).toBe("");
  expect(total({ items: [] }, "en")).toBe("");
});
