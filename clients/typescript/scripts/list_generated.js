// Writes src/generated/index.ts, which exports all of chatiere.v1.
import { readdirSync, writeFileSync } from "node:fs";

const GENERATED = new URL("../src/generated/", import.meta.url);
const modules = readdirSync(new URL("chatiere/v1/", GENERATED)).sort();
const lines = modules.map((name) => `export * from "./chatiere/v1/${name.replace(/\.ts$/, ".js")}";\n`);
writeFileSync(new URL("index.ts", GENERATED), lines.join(""));
