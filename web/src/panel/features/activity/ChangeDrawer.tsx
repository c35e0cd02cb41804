import { Button, Drawer, Skeleton } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Problem } from "../../api";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Empty, Failed } from "../../ui/parts";
import { shared } from "../../ui/texts";
import type { Go } from "./ActivityPage";
import { noFilters } from "./address";
import { objectLink } from "./links";
import { authorName, sentence } from "./sentences";
import { texts } from "./texts";
import type { ChangePage, Field } from "./types";
import { useChange } from "./useActivity";

/** ChangeDrawer shows a change with the values before and after. */
export function ChangeDrawer({ id, close, go }: { id?: string; close: () => void; go: Go }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const change = useChange(id);
  const gone = change.error instanceof Problem && change.error.status === 404;
  return (
    <Drawer
      opened={!!id}
      onClose={close}
      position="right"
      size={640}
      title={t.theChange}
      closeButtonProps={{ "aria-label": s.close }}
    >
      {change.data ? (
        <Whole change={change.data} go={go} />
      ) : gone ? (
        <Empty icon={<IconHistory size={22} />} title={t.gone} text={t.noChangesFoundText} />
      ) : change.isError ? (
        <Failed error={change.error} retry={() => void change.refetch()} />
      ) : (
        <Skeleton height={240} />
      )}
    </Drawer>
  );
}

function Whole({ change: c, go }: { change: ChangePage; go: Go }) {
  const t = useTexts(texts);
  const can = useCan();
  const language = useLanguage();
  const link = objectLink(c.object);
  const more = c.fields[c.fields.length - 1]?.more;
  return (
    <div className="activity-whole">
      <p className="activity-said">{sentence(c)}</p>
      <dl className="activity-facts">
        <div>
          <dt>{t.when}</dt>
          <dd>{absolute(c.at, language)}</dd>
        </div>
        <div>
          <dt>{t.author}</dt>
          <dd>{authorName(c.by, c.object.kind)}</dd>
        </div>
        <div>
          <dt>{t.where}</dt>
          <dd>
            {t[`origin_${c.by.origin}` as "origin_panel"]}
            {c.by.address && <span className="muted"> · {c.by.address}</span>}
          </dd>
        </div>
        <div>
          <dt>{t.kind}</dt>
          <dd>
            {t[`kind_${c.object.kind}` as "kind_key"] ?? c.object.kind}
            {c.object.name && <> · {c.object.name}</>}
          </dd>
        </div>
      </dl>
      <div className="activity-actions">
        {link && can(link.needs) && c.action !== "deleted" && (
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => <Link to={link.to} params={link.params} search={link.search} {...props} />}
          >
            {t.toObject}
          </Button>
        )}
        {c.object.id && (
          <Button
            size="xs"
            variant="subtle"
            leftSection={<IconHistory size={14} />}
            onClick={() => go({ ...noFilters, id: undefined, kind: c.object.kind, object: c.object.id })}
          >
            {t.history}
          </Button>
        )}
      </div>
      <section aria-label={t.values}>
        <header>
          <h3>{t.values}</h3>
        </header>
        {c.fields.length === 0 ? (
          <p className="small muted">{t.noFields}</p>
        ) : (
          <div className="activity-fields">
            {c.fields.map((f) => (
              <OneField key={f.path} field={f} />
            ))}
          </div>
        )}
        {!!more && <p className="small muted">{fill(t.more, { n: more })}</p>}
      </section>
    </div>
  );
}

function OneField({ field: f }: { field: Field }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const shown = (v: unknown) =>
    v === undefined || v === null || v === ""
      ? t.nothing
      : v === true
        ? s.yes
        : v === false
          ? s.no
          : typeof v === "string"
            ? v
            : JSON.stringify(v);
  if (f.secret) {
    return (
      <div>
        <span className="activity-path">{f.path}</span>
        <p className="small muted">
          {f.before ? (f.after ? t.secretChanged : t.nothing) : t.secretSet} ({t.secret})
        </p>
      </div>
    );
  }
  return (
    <div>
      <span className="activity-path">
        {f.path}
        {f.cut && <span className="muted"> · {t.longer}</span>}
      </span>
      {f.before !== undefined && (
        <del dir="auto">
          <span className="hidden">{t.before}: </span>
          {shown(f.before)}
        </del>
      )}
      {f.after !== undefined && (
        <ins dir="auto">
          <span className="hidden">{t.after}: </span>
          {shown(f.after)}
        </ins>
      )}
    </div>
  );
}
