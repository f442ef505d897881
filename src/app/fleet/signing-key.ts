import { readFileSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { newSigningKey, type Signer, signerFrom } from '../../fleet/signature.ts';
import { diskError } from '../../store/folder/files/atomic-write.ts';
import { stateFolder } from '../state-folder.ts';
import type { World } from '../world.ts';

/** The coordinator's private key: NIGHTSHIFT_FLEET_SIGNING_KEY, or a file that is created if it is missing. */
export async function findSigner(world: World): Promise<Signer> {
  const given = world.env.NIGHTSHIFT_FLEET_SIGNING_KEY;
  if (given) return readKey(given, 'NIGHTSHIFT_FLEET_SIGNING_KEY');
  const file = join(stateFolder(world), 'fleet.key');
  return readKey(textOf(file) ?? (await makeKey(file)), file);
}

/** What workers verify orders with. */
export async function verificationKey(world: World): Promise<string> {
  return (await findSigner(world)).publicKey;
}

function readKey(text: string, place: string): Signer {
  try {
    return signerFrom(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = 'remove it, and the next start creates a new one; workers then need the new --key';
    throw new NightshiftError('usage', `${place} is not an Ed25519 private key: ${reason}`, hint);
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw diskError(error, file);
  }
}

/** Two commands may make it at the same time: the first one counts. */
async function makeKey(file: string): Promise<string> {
  const key = newSigningKey();
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await using handle = await open(file, 'wx', 0o600);
    await handle.writeFile(key);
    await handle.sync();
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw diskError(error, file);
    return textOf(file)!;
  }
}
