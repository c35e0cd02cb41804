import { tryParts } from "./world.mjs";

await tryParts("sound", "--use-fake-device-for-media-stream");
