import { expect, test } from "vitest";
import { compose, parse, seconds } from "./trunk";

test("the address of a trunk is split and put together", () => {
  expect(parse("sip:sip.example.com:5070;transport=tcp")).toEqual({ host: "sip.example.com:5070", transport: "tcp" });
  expect(parse("sips:sip.example.com")).toEqual({ host: "sip.example.com", transport: "tls" });
  expect(parse("sip:[2001:db8::1]:5060")).toEqual({ host: "[2001:db8::1]:5060", transport: "udp" });
  expect(parse("")).toEqual({ host: "", transport: "udp" });
  expect(compose({ host: " sip.example.com ", transport: "tls" })).toBe("sip:sip.example.com;transport=tls");
  expect(compose({ host: "sip:sip.example.com", transport: "udp" })).toBe("sip:sip.example.com;transport=udp");
  expect(compose({ host: "", transport: "udp" })).toBe("");
});

test("an address that means the same is not changed", () => {
  for (const stored of ["sip:a.example.com", "sips:a.example.com:5061", "sip:a.example.com;transport=tcp"])
    expect(compose(parse(stored), stored)).toBe(stored);
  expect(compose({ host: "b.example.com", transport: "udp" }, "sip:a.example.com")).toBe(
    "sip:b.example.com;transport=udp",
  );
});

test("durations are read in seconds", () => {
  expect(["45s", "1m30s", "2m0s", "1h", ""].map(seconds)).toEqual([45, 90, 120, 3600, 0]);
});
