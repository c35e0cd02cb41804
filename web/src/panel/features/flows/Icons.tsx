import {
  IconApi,
  IconArrowsSplit2,
  IconClock,
  IconCornerDownRight,
  IconFlag,
  IconHeadset,
  IconMessage,
  IconPhoneOutgoing,
  IconQuestionMark,
  IconTemplate,
  IconVariable,
  type Icon,
} from "@tabler/icons-react";
import type { Kind } from "./model";
import type { FlowTexts } from "./texts";

export const icons: Record<Kind, Icon> = {
  say: IconMessage,
  ask: IconQuestionMark,
  if: IconArrowsSplit2,
  set: IconVariable,
  http: IconApi,
  wait: IconClock,
  send_template: IconTemplate,
  place_call: IconPhoneOutgoing,
  goto: IconCornerDownRight,
  handoff: IconHeadset,
  end: IconFlag,
};

/** kindText is what a kind of step is called. */
export function kindText(kind: Kind, t: FlowTexts): string {
  return kind === "end" ? t.endStep : t[kind];
}
