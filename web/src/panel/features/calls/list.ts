import { rowsBy, type Shown as ShownOf } from "../../ui/rows";
import type { CallRow } from "./types";

export type Shown = ShownOf<CallRow>;

/** What the list of calls shows, and its changes. */
export const { append, begin, nothing, refresh, replace, reveal } = rowsBy<CallRow>((c) => c.call_id);
