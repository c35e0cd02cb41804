import { Button } from "@mantine/core";
import { IconExternalLink, IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { post } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { Widget } from "./types";
import { useQueryClient } from "@tanstack/react-query";
import { Note, Snippet } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { base, widgets } from "./places";
import { texts, voiceTexts } from "./texts";

/** Install is what a page or an application needs to show the widget. */
export function Install({ widget: w }: { widget: Widget }) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      setKey((await post("/keys", { label: ("Widget " + w.name).slice(0, 100), scopes: ["widget:use"] })).key ?? "");
      void client.invalidateQueries({ queryKey: [company.id, "keys"] });
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const customer = key || t.demoKey;
  const origin = new URL(widgets).origin;
  const voice = w.kind === "voice";
  const tag = voice
    ? `<script async src="${widgets}/embed/voice.js"\n  widget="${w.id}"\n  customer="${customer}"\n  language-lovi="${w.language}"></script>`
    : `<script async src="${widgets}/embed/chat.js"\n  widget="${w.id}"\n  customer="${customer}"></script>`;
  return (
    <div className="stack">
      {key ? (
        <Note tone="warn">
          <p>{t.keyMade}</p>
        </Note>
      ) : (
        <Note>
          <p>{t.keyHelp}</p>
          {can("keys:write") && (
            <Button
              variant="default"
              size="xs"
              mt={8}
              leftSection={<IconKey size={14} />}
              loading={busy}
              onClick={() => void make()}
            >
              {t.makeKey}
            </Button>
          )}
        </Note>
      )}
      <div>
        <h2 className="field-label">{t.tag}</h2>
        <p className="small muted" style={{ margin: "0 0 8px" }}>
          {voice ? v.tagHelp : t.tagHelp}
        </p>
        <Snippet label={t.copyTag} code={tag} />
        {!voice && (
          <p className="small muted" style={{ margin: "8px 0 0" }}>
            {fill(t.policy, { origin })}
          </p>
        )}
      </div>
      {voice ? <Policy origin={origin} /> : <Frames widget={w} customer={customer} />}
      <Try widget={w} customer={key} />
    </div>
  );
}

/** Policy is what pages with a policy have to let through for a voice widget. */
function Policy({ origin }: { origin: string }) {
  const v = useTexts(voiceTexts);
  return (
    <div>
      <p className="small muted" style={{ margin: "0 0 8px" }}>
        {v.policy}
      </p>
      <Snippet label={v.copyPolicy} code={`script-src ${origin}; connect-src ${origin}; frame-src ${origin}`} />
      <p className="small muted" style={{ margin: "8px 0 0" }}>
        {v.frames}
      </p>
    </div>
  );
}

/** Frames are the addresses of the chat for applications and frames. */
function Frames({ widget: w, customer }: { widget: Widget; customer: string }) {
  const t = useTexts(texts);
  const own = encodeURIComponent(customer);
  return (
    <div>
      <h2 className="field-label">{t.frame}</h2>
      <p className="small muted" style={{ margin: "0 0 8px" }}>
        {t.frameHelp}
      </p>
      <Snippet
        label={t.copyAddress}
        code={`${base}/functions/v1/widgetWebView?customer_id=${own}&widget_id=${w.id}&lang=${w.language}`}
      />
      <p className="small muted" style={{ margin: "12px 0 8px" }}>
        {t.framePath}
      </p>
      <Snippet label={t.copyAddress} code={`${base}/functions/v1/widgetWebView/${own}/${w.id}`} />
    </div>
  );
}

/** Try opens a page that holds nothing but the widget. What it needs stands behind the #, which no server gets. */
function Try({ widget: w, customer }: { widget: Widget; customer: string }) {
  const v = useTexts(voiceTexts);
  const href = `${widgets}/try#${new URLSearchParams({ kind: w.kind, widget: w.id, customer, lang: w.language }).toString()}`;
  return (
    <div>
      {customer ? (
        <Button
          component="a"
          href={href}
          target="_blank"
          rel="noopener"
          variant="default"
          size="xs"
          leftSection={<IconExternalLink size={14} />}
        >
          {v.try}
        </Button>
      ) : (
        <Button disabled variant="default" size="xs" leftSection={<IconExternalLink size={14} />}>
          {v.try}
        </Button>
      )}
      <p className="small muted" style={{ margin: "6px 0 0" }}>
        {customer ? v.tryHelp : v.tryKey}
      </p>
    </div>
  );
}
