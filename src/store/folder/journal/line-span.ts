import type { FileHandle } from 'node:fs/promises';

const NEWLINE = 0x0a;
/** Longer than any line of Nightshift. Other lines must not fill the memory: they are skipped. */
const LONGEST_LINE = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** A line without its line end. `end` is the offset after that. */
export interface Line {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Whole lines of a file, in its order, and the part of it that was read. */
export interface LineSpan {
  readonly lines: readonly Line[];
  readonly from: number;
  readonly to: number;
}

/**
 * Whole lines from an offset on: about `most` bytes of them, and at least one, if there is one. A line that has no end
 * yet is left for later.
 */
export async function linesFrom(handle: FileHandle, from: number, most: number): Promise<LineSpan> {
  for (let length = most; ; length *= 2) {
    const chunk = await readAt(handle, from, length);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) return { lines: split(chunk.subarray(0, end), from), from, to: from + end };
    if (chunk.length < length) return { lines: [], from, to: from };
    if (length >= LONGEST_LINE) return { lines: [], from, to: await nextLine(handle, from + length) };
  }
}

/** Whole lines that end at or before an offset, likewise. A line without an end is left out. */
export async function linesBefore(handle: FileHandle, before: number, most: number): Promise<LineSpan> {
  for (let length = most; ; length *= 2) {
    const begin = Math.max(0, before - length);
    const chunk = await readAt(handle, begin, before - begin);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    // The line that reaches into the chunk is left for the next one.
    const first = begin === 0 ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (end > first || begin === 0) {
      return { lines: split(chunk.subarray(first, end), begin + first), from: begin + first, to: begin + end };
    }
    if (length >= LONGEST_LINE) {
      const from = await previousLine(handle, begin);
      return { lines: [], from, to: from };
    }
  }
}

/** The start of the line at or after an offset. */
export async function lineStart(handle: FileHandle, offset: number): Promise<number> {
  if (offset <= 0) return 0;
  return nextLine(handle, offset - 1);
}

function split(bytes: Buffer, offset: number): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    lines.push({ bytes: bytes.subarray(start, end), start: offset + start, end: offset + end + 1 });
    start = end + 1;
  }
  return lines;
}

async function nextLine(handle: FileHandle, from: number): Promise<number> {
  for (let offset = from; ; ) {
    const chunk = await readAt(handle, offset, CHUNK_BYTES);
    const end = chunk.indexOf(NEWLINE);
    if (end >= 0) return offset + end + 1;
    offset += chunk.length;
    if (chunk.length === 0) return offset;
  }
}

async function previousLine(handle: FileHandle, before: number): Promise<number> {
  for (let end = before; end > 0; ) {
    const begin = Math.max(0, end - CHUNK_BYTES);
    const at = (await readAt(handle, begin, end - begin)).lastIndexOf(NEWLINE);
    if (at >= 0) return begin + at + 1;
    end = begin;
  }
  return 0;
}

/** As many bytes as there are. */
export async function readAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
