// What the page keeps in the browser: turns that are not sent yet. A browser without storage keeps them for the page's life.
import type { Unsent } from "./model";

const most = 50;

export class Outbox {
  private memory = "";
  constructor(private readonly key: string) {}

  load(): Unsent[] {
    try {
      const all = JSON.parse(this.read() || "[]") as Unsent[];
      return Array.isArray(all)
        ? all.filter((u) => u && typeof u.client_id === "string" && u.kind !== "file").slice(0, most)
        : [];
    } catch {
      return [];
    }
  }

  save(unsent: Unsent[]): void {
    const text = unsent.length ? JSON.stringify(unsent.filter((u) => u.kind !== "file").slice(-most)) : "";
    this.memory = text;
    try {
      if (text) localStorage.setItem(this.key, text);
      else localStorage.removeItem(this.key);
    } catch {
      /* private mode */
    }
  }

  private read(): string {
    try {
      return localStorage.getItem(this.key) ?? this.memory;
    } catch {
      return this.memory;
    }
  }
}

/** newID is a UUID; pages with a null origin have no crypto.randomUUID. */
export function newID(): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  const hex = [...b].map((x) => x.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
