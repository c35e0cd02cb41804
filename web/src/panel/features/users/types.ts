import type { Schemas } from "../../api";

export type User = Schemas["AccountUserRow"];
