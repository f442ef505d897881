/** The model that answered in a session, and the worker of a fleet where it ran. */
export interface ToldBy {
  model?: string;
  worker?: string;
}

/** A journal may contain anything. */
export function toldBy({ model, worker }: ToldBy): ToldBy {
  return { ...(typeof model === 'string' ? { model } : {}), ...(typeof worker === 'string' ? { worker } : {}) };
}

interface ItemPlaces {
  /** Where its session runs now. */
  worker?: string;
  readonly dev?: ToldBy;
  readonly qa?: ToldBy;
}

/** Its next session has started. */
export function moveTo(item: ItemPlaces, { worker }: ToldBy): void {
  if (typeof worker === 'string') item.worker = worker;
  else delete item.worker;
}

/** The worker of its latest session, also of one that has ended. */
export function workerOf(item: ItemPlaces | undefined): string | undefined {
  return item?.worker ?? item?.qa?.worker ?? item?.dev?.worker;
}
