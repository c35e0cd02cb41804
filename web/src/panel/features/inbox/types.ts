// What the inbox reads and writes (docs/reference/conversation.md).
import type { Schemas } from "../../api";

export type {
  Author,
  Card,
  Contact,
  Conversation as Summary,
  Counts,
  Delivery,
  Listed,
  Offered,
  Order,
  ReplyWindow,
  Passing as Mark,
  Reply as CannedReply,
  State,
  Teammate,
  Thread,
  Turn,
  Update,
} from "../talk/types";

export type Folder = "mine" | "unassigned" | "unanswered" | "automated" | "all";
export const folders: Folder[] = ["mine", "unassigned", "unanswered", "automated", "all"];

/** What the company had to do with a contact. */
export type ContactPage = Schemas["InboxProfile"];
export type ContactNotification = ContactPage["notifications"][number];
