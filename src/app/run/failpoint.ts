import type { World } from '../world.ts';

/** For the crash tests: ends this process as hard as `kill -9` the n-th time it comes to a named point. */
export function failpointFrom(env: World['env']): (name: string) => void {
  const [wanted, nth = '1'] = (env.NIGHTSHIFT_CRASH_AT ?? '').split('#');
  if (!wanted) return () => {};
  let left = Number(nth);
  return (name) => {
    if (name === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
