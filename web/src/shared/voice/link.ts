// The connection of a talk: kept, and made anew when it is lost.
import type { Closing } from "./events";
import { parse, soundOf, type ServerMessage } from "./protocol";

/** Address is a signed address, or fetches one; `again` says that the talk goes on after the connection was lost. */
export type Address = string | ((again: boolean) => Promise<string>);

/** Final is an error of an Address that asking again does not change. */
export interface Final {
  final?: boolean;
}

export type Connect = (address: string, protocol: string) => WebSocket;

const pauses = [300, 1000, 2000, 4000, 8000, 8000, 8000, 8000];
const silentFor = 30_000; // without a sign of life of a server that pings
const lost = 4000; // the code of a connection that is given up while the talk goes on
const fullAt = 256 << 10; // bytes that wait to be sent

export class Link {
  onOpen: (again: boolean) => void = () => {};
  onMessage: (m: ServerMessage, again: boolean) => void = () => {};
  /** Sound that came in a binary message. */
  onSound: (id: number, pcm: Int16Array<ArrayBuffer>) => void = () => {};
  /** The connection is lost; it is tried again. */
  onLost: () => void = () => {};
  /** It is over. */
  onEnd: (closing: Closing) => void = () => {};
  private socket?: WebSocket;
  private tries = 0;
  private opened = false;
  private ended = false;
  private pings = false;
  private alive = 0;
  private timer?: ReturnType<typeof setTimeout>;
  private watch?: ReturnType<typeof setInterval>;

  constructor(
    private readonly connect: Connect,
    private readonly address: Address,
    private readonly protocol: string,
  ) {}

  start(): void {
    addEventListener("online", this.online);
    addEventListener("offline", this.offline);
    this.watch = setInterval(() => {
      if (this.pings && this.socket && Date.now() - this.alive > silentFor) this.lose({ by: "lost" });
    }, 5000);
    void this.dial();
  }

  private async dial(): Promise<void> {
    const again = this.opened;
    this.timer = undefined;
    try {
      const address = typeof this.address === "string" ? this.address : await this.address(again);
      if (!this.ended) this.open(address, again);
    } catch (error) {
      if (this.ended) return;
      if ((error as Final)?.final) this.end({ by: "refused", error });
      else this.lose({ by: "lost", error });
    }
  }

  private open(address: string, again: boolean): void {
    const socket = this.connect(address, this.protocol);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.pings = false;
    socket.onopen = () => {
      if (socket === this.socket) this.onOpen(again);
    };
    socket.onmessage = (e) => {
      if (socket !== this.socket) return;
      this.alive = Date.now();
      const sound = e.data instanceof ArrayBuffer ? soundOf(e.data) : undefined;
      if (sound) return this.onSound(sound.id, sound.pcm);
      const m = parse(e.data);
      if (m?.type === "ping") {
        this.pings = true;
        this.send({ type: "pong", event_id: m.ping_event.event_id });
      } else if (m) {
        if (m.type === "conversation_initiation_metadata") {
          this.opened = true;
          this.tries = 0;
        }
        this.onMessage(m, again);
      }
    };
    socket.onclose = (e) => {
      if (socket !== this.socket) return;
      this.socket = undefined;
      if (e.code === 1000) this.end({ by: "server", code: e.code, reason: e.reason });
      else if (e.code === 1008 && !this.opened) this.end({ by: "refused", code: e.code, reason: e.reason });
      else this.lose({ by: "lost", code: e.code, reason: e.reason });
    };
  }

  /** lose gives up a connection, and tries again after a pause, longer each time. */
  private lose(closing: Closing): void {
    const socket = this.socket;
    this.socket = undefined;
    socket?.close(lost); // 1000 and no code would hang up
    if (navigator.onLine === false) this.tries = Math.min(this.tries, 3); // what the network's absence refuses does not count
    const pause = pauses[this.tries++];
    if (pause === undefined || typeof this.address === "string") {
      this.end(closing);
      return;
    }
    this.onLost();
    this.timer = setTimeout(() => void this.dial(), pause * (0.75 + Math.random() / 2));
  }

  private readonly online = () => {
    if (!this.timer) return;
    clearTimeout(this.timer);
    void this.dial();
  };

  private readonly offline = () => {
    if (this.socket) this.lose({ by: "lost" });
  };

  get connected(): boolean {
    return this.socket?.readyState === 1;
  }
  /** full says that the network does not take what is sent. */
  get full(): boolean {
    return (this.socket?.bufferedAmount ?? 0) > fullAt;
  }

  send(m: object): boolean {
    if (!this.connected) return false;
    this.socket!.send(JSON.stringify(m));
    return true;
  }

  /** sendSound sends samples, as a page has them. */
  sendSound(pcm: ArrayBuffer): void {
    if (this.connected) this.socket!.send(pcm);
  }

  /** end closes it for good. */
  end(closing: Closing): void {
    if (this.ended) return;
    this.ended = true;
    const socket = this.socket;
    this.socket = undefined;
    socket?.close(1000);
    clearTimeout(this.timer);
    clearInterval(this.watch);
    removeEventListener("online", this.online);
    removeEventListener("offline", this.offline);
    this.onEnd(closing);
  }
}
