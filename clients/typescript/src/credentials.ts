import type { CarillonClient } from "./client.js";

/** What calls are made with. */
export interface Credential {
  get(
    c: CarillonClient,
    signal?: AbortSignal,
  ): Promise<{ key?: string; token?: string }>;
  /** renew forgets a token that was refused, and reports whether another one can be had. */
  renew(refused: string | undefined): boolean;
}

export const nobody: Credential = { get: async () => ({}), renew: () => false };

export function missing(what: string): Credential {
  return {
    get: async () => {
      throw new Error("the client was made without " + what);
    },
    renew: () => false,
  };
}

export function fixed(credential: {
  key?: string;
  token?: string;
}): Credential {
  return { get: async () => credential, renew: () => false };
}

const renewBefore = 60; // seconds before its end in which a token is renewed

/** A token, and how another one is had. Callers that need one at the same time wait for one request. */
abstract class Renewed implements Credential {
  private token: string | undefined;
  private until = 0;
  private coming: Promise<string> | undefined;

  async get(
    c: CarillonClient,
    signal?: AbortSignal,
  ): Promise<{ token: string }> {
    if (this.token !== undefined && Date.now() < this.until)
      return { token: this.token };
    this.coming ??= this.fetch(c)
      .then((got) => {
        this.token = got.access_token;
        this.until = Date.now() + (got.expires_in - renewBefore) * 1000; // only this side's clock counts
        return got.access_token;
      })
      .finally(() => {
        this.coming = undefined;
      });
    return { token: await unlessAborted(this.coming, signal) };
  }

  renew(refused: string | undefined): boolean {
    if (this.token === refused) this.token = undefined; // not where another one has come meanwhile
    return true;
  }

  protected abstract fetch(
    c: CarillonClient,
  ): Promise<{ access_token: string; expires_in: number }>;
}

/** unlessAborted gives up waiting; what is waited for goes on, as others may wait too. */
function unlessAborted<R>(
  coming: Promise<R>,
  signal?: AbortSignal,
): Promise<R> {
  if (!signal) return coming;
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    coming
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", end));
  });
}

/** An API key, and the token that stands in for it. */
export class Exchanged extends Renewed {
  constructor(private readonly key: string) {
    super();
  }

  protected fetch(c: CarillonClient) {
    return c.request<{ access_token: string; expires_in: number }>(
      "POST",
      "auth/company",
      { as: "nobody", safe: true, headers: { "X-Access-Key": this.key } },
    );
  }
}

/** A user's session. */
export class SignedIn extends Renewed {
  private refresh: string | undefined;

  constructor(
    private readonly email: string,
    private readonly password: string,
  ) {
    super();
  }

  protected async fetch(c: CarillonClient) {
    const session =
      (this.refresh &&
        (await c.users.refresh(this.refresh).catch((e: { code?: string }) => {
          if (e.code !== "unauthorized") throw e;
        }))) ||
      (await c.users.signIn(this.email, this.password));
    this.refresh = session.refresh_token;
    return session;
  }
}
