import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { TemplateComponent } from "./types";
import { piecesOf, type Piece } from "./markup";
import { Preview, type PreviewProps } from "./Preview";
import { placesOf } from "./variables";

declare const process: { cpuUsage(from?: object): { user: number } }; // of Node, whose other types pages have no use for

const flat = (pieces: Piece[]): string =>
  pieces
    .map((p) => (typeof p === "string" ? p : "variable" in p ? `<${p.variable}>` : `(${p.mark} ${flat(p.pieces)})`))
    .join("");

describe("the marks of a text", () => {
  it.each([
    ["*bold* and _slanted_ and ~gone~", "(bold bold) and (italic slanted) and (struck gone)"],
    ["*_both_*", "(bold (italic both))"],
    ["`x*y*z` and ```a\nb```", "(code x*y*z) and (block a\nb)"],
    ["2*3*4, snake_case_name, a~b~c", "2*3*4, snake_case_name, a~b~c"],
    ["* no * and *no\nline*", "* no * and *no\nline*"],
    ["*open, ~shut ~ and ``", "*open, ~shut ~ and ``"],
    ["** and __", "** and __"],
    ["```open", "```open"],
    ["(*so*)!", "((bold so))!"],
    ["*Hola {{ 1 }}*: {{name}}", "(bold Hola <1>): <name>"],
    ["{{1}}*x*{{1}}", "<1>(bold x)<1>"],
    ["<b>&amp;</b>", "<b>&amp;</b>"],
  ])("%s", (text, want) => expect(flat(piecesOf(text))).toBe(want));

  it("are read after the values stand in it, as on the phone", () => {
    const values: Record<string, string> = { a: "*loud*", b: "  ", c: "x\ue000y" };
    expect(flat(piecesOf("{{a}} {{b}} {{c}} $& {{d}}", (n) => values[n]))).toBe("(bold loud) <b> xy $& <d>");
  });

  it("take no time to speak of in a text that is made of them", () => {
    const begun = process.cpuUsage(); // other programs may have the processor meanwhile
    for (const c of "*_~`") piecesOf((c + "a ").repeat(50_000));
    piecesOf("*_".repeat(2000) + "x" + "_*".repeat(2000));
    expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
  });
});

const full: TemplateComponent[] = [
  { type: "HEADER", format: "TEXT", text: "Visit {{1}}" },
  { type: "BODY", text: "Hello {{name}}, *{{day}}* and {{name}}" },
  { type: "FOOTER", text: "*Harbour*" },
  {
    type: "BUTTONS",
    buttons: [
      { type: "QUICK_REPLY", text: "Yes" },
      { type: "URL", text: "Open", url: "https://x.test/{{1}}" },
      { type: "PHONE_NUMBER", text: "Call", phone_number: "34600111222" },
      { type: "COPY_CODE", text: "Copy" },
    ],
  },
];
const drawn = (props: PreviewProps) => renderToStaticMarkup(<Preview at="2026-11-25T10:30:00Z" {...props} />);

describe("the preview", () => {
  it("names the places with the keys of a request", () => {
    expect(placesOf(full).map((p) => `${p.key}=${p.name}`)).toEqual([
      "header_text_0=1",
      "body_text_0=name",
      "body_text_1=day",
      "button_url_1=1",
      "button_coupon_3=coupon",
    ]);
    expect(
      placesOf([
        { type: "HEADER", format: "IMAGE" },
        { type: "BODY", text: "{{10}} {{2}}" },
      ]).map((p) => p.key),
    ).toEqual(["header_image", "body_text_0", "body_text_1"]);
    expect(placesOf([{ type: "BODY", text: "{{10}} {{2}}" }]).map((p) => p.name)).toEqual(["2", "10"]);
  });

  it("shows what has no value as a chip, and everything else as the phone does", () => {
    const html = drawn({
      components: full,
      values: { body_text_0: "<Ana> & co", header_text_0: "A-1" },
      state: "read",
      sender: "Harbour Bank",
    });
    expect(html).toContain("Visit A-1");
    expect(html).toContain("Hello &lt;Ana&gt; &amp; co, <strong><bdi");
    expect(html).toContain("{{day}}</bdi></strong> and &lt;Ana&gt; &amp; co");
    expect(html).toContain("*Harbour*"); // a footer has no marks
    expect(html).toContain("See all options");
    expect(html).toContain('aria-label="Read"');
    expect(html.match(/preview-chip/g)).toHaveLength(2);
    expect(drawn({ components: full, values: { button_url_1: "k8" } })).toContain('title="Opens https://x.test/k8"');
  });

  it("has a place for each kind of medium, and loads nothing from elsewhere", () => {
    for (const format of ["IMAGE", "VIDEO", "DOCUMENT"]) {
      const components = [
          { type: "HEADER", format },
          { type: "BODY", text: "x" },
        ],
        key = "header_" + format.toLowerCase();
      expect(drawn({ components })).toContain(`{{${format.toLowerCase()}}}`);
      const html = drawn({ components, values: { [key]: "https://cdn.test/a%20file.pdf?x=1" } });
      expect(html).toContain("a file.pdf");
      expect(html).not.toContain("<img");
    }
    expect(
      drawn({
        components: [{ type: "HEADER", format: "IMAGE" }],
        values: { header_image: "data:image/png;base64,AA" },
      }),
    ).toContain("<img");
  });

  it("holds without a body, with right-to-left text and one long word", () => {
    expect(drawn({ components: [] })).toContain("The message appears here");
    const html = drawn({ components: [{ type: "BODY", text: "مرحبا {{1}} " + "x".repeat(3000) }], scheme: "dark" });
    expect(html).toContain('dir="auto"');
    expect(html).toContain('data-scheme="dark"');
  });
});
