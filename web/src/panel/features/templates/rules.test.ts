import { expect, it } from "vitest";
import drafts from "../../../../../internal/base/content/testdata/drafts.json";
import type { TemplateComponent } from "./types";
import { componentsOf, emptyForm, fieldOf, formOf, named, nextVariable, payloadOf, sampleValues } from "./form";
import { advice, problemsOf } from "./rules";

interface Case {
  name: string;
  field: string;
  payload: {
    name: string;
    language: string;
    category: string;
    content: string;
    samples: Record<string, string>;
    components: TemplateComponent[];
    message_send_ttl_seconds?: number;
  };
}
const cases = drafts as unknown as Case[];

const formFrom = (p: Case["payload"]) => ({
  ...formOf({ ...p, components: [...p.components, { type: "BODY", text: p.content }] }),
  samples: p.samples,
});

it.each(cases.map((c) => [c.name, c] as const))("judges %s as the server does", (_, c) => {
  const form = formFrom(c.payload);
  const found = Object.keys(problemsOf(form));
  const want = c.field.replace("!", "");
  expect(found.slice(0, 1)).toEqual(want ? [fieldOf(form, want)] : []);
});

it("gives back the payload that it was made of", () => {
  const { payload } = cases.find((c) => c.name === "everything")!;
  expect(payloadOf(formFrom(payload))).toEqual(payload);
  expect(cases.length).toBeGreaterThan(70);
});

it("keeps samples, and takes names for none", () => {
  const f = formOf({
    name: "x",
    language: "en",
    category: "UTILITY",
    components: [
      {
        type: "HEADER",
        format: "TEXT",
        text: "To {{who}}",
        example: { header_text_named_params: [{ param_name: "who", example: "Ana" }] },
      },
      {
        type: "BODY",
        text: "{{a}} {{b}}",
        example: {
          body_text_named_params: [
            { param_name: "a", example: "Monday" },
            { param_name: "b", example: "b" },
          ],
        },
      },
      {
        type: "BUTTONS",
        buttons: [{ type: "URL", text: "Open", url: "https://x.test/{{1}}", example: ["https://x.test/k8"] }],
      },
    ],
  });
  expect(f.samples).toEqual({ a: "Monday" });
  expect(sampleValues(f)).toEqual({ header_text_0: "Ana", body_text_0: "Monday", body_text_1: "", button_url_0: "k8" });
  expect(payloadOf(f).components[0]!.example).toEqual({
    header_text_named_params: [{ param_name: "who", example: "Ana" }],
  });
  expect(payloadOf(f).components[1]!.buttons![0]!.example).toEqual(["https://x.test/k8"]);
  expect(
    formOf({
      name: "x",
      language: "en",
      category: "UTILITY",
      components: [{ type: "BODY", text: "{{2}} {{1}}", example: { body_text: [["one", "two"]] } }],
    }).samples,
  ).toEqual({ 1: "one", 2: "two" });
});

it("names the next variable", () => {
  const f = emptyForm("en");
  expect(nextVariable({ ...f, body: "Hi" })).toBe("1");
  expect(nextVariable({ ...f, body: "Hi {{1}} {{2}}" })).toBe("3");
  expect(nextVariable({ ...f, body: "Hi {{name}} {{value_1}}" })).toBe("value_2");
  expect(named({ ...f, header: { ...f.header, kind: "IMAGE", text: "{{a}}" } })).toBe(false);
});

it("warns of what reviewers reject", () => {
  const f = emptyForm("en");
  expect(advice({ ...f, body: "{{1}}, welcome to the harbour of our town" })).toEqual(["edges"]);
  expect(advice({ ...f, body: "On {{1}} {{2}} at" })).toEqual(["dense"]);
  expect(advice({ ...f, body: "Hello {{1}}, see you on Monday." })).toEqual([]);
});

it("leaves an empty header out of what a phone shows", () => {
  const f = { ...emptyForm("en"), body: "Hi", header: { kind: "TEXT" as const, text: "", sample: "", handle: "" } };
  expect(componentsOf(f).map((c) => c.type)).toEqual(["BODY"]);
});
