import { randomBytes } from 'node:crypto';
import { requireRoot } from '../app/find-shift.ts';
import { keepPageAddress, type PageAddress, readPageAddress } from '../app/page/kept-address.ts';
import { openPage } from '../app/page/open-page.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { systemError } from '../core/model/system-errors.ts';
import { PageServer } from '../server/server.ts';
import { WEB_FOLDER, WebFiles } from '../server/web-files.ts';
import type { Io } from './io.ts';
import { readVersion } from './version.ts';

export interface PageSettings {
  /** Undefined: the last one, or any. */
  readonly port?: number | undefined;
  readonly isReadOnly: boolean;
  readonly needsNewAddress: boolean;
}

/** Serves the page of this project from `opened` until `signal` aborts. */
export async function servePage(
  io: Io,
  settings: PageSettings,
  signal: AbortSignal,
  opened: (server: PageServer) => void,
): Promise<void> {
  const root = requireRoot(io);
  const files = await WebFiles.read(WEB_FOLDER);
  await using page = openPage(io, root);
  const kept = settings.needsNewAddress ? undefined : readPageAddress(io, root);
  const token = kept?.token ?? randomBytes(32).toString('base64url');
  const { isReadOnly } = settings;
  const options = { page, files, token, isReadOnly, version: readVersion(), now: io.now, warn: io.warn };
  await using server = await listen(settings.port, kept?.port, (port) => PageServer.listen(port, options));
  // Where the last port is taken, most often by another page of this project, its address stays as it is.
  if (!kept || settings.port !== undefined) keep(io, root, { port: server.port, token });
  opened(server);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

async function listen(
  wanted: number | undefined,
  last: number | undefined,
  open: (port: number) => Promise<PageServer>,
): Promise<PageServer> {
  try {
    return await open(wanted ?? last ?? 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    if (wanted === undefined) return await open(0);
    const why = code === 'EACCES' ? 'needs more rights' : 'is in use';
    throw new NightshiftError('usage', `port ${wanted} ${why}`, 'without --port, a free one is chosen');
  }
}

/** The page works without it; only the next one has another address. */
function keep(io: Io, root: string, address: PageAddress): void {
  try {
    keepPageAddress(io, root, address);
  } catch (thrown) {
    const error = systemError(thrown) ?? thrown;
    if (!(error instanceof NightshiftError)) throw error;
    io.warn(`the address can't be kept, so the next page has another one: ${error.message}`);
  }
}
