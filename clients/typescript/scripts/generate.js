// Write src/generated/index.ts, which exports all of chatiere.v1. Copy web/shared/ to src/shared/. The page also uses
// the modules in web/shared/.
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";

const SOURCES = new URL("../src/", import.meta.url);
const SHARED = new URL("../../../web/shared/", import.meta.url);

const modules = readdirSync(new URL("generated/chatiere/v1/", SOURCES)).sort();
const lines = modules.map((name) => `export * from "./chatiere/v1/${name.replace(/\.ts$/, ".js")}";\n`);
writeFileSync(new URL("generated/index.ts", SOURCES), lines.join(""));
rmSync(new URL("shared/", SOURCES), { recursive: true, force: true });
cpSync(SHARED, new URL("shared/", SOURCES), { recursive: true });
