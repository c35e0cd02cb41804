// This browser's subscription to web push messages.
import { del, post } from "../../api";

const script = "/panel/push/worker.js";
const scope = "/panel/push/";

/** supported reports whether this browser can get messages here: it needs HTTPS, except on this machine. */
export const supported = () =>
  window.isSecureContext && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

export class Denied extends Error {}

/** subscribe asks for permission and subscribes this browser; it throws Denied without permission. */
export async function subscribe(key: string, language: string) {
  if ((await Notification.requestPermission()) !== "granted") throw new Denied();
  await navigator.serviceWorker.register(script, { scope });
  const registration = await ready();
  const have = await registration.pushManager.getSubscription();
  if (have) await have.unsubscribe(); // perhaps with another key
  const got = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
  const of = (name: PushEncryptionKeyName) => base64url(new Uint8Array(got.getKey(name)!));
  return post("/inbox/browsers", { endpoint: got.endpoint, p256dh: of("p256dh"), auth: of("auth"), language });
}

/** unsubscribe removes a browser; here is whether it is this one. */
export async function unsubscribe(id: string, here: boolean): Promise<void> {
  await del(`/inbox/browsers/${id}`);
  if (here) await forget();
}

/** forget ends this browser's own subscription, as signing out does. */
export async function forget(): Promise<void> {
  if (!supported()) return;
  const registration = await navigator.serviceWorker.getRegistration(scope);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

/** ready waits until the worker is active. */
async function ready(): Promise<ServiceWorkerRegistration> {
  const registration = (await navigator.serviceWorker.getRegistration(scope))!;
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || !worker) return registration;
  await new Promise<void>((done, fail) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") done();
      if (worker.state === "redundant") fail(new Error("The service worker was not installed"));
    });
  });
  return registration;
}

function bytes(key: string): Uint8Array<ArrayBuffer> {
  const text = atob(key.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

function base64url(of: Uint8Array): string {
  return btoa(String.fromCharCode(...of))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
