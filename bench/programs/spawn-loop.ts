/** What somebody writes in an afternoon: COUNT times `sh -c true` with pipes, AT_ONCE at a time. */
import { spawn } from 'node:child_process';

const [count, atOnce] = process.argv.slice(2).map(Number) as [number, number];
let left = count;

function shell(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', 'true']);
    child.stdout.resume();
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}`))));
  });
}

await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (left-- > 0) await shell();
  }),
);
