import { useQuery } from "@tanstack/react-query";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Ago } from "../../ui/Ago";
import { Tag } from "../../ui/parts";
import { texts } from "./texts";
import classes from "./widgets.module.css";

/** every is how often the sites of widgets are asked for: somebody may be installing one. */
const every = 15_000;

/** useLatestSites is for each widget the site that loaded it last. */
export function useLatestSites() {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "widget-sites"],
    queryFn: async ({ signal }) => (await get("/widget-sites", {}, signal)).data,
    refetchInterval: every,
  });
}

/** useSites are the sites that loaded a widget, latest first. */
function useSites(id: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "widget-sites", id],
    queryFn: async ({ signal }) => (await get(`/widgets/${id}/seen`, {}, signal)).data,
    refetchInterval: every,
  });
}

/** hostOf is a site as people call it. */
export function hostOf(origin: string, t: Record<"appSite", string>): string {
  return origin ? origin.replace(/^https:\/\//, "") : t.appSite;
}

/** Seen says whether a widget is installed, and where it was seen last. */
export function Seen({ site }: { site?: { origin: string; seen_at: string } }) {
  const t = useTexts(texts);
  if (!site) return <span className="muted">{t.notSeen}</span>;
  return (
    <span className={classes.seen}>
      <bdi>{hostOf(site.origin, t)}</bdi>{" "}
      <span className="muted">
        <Ago at={site.seen_at} />
      </span>
    </span>
  );
}

/** Installed is the state of a widget on its page, with every site. */
export function Installed({ id }: { id: string }) {
  const t = useTexts(texts);
  const sites = useSites(id);
  if (!sites.data) return null;
  const [last, ...others] = sites.data;
  return (
    <div className={classes.installed} role="status">
      {last ? (
        <>
          <Tag tone="ok">{t.installed}</Tag>
          <span>
            {t.lastSeen} <Seen site={last} />
          </span>
          {others.length > 0 && (
            <details>
              <summary>{fill(t.otherSites, { n: others.length })}</summary>
              <ul>
                {others.map((s) => (
                  <li key={s.origin}>
                    <Seen site={s} />
                  </li>
                ))}
              </ul>
            </details>
          )}
        </>
      ) : (
        <>
          <Tag>{t.notSeen}</Tag>
          <span className="muted">{t.notSeenHelp}</span>
        </>
      )}
    </div>
  );
}
