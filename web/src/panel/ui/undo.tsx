import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { failed } from "./problem";
import { shared } from "./texts";

const lasts = 10_000;

/** Offer is something else to do after an act. */
export interface Offer {
  label: string;
  run: () => void;
}

/** undoable shows that something worked, for some seconds, with a button that takes it back and maybe one that goes on. */
export function undoable(text: string, undo: () => Promise<unknown>, offer?: Offer): void {
  const id = `undo-${Date.now()}-${Math.random()}`;
  notifications.show({
    id,
    message: <Undo text={text} undo={undo} offer={offer} close={() => notifications.hide(id)} />,
    autoClose: lasts,
    withBorder: true,
    color: "accent",
    closeButtonProps: { "aria-label": shared.now.close },
  });
}

interface UndoProps {
  text: string;
  undo: () => Promise<unknown>;
  offer?: Offer;
  close: () => void;
}

function Undo({ text, undo, offer, close }: UndoProps) {
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
      <span className="nowrap">
        <Button variant="subtle" size="compact-sm" loading={busy} onClick={() => void back()}>
          {shared.now.undo}
        </Button>
        {offer && (
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => {
              offer.run();
              close();
            }}
          >
            {offer.label}
          </Button>
        )}
      </span>
    </span>
  );
}
