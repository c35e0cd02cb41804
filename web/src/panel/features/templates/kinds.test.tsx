import { describe, expect, it } from "vitest";
import { componentsOf, emptyForm, fieldOf, formOf, newApp, newButton, newCard, payloadOf, type Form } from "./form";
import { problemsOf } from "./rules";
import type { TemplateComponent } from "./types";
import { placesOf } from "./variables";

const base: Form = { ...emptyForm("en"), name: "x", body: "Hello" };
const marketing: Form = { ...base, category: "MARKETING" };
const code: Form = { ...base, category: "AUTHENTICATION", body: "" };
const card = () => ({ ...newCard(), body: "From {{1}}", samples: { "1": "9 €" }, buttons: [newButton("URL")] });

const rebuilt = (f: Form) => formOf({ ...f, components: componentsOf(f) });

describe("a one-time code", () => {
  const parts: TemplateComponent[] = [
    { type: "BODY", add_security_recommendation: true },
    { type: "FOOTER", code_expiration_minutes: 10 },
    { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE", text: "" }] },
  ];

  it("has no words of its own", () => {
    expect(payloadOf(code)).toEqual({
      name: "x",
      language: "en",
      category: "AUTHENTICATION",
      components: parts,
      message_send_ttl_seconds: 0,
    });
    expect(componentsOf(rebuilt(code))).toEqual(parts);
  });

  it("has a deadline within the bounds of its category", () => {
    expect(payloadOf({ ...code, ttl: "600" }).message_send_ttl_seconds).toBe(600);
    expect(problemsOf({ ...code, ttl: "901" })).toHaveProperty("ttl");
    expect(problemsOf({ ...code, ttl: "-1" })).not.toHaveProperty("ttl");
    expect(payloadOf({ ...code, category: "MARKETING", ttl: "600" }).message_send_ttl_seconds).toBe(0);
    expect(fieldOf(code, "message_send_ttl_seconds")).toBe("ttl");
  });
  it("takes the code once", () => {
    const read = [{ type: "BODY", text: "*{{1}}* is your code." }, ...parts.slice(1)];
    expect(placesOf(read).map((p) => p.key)).toEqual(["button_url_0"]);
    const listed = {
      type: "URL",
      text: "Copy",
      url: "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}",
    };
    expect(placesOf([read[0]!, { type: "BUTTONS", buttons: [listed] }]).map((p) => p.key)).toEqual(["button_url_0"]);
    expect(formOf({ ...code, components: [{ type: "BUTTONS", buttons: [listed] }] }).code.method).toBe("COPY_CODE");
  });

  it("says nothing of an end that it doesn't have", () => {
    const f = { ...code, code: { ...code.code, minutes: "" } };
    expect(rebuilt(f).code.minutes).toBe("");
    expect(problemsOf(f)).toEqual({});
  });

  it.each(["0", "91", "1.5", "x"])("expires after 1 to 90 minutes, not %s", (minutes) => {
    expect(problemsOf({ ...code, code: { ...code.code, minutes } })).toEqual({
      "code.minutes": { rule: "minutes", n: 90 },
    });
  });

  it("needs an app to fill in", () => {
    const f = (apps: Form["code"]["apps"]) => problemsOf({ ...code, code: { ...code.code, method: "ONE_TAP", apps } });
    expect(Object.keys(f([]))).toEqual(["code.apps"]);
    expect(Object.keys(f([{ ...newApp(), name: "app", hash: "short" }]))).toEqual([
      "code.apps.0.name",
      "code.apps.0.hash",
    ]);
    expect(f([{ ...newApp(), name: "com.example.app", hash: "K8a/AINcGX7" }])).toEqual({});
  });
});

describe("an offer", () => {
  const offer: Form = {
    ...marketing,
    offer: { on: true, text: "20% off", expires: true },
    buttons: [newButton("COPY_CODE"), { ...newButton("URL"), text: "Buy", url: "https://example.com" }],
  };

  it("asks for its end and for the coupon", () => {
    expect(placesOf(componentsOf(offer)).map((p) => p.key)).toEqual(["offer_expiration", "button_coupon_0"]);
    expect(rebuilt(offer).offer).toEqual(offer.offer);
  });

  it("is of marketing, short, and without a footer", () => {
    const wrong = { ...offer, category: "UTILITY", footer: "Bye", offer: { ...offer.offer, text: "x".repeat(17) } };
    expect(Object.keys(problemsOf(wrong)).sort()).toEqual(["buttons.0.sample", "footer", "offer", "offer.text"]);
  });
});

describe("a carousel", () => {
  const cards: Form = { ...marketing, cards: [card(), card()] };

  it("has places on each card", () => {
    expect(placesOf(componentsOf(cards)).map((p) => p.key)).toEqual([
      "card_0_header_image",
      "card_0_body_text_0",
      "card_1_header_image",
      "card_1_body_text_0",
    ]);
    expect(componentsOf(rebuilt(cards))).toEqual(componentsOf(cards));
  });

  it("has cards that are alike", () => {
    const odd = { ...cards, cards: [card(), { ...card(), buttons: [newButton("QUICK_REPLY")] }] };
    expect(problemsOf(odd).cards).toEqual({ rule: "alike" });
    expect(problemsOf({ ...cards, cards: [card()] }).cards).toEqual({ rule: "cards", n: 10 });
    expect(problemsOf({ ...cards, footer: "Bye" }).cards).toEqual({ rule: "plainCarousel" });
  });

  it("finds the field of a refusal", () => {
    expect(fieldOf(cards, "components.0.cards.1.components.1.text")).toBe("cards.1.body");
    expect(fieldOf(cards, "components.0.cards.1.components.2.buttons.0.url")).toBe("cards.1.buttons.0.url");
    expect(fieldOf(code, "components.2.buttons.0.supported_apps.0.signature_hash")).toBe("code.apps.0.hash");
  });
});

it("keeps a place, a product and the buttons of the channel", () => {
  const f: Form = {
    ...base,
    header: { ...base.header, kind: "LOCATION" },
    buttons: [{ ...newButton("FLOW"), text: "Book", flow: "12" }, newButton("CATALOG"), newButton("VOICE_CALL")],
    asksToCall: true,
  };
  expect(placesOf(componentsOf(f)).map((p) => p.key + (p.optional ? "?" : ""))).toEqual([
    "header_location_latitude",
    "header_location_longitude",
    "header_location_name",
    "header_location_address",
    "button_flow_0?",
    "button_product_1?",
  ]);
  expect(componentsOf(rebuilt(f))).toEqual(componentsOf(f));
});
