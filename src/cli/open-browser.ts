import { spawn } from 'node:child_process';
import type { Io } from './io.ts';

/** Opens an address in a browser. If that fails, a line says so: the address is on the screen already. */
export function openBrowser(io: Io, address: string): void {
  const [file, ...args] = browserOf(io);
  const child = spawn(file, [...args, address], { env: io.env, detached: true, stdio: 'ignore' });
  const fail = (why: string) => io.warn(`no browser was opened (${why}): open the address yourself`);
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) fail(`${file} exited with ${code}`);
  });
  child.unref();
}

/** `$BROWSER` is a program, perhaps with options; a list of them has colons, and the first one counts. */
function browserOf({ env }: Io): readonly [string, ...string[]] {
  const [first = ''] = (env.BROWSER ?? '').split(':');
  const [file, ...args] = first.split(/\s+/).filter((word) => word !== '' && word !== '%s');
  if (file !== undefined) return [file, ...args];
  return process.platform === 'darwin' ? ['open'] : ['xdg-open'];
}
