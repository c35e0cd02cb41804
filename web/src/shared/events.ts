// The text of server-sent events (HTML standard, section 9.2).

export interface StreamEvent {
  id: string;
  event: string;
  data: string;
}

/** eventParser returns a function that takes the text of a stream of server-sent events, in pieces of any size. retry is called with the
 * milliseconds to wait before the stream is opened again. */
export function eventParser(
  on: (event: StreamEvent) => void,
  retry: (ms: number) => void = () => {},
): (text: string) => void {
  let rest = "";
  let e: StreamEvent = { id: "", event: "message", data: "" };
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (e.data) on({ ...e, data: e.data.slice(0, -1) });
        e = { id: "", event: "message", data: "" };
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "id") e.id = value;
      else if (field === "event") e.event = value;
      else if (field === "data") e.data += value + "\n";
      else if (field === "retry" && /^\d+$/.test(value)) retry(Number(value));
    }
  };
}
