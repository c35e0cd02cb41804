import { beforeAll } from "vitest";
import { textsLoaded } from "./i18n";

beforeAll(textsLoaded);
