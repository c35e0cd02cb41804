import type { Schemas } from "../../api";
export type Hours = Schemas["CarillonCallingHours"];

export type Widget = Schemas["WidgetWidget"];
