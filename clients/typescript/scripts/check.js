// Exit with build instructions if a file that a script of package.json needs is missing.
import { existsSync } from "node:fs";

const missing = process.argv.slice(2).filter((name) => !existsSync(new URL(`../${name}`, import.meta.url)));
if (missing.length > 0) {
  console.error(`Missing: ${missing.join(", ")}. In a clone that has been built, for example with make demo (see README.md), run:

  npm ci
  chatiere protos api
  npm run generate    # needs buf: pip install buf-bin
  npm run build       # or npm pack
`);
  process.exit(1);
}
