import { describe, expect, it } from "vitest";
import { nameOf, whoOver } from "./model";

const contact = { id: "k1234", name: "", email: "", number: "", language: "", verified: true, visitor_id: "", created_at: "", seen_at: "" };
const window = { until: "2026-11-25T10:00:00.000Z", number: "", sender_id: "demo", sender: "15550100100", provider: "sandbox" };

describe("a person without a number", () => {
  it("is called by the profile's name, else by the username, else as a visitor", () => {
    expect(nameOf({ name: "Ana", username: "ana.r" }, "k1234", "Visitor")).toBe("Ana");
    expect(nameOf({ username: "ana.r" }, "k1234", "Visitor")).toBe("@ana.r");
    expect(nameOf({}, "k1234", "Visitor")).toBe("Visitor 1234");
  });
  it("is known to the channel by the number that wrote, else by the username", () => {
    expect(whoOver({ contact: { ...contact, username: "ana.r", number: "34600111222" }, window: { ...window, number: "34600701234" } })).toBe("34600701234");
    expect(whoOver({ contact: { ...contact, username: "ana.r", number: "34600111222" }, window })).toBe("@ana.r");
    expect(whoOver({ contact: { ...contact, number: "34600111222" } })).toBe("34600111222");
    expect(whoOver({ contact, window })).toBe("");
  });
});
