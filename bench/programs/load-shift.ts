/** Reads and checks a shift as `start` does, and says how many milliseconds that took. */
import { openAndCheck } from '../../src/app/open-shift.ts';
import { shiftPaths } from '../../src/store/folder/layout.ts';

const [root, shift] = process.argv.slice(2) as [string, string];
const started = performance.now();
const { snapshot } = await openAndCheck(shiftPaths(root, shift));
console.log(JSON.stringify({ ms: performance.now() - started, rows: snapshot.count }));
