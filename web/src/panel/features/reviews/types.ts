import type { Schemas } from "../../api";
/** Review is the judgment of a conversation after its end. */
export type Review = Schemas["ChatsReviewView"];
