import { describe, expect, it } from "vitest";
import { Problem } from "../../api";
import { addressOf } from "./address";
import { bodyOf, faultsOf, shownValues, toSend, type Message } from "./message";
import { paceOf, span } from "./pace";
import { fieldsOf, samplesOf } from "./places";
import type { Template } from "./types";

const template = { id: "1", name: "hello", language: "en", sender: "main", variables: ["body_text_0"] } as Template;
const message: Message = {
  template,
  to: [{ number: "+34 600 70-22.22", name: " Ana  Díaz " }],
  values: { body_text_0: "{{ first_name }}", old: "x" },
  campaign: " spring ",
  kind: "utility",
  event: "",
  at: "",
  zone: "Europe/Madrid",
};

describe("a message", () => {
  it("is the request of the interface", () => {
    expect(bodyOf(message)).toEqual({
      contact: { number: "34600702222", name: "Ana Díaz", first_name: "Ana" },
      recipient_id: "main",
      name_template: "hello",
      language_template: "en",
      notification_type: "utility",
      campaign_name: "spring",
      components_push: { body_text_0: "{{ first_name }}" },
    });
    expect(bodyOf({ ...message, campaign: " ", to: [...message.to, { number: "600 702", name: "" }] })).toMatchObject({
      contacts: [{ number: "34600702222" }, { number: "600 702" }],
      campaign_name: "hello",
    });
    expect(bodyOf({ ...message, at: "2030-01-01T09:00", event: "go" })).toMatchObject({
      datetime_sending: "2030-01-01T09:00:00",
      timezone: "Europe/Madrid",
      name_event: "go",
    });
    const fallback = { after: "15m", agent: "a1", line: "line" };
    expect(bodyOf({ ...message, fallback })).toMatchObject({
      fallback: { channel: "call", after: "15m", recipient_id: "line", agent_id: "a1" },
    });
    expect([toSend("0034 (600) 702-222"), toSend("+49 (0)30 1234567"), toSend(" 600 702/222")]).toEqual([
      "34600702222",
      "49301234567",
      "600 702/222",
    ]);
  });
  it("is shown with the contact's fields", () => {
    expect(shownValues({ a: "{{ first_name }}", b: "x {{ y }}", c: "{{city}}" }, { first_name: "Ana" })).toEqual({
      a: "Ana",
      b: "x {{ y }}",
      c: undefined,
    });
  });
  it("has its faults at its fields", () => {
    const values = { body_text_0: "{{ city }}", button_url_0: "x" };
    const p = (code: string, details: Record<string, unknown>) =>
      faultsOf(new Problem(422, code, "no", details), values, "missing", "past");
    expect(p("variable_mismatch", { missing: ["city"], unexpected: ["button_url_0"] })).toEqual({
      body_text_0: "missing",
      button_url_0: "missing",
    });
    const places = (details: Record<string, unknown>) => Object.keys(p("validation_failed", details));
    expect(places({ field: "contact.number", expected_format: "Numbers only" })).toEqual(["to"]);
    expect(places({ field: "contacts.3.number", reason: "Too long" })).toEqual(["to"]);
    expect(places({ field: "components_push.body_text_0", reason: "Too long" })).toEqual(["body_text_0"]);
    expect(p("validation_failed", { field: "datetime_sending", current_time: "x" })).toEqual({ at: "past" });
    expect(p("quota_exceeded", {})).toEqual({});
    expect(places({ field: "fallback.recipient_id", reason: "No voice line" })).toEqual(["fallback.recipient_id"]);
    expect(Object.keys(p("agent_not_found", {}))).toEqual(["fallback.agent_id"]);
  });
});

const words = {
  withSample: "{label} · e.g. {sample}",
  headerValue: "Header {name}",
  bodyValue: "Variable {name}",
  buttonValue: "Link of “{text}”",
  image: "Image URL",
};

describe("the fields of a template", () => {
  const labels = (components: Template["components"]) => fieldsOf(words, components).map((f) => f.label);
  it("are named by their names and samples", () => {
    const numbered: Template["components"] = [
      { type: "HEADER", format: "TEXT", text: "Booking {{1}}", example: { header_text: ["HT-1042"] } },
      { type: "BODY", text: "Hello {{1}}, on {{2}} at {{3}}", example: { body_text: [["Ana", "Monday", ""]] } },
      {
        type: "BUTTONS",
        buttons: [{ type: "URL", text: "Your booking", url: "https://x.test/{{1}}", example: ["https://x.test/7"] }],
      },
    ];
    expect(labels(numbered)).toEqual([
      "Header {{1}} · e.g. HT-1042",
      "{{1}} · e.g. Ana",
      "{{2}} · e.g. Monday",
      "Variable 3",
      "Link of “Your booking” · e.g. 7",
    ]);
    expect(samplesOf({ components: numbered })).toEqual({
      header_text_0: "HT-1042",
      body_text_0: "Ana",
      body_text_1: "Monday",
      button_url_0: "7",
    });
    expect(
      labels([
        { type: "HEADER", format: "IMAGE" },
        {
          type: "BODY",
          text: "Hello {{guest_name}}",
          example: { body_text_named_params: [{ param_name: "guest_name", example: "Ana" }] },
        },
      ]),
    ).toEqual(["Image URL", "Guest name · e.g. Ana"]);
  });
});

describe("addresses and paces", () => {
  it("read what anybody may have written", () => {
    expect(addressOf({ tab: "files", template: 7, x: 1 })).toEqual({ tab: "files", template: "7" });
    expect(addressOf({ tab: "x", template: "" })).toEqual({});
    expect(addressOf({ tab: "call", number: 34600500001, name: "Ana", campaign: "" })).toEqual({
      tab: "call",
      number: "34600500001",
      name: "Ana",
    });
    expect(addressOf({ number: "34600500001" })).toEqual({});
  });
  it("are of the last seconds", () => {
    expect(paceOf([{ at: 0, n: 0 }])).toBeUndefined();
    expect(
      paceOf([
        { at: 0, n: 100 },
        { at: 2000, n: 500 },
      ]),
    ).toBe(200);
    expect([span(0.2, "en"), span(90, "en"), span(9000, "en")]).toEqual(["1 second", "2 minutes", "2.5 hours"]);
  });
});
