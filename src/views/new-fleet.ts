import type { NewFleet } from '../app/fleet/admin.ts';

/** What to do with a new fleet. The addresses have passwords: they are shown once. */
export function newFleetLines({ coordinatorUrl, workerUrl, key, isNew }: NewFleet): string[] {
  return [
    isNew
      ? 'The fleet is ready. Store these addresses now: their passwords are not shown again.'
      : 'The fleet has new passwords: earlier addresses no longer work. Store these now, they are not shown again.',
    '',
    'On this machine, which has the key that signs orders:',
    `  export NIGHTSHIFT_FLEET_URL='${coordinatorUrl}'`,
    '  nightshift start SHIFT --fleet env    # env: read the address from NIGHTSHIFT_FLEET_URL',
    '',
    'On each worker:',
    `  export NIGHTSHIFT_FLEET_URL='${workerUrl}'`,
    `  nightshift worker --slots 8 --key ${key}`,
  ];
}
