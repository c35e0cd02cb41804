import {
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconHeadset,
  IconMessageQuestion,
  IconPlayerPlay,
  IconPlayerStop,
  IconPlugConnected,
  type Icon,
} from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { Tag, type Tone } from "../../ui/parts";
import { runTexts } from "./texts";
import type { RunState as Stands } from "./types";

const looks: Record<Stands, [Icon, Tone | undefined]> = {
  ready: [IconPlayerPlay, "accent"],
  asking: [IconMessageQuestion, "accent"],
  waiting: [IconClock, "accent"],
  calling: [IconPlugConnected, "accent"],
  completed: [IconCircleCheck, "ok"],
  handed_off: [IconHeadset, "ok"],
  stopped: [IconPlayerStop, undefined],
  failed: [IconCircleX, "danger"],
};

/** RunState is what a run waits for, or how it ended. */
export function RunState({ state }: { state: Stands }) {
  const r = useTexts(runTexts);
  const [Icon, tone] = looks[state] ?? [IconClock, undefined];
  return (
    <Tag tone={tone}>
      <Icon size={14} stroke={2} aria-hidden="true" />
      {r[state]}
    </Tag>
  );
}
