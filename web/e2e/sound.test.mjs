import { tryParts } from "./world.mjs";

await tryParts("sound");
