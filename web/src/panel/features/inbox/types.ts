// What the inbox reads and writes (docs/reference/conversation.md).
import type { Contact, Conversation } from "../talk/types";

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

export type Folder = "mine" | "unassigned" | "automated" | "all";
export const folders: Folder[] = ["mine", "unassigned", "automated", "all"];

/** What the company had to do with a contact. */
export interface ContactPage {
  contact: Contact;
  conversations: Conversation[];
  notifications: ContactNotification[];
}
export interface ContactNotification {
  notification_id: string;
  channel: string;
  state: string;
  name_template?: string;
  campaign_name: string;
  created_at: string;
}
