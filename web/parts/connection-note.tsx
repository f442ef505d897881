import { lostSince } from '../live/live.ts';
import { now } from '../state/clock.ts';

/** A server that is restarted is back earlier. */
const GONE_AFTER_MS = 10_000;

export function ConnectionNote() {
  const since = lostSince.value;
  const text =
    since === undefined ? undefined : now.value - since > GONE_AFTER_MS ? <Gone /> : 'Connection lost, trying again.';
  return (
    <div class="connection-note" role="status" hidden={text === undefined}>
      {text}
    </div>
  );
}

function Gone() {
  return (
    <>
      The server has ended: run <code>nightshift view</code>. What you see is from before.
    </>
  );
}
