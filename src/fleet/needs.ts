import { createHash } from 'node:crypto';
import type { Settings } from '../core/model/model.ts';

/** Where the items of a shift work: an empty folder, a git workspace, or a volume that all machines have. */
export type FolderNeed = 'none' | 'git' | { readonly volume: string };

interface Needy {
  readonly role: 'dev' | 'qa' | 'manager';
  readonly settings: Settings;
  readonly secretNames: readonly string[];
  /** Undefined: it needs no folder. */
  readonly place: FolderNeed | undefined;
  /** The public key of the coordinator. */
  readonly key: string;
}

/** Keeps orders from workers that trust another key and would refuse them. The first 8 characters identify a key. */
export function keyOffer(key: string): string {
  return `${KEY}${key.slice(0, 8)}`;
}

export function isKeyOffer(offer: string): boolean {
  return offer.startsWith(KEY);
}

const KEY = 'key:';

/**
 * A worker that ends at a certain time (`--for`) offers the time that it has left. It gets an order only if that is
 * the `timeout` of its task or more.
 */
export function timeOffer(milliseconds: number): string {
  return `${TIME}${Math.max(0, Math.floor(milliseconds / 1000))}`;
}

const TIME = 'time:';

/** What a worker must offer to get an order: words such as `agent:claude` or `secret:API_KEY`. */
export function needsOf({ role, settings, secretNames, place, key }: Needy): string[] {
  const { agent, workerLabels = [], sandbox } = settings;
  return sorted([
    `role:${role}`,
    `agent:${agent}`,
    keyOffer(key),
    timeOffer(settings.timeoutMs),
    ...workerLabels.map((label) => `label:${label}`),
    ...secretNames.map((name) => `secret:${name}`),
    ...(sandbox === 'off' ? [] : ['sandbox']),
    ...(place === undefined ? [] : [typeof place === 'string' ? `workspace:${place}` : `volume:${place.volume}`]),
  ]);
}

function sorted(needs: readonly string[]): string[] {
  return [...new Set(needs)].sort();
}

/** Why a worker does not offer something. */
export interface OfferProblem {
  readonly offer: string;
  readonly why: string;
}

/** What is missing in `offers`. */
export function missingNeeds(needs: readonly string[], offers: readonly string[]): string[] {
  return needs.filter((need) => (need.startsWith(TIME) ? !hasTime(need, offers) : !offers.includes(need)));
}

/** A worker without a time offer has no time limit. */
function hasTime(need: string, offers: readonly string[]): boolean {
  const left = offers.find((offer) => offer.startsWith(TIME));
  return left === undefined || Number(left.slice(TIME.length)) >= Number(need.slice(TIME.length));
}

/** Orders of a shift with the same needs wait in the same queue. */
export function queueName(shiftKey: string, needs: readonly string[]): string {
  const hash = createHash('sha256').update(needs.join('\n')).digest('hex');
  return `${shiftKey.slice(0, 8)}-${hash.slice(0, 16)}`;
}
