import { Button, Drawer, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Article, Base, Site, SiteChange, SiteLook } from "./types";
import { Ago } from "../../ui/Ago";
import { Failed, Note, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { siteTexts } from "./texts";

type Edit = (x: { remove: Article[]; add?: Article[] }) => Promise<void>;

/** Looks shows what the looks at a site changed, with the texts before and after. */
export function Looks({
  site,
  looks,
  base,
  can,
  edit,
  close,
}: {
  site: Site;
  looks: SiteLook[];
  base: Base;
  can: boolean;
  edit: Edit;
  close: () => void;
}) {
  const t = useTexts(siteTexts);
  const s = useTexts(shared);
  const [open, setOpen] = useState("");
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size={720}
      title={`${t.history}: ${site.name}`}
      closeButtonProps={{ "aria-label": s.close }}
    >
      {looks.length === 0 ? (
        <p className="muted">{t.noHistory}</p>
      ) : (
        <ul className="found">
          {looks.map((l) => (
            <li key={l.id}>
              <Group gap="xs">
                <strong>
                  <Ago at={l.at} />
                </strong>
                {l.added > 0 && <Tag tone="ok">{fill(t.added, { n: l.added })}</Tag>}
                {l.changed > 0 && <Tag>{fill(t.changed, { n: l.changed })}</Tag>}
                {l.removed > 0 && <Tag>{fill(t.gone, { n: l.removed })}</Tag>}
                {l.kept > 0 && <Tag tone="warn">{fill(t.kept, { n: l.kept })}</Tag>}
                {l.added + l.changed + l.removed + l.kept > 0 && (
                  <Button
                    ml="auto"
                    variant="subtle"
                    size="compact-sm"
                    aria-expanded={open === l.id}
                    onClick={() => setOpen(open === l.id ? "" : l.id)}
                  >
                    {t.changes}
                  </Button>
                )}
              </Group>
              {l.fault && (
                <Note tone="warn">
                  {(t as Record<string, string>)["fault_" + l.fault] ?? l.fault}{" "}
                  {l.detail && <span className="muted">({l.detail})</span>}
                </Note>
              )}
              {open === l.id && <Changes site={site} look={l.id} base={base} can={can} edit={edit} />}
            </li>
          ))}
        </ul>
      )}
    </Drawer>
  );
}

function Changes({ site, look, base, can, edit }: { site: Site; look: string; base: Base; can: boolean; edit: Edit }) {
  const t = useTexts(siteTexts);
  const company = useCompany();
  const one = useQuery({
    queryKey: [company.id, "sites", site.id, "looks", look],
    queryFn: ({ signal }) => get(`/sites/${site.id}/looks/${look}`, {}, signal),
  });
  if (one.isPending) return <Rows n={2} />;
  if (one.isError) return <Failed error={one.error} retry={() => void one.refetch()} />;
  const take = async (old: Article, c: SiteChange) => {
    try {
      await edit({ remove: [old], add: [{ ...old, title: c.title, text: c.after }] });
      succeeded(t.taken);
    } catch (e) {
      failed(e);
    }
  };
  return (
    <ul className="site-changes">
      {one.data.changes.map((c, i) => {
        const old = c.kind === "kept" ? base.articles.find((a) => a.site === site.id && a.url === c.url) : undefined;
        return (
          <li key={i}>
            <Group gap="xs">
              <a href={c.url} target="_blank" rel="noreferrer">
                {c.title || c.url}
              </a>
              <Tag tone={c.kind.startsWith("kept") || c.kind === "left_out" ? "warn" : undefined}>
                {(t as Record<string, string>)["kind_" + c.kind] ?? c.kind}
              </Tag>
              {can && old && c.after && old.text !== c.after && (
                <Button variant="subtle" size="compact-sm" onClick={() => void take(old, c)}>
                  {t.take}
                </Button>
              )}
            </Group>
            {c.cut ? (
              <p className="muted small">{t.cut}</p>
            ) : (
              <div className="site-texts">
                {c.before && (
                  <div>
                    <span className="muted small">{t.before}</span>
                    <pre>{c.before}</pre>
                  </div>
                )}
                {c.after && (
                  <div>
                    <span className="muted small">{t.after}</span>
                    <pre>{c.after}</pre>
                  </div>
                )}
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}
