/** Pauses between tries: they double from one failure to the next, with jitter, and end with a success. */
const FIRST = 0.25; // seconds
const LONGEST = 30;

export class Backoff {
  #failures = 0;
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Seconds to wait after one more failure, `atLeast` as the service asked. */
  next(atLeast = 0): number {
    const most = Math.min(LONGEST, FIRST * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    return Math.max(atLeast, most * (0.5 + 0.5 * this.#random()));
  }

  over(): void {
    this.#failures = 0;
  }
}
