/** faultText is the reason of a fault, with its detail, as the end of a sentence. */
export function faultText(t: Record<string, string>, fault: string, detail?: string) {
  return (t["fault_" + fault] ?? fault) + (detail ? ` (${detail}).` : ".");
}

/** faultSentence is the same as a sentence. */
export function faultSentence(t: Record<string, string>, fault: string, detail?: string) {
  const text = faultText(t, fault, detail);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
