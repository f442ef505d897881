import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { temporaryName } from '../../store/folder/files/atomic-write.ts';
import { stateFolder } from '../state-folder.ts';
import type { World } from '../world.ts';

/** Where the page of a project is and what opens it: kept, so that windows find a server that was restarted. */
export interface PageAddress {
  readonly port: number;
  readonly token: string;
}

const MODE = 0o600;
/** 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** Undefined if there is none, or one that others could have read or written. */
export function readPageAddress(world: World, root: string): PageAddress | undefined {
  const file = addressFile(world, root);
  try {
    const { mode, uid } = statSync(file);
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) return undefined;
    const { port, token } = JSON.parse(readFileSync(file, 'utf8'));
    const isPort = Number.isInteger(port) && port > 0 && port < 2 ** 16;
    return isPort && typeof token === 'string' && TOKEN.test(token) ? { port, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Not synced to disk: after a power cut there may be none, and the next page has a new one. */
export function keepPageAddress(world: World, root: string, address: PageAddress): void {
  const file = addressFile(world, root);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(file), temporaryName(basename(file)));
  writeFileSync(temporary, `${JSON.stringify(address)}\n`, { mode: MODE, flag: 'wx' });
  renameSync(temporary, file);
}

function addressFile(world: World, root: string): string {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(stateFolder(world), 'view', `${name}.json`);
}
