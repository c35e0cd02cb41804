import "@mantine/core/styles/Radio.css";
import { Button, Group, Modal, Radio, Stack, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useLanguage, useTexts } from "../../i18n";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { example, exampleNames, type ExampleName } from "./examples";
import { texts } from "./texts";
import { useFlowChanges } from "./useFlows";

/** AddFlow makes a draft from an example. */
export function AddFlow({
  opened,
  close,
  names,
  made,
}: {
  opened: boolean;
  close: () => void;
  names: string[];
  made: (id: string) => void;
}) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const { begin } = useFlowChanges();
  const [which, setWhich] = useState<ExampleName>("menu");
  const [name, setName] = useState<string | null>(null); // null: as the example is called
  const [busy, setBusy] = useState(false);
  const titles: Record<ExampleName, [string, string?]> = {
    menu: [t.exMenu, t.exMenuText],
    order: [t.exOrder, t.exOrderText],
    appointment: [t.exAppointment, t.exAppointmentText],
    blank: [t.blank],
  };
  const proposed = free(titles[which][0], names);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    try {
      const x = await begin(example(which, (name ?? proposed).trim(), language));
      close();
      made(x.id);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => {
        setName(null);
        setWhich("menu");
      }}
      title={t.create}
      closeButtonProps={{ "aria-label": s.close }}
      size={500}
    >
      <form onSubmit={(e) => void submit(e)} noValidate>
        <Stack>
          <Radio.Group label={t.example} value={which} onChange={(v) => setWhich(v)}>
            <div className="stack" style={{ gap: 12, marginTop: 8 }}>
              {exampleNames.map((x) => (
                <Radio key={x} value={x} label={titles[x][0]} description={titles[x][1]} />
              ))}
            </div>
          </Radio.Group>
          <TextInput
            label={t.name}
            maxLength={200}
            value={name ?? proposed}
            onChange={(e) => setName(e.currentTarget.value)}
            error={name !== null && !name.trim() ? s.required : undefined}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={name !== null && !name.trim()}>
              {t.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** free is a name that no flow has. */
function free(name: string, names: string[]): string {
  for (let n = 1; ; n++) {
    const x = n === 1 ? name : `${name} ${n}`;
    if (!names.includes(x)) return x;
  }
}
