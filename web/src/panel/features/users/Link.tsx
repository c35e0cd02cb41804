import { English } from "../../ui/English";
import { Button, Group, Stack } from "@mantine/core";
import { fill, useTexts } from "../../i18n";
import { Note, Snippet } from "../../ui/parts";
import { inviteTexts, texts } from "./texts";

/** Linked is a link that no e-mail took to the person. */
export interface Linked {
  who: string;
  link: string;
  problem?: string;
}

/** Link shows a link to pass on, and why no e-mail took it. */
export function Link({ made, about, close }: { made: Linked; about: string; close: () => void }) {
  const t = useTexts(texts);
  const i = useTexts(inviteTexts);
  return (
    <Stack>
      {made.problem && (
        <Note tone="warn">
          <p>
            {i.notSent} <English>{made.problem}</English>
          </p>
        </Note>
      )}
      <div>{fill(about, { who: made.who })}</div>
      <Snippet code={made.link} label={i.copyLink} />
      <Group justify="flex-end">
        <Button onClick={close} data-autofocus>
          {t.done}
        </Button>
      </Group>
    </Stack>
  );
}
