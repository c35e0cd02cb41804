import { Button, Select } from "@mantine/core";
import { IconChecklist, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del } from "../../../api";
import { fill, useTexts } from "../../../i18n";
import { useCan, useCompany } from "../../../session";
import type { Agent } from "../types";
import { More } from "../../../ui/More";
import { Card, Empty, Failed, Rows } from "../../../ui/parts";
import { succeeded } from "../../../ui/problem";
import { shared } from "../../../ui/texts";
import { Runs } from "./Runs";
import { testsKey, useTests } from "./run";
import { SuiteEditor } from "./SuiteEditor";
import { texts } from "./texts";
import { useRunning } from "./useRunning";
import "./tests.css";

/** TestsTab is where the tests of an agent are written and run. */
export function TestsTab({ agent }: { agent: Agent }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const may = useCan()("resources:write") && agent.engine !== "elevenlabs";
  const company = useCompany();
  const client = useQueryClient();
  const tests = useTests(agent.id);
  const running = useRunning(agent.id);
  const [chosen, choose] = useState<string | null>(null);
  if (!tests.data) return tests.isError ? <Failed error={tests.error} retry={() => void tests.refetch()} /> : <Rows />;
  const { suites, runs } = tests.data;
  const suite = chosen === "new" ? undefined : (suites.find((x) => x.id === chosen) ?? suites[0]);
  const remove = async (id: string) => {
    await del(`/suites/${id}`);
    await client.invalidateQueries({ queryKey: testsKey(company.id, agent.id!) });
    choose(null);
    succeeded(t.removed);
  };
  if (!suite && chosen !== "new")
    return (
      <Card flush label={t.tests}>
        <Empty icon={<IconChecklist size={22} />} title={t.empty} text={t.emptyText}>
          {may && <Button onClick={() => choose("new")}>{t.start}</Button>}
        </Empty>
      </Card>
    );
  return (
    <div className="stack">
      <p className="muted tests-about">{t.about}</p>
      <Runs agent={agent.id} runs={runs} running={running} mayRun={may && suites.length > 0} />
      <Card
        title={t.suite}
        actions={
          may && (
            <div className="tests-actions">
              {suites.length > 1 && chosen !== "new" && (
                <Select
                  size="xs"
                  aria-label={t.suite}
                  allowDeselect={false}
                  data={suites.map((x) => ({ value: x.id, label: x.name }))}
                  value={suite?.id ?? null}
                  onChange={choose}
                />
              )}
              {suite && (
                <>
                  <Button
                    variant="default"
                    size="compact-sm"
                    leftSection={<IconPlus size={14} />}
                    onClick={() => choose("new")}
                  >
                    {t.add}
                  </Button>
                  <More
                    of={suite.name}
                    acts={[
                      {
                        label: t.remove,
                        icon: <IconTrash size={16} />,
                        danger: true,
                        ask: { title: fill(t.removeTitle, { name: suite.name }), text: t.removeText, action: s.remove },
                        run: () => remove(suite.id),
                      },
                    ]}
                  />
                </>
              )}
            </div>
          )
        }
      >
        <SuiteEditor
          key={suite?.id ?? "new"}
          agent={agent}
          suite={suite}
          mayEdit={may}
          running={running}
          saved={choose}
          close={chosen === "new" ? () => choose(null) : undefined}
        />
      </Card>
    </div>
  );
}
