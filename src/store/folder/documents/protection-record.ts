import { constants, lutimesSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundRecord, ProtectionRecord, SavedFile } from '../../../core/model/protection.ts';
import { diskError } from '../files/atomic-write.ts';
import { readHere } from '../files/read-here.ts';

const CONTENTS = 'contents';
/** In the folder of the record. */
export const RECORDED_FILES = 'files.jsonl';
/** Many small files are written together. */
const WRITE_BYTES = 1024 * 1024;

/**
 * Protected files at the start of a run: `contents` holds one after the other, `files.jsonl` says which and where. It
 * is removed when a run ends by itself. The time of change of `files.jsonl` is the last sign of life.
 */
export async function createRecord(folder: string): Promise<ProtectionRecord> {
  const made = `${folder}.nightshift-tmp`;
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true, mode: 0o700 });
  const create = (name: string) =>
    open(join(made, name), constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600);
  const contents = await create(CONTENTS);
  const files = await create(RECORDED_FILES);
  let length = 0;
  let unwritten: Buffer[] = [];
  let written = 0;
  const write = async () => {
    const piece = Buffer.concat(unwritten);
    unwritten = [];
    await writeAt(contents, piece, written, folder);
    written += piece.length;
  };
  let isInPlace = false;
  return {
    async save(content) {
      const offset = length;
      length += content.length;
      unwritten.push(content);
      if (length - written >= WRITE_BYTES) await write();
      return offset;
    },
    async commit(saved) {
      try {
        await write();
        await contents.sync();
        await files.appendFile(saved.map((file) => `${JSON.stringify(file)}\n`).join(''));
        await files.sync();
        if (isInPlace) return;
        await rm(folder, { recursive: true, force: true });
        await rename(made, folder);
        isInPlace = true;
      } catch (cause) {
        throw diskError(cause, folder);
      }
    },
    content: (offset, size) => readAt(contents, offset, size),
    signOfLife: () => touch(join(folder, RECORDED_FILES)),
    async close() {
      await contents.close();
      await files.close();
    },
    async remove() {
      await rm(folder, { recursive: true, force: true });
      await rm(made, { recursive: true, force: true });
    },
  };
}

/** What a killed run left, as far as it is readable. */
export async function findRecord(folder: string): Promise<FoundRecord | undefined> {
  let text: string;
  let lastSign: number;
  try {
    // That of the inode: an agent could set the other one to any time.
    lastSign = statSync(join(folder, RECORDED_FILES)).ctimeMs;
    text = readHere(join(folder, RECORDED_FILES));
  } catch {
    return undefined;
  }
  return {
    files: text.split('\n').flatMap(parseLine),
    lastSign,
    async content(offset, size) {
      await using contents = await open(join(folder, CONTENTS), constants.O_RDONLY | constants.O_NOFOLLOW);
      return await readAt(contents, offset, size);
    },
    signOfLife: () => touch(join(folder, RECORDED_FILES)),
    close: async () => {},
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function touch(file: string): void {
  try {
    const now = new Date();
    lutimesSync(file, now, now);
  } catch {
    // If it was removed, what is in memory still holds.
  }
}

/** The last line may be torn. */
function parseLine(line: string): SavedFile[] {
  try {
    const file = JSON.parse(line) as SavedFile;
    return typeof file.path === 'string' && typeof file.state?.kind === 'string' ? [file] : [];
  } catch {
    return [];
  }
}

async function writeAt(file: FileHandle, content: Buffer, offset: number, folder: string): Promise<void> {
  try {
    for (let done = 0; done < content.length; ) {
      const { bytesWritten } = await file.write(content, done, content.length - done, offset + done);
      if (bytesWritten === 0) throw Object.assign(new Error('nothing more could be written'), { code: 'ENOSPC' });
      done += bytesWritten;
    }
  } catch (cause) {
    throw diskError(cause, folder);
  }
}

/** Shorter than asked for if the file was cut: the caller checks. */
async function readAt(file: FileHandle, offset: number, size: number): Promise<Buffer> {
  const content = Buffer.alloc(size);
  const { bytesRead } = await file.read(content, 0, size, offset);
  return content.subarray(0, bytesRead);
}
