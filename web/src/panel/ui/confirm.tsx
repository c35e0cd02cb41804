import { modals } from "@mantine/modals";
import type { ReactNode } from "react";
import { shared } from "./texts";

export interface Question {
  title: string;
  text: ReactNode;
  action: string;
  danger?: boolean;
  cancel?: string;
}

/** confirm asks before something that is not easily undone. */
export function confirm(q: Question): Promise<boolean> {
  const t = shared.now;
  return new Promise((resolve) => {
    modals.openConfirmModal({
      title: q.title,
      children: <div>{q.text}</div>,
      labels: { confirm: q.action, cancel: q.cancel ?? t.cancel },
      confirmProps: { color: q.danger ? "red" : undefined },
      cancelProps: { "data-autofocus": true },
      closeButtonProps: { "aria-label": t.close },
      onConfirm: () => resolve(true),
      onCancel: () => resolve(false),
      onClose: () => resolve(false),
    });
  });
}
