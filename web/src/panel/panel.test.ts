import { expect, test } from "vitest";
import { address, setCompany } from "./api";
import { browserName, duration, initials, relative } from "./format";
import { fill } from "./i18n";
import { nextOf } from "./next";

test("after the sign-in only a page of the panel follows", () => {
  for (const good of ["/keys", "/inbox/1?company=2", "/users#x"]) expect(nextOf(good)).toBe(good);
  for (const bad of [
    "//evil.test",
    "/\\evil.test",
    "https://evil.test",
    "javascript:alert(1)",
    "keys",
    "",
    undefined,
    5,
    ["/keys"],
    "/a\\b",
    "/a\nb",
    "/sign-in",
    "\\\\evil.test",
    "\\/evil.test",
    "/\t/evil.test",
    " //evil.test",
    "%2f%2fevil.test",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "@evil.test",
    "?next=//evil.test",
    "#//evil.test",
  ])
    expect(nextOf(bad)).toBe("/");
});

test("an address has the company and what is given of the query", () => {
  expect(address("/keys", { limit: 5, cursor: undefined, tag: "", q: "a&b", knowledge: ["x", "y"] })).toBe(
    "/panel/v1/keys?limit=5&q=a%26b&knowledge=x&knowledge=y",
  );
  setCompany("c1");
  expect(address("/keys")).toBe("/panel/v1/keys?company=c1");
  setCompany("");
});

test("times are shown by their distance", () => {
  const now = Date.parse("2026-11-24T12:00:00Z");
  expect(relative("2026-11-24T11:57:00Z", "en", now)).toBe("3 min ago");
  expect(relative("2026-11-24T11:59:40Z", "en", now)).toBe("now");
  expect(relative("2027-02-22T11:59:59Z", "en", now)).toBe("in 3 months");
  expect(relative("2026-11-23T12:00:00Z", "es", now)).toBe("ayer");
});

test("names are shortened, browsers are named, texts are filled", () => {
  expect([initials("Ana Berg"), initials("ana@x.test"), initials("")]).toEqual(["AB", "A", "?"]);
  expect(
    browserName(
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0",
    ),
  ).toBe("Edge · Windows");
  expect(
    browserName(
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1",
    ),
  ).toBe("Safari · iOS");
  expect(browserName("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")).toBe("Firefox · Linux");
  expect(fill("{a} and {b}", { a: 1 })).toBe("1 and {b}");
});

test("durations of the interface are spelled in the language of the page", () => {
  expect(duration("15m", "en")).toBe("15 minutes");
  expect(duration("15m0s", "es")).toBe("15 minutos");
  expect(duration("1h30m0s", "pt-BR")).toBe("1 hora 30 minutos");
  expect(duration("24h0m0s", "en")).toBe("24 hours");
});
