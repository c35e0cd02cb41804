/** id makes a new id of a request, so that the same request again has the same effect. */
export function id(): string {
  return crypto.randomUUID?.() ?? Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 10)).join("-");
}
