// The phones of the sandbox, as /panel/v1 has them.
import type { Schemas } from "../../api";

/** PhoneCall is a call that the sandbox's phone got. */
export type PhoneCall = Schemas["CallsHeardRow"];

export type Phoned = Schemas["CallsPhoneCalls"];

/** Bubble is a message on a phone of the sandbox. */
export type Bubble = Schemas["CallsBubble"];

export type Handset = Schemas["CallsScreen"];

export type HandsetNumbers = Schemas["CallsPhoneNumbers"];
