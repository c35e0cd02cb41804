// Facebook's dialog (Embedded Sign-up), in which an administrator of a business gives access to a WhatsApp number.
import type { Language } from "../../i18n";

/** Facebook is the part of Facebook's SDK that the sign-up uses. */
export interface Facebook {
  init: (options: { appId: string; version: string; cookie: boolean; xfbml: boolean }) => void;
  login: (
    done: (response?: { authResponse?: { code?: string } | null }) => void,
    options: {
      config_id: string;
      response_type: "code";
      override_default_response_type: true;
      extras: { setup: object; featureType?: string };
    },
  ) => void;
}

declare global {
  interface Window {
    FB?: Facebook;
    fbAsyncInit?: () => void;
  }
}

const locales: Record<Language, string> = { en: "en_US", es: "es_LA", pt: "pt_BR" };
let sdk: Promise<Facebook> | undefined;

/** loadSDK loads Facebook's scripts, which only the page of the sign-up may load. */
export function loadSDK(appId: string, version: string, language: Language): Promise<Facebook> {
  sdk ??= new Promise((resolve, reject) => {
    window.fbAsyncInit = () => {
      window.FB!.init({ appId, version, cookie: false, xfbml: false });
      resolve(window.FB!);
    };
    const script = document.createElement("script");
    script.src = `https://connect.facebook.net/${locales[language]}/sdk.js`;
    script.async = true;
    script.crossOrigin = "anonymous";
    script.onerror = () => {
      sdk = undefined;
      script.remove();
      reject(new Error("Facebook's scripts were not loaded"));
    };
    document.head.append(script);
  });
  return sdk;
}

/** leave removes Facebook's scripts, which stay in a document until it is loaded again. */
export function leave(): void {
  if (sdk) location.reload();
}

/** Outcome is how a dialog ended. */
export type Outcome =
  | { kind: "finished"; code: string; account: string; number?: string }
  | { kind: "numberMissing" | "canceled" | "silent" }
  | { kind: "failed"; text: string };

type Message =
  Exclude<Outcome, { kind: "finished" | "silent" }> | { kind: "finished"; account: string; number?: string };

/** fromFacebook reports whether a message came from a page of Facebook's. */
export function fromFacebook(origin: string): boolean {
  return /^https:\/\/([a-z0-9-]+\.)*facebook\.com$/.test(origin);
}

/** messageOf is a message of the dialog; undefined if it is none. */
export function messageOf(e: { origin: string; data: unknown }): Message | undefined {
  if (!fromFacebook(e.origin)) return undefined;
  let x = e.data;
  try {
    if (typeof x === "string") x = JSON.parse(x) as unknown;
  } catch {
    return undefined; // Facebook's scripts also send texts to each other
  }
  const message = x as { type?: unknown; event?: unknown; data?: Record<string, unknown> } | null;
  if (message?.type !== "WA_EMBEDDED_SIGNUP") return undefined;
  const id = (name: string) => {
    const text = String(message.data?.[name] ?? "");
    return /^\d{1,32}$/.test(text) ? text : undefined;
  };
  switch (message.event) {
    case "FINISH":
    case "FINISH_WHATSAPP_BUSINESS_APP_ONBOARDING": {
      const account = id("waba_id");
      return account ? { kind: "finished", account, number: id("phone_number_id") } : undefined;
    }
    case "FINISH_ONLY_WABA":
      return { kind: "numberMissing" };
  }
  const text = message.data?.error_message;
  if (typeof text === "string" && text) return { kind: "failed", text: text.slice(0, 300) };
  return message.event === "CANCEL" ? { kind: "canceled" } : undefined;
}

/** patience is how long the dialog's message may come after the code, which lives for 30 seconds. */
const patience = 5_000;

/** signIn opens the dialog and waits for its end. With coexistence, the number stays in the WhatsApp Business app. */
export function signIn(facebook: Facebook, config: string, coexistence: boolean): Promise<Outcome> {
  return new Promise((resolve) => {
    let last: Message | undefined;
    let code: string | undefined; // "": without access
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (o: Outcome) => {
      window.removeEventListener("message", hear);
      clearTimeout(timer);
      resolve(o);
    };
    const settle = () => {
      if (code === undefined) return;
      if (!code) end(last && last.kind !== "finished" ? last : { kind: "canceled" });
      else if (last) end(last.kind === "finished" ? { ...last, code } : last);
      else timer = setTimeout(() => end({ kind: "silent" }), patience);
    };
    const hear = (e: MessageEvent) => {
      last = messageOf(e) ?? last;
      if (last) settle();
    };
    window.addEventListener("message", hear);
    facebook.login(
      (r) => {
        code = r?.authResponse?.code ?? "";
        settle();
      },
      {
        config_id: config,
        response_type: "code",
        override_default_response_type: true,
        extras: { setup: {}, ...(coexistence ? { featureType: "whatsapp_business_app_onboarding" } : {}) },
      },
    );
  });
}
