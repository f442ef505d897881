/** Says how long to wait; not when only some of the tests were asked for. */
export function setup(): void {
  const isWhole = process.argv.slice(2).every((word) => word === 'run');
  if (isWhole) console.log('npm test: about 4 minutes on 2 cores\n');
}
