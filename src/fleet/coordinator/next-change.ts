/** Callers that wait for a change of the fleet. */
export class NextChange {
  #waiting: (() => void)[] = [];

  /** Resolves with the next change, or when one of the signals aborts. */
  async until(...signals: readonly AbortSignal[]): Promise<void> {
    if (signals.some(({ aborted }) => aborted)) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        for (const signal of signals) signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.push(wake);
      for (const signal of signals) signal.addEventListener('abort', wake, { once: true });
    });
  }

  tell(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
