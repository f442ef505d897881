import { oneLine } from './printable.ts';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * A time for people, in local time: `23:41`, with the day if it is not today, and with the year if it is not this
 * year. For a text that is kept and read later, leave `now` out: it then has its day and year.
 */
export function localTime(time: number | string, now?: number): string {
  const at = new Date(time);
  // A journal may contain anything.
  if (Number.isNaN(at.getTime())) return oneLine(String(time), 40);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const today = now === undefined ? undefined : new Date(now);
  if (today?.toDateString() === at.toDateString()) return clock;
  const year = today?.getFullYear() === at.getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${MONTHS[at.getMonth()]}${year} ${clock}`;
}
