import type { World } from '../world.ts';

/** For the crash tests: kills this process with SIGKILL when it reaches a named point for the n-th time. */
export function failpointFrom(env: World['env']): (name: string) => void {
  const [wanted, nth = '1'] = (env.NIGHTSHIFT_CRASH_AT ?? '').split('#');
  if (!wanted) return () => {};
  let left = Number(nth);
  return (name) => {
    if (name === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
