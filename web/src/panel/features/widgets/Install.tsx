import { Button } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { post } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { Key, Widget } from "../../types";
import { useQueryClient } from "@tanstack/react-query";
import { Note, Snippet } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { base, widgets } from "./places";
import { texts } from "./texts";

/** Install is what a page or an application needs to show the widget. */
export function Install({ widget: w }: { widget: Widget }) {
  const t = useTexts(texts);
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      setKey((await post<Key>("/keys", { label: ("Widget " + w.name).slice(0, 100), scopes: ["widget:use"] })).key ?? "");
      void client.invalidateQueries({ queryKey: [company.id, "keys"] });
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const customer = key || t.demoKey;
  const own = encodeURIComponent(customer);
  return (
    <div className="stack">
      {key ? <Note tone="warn"><p>{t.keyMade}</p></Note> : (
        <Note><p>{t.keyHelp}</p>{can("keys:write") && <Button variant="default" size="xs" mt={8} leftSection={<IconKey size={14} />} loading={busy} onClick={() => void make()}>{t.makeKey}</Button>}</Note>
      )}
      <div>
        <h2 className="field-label">{t.tag}</h2>
        <p className="small muted" style={{ margin: "0 0 8px" }}>{t.tagHelp}</p>
        <Snippet label={t.copyTag} code={`<script async src="${widgets}/embed/chat.js"\n  widget="${w.id}"\n  customer="${customer}"></script>`} />
        <p className="small muted" style={{ margin: "8px 0 0" }}>{fill(t.policy, { origin: new URL(widgets).origin })}</p>
      </div>
      <div>
        <h2 className="field-label">{t.frame}</h2>
        <p className="small muted" style={{ margin: "0 0 8px" }}>{t.frameHelp}</p>
        <Snippet label={t.copyAddress} code={`${base}/functions/v1/widgetWebView?customer_id=${own}&widget_id=${w.id}&lang=${w.language}`} />
        <p className="small muted" style={{ margin: "12px 0 8px" }}>{t.framePath}</p>
        <Snippet label={t.copyAddress} code={`${base}/functions/v1/widgetWebView/${own}/${w.id}`} />
      </div>
    </div>
  );
}
