import { Switch, TagsInput, TextInput } from "@mantine/core";
import { useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { callTexts } from "./texts";
import { dialed, maxNumbers, queueByDefault, type Transfer, withNumbers } from "./transfer";
import type { Agent } from "./types";

/** TransferFields are the numbers to which an agent transfers calls, and the callers who wait for them. */
export function TransferFields({ draft }: { draft: Draft<Agent> }) {
  const t = useTexts(callTexts);
  const { value: a, set, error } = draft;
  const x = a.transfer;
  const change = (more: Partial<Transfer>) => set({ transfer: { ...x, ...more } });
  return (
    <>
      <TagsInput
        label={t.transfer}
        description={t.transferHelp}
        inputMode="tel"
        spellCheck={false}
        maxTags={maxNumbers}
        value={dialed(x)}
        acceptValueOnBlur
        error={error("transfer.number") || error("transfer.numbers")}
        onChange={(numbers) => set({ transfer: withNumbers(x, numbers) })}
      />
      {x && (
        <>
          <TagsInput
            label={t.transferPhrases}
            description={t.transferPhrasesHelp}
            maxTags={20}
            value={x.phrases ?? []}
            acceptValueOnBlur
            error={error("transfer.phrases")}
            onChange={(phrases) => change({ phrases: phrases.length ? phrases : undefined })}
          />
          <TextInput
            label={t.transferMessage}
            description={t.transferMessageHelp}
            value={x.message ?? ""}
            error={error("transfer.message")}
            onChange={(e) => change({ message: e.currentTarget.value || undefined })}
          />
          <Whole
            label={t.maxCalls}
            description={t.maxCallsHelp}
            value={x.max_calls}
            error={error("transfer.max_calls")}
            onChange={(max_calls) => change({ max_calls })}
          />
          <Switch
            label={t.queue}
            description={t.queueHelp}
            checked={x.queue !== undefined}
            onChange={(e) =>
              change(
                e.currentTarget.checked ? { queue: queueByDefault, max_calls: x.max_calls ?? 1 } : { queue: undefined },
              )
            }
          />
          {x.queue && (
            <>
              <Whole
                label={t.maxWaiting}
                description={t.maxWaitingHelp}
                value={x.queue.max_waiting}
                error={error("transfer.queue.max_waiting")}
                onChange={(n) => x.queue && change({ queue: { ...x.queue, max_waiting: n ?? 0 } })}
              />
              <Whole
                label={t.maxWait}
                description={t.maxWaitHelp}
                value={x.queue.max_wait_s}
                error={error("transfer.queue.max_wait_s")}
                onChange={(n) => x.queue && change({ queue: { ...x.queue, max_wait_s: n ?? 0 } })}
              />
            </>
          )}
        </>
      )}
    </>
  );
}

function Whole(props: {
  label: string;
  description: string;
  value: number | undefined;
  error: React.ReactNode;
  onChange: (n: number | undefined) => void;
}) {
  return (
    <TextInput
      {...props}
      type="number"
      min={0}
      value={props.value || ""}
      onChange={(e) => props.onChange(Math.trunc(Number(e.currentTarget.value)) || undefined)}
    />
  );
}
