import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { failed } from "./problem";
import { shared } from "./texts";

const lasts = 10_000;

/** undoable shows that something worked, with a button that takes it back for some seconds. */
export function undoable(text: string, undo: () => Promise<unknown>): void {
  const id = `undo-${Date.now()}-${Math.random()}`;
  notifications.show({
    id,
    message: <Undo text={text} undo={undo} close={() => notifications.hide(id)} />,
    autoClose: lasts,
    withBorder: true,
    color: "accent",
    closeButtonProps: { "aria-label": shared.now.close },
  });
}

function Undo({ text, undo, close }: { text: string; undo: () => Promise<unknown>; close: () => void }) {
  const [busy, setBusy] = useState(false);
  const back = async () => {
    setBusy(true);
    try {
      await undo();
    } catch (e) {
      failed(e);
    }
    close();
  };
  return (
    <span style={{ display: "flex", alignItems: "center", justifyContent: "space-between", gap: 12 }}>
      <span>{text}</span>
      <Button variant="subtle" size="compact-sm" loading={busy} onClick={() => void back()}>
        {shared.now.undo}
      </Button>
    </span>
  );
}
