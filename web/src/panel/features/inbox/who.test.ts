import { describe, expect, it } from "vitest";
import { hidesNumber, nameOf, whoOver } from "./model";

const contact = {
  id: "k1234",
  name: "",
  email: "",
  number: "",
  language: "",
  verified: true,
  visitor_id: "",
  created_at: "",
  seen_at: "",
};
const window = {
  until: "2026-11-25T10:00:00.000Z",
  number: "",
  sender_id: "demo",
  sender: "15550100100",
  provider: "sandbox",
};

describe("a person without a number", () => {
  it("is called by the profile's name, else by the username, else as a visitor", () => {
    expect(nameOf({ name: "Ana", username: "ana.r" }, "k1234", "Visitor")).toBe("Ana");
    expect(nameOf({ username: "ana.r" }, "k1234", "Visitor")).toBe("@ana.r");
    expect(nameOf({}, "k1234", "Visitor")).toBe("Visitor 1234");
  });
  it("is known to the channel by the number that wrote, else by the username", () => {
    expect(
      whoOver({
        contact: { ...contact, username: "ana.r", number: "34600111222" },
        window: { ...window, number: "34600701234" },
      }),
    ).toBe("34600701234");
    expect(whoOver({ contact: { ...contact, username: "ana.r", number: "34600111222" }, window })).toBe("@ana.r");
    expect(whoOver({ contact: { ...contact, number: "34600111222" } })).toBe("34600111222");
    expect(whoOver({ contact, window })).toBe("");
  });
  it("hides the number whatever a teammate has noted, until the channel says it", () => {
    const known = { ...contact, user_id: "ES.1", username: "ana.r" };
    expect(hidesNumber({ contact: known, window })).toBe(true);
    expect(hidesNumber({ contact: { ...known, number: "34600111222" }, window })).toBe(true);
    expect(hidesNumber({ contact: known })).toBe(true);
    expect(hidesNumber({ contact: known, window: { ...window, number: "34600701234" } })).toBe(false);
    expect(hidesNumber({ contact, window })).toBe(false);
  });
});
