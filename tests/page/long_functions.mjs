// Lists functions that are too long, and fails if there are any: node long_functions.mjs TYPESCRIPT FILE…

import { readFileSync } from "node:fs";

const LONGEST = 59;
const [, , typescript, ...files] = process.argv;
const { default: ts } = await import(typescript);

for (const file of files) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const [first, last] = [lineOf(node.getStart(source)), lineOf(node.end)];
      if (last - first + 1 > LONGEST) {
        console.log(
          `${file}:${first}: ${node.name?.getText(source) ?? "a function"} has ${last - first + 1} lines`,
        );
        process.exitCode = 1;
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
