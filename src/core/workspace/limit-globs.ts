import { type Template, type Values, valueFor } from '../language/template.ts';
import type { ChangeLimits } from './change.ts';

/** The globs of `allow-paths` and `deny-paths`, with placeholders for columns. */
export interface LimitGlobs {
  readonly allow: readonly Template[];
  readonly deny: readonly Template[];
}

export function fillLimits(limits: ChangeLimits, { allow, deny }: LimitGlobs, values: Values): ChangeLimits {
  const fill = (globs: readonly Template[]) => globs.map((glob) => fillGlob(glob, values));
  return { ...limits, allow: fill(allow), deny: fill(deny) };
}

function fillGlob({ segments }: Template, values: Values): string {
  return segments.map((each) => (typeof each === 'string' ? each : inGlob(valueFor(each, values)))).join('');
}

/** A value names one path: a star in it allows no more than one character, and an empty one not the whole folder. */
function inGlob(value: ReturnType<typeof valueFor>): string {
  return typeof value !== 'string' || value === '' ? '?' : value.replaceAll('*', '?');
}
