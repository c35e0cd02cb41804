// What became of something has the same color in every chart, bar and badge: the tokens are in outcome.css.

/** Color is the name of a token. Striped ones need nobody to tell red from green. */
export type Color = "best" | "good" | "middle" | "open" | "left" | "machine" | "missed" | "busy" | "bad";

export const striped: readonly Color[] = ["missed", "bad"];

export const colorOf = (color: Color) => `var(--outcome-${color})`;
