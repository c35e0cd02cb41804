// Times on the clocks of a zone.

/** zones are the names of all zones that the browser knows, the viewer's and UTC first. */
export function zones(own: string): string[] {
  let all: string[] = [];
  try {
    all = Intl.supportedValuesOf("timeZone");
  } catch {
    /* an old browser */
  }
  return [...new Set([own, "UTC", ...all])];
}

function parts(at: number, zone: string): Record<string, string> {
  const f = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  return Object.fromEntries(f.formatToParts(new Date(at)).map((p) => [p.type, p.value]));
}

/** localIn is an instant on the clocks of a zone, as a field of the type datetime-local has it. */
export function localIn(at: number, zone: string): string {
  const p = parts(at, zone);
  return `${p.year}-${p.month}-${p.day}T${p.hour}:${p.minute}`;
}

/** instantIn is when the clocks of a zone show a time: just after a gap where they never do, the first time where they do twice; undefined: it is no time. */
export function instantIn(local: string, zone: string): number | undefined {
  const wanted = Date.parse(local + "Z");
  if (Number.isNaN(wanted)) return undefined;
  const offset = (at: number) => {
    const p = parts(at, zone);
    return (
      Date.UTC(Number(p.year), Number(p.month) - 1, Number(p.day), Number(p.hour), Number(p.minute), Number(p.second)) -
      at
    );
  };
  const day = 86_400_000;
  const found = [...new Set([offset(wanted - day), offset(wanted + day)])]
    .map((o) => wanted - o)
    .filter((at) => at + offset(at) === wanted)
    .sort((a, b) => a - b);
  if (found.length > 0) return found[0];
  return transition(wanted - offset(wanted - day) - day, wanted - offset(wanted - day) + day, offset);
}

/** transition is the first instant with the later offset between two instants. */
function transition(from: number, to: number, offset: (at: number) => number): number {
  const minute = 60_000,
    before = offset(Math.floor(from / minute) * minute);
  let early = Math.floor(from / minute),
    late = Math.ceil(to / minute); // clocks change at full minutes
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (offset(middle * minute) === before) early = middle;
    else late = middle;
  }
  return late * minute;
}
