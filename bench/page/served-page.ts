import { join } from 'node:path';
import { NIGHTSHIFT, node } from '../measure.ts';
import type { Project } from '../project.ts';

/** `nightshift view` of a project, in a process of its own. */
export interface ServedPage extends AsyncDisposable {
  /** With the token. */
  readonly url: string;
}

export async function servePage({ root }: Project): Promise<ServedPage> {
  const closing = new AbortController();
  let ended: Promise<unknown> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    ended = node([NIGHTSHIFT, 'view', '--json'], {
      cwd: root,
      env: { XDG_STATE_HOME: join(root, 'state') },
      signal: 'SIGKILL',
      onOutput: (stdout, child) => {
        if (!stdout.includes('\n')) return;
        closing.signal.addEventListener('abort', () => child.kill('SIGKILL'));
        resolve((JSON.parse(stdout) as { url: string }).url);
      },
    });
    ended.catch(reject);
  });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await ended;
    },
  };
}
