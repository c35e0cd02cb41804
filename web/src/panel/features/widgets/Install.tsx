import { Button, Tabs, TextInput } from "@mantine/core";
import { IconExternalLink, IconKey } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api";
import { useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Note, Snippet } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { TabList } from "../../ui/TabList";
import { base, widgets } from "./places";
import { policyOf, sites, snippetOf, type Site } from "./snippets";
import { texts, voiceTexts } from "./texts";
import type { Widget } from "./types";
import classes from "./widgets.module.css";

/** Install is what a page or an application needs to show the widget. */
export function Install({ widget: w }: { widget: Widget }) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const [key, setKey] = useState("");
  const [site, setSite] = useState<Site>("html");
  return (
    <div className="stack">
      <Key widget={w} value={key} set={setKey} />
      {key && (
        <>
          <Tabs value={site} onChange={(to) => setSite((to as Site | null) ?? "html")} keepMounted={false}>
            <TabList aria-label={t.siteKind}>
              {sites.map((s) => (
                <Tabs.Tab key={s} value={s}>
                  {t[`site_${s}`]}
                </Tabs.Tab>
              ))}
            </TabList>
            {sites.map((s) => (
              <Tabs.Panel key={s} value={s} pt={16}>
                <ol className={classes.steps}>
                  {t[`steps_${s}`].split("\n").map((step) => (
                    <li key={step}>{step}</li>
                  ))}
                </ol>
                <Snippet label={t.copyTag} code={snippetOf(s, w, key)} />
              </Tabs.Panel>
            ))}
          </Tabs>
          {w.kind === "voice" && <p className="small muted">{v.languageHelp}</p>}
          <div>
            <p className="small muted" style={{ margin: "0 0 8px" }}>
              {t.policy}
            </p>
            <Snippet label={t.copyPolicy} code={policyOf()} />
            {w.kind === "voice" && (
              <p className="small muted" style={{ margin: "8px 0 0" }}>
                {v.frames}
              </p>
            )}
          </div>
          {w.kind === "chat" && <Frames widget={w} customer={key} />}
        </>
      )}
      <Try widget={w} customer={key} />
    </div>
  );
}

/** Key makes the key in the snippets, or takes one that somebody has. A stored key is never shown again. */
function Key({ widget: w, value, set }: { widget: Widget; value: string; set: (key: string) => void }) {
  const t = useTexts(texts);
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [made, setMade] = useState(false);
  const [pasted, paste] = useState("");
  const make = async () => {
    setBusy(true);
    try {
      set((await post("/keys", { label: ("Widget " + w.name).slice(0, 100), scopes: ["widget:use"] })).key ?? "");
      setMade(true);
      void client.invalidateQueries({ queryKey: [company.id, "keys"] });
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  if (made)
    return (
      <Note tone="warn">
        <p>{t.keyMade}</p>
      </Note>
    );
  return (
    <Note>
      <p>{t.keyHelp}</p>
      <div className={classes.key}>
        {can("keys:write") && (
          <Button leftSection={<IconKey size={16} />} loading={busy} onClick={() => void make()}>
            {t.makeKey}
          </Button>
        )}
        <TextInput
          label={can("keys:write") ? t.ownKey : t.givenKey}
          placeholder="ck_…"
          spellCheck={false}
          autoComplete="off"
          value={pasted}
          onChange={(e) => {
            const key = e.currentTarget.value.trim();
            paste(key);
            set(/^ck_[\w-]+$/.test(key) ? key : "");
          }}
          error={pasted && !value ? t.keyBad : undefined}
        />
      </div>
    </Note>
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
