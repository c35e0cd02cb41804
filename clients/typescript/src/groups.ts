// The calls of the client, by what they are about.
import type { CallOptions, CarillonClient } from "./client.js";
import type * as T from "./types.js";

/** The calls about templates. */
export class Templates {
  constructor(private readonly client: CarillonClient) {}

  /** list reads the approved templates of a sender, by its number. */
  list(number: string, o: CallOptions = {}): Promise<T.Template[]> {
    return this.client.request("GET", "notify/templates", {
      ...o,
      query: { phone_number: number },
    });
  }

  /** get reads a template of any status by its id. */
  get(id: string, o: CallOptions = {}): Promise<T.Template> {
    return this.client.request(
      "GET",
      "notify/templates/" + encodeURIComponent(id),
      o,
    );
  }

  /**
   * find reads a template of any status by its id, or by its name and language. Where several have the name, and the language if it is given, an
   * approved one comes before others, then one of the default sender.
   */
  async find(
    nameOrId: string,
    language?: string,
    o: CallOptions = {},
  ): Promise<T.Template> {
    return (
      await this.client.request<{ template: T.Template }>(
        "GET",
        "notify/template/components",
        { ...o, query: { template: nameOrId, language } },
      )
    ).template;
  }

  /** create creates a template of the sender with a number; without one, of the default sender. */
  async create(
    draft: T.Draft,
    number?: string,
    o: CallOptions = {},
  ): Promise<T.CreatedTemplate> {
    return (
      await this.client.request<{ template: T.CreatedTemplate }>(
        "POST",
        "notify/templates",
        { ...o, query: { phone_number: number }, body: draft },
      )
    ).template;
  }

  /** edit changes a draft, a rejected or a pending template, which is a draft then. */
  edit(
    id: string,
    edit: T.TemplateEdit,
    o: CallOptions = {},
  ): Promise<T.Template> {
    return this.client.request(
      "PATCH",
      "notify/templates/" + encodeURIComponent(id),
      { ...o, body: edit },
    );
  }

  /** submit submits a draft for approval. */
  submit(id: string, o: CallOptions = {}): Promise<T.Template> {
    return this.client.request(
      "POST",
      `notify/templates/${encodeURIComponent(id)}/submit`,
      o,
    );
  }

  /** delete deletes a template. */
  delete(id: string, o: CallOptions = {}): Promise<void> {
    return this.client.request(
      "DELETE",
      "notify/templates/" + encodeURIComponent(id),
      o,
    );
  }
}

/** The calls about numbers that get nothing. */
export class Suppressions {
  constructor(private readonly client: CarillonClient) {}

  /** list reads the numbers that get nothing. */
  list(o: CallOptions = {}): AsyncGenerator<T.Suppression> {
    return this.client.pages("suppressions", { limit: 100 }, o);
  }

  /** add has a number get nothing any more. */
  add(
    number: string,
    reason?: string,
    o: CallOptions = {},
  ): Promise<T.Suppression> {
    return this.client.request("POST", "suppressions", {
      ...o,
      safe: true,
      body: { number, ...(reason && { reason }) },
    });
  }

  /** remove ends the suppression of a number. */
  remove(number: string, o: CallOptions = {}): Promise<void> {
    return this.client.request(
      "DELETE",
      "suppressions/" + encodeURIComponent(number),
      o,
    );
  }
}

/** The calls for programs that cannot be called. */
export class Events {
  constructor(private readonly client: CarillonClient) {}

  /** pull reads events once. Without a cursor there are none, and next_cursor is that of now. */
  pull(
    p: { cursor?: string; types?: T.EventType[]; wait?: number } = {},
    o: CallOptions = {},
  ): Promise<Omit<T.EventPage, "data"> & { data: T.CarillonEvent[] }> {
    return this.client.request("GET", "events", {
      ...o,
      query: {
        limit: 100,
        cursor: p.cursor,
        types: p.types?.join(","),
        wait: p.wait,
      },
    });
  }

  /**
   * follow is what happens from a cursor on, without end: each event with the cursor to go on with once it is handled. A program that keeps it
   * misses none when it begins again; some of the last page may come twice. Without a cursor it begins now: take the first one from pull.
   */
  async *follow(
    p: { cursor?: string; types?: T.EventType[]; wait?: number } = {},
    o: CallOptions = {},
  ): AsyncGenerator<{ event: T.CarillonEvent; cursor: string | undefined }> {
    let cursor = p.cursor;
    for (;;) {
      const page = await this.pull(
        { ...p, wait: p.wait ?? 25, ...(cursor && { cursor }) },
        o,
      );
      for (const [i, event] of page.data.entries())
        yield {
          event,
          cursor: i === page.data.length - 1 ? page.next_cursor : cursor,
        };
      cursor = page.next_cursor;
    }
  }
}

/** The calls about webhooks. */
export class Webhooks {
  constructor(private readonly client: CarillonClient) {}

  list(o: CallOptions = {}): AsyncGenerator<T.Webhook> {
    return this.client.pages("webhooks", { limit: 100 }, o);
  }
  /** add adds a webhook. Its secret is in the response, this once. */
  add(webhook: T.WebhookRequest, o: CallOptions = {}): Promise<T.Webhook> {
    return this.client.request("POST", "webhooks", { ...o, body: webhook });
  }
  get(id: string, o: CallOptions = {}): Promise<T.Webhook> {
    return this.client.request("GET", hook(id), o);
  }
  /** replace replaces a webhook. A secret that is left out stays as it is. */
  replace(
    id: string,
    webhook: T.WebhookRequest,
    o: CallOptions = {},
  ): Promise<T.Webhook> {
    return this.client.request("PUT", hook(id), {
      ...o,
      safe: true,
      body: webhook,
    });
  }
  delete(id: string, o: CallOptions = {}): Promise<void> {
    return this.client.request("DELETE", hook(id), o);
  }
  status(id: string, o: CallOptions = {}): Promise<T.WebhookStatus> {
    return this.client.request("GET", hook(id, "/status"), o);
  }
  /** deliveries are what was sent to a webhook, the latest first. */
  deliveries(
    id: string,
    onlyFailed = false,
    o: CallOptions = {},
  ): AsyncGenerator<T.Delivery> {
    return this.client.pages(
      hook(id, "/deliveries"),
      { limit: 100, ...(onlyFailed && { succeeded: "false" }) },
      o,
    );
  }
  /** test sends a webhook an event that never happened, and returns what came of it. */
  test(
    id: string,
    type: T.EventType,
    o: CallOptions = {},
  ): Promise<T.Delivery> {
    return this.client.request("POST", hook(id, "/test"), {
      ...o,
      body: { type },
    });
  }
  /** rotateSecret signs a webhook's events with another secret, which is in the response; the one before signs too for some hours. */
  rotateSecret(
    id: string,
    keepHours = 24,
    o: CallOptions = {},
  ): Promise<T.Webhook> {
    return this.client.request("POST", hook(id, "/rotate"), {
      ...o,
      body: { keep_hours: keepHours },
    });
  }
  /** enable delivers again to a webhook that fails or was disabled. */
  enable(
    id: string,
    skipWaiting = false,
    o: CallOptions = {},
  ): Promise<T.WebhookStatus> {
    return this.client.request("POST", hook(id, "/enable"), {
      ...o,
      safe: true,
      body: { skip_waiting: skipWaiting },
    });
  }
  /** replay sends a webhook events again, with the ids they had. */
  replay(
    id: string,
    which: T.Replay,
    o: CallOptions = {},
  ): Promise<T.Replayed> {
    return this.client.request("POST", hook(id, "/replay"), {
      ...o,
      body: which,
    });
  }
}

/** The calls of a user. */
export class Users {
  constructor(private readonly client: CarillonClient) {}

  /** signIn begins a session of a user. A client made with an e-mail and a password does so by itself. */
  signIn(
    email: string,
    password: string,
    o: CallOptions = {},
  ): Promise<T.Session> {
    return this.client.request("POST", "auth", {
      ...o,
      as: "nobody",
      safe: true,
      query: { grant_type: "password" },
      body: { email, password },
    });
  }

  /** refresh renews a session. The refresh token is good once. */
  refresh(refreshToken: string, o: CallOptions = {}): Promise<T.Session> {
    return this.client.request("POST", "auth/refresh", {
      ...o,
      as: "nobody",
      body: { refresh_token: refreshToken },
    });
  }
  me(o: CallOptions = {}): Promise<T.User> {
    return this.client.request("GET", "auth/user", { ...o, as: "user" });
  }
  signOut(o: CallOptions = {}): Promise<void> {
    return this.client.request("POST", "auth/logout", { ...o, as: "user" });
  }
  async accessKeys(o: CallOptions = {}): Promise<T.AccessKey[]> {
    return (
      await this.client.request<{ validApiKeys: T.AccessKey[] }>(
        "POST",
        "api_keys",
        { ...o, as: "user", safe: true },
      )
    ).validApiKeys;
  }
}

function hook(id: string, rest = ""): string {
  return "webhooks/" + encodeURIComponent(id) + rest;
}
