// The linter of this sample has one rule: compare with === and !==. Yours would be ESLint, Biome or Ruff.
//   node lint.mjs FILE...
import { readFileSync } from 'node:fs';

const IGNORED = /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

let found = 0;
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const code = text.replace(IGNORED, (part) => part.replace(/[^\n]/g, ' '));
  for (const { index } of code.matchAll(/(?<![=!<>])[=!]=(?!=)/g)) {
    const line = code.slice(0, index).split('\n').length;
    if (lines[line - 2]?.includes('lint-disable-next-line')) continue;
    found++;
    console.log(`${file}:${line}: eqeqeq: ${lines[line - 1].trim()}`);
  }
}
process.exit(found > 0 ? 1 : 0);
