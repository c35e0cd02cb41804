import type { Schemas } from "../../api";
export type Session = Schemas["AccountSessionRow"];
