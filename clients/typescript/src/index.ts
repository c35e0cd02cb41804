export {
  CarillonClient,
  type Call,
  type CallOptions,
  type Options,
  type Retries,
} from "./client.js";
export { Events, Suppressions, Templates, Users, Webhooks } from "./groups.js";
export {
  CarillonError,
  Unreachable,
  type Code,
  type Details,
} from "./errors.js";
export { verifyWebhook, WebhookError } from "./webhook.js";
export type * from "./types.js";
