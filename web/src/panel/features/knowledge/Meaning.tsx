import { Button, Group } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get, post } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Ago } from "../../ui/Ago";
import { More } from "../../ui/More";
import { Card, Failed, Note, Rows } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { MeaningForm } from "./MeaningForm";
import { faultSentence, faultText } from "./faults";
import { meaningTexts } from "./texts";
import type { VectorState } from "./types";

const beat = 2000; // while vectors are made
const calm = 30_000;

/** Meaning shows the server with which a base is searched by meaning, and the progress of its vectors. */
export function Meaning({ base }: { base: string }) {
  const t = useTexts(meaningTexts);
  const can = useCan()("resources:write");
  const company = useCompany();
  const client = useQueryClient();
  const [form, setForm] = useState(false);
  const path = `/knowledge/${encodeURIComponent(base)}/embeddings` as const;
  const key = [company.id, "knowledge", base, "embeddings"];
  const state = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => get(path, {}, signal),
    refetchInterval: (q) => (q.state.data?.making ? beat : calm),
  });
  const x = state.data;
  const again = async () => {
    try {
      client.setQueryData(key, await post(`${path}/make`, {}));
    } catch (e) {
      failed(e);
    }
  };
  const drop = async () => {
    try {
      await del(path);
      succeeded(t.removed);
    } finally {
      await client.invalidateQueries({ queryKey: [company.id, "knowledge", base] });
    }
  };
  return (
    <Card
      label={t.title}
      title={t.title}
      actions={
        can &&
        x && (
          <Group gap="xs">
            <Button variant="default" size="xs" onClick={() => setForm(true)}>
              {x.server ? t.edit : t.setUp}
            </Button>
            <More
              of={t.title}
              acts={[
                !!x.server && {
                  label: t.remove,
                  icon: <IconTrash size={16} />,
                  danger: true,
                  ask: { title: t.remove, text: t.removeText },
                  run: drop,
                },
              ]}
            />
          </Group>
        )
      }
    >
      {!x ? (
        state.isLoadingError ? (
          <Failed error={state.error} retry={() => void state.refetch()} />
        ) : (
          <Rows n={1} />
        )
      ) : !x.server ? (
        <p className="muted" style={{ margin: 0 }}>
          {t.none}
        </p>
      ) : (
        <Made state={x} can={can} again={() => void again()} />
      )}
      {form && x && (
        <MeaningForm
          base={base}
          server={x.server}
          close={() => setForm(false)}
          saved={(now) => {
            client.setQueryData(key, now);
            void client.invalidateQueries({ queryKey: [company.id, "knowledge", base] });
            setForm(false);
          }}
        />
      )}
    </Card>
  );
}

function Made({ state: x, can, again }: { state: VectorState; can: boolean; again: () => void }) {
  const t = useTexts(meaningTexts);
  const language = useLanguage();
  const n = (v: number) => number(v, language);
  return (
    <div className="stack">
      <div className="site-head">
        <strong>{x.server!.model}</strong>
        <span className="muted small" style={{ overflowWrap: "anywhere" }}>
          {x.server!.base_url}
        </span>
      </div>
      <span className="muted small" role="status">
        {fill(t.made, { made: n(x.made), total: n(x.total) })}
        {x.dimensions > 0 && " · " + fill(t.dimensions, { n: n(x.dimensions) })}
        {x.making ? (
          " · " + t.making
        ) : x.fault && x.due_at ? (
          <>
            {" · " + t.next} <Ago at={x.due_at} />
          </>
        ) : x.made_at ? (
          <>
            {" · " + t.last} <Ago at={x.made_at} />
          </>
        ) : null}
      </span>
      {x.fault && (
        <Note tone="warn">
          {t.notMade} {faultSentence(t, x.fault, x.detail)}
          {x.fault_at && (
            <>
              {" · "}
              <Ago at={x.fault_at} />
            </>
          )}
          {can && !x.making && (
            <Button variant="subtle" size="compact-sm" onClick={again} ml="xs">
              {t.again}
            </Button>
          )}
        </Note>
      )}
      {x.searching && (
        <Note tone="warn">
          {t.alone} {faultText(t, x.searching.fault, x.searching.detail)}
        </Note>
      )}
    </div>
  );
}
