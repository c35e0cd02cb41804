import { Button, Group } from "@mantine/core";
import { IconPencil, IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import type { Article, Base, Site, SiteState } from "./types";
import { Ago } from "../../ui/Ago";
import { More } from "../../ui/More";
import { Card, Failed, Note, Rows } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { useChanges, useList } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { Looks } from "./Looks";
import { SiteForm } from "./SiteForm";
import { siteTexts } from "./texts";

const beat = 2000; // while a site is read
const calm = 60_000;

/** Sites shows the web sites that are read into a base. */
export function Sites({
  base,
  edit,
}: {
  base: Base;
  edit: (x: { remove: Article[]; add?: Article[] }) => Promise<void>;
}) {
  const t = useTexts(siteTexts);
  const can = useCan()("resources:write");
  const list = useList("sites");
  const [form, setForm] = useState<Site | "new">();
  const mine = (list.data ?? []).filter((s) => s.knowledge === base.id);
  return (
    <Card
      label={t.sites}
      title={t.sites}
      actions={
        can && (
          <Button variant="default" size="xs" leftSection={<IconPlus size={16} />} onClick={() => setForm("new")}>
            {t.add}
          </Button>
        )
      }
    >
      {list.isPending ? (
        <Rows n={1} />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <div className="stack">
          <p className="muted" style={{ margin: 0 }}>
            {mine.length === 0 ? t.none : t.help}
          </p>
          {mine.map((site) => (
            <OneSite key={site.id} site={site} base={base} can={can} change={() => setForm(site)} edit={edit} />
          ))}
        </div>
      )}
      {form && <SiteForm base={base.id} site={form === "new" ? undefined : form} close={() => setForm(undefined)} />}
    </Card>
  );
}

function OneSite({
  site,
  base,
  can,
  change,
  edit,
}: {
  site: Site;
  base: Base;
  can: boolean;
  change: () => void;
  edit: (x: { remove: Article[]; add?: Article[] }) => Promise<void>;
}) {
  const t = useTexts(siteTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const { remove } = useChanges("sites");
  const [history, setHistory] = useState(false);
  const key = [company.id, "sites", site.id, "state"];
  const state = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const before = client.getQueryData<SiteState>(key);
      const now = await get(`/sites/${site.id}/state`, {}, signal);
      if (before && before.looked_at !== now.looked_at)
        void client.invalidateQueries({ queryKey: [company.id, "knowledge", base.id] });
      return now;
    },
    refetchInterval: (q) => (q.state.data?.reading ? beat : calm),
  });
  const look = async (whole: boolean) => {
    try {
      client.setQueryData(key, await post(`/sites/${site.id}/look`, { whole }));
    } catch (e) {
      failed(e);
    }
  };
  const theirs = base.articles.filter((a) => a.site === site.id);
  const drop = async () => {
    await remove(site.id);
    if (theirs.length > 0) await edit({ remove: theirs });
    succeeded(t.removed);
  };
  const x = state.data;
  const fault = x?.fault && (t as Record<string, string>)["fault_" + x.fault];
  return (
    <div className="site">
      <div className="site-head">
        <a href={site.address} target="_blank" rel="noreferrer">
          {site.name}
        </a>
        <span className="muted small" role="status">
          {!x ? (
            s.loading
          ) : x.reading ? (
            x.found > 0 ? (
              fill(t.reading, { done: x.done, found: x.found })
            ) : (
              t.waiting
            )
          ) : x.looked_at ? (
            <>
              {t.looked} <Ago at={x.looked_at} />
            </>
          ) : (
            t.never
          )}
        </span>
        <Group gap="xs" ml="auto">
          {x && x.looks.length > 0 && (
            <Button variant="subtle" size="compact-sm" onClick={() => setHistory(true)}>
              {t.history}
            </Button>
          )}
          {can && (
            <>
              <Button variant="default" size="compact-sm" disabled={!x || x.reading} onClick={() => void look(false)}>
                {t.look}
              </Button>
              <More
                of={site.name}
                acts={[
                  { label: t.edit, icon: <IconPencil size={16} />, run: change },
                  {
                    label: t.whole,
                    icon: <IconRefresh size={16} />,
                    ask: { title: t.whole, text: t.wholeText },
                    run: () => look(true),
                  },
                  {
                    label: t.remove,
                    icon: <IconTrash size={16} />,
                    danger: true,
                    ask: {
                      title: fill(t.removeTitle, { name: site.name }),
                      text: fill(t.removeText, { n: theirs.length }),
                      action: s.remove,
                    },
                    run: drop,
                  },
                ]}
              />
            </>
          )}
        </Group>
      </div>
      {state.isLoadingError && <Failed error={state.error} retry={() => void state.refetch()} />}
      {fault && (
        <Note tone="warn">
          {fault} {x.detail && <span className="muted">({x.detail})</span>}
        </Note>
      )}
      {history && x && (
        <Looks site={site} looks={x.looks} base={base} can={can} edit={edit} close={() => setHistory(false)} />
      )}
    </div>
  );
}
