import { afterEach, describe, expect, it } from "vitest";
import { setLanguage, type Language } from "../../i18n";
import { spanOf } from "../../ui/list/range";
import { addressOf, narrowed } from "./address";
import { codeTexts } from "./texts";
import { curlOf } from "./curl";
import { objectLink } from "./links";
import { sentence } from "./sentences";
import { codes, kinds, type ApiCallPage, type Change } from "./types";

describe("the address", () => {
  it("takes what it knows and nothing else", () => {
    expect(
      addressOf({
        tab: "changes",
        id: "019e0000-0000-7000-8000-000000000000",
        status: "4xx",
        code: "conflict",
        kind: "key",
        path: "/a",
        from: "2026-02-30x",
        to: "2026-02-01",
        author: 7,
      }),
    ).toEqual({
      id: "019e0000-0000-7000-8000-000000000000",
      status: "4xx",
      code: "conflict",
      kind: "key",
      path: "/a",
      to: "2026-02-01",
      author: "7",
    });
    expect(
      addressOf({ tab: "x", id: "javascript:alert(1)", status: "2xx", code: "<b>", kind: "root", path: " " }),
    ).toEqual({});
    expect(narrowed({})).toBe(false);
    expect(narrowed({ status: "accepted", id: "x" })).toBe(false);
    expect(narrowed({ status: "5xx" })).toBe(true);
    const s = spanOf({ from: "2026-02-01", to: "2026-02-01" });
    expect(Date.parse(s.to!) - Date.parse(s.from!)).toBe(86_400_000);
  });
});

describe("copy as curl", () => {
  const call: ApiCallPage = {
    id: "",
    at: "",
    status: 400,
    code: "",
    message: "",
    method: "POST",
    path: "/functions/v1/notify",
    key: { id: "", label: "" },
    request_id: "",
    repeats: 0,
    took_ms: 1,
    query: "access_key=[redacted]&unflatten=true",
    address: "",
    agent: "",
    content_type: "application/json",
    idempotency_key: "",
    body: `{"a":"it's"}`,
    body_cut: false,
    body_read: true,
    response: "",
    response_cut: false,
  };
  it("has the key as a variable, and quotes what a shell would read", () => {
    expect(curlOf("https://x.test", call)).toBe(
      `curl -X POST "https://x.test/functions/v1/notify?access_key=$CARILLON_ACCESS_KEY&unflatten=true" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"a":"it'\\''s"}'`,
    );
    const odd = curlOf("https://x.test", { ...call, query: 'a=$(id)`id`"' })!;
    expect(odd.split("\n")[0]).not.toMatch(/\$\(|`|[^T]"[^h \\]/);
  });
  it("is not there for a body that is not whole", () => {
    expect(curlOf("", { ...call, body_cut: true })).toBeUndefined();
    expect(curlOf("", { ...call, body_read: false, body: "" })).toBeUndefined();
    expect(curlOf("", { ...call, method: "GET", body_read: false, body: "", content_type: "" })).toBe(
      `curl "/functions/v1/notify?access_key=$CARILLON_ACCESS_KEY&unflatten=true"`,
    );
  });
});

describe("sentences", () => {
  afterEach(() => setLanguage("en"));
  const change = (action: Change["action"], kind: Change["object"]["kind"], more: Partial<Change> = {}): Change => ({
    id: "",
    at: "",
    action,
    by: { key: "account:1", name: "ana@a.test", origin: "panel" },
    object: { kind, id: "7", name: "x" },
    ...more,
  });
  it("say who did what", async () => {
    expect(sentence(change("revoked", "key"))).toBe("ana@a.test revoked the API key “x”");
    await setLanguage("es");
    expect(sentence(change("created", "invitation"))).toBe("ana@a.test invitó a x");
    await setLanguage("pt");
    expect(sentence(change("started", "job"))).toBe("ana@a.test começou a enviar o arquivo “x”");
    await setLanguage("en");
    expect(sentence(change("password_set", "user", { object: { kind: "user", id: "1", name: "ana@a.test" } }))).toBe(
      "ana@a.test set a new password",
    );
    expect(sentence(change("added", "suppression", { by: { key: "channel", name: "", origin: "channel" } }))).toBe(
      "The recipient added an opt-out for x",
    );
    expect(sentence(change("changed", "flow", { by: { key: "key:1", name: "shop", origin: "api" } }))).toBe(
      "The key “shop” changed the flow “x”",
    );
    expect(sentence(change("changed", "agent", { by: { key: "setup", name: "", origin: "setup" } }))).toBe(
      "A setup file changed the agent “x”",
    );
  });
  it("are there for each kind and action in each language", async () => {
    const actions: Change["action"][] = [
      "created",
      "changed",
      "deleted",
      "revoked",
      "joined",
      "role_changed",
      "removed",
      "password_set",
      "password_link_made",
      "signed_out",
      "second_factor_on",
      "second_factor_off",
      "recovery_codes_made",
      "sent",
      "withdrawn",
      "submitted",
      "refused",
      "decided",
      "categorized",
      "added",
      "lifted",
      "canceled",
      "moved",
      "resent",
      "hung_up",
      "recording_deleted",
      "started",
      "paused",
      "resumed",
      "ended",
      "send_decided",
      "fail_decided",
      "identity_linked",
      "erased",
    ];
    for (const language of ["en", "es", "pt"] as Language[]) {
      await setLanguage(language);
      for (const kind of kinds)
        for (const action of actions) expect(sentence(change(action, kind))).not.toMatch(/[{}·]|undefined/);
      for (const code of codes) expect(codeTexts.now[code] && codeTexts.now[`${code}_fix`]).toBeTruthy();
    }
    expect(objectLink({ kind: "template", id: "1", name: "" })).toEqual({
      to: "/templates/$id",
      params: { id: "1" },
      needs: "templates:read",
    });
    expect(objectLink({ kind: "maintenance", id: "", name: "" })).toBeUndefined();
  });
});
