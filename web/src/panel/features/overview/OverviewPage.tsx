import "@mantine/core/styles/Progress.css";
import "./overview.css";
import { Skeleton } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { fill, useLanguage, useTexts, withTexts } from "../../i18n";
import { absolute } from "../../format";
import { useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Failed, Note, Page } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { addressOf, nothing, type Address } from "./address";
import { Attention } from "./Attention";
import { Filters } from "./Filters";
import { FirstSteps, useFirstStepsKnown } from "./FirstSteps";
import { clock } from "./format";
import { Tables } from "./Tables";
import { texts } from "./texts";
import { Tiles } from "./Tiles";
import { useOverview } from "./useOverview";

const Charts = lazy(withTexts(() => import("./Charts")));

export function OverviewPage() {
  const company = useCompany();
  return (
    <Needs permission="notifications:read">
      <Loaded key={company.id} />
    </Needs>
  ); // one company's figures never show under another's name
}

export type Go = (to: Partial<Record<keyof Address, string | undefined>>) => void;

function Loaded() {
  const t = useTexts(texts);
  const language = useLanguage();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/" });
  const go = useCallback<Go>(
    (to) => void navigate({ to: "/", replace: true, search: (now) => addressOf({ ...now, ...to }) }),
    [navigate],
  );
  const one = useOverview(address);
  const known = useFirstStepsKnown();
  const asOf = one.data?.shown.as_of;
  return (
    <Page
      title={t.title}
      actions={
        asOf && (
          <span className="overview-as-of" title={absolute(asOf, language)}>
            {fill(t.asOf, { time: clock(asOf, language) })}
          </span>
        )
      }
    >
      {!known ? (
        <Waiting />
      ) : (
        <div className="stack">
          <FirstSteps />
          <Attention />
          <Filters address={address} go={go} clear={() => go(nothing)} names={one.data?.shown} />
          {one.data ? (
            <Figures {...one.data} go={go} waits={one.isPlaceholderData} />
          ) : one.isError ? (
            <Card flush label={t.title}>
              <Failed error={one.error} retry={() => void one.refetch()} />
            </Card>
          ) : (
            <Waiting />
          )}
        </div>
      )}
    </Page>
  );
}

type Data = NonNullable<ReturnType<typeof useOverview>["data"]>;

function Figures({ shown, span, address, go, waits }: Data & { go: Go; waits: boolean }) {
  const t = useTexts(texts);
  const none = shown.total.accepted === 0;
  return (
    <div className="stack" aria-busy={waits} data-waits={waits || undefined}>
      <Tiles total={shown.total} />
      <Suspense fallback={<Skeleton height={336} />}>
        <Charts shown={shown} span={span} address={address} />
      </Suspense>
      {!none && <Tables shown={shown} span={span} address={address} go={go} />}
      {shown.total.skipped > 0 && (
        <Note>
          <p>{fill(t.skippedNote, { n: shown.total.skipped })}</p>
        </Note>
      )}
    </div>
  );
}

function Waiting() {
  const s = useTexts(shared);
  return (
    <div className="stack" role="status" aria-label={s.loading}>
      <div className="tiles">
        {Array.from({ length: 6 }, (_, i) => (
          <div key={i} className="card tile">
            <Skeleton height={12} width="50%" />
            <Skeleton height={24} width="70%" mt={10} />
            <Skeleton height={12} width="40%" mt={10} />
          </div>
        ))}
      </div>
      <div className="card pad">
        <Skeleton height={336} />
      </div>
    </div>
  );
}
