import { expect, it } from "vitest";
import { countedUrl, isCounted } from "./links";
import { placesOf } from "./variables";
import { fieldsOf } from "../send/places";

it("counts clicks only on links of the installation with a variable at their end", () => {
  expect([countedUrl, countedUrl.replace("{{1}}", "{{ token }}")].map(isCounted)).toEqual([true, true]);
  expect(
    ["", undefined, "https://acme.test/{{1}}", countedUrl + "x", countedUrl.replace("{{1}}", "a{{1}}")].map(isCounted),
  ).toEqual([false, false, false, false, false]);
});

it("asks for a whole address instead of the end of a link", () => {
  const components = [
    { type: "BODY", text: "Look" },
    {
      type: "BUTTONS",
      buttons: [
        { type: "URL", text: "Track", url: countedUrl, example: [countedUrl.replace("{{1}}", "sample")] },
        { type: "URL", text: "See", url: "https://acme.test/{{1}}", example: ["https://acme.test/7"] },
      ],
    },
  ];
  expect(placesOf(components).map((p) => [p.key, !!p.counted])).toEqual([
    ["button_url_0", true],
    ["button_url_1", false],
  ]);
  const words = { countedValue: "Address of {text}", buttonValue: "Link of {text}", withSample: "{label} ({sample})" };
  expect(fieldsOf(words, components).map((f) => [f.label, f.sample])).toEqual([
    ["Address of Track", ""],
    ["Link of See (7)", "7"],
  ]);
});
