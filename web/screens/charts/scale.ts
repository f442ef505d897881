/** Maps values to places on a line. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  at(value: number): number;
}

export function linear(
  values: readonly [from: number, to: number],
  places: readonly [from: number, to: number],
): Scale {
  const [from, to] = values;
  const span = to - from || 1;
  return { from, to, at: (value) => places[0] + ((value - from) / span) * (places[1] - places[0]) };
}

/** Round values from `from` to `to`, about as many as wanted. */
export function ticks(from: number, to: number, wanted: number): number[] {
  if (!(to > from)) return [from];
  const rough = (to - from) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, number) => Number(((first + number) * step).toPrecision(12)));
}

const SECOND = 1000;
const MINUTE = 60_000;
const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 43_200];
const STEPS = MINUTES.map((each) => each * MINUTE);
const SHORT_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((each) => each * SECOND);

/** Durations from 0 on whole seconds, minutes or hours. */
export function durationTicks(_from: number, to: number, wanted: number): number[] {
  const step = [...SHORT_STEPS, ...STEPS].find((each) => to / each <= wanted) ?? STEPS.at(-1)!;
  return Array.from({ length: Math.floor(to / step) + 1 }, (_, number) => number * step);
}

/** Times on whole minutes, hours or days of the local clock. `offset`: minutes of the time zone behind UTC. */
export function timeTicks(from: number, to: number, wanted: number, offset: number): number[] {
  const step = STEPS.find((each) => (to - from) / each <= wanted) ?? STEPS.at(-1)!;
  const shift = offset * MINUTE;
  const first = Math.ceil((from - shift) / step);
  const count = Math.floor((to - shift) / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, number) => (first + number) * step + shift);
}

/** The largest of many values; spreading them would exceed what a call takes. */
export function largest(values: Iterable<number>, least = 0): number {
  let most = least;
  for (const value of values) most = Math.max(most, value);
  return most;
}
