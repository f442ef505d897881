import type { NextCommand } from '../core/schedule/run-request.ts';

/** The one suggestion after a run, without a full stop. */
export function nextLine({ command, does, raised }: NextCommand): string {
  if (does === 'retry') return `\`${command}\` retries failed items`;
  const or = raised.length === 0 ? '' : `, or change ${raised.join(' and ')} in manager.md and start again`;
  return `\`${command}\` ${does === 'adopt' ? 'adopts the running items' : 'continues'}${or}`;
}
