import { expect, it } from "vitest";
import { preview } from "./templates";

it("previews a template with the values that are there", () => {
  const t = {
    name: "booked",
    language: "en",
    category: "UTILITY",
    needs: ["header_text_0", "body_text_0", "body_text_1"],
    components: [
      { type: "HEADER", format: "TEXT", text: "Booking {{1}}" },
      { type: "BODY", text: "Hello {{2}}, {{1}} and {{2}} at {{3}}" },
      { type: "FOOTER", text: "Harbour" },
      { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Thanks" }] },
    ],
  };
  const values: Record<string, string> = { header_text_0: "HT-1", body_text_0: "$& {{2}}", body_text_1: "Ana" };
  expect(preview(t, (k) => values[k] ?? "")).toBe(
    "Booking HT-1\nHello Ana, $& {{2}} and Ana at {{3}}\nHarbour\n[Thanks]",
  );
});

it("numbers named variables by the order in which they appear", () => {
  const t = {
    name: "x",
    language: "en",
    category: "UTILITY",
    needs: [],
    components: [{ type: "BODY", text: "{{ weather }} at {{time}}, {{weather}}" }],
  };
  expect(preview(t, (k) => ({ body_text_0: "Wind", body_text_1: "9:00" })[k] ?? "")).toBe("Wind at 9:00, Wind");
});
