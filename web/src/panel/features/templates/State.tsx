import {
  IconAlertCircle,
  IconBan,
  IconCircleCheck,
  IconClock,
  IconPencil,
  IconPlayerPause,
  IconSendOff,
} from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { texts } from "./texts";
import type { Status } from "./types";

const looks: Record<Status, [typeof IconClock, Tone | undefined]> = {
  draft: [IconPencil, undefined],
  pending: [IconClock, "accent"],
  approved: [IconCircleCheck, "ok"],
  rejected: [IconAlertCircle, "danger"],
  paused: [IconPlayerPause, "warn"],
  disabled: [IconBan, "danger"],
};

/** State is the status of a template in plain words. */
export function State({ status }: { status: Status }) {
  const t = useTexts(texts);
  const [Icon, tone] = looks[status];
  return (
    <Tag tone={tone}>
      <Icon size={14} aria-hidden="true" />
      {t[status]}
    </Tag>
  );
}

/** Unsupported is a badge for a template with parts that can't be sent from here. */
export function Unsupported({ parts }: { parts?: string[] }) {
  const t = useTexts(texts);
  if (!parts?.length) return null;
  return (
    <span title={fill(t.unsupportedParts, { parts: parts.join(", ") })}>
      <Tag tone="warn">
        <IconSendOff size={14} aria-hidden="true" />
        {t.unsupported}
      </Tag>
    </span>
  );
}
