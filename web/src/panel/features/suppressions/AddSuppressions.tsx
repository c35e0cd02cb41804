import { Button, Group, Modal, SegmentedControl, Stack, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type FormEvent } from "react";
import { post } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { number } from "../../format";
import { useCompany } from "../../session";
import { Note } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { most, pasted } from "./numbers";
import { texts } from "./texts";

/** AddSuppressions takes one number or a pasted list of them. */
export function AddSuppressions({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const company = useCompany();
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [type, setType] = useState("all");
  const [reason, setReason] = useState("");
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const list = useMemo(() => pasted(text), [text]);
  const n = (x: number) => number(x, language);
  const clear = () => {
    setText("");
    setType("all");
    setReason("");
    setAsked(false);
  };
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setAsked(true);
    if (list.numbers.length === 0 || list.bad.length > 0 || list.numbers.length > most) return;
    setBusy(true);
    try {
      const r = await post("/suppressions", { numbers: list.numbers, type, reason: reason.trim() || undefined });
      succeeded(
        r.added === r.given
          ? fill(t.added, { n: n(r.added) })
          : fill(t.addedSome, { n: n(r.added), there: n(r.given - r.added) }),
      );
      close();
      void client.invalidateQueries({ queryKey: [company.id, "suppressions"] });
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  const error = !asked
    ? undefined
    : list.bad.length > 0
      ? t.fix
      : list.numbers.length === 0
        ? s.required
        : list.numbers.length > most
          ? fill(t.tooMany, { n: n(most) })
          : undefined;
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={clear}
      title={t.addTitle}
      closeButtonProps={{ "aria-label": s.close }}
      size={480}
    >
      <form onSubmit={(e) => void submit(e)} noValidate>
        <Stack>
          <Textarea
            label={t.numbers}
            description={t.numbersHelp}
            autosize
            minRows={3}
            maxRows={10}
            data-autofocus
            value={text}
            error={error}
            onChange={(e) => setText(e.currentTarget.value)}
          />
          {list.bad.length > 0 && (
            <Note tone="warn">
              <p>{fill(list.bad.length === 1 ? t.badOne : t.bad, { n: n(list.bad.length) })}</p>
              <ul className="suppressions-bad">
                {list.bad.slice(0, 5).map((b, i) => (
                  <li key={i}>
                    {fill(t.line, { n: n(b.line) })} <code>{b.text.slice(0, 40)}</code>
                  </li>
                ))}
                {list.bad.length > 5 && <li>…</li>}
              </ul>
            </Note>
          )}
          {list.numbers.length > 1 && (
            <p className="small muted suppressions-count" role="status">
              {fill(t.count, { n: n(list.numbers.length) })}
              {list.repeated > 0 && " " + fill(t.repeated, { n: n(list.repeated) })}
            </p>
          )}
          <div>
            <div id="suppression-type" className="field-label">
              {t.skips}
            </div>
            <SegmentedControl
              fullWidth
              aria-labelledby="suppression-type"
              value={type}
              onChange={setType}
              data={[
                { value: "all", label: t.allLong },
                { value: "marketing", label: t.marketingLong },
              ]}
            />
          </div>
          <TextInput
            label={t.why}
            description={t.whyHelp}
            maxLength={255}
            value={reason}
            onChange={(e) => setReason(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {list.numbers.length > 1 ? fill(t.addN, { n: n(list.numbers.length) }) : s.add}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
