import type { ErrorCode } from '../core/model/errors.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import type { Markdown, Section } from './markdown.ts';
import { findSections } from './markdown.ts';

type FormatCode = Extract<ErrorCode, 'bad-manager' | 'bad-task'>;

/** An unclosed block or comment hides the rest of the file, so nothing below it can be trusted. */
export function requireClosed(document: Markdown, code: FormatCode, file?: string): void {
  if (document.unclosed === undefined) return;
  const { what, line } = document.unclosed;
  const hint = what === 'block' ? 'close it with a fence as long as the one that opens it' : 'close it with -->';
  const place = file === undefined ? { line } : { file, line };
  throw new NightshiftError(code, `the ${what === 'block' ? 'fenced block' : 'comment'} is never closed`, hint, place);
}

/** The section of that name; throws if it is missing or there are two. */
export function requireSection(document: Markdown, name: string, code: FormatCode, file?: string): Section {
  const [section, second] = findSections(document, name);
  const place = (line: number) => (file === undefined ? { line } : { file, line });
  if (second !== undefined) {
    const hint = `merge it with the one on line ${section!.heading.number}`;
    throw new NightshiftError(code, `the section \`## ${name}\` appears twice`, hint, place(second.heading.number));
  }
  if (section !== undefined) return section;
  const meant = nearest(
    name,
    document.sections.map((other) => other.name),
  );
  const like = document.sections.find((other) => other.name === meant);
  const hint = like === undefined ? `add a line \`## ${name}\`` : `rename \`## ${like.name}\` to \`## ${name}\``;
  const line = like?.heading.number ?? document.lines.length;
  throw new NightshiftError(code, `there is no section \`## ${name}\``, hint, place(Math.max(1, line)));
}
