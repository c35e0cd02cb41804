// Server-sent events in the response to a POST, which EventSource does not send.
import { located, problemOf, Unreachable, type Path } from "./api";

export interface Event {
  name: string;
  data: unknown;
}

/** reader takes a stream in pieces and returns the events that are whole. */
export function reader(): (piece: string) => Event[] {
  let rest = "";
  return (piece) => {
    rest += piece.replaceAll("\r\n", "\n");
    const all: Event[] = [];
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const of = (field: string) =>
        lines
          .filter((l) => l.startsWith(field + ": "))
          .map((l) => l.slice(field.length + 2))
          .join("\n");
      const data = of("data");
      if (data) all.push({ name: of("event"), data: JSON.parse(data) as unknown });
    }
    return all;
  };
}

/** stream posts and passes on each event until the stream ends. A refusal is a Problem, as of other requests. */
export async function stream(
  path: Path<"post">,
  body: unknown,
  signal: AbortSignal,
  take: (e: Event) => void,
): Promise<void> {
  const lost = (e: unknown) => {
    throw signal.aborted ? e : new Unreachable();
  };
  const r = (await fetch(located(path), {
    method: "POST",
    headers: { "X-Carillon-Panel": "1", "Content-Type": "application/json" },
    credentials: "same-origin",
    signal,
    body: JSON.stringify(body),
  }).catch(lost)) as Response;
  if (!r.ok) throw await problemOf(r);
  const from = r.body!.pipeThrough(new TextDecoderStream()).getReader();
  const read = reader();
  for (;;) {
    const { done, value } = (await from.read().catch(lost)) as ReadableStreamReadResult<string>;
    if (done) return;
    read(value).forEach(take);
  }
}
