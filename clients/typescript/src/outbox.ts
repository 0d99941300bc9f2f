/**
 * Rewards on their way: kept in order, sent in batches, and sent again with their keys until the service has answered.
 * What is sent again names the step to which it went first, so that the service never counts it twice. A full outbox
 * refuses; a batch that is refused is halved until the reward that is wrong is alone.
 */
import { Backoff } from "./backoff.ts";
import { AfterglowError, Refusal, Unavailable, Undelivered } from "./errors.ts";
import type { RefusedReward } from "./errors.ts";
import type { Receipt, Reward } from "./types.ts";

const MOST = 1000; // rewards that the service takes at once
const HALVED = new Set([413, 422]); // one reward may be what is wrong
const STEP_KNOWN = 60; // seconds for which an answer tells the current step

export type Send = (experiment: string, rewards: readonly Reward[]) => Promise<Receipt>;

interface Queued {
  readonly reward: Reward;
  sent: boolean;
  step: number | null; // the current step when it was first sent, if it was known
}

interface Batch {
  readonly experiment: string;
  readonly rewards: readonly Queued[];
}

export class Outbox {
  readonly #send: Send;
  readonly #room: number;
  readonly #linger: number; // seconds
  readonly #clock: () => number; // seconds
  readonly #onRefused: (refused: readonly RefusedReward[]) => void;
  readonly #pauses = new Backoff();
  readonly #queues = new Map<string, Queued[]>();
  readonly #steps = new Map<string, { step: number; since: number }>(); // the last step that is known of each experiment
  #halves: Batch[] = [];
  #refused: RefusedReward[] = [];
  #running = false;
  #stopped = false;
  #hurry = false;
  #wake: (() => void) | null = null;
  #settled: (() => void)[] = [];
  waiting = 0;
  delivered = 0;
  duplicates = 0;
  givenUp = 0;
  closed = false;
  error: AfterglowError | null = null; // why rewards wait, if something is wrong

  constructor(
    send: Send,
    room: number,
    linger: number,
    clock: () => number,
    onRefused: (refused: readonly RefusedReward[]) => void,
  ) {
    this.#send = send;
    this.#room = room;
    this.#linger = linger;
    this.#clock = clock;
    this.#onRefused = onRefused;
  }

  put(experiment: string, reward: Reward): void {
    if (this.closed) throw new AfterglowError("the client is closed and takes no more rewards", "closed");
    if (this.waiting >= this.#room) {
      const why = this.error === null ? "" : ` (${this.error.message})`;
      throw new Unavailable(`${this.waiting} rewards wait for the service and there is no room for more${why}`, "full");
    }
    const queued = { reward, sent: false, step: null };
    const queue = this.#queues.get(experiment);
    if (queue === undefined) this.#queues.set(experiment, [queued]);
    else queue.push(queued);
    this.waiting += 1;
    if (!this.#running) {
      this.#running = true;
      void this.#deliver();
    }
  }

  /** Wait until all that was put so far is delivered or refused; Undelivered if some was refused or time is up. */
  async flush(seconds: number): Promise<void> {
    this.#hurry = true;
    this.#wake?.();
    if (this.waiting > 0) await this.#wait(seconds);
    const refused = this.#refused;
    this.#refused = [];
    if (this.waiting > 0) {
      const why = this.error ?? new Unavailable("the service has not answered yet");
      throw new Undelivered(`${this.waiting} rewards still wait after ${seconds} s: ${why.message}`, refused);
    }
    if (refused.length > 0) {
      throw new Undelivered(`${refused.length} rewards were not taken: ${refused[0]?.error.message}`, refused);
    }
  }

  /** Send nothing more: what still waits is given up. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  async #wait(seconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 1000 * seconds);
    });
    await Promise.race([late, new Promise<void>((resolve) => this.#settled.push(resolve))]);
    clearTimeout(timer);
  }

  async #deliver(): Promise<void> {
    await this.#pause(this.#linger);
    for (let batch = this.#next(); batch !== null && !this.#stopped; batch = this.#next()) {
      const rest = await this.#try(batch);
      if (rest > 0) await this.#pause(rest);
    }
    this.#running = false;
    this.#hurry = false;
    for (const resolve of this.#settled.splice(0)) resolve();
  }

  /** Send a batch; the seconds to wait before the next one. */
  async #try(batch: Batch): Promise<number> {
    try {
      const receipt = await this.#send(batch.experiment, await this.#given(batch));
      this.#steps.set(batch.experiment, { step: receipt.step, since: this.#clock() });
      this.delivered += batch.rewards.length;
      this.duplicates += receipt.duplicates;
      this.waiting -= batch.rewards.length;
      this.error = null;
      this.#pauses.over();
      return 0;
    } catch (error) {
      const known = error instanceof AfterglowError ? error : new Unavailable(String(error));
      if (known instanceof Refusal) {
        this.#refuse(batch, known);
        return 0;
      }
      this.error = known;
      this.#halves.unshift(batch);
      return this.#pauses.next(known instanceof Unavailable ? known.retryAfter : 0);
    }
  }

  /** What is sent: rewards, and the step of the first try with those that are sent again. */
  async #given(batch: Batch): Promise<Reward[]> {
    const fresh = batch.rewards.filter((one) => !one.sent);
    if (fresh.length > 0) await this.#learnStep(batch.experiment);
    const given = batch.rewards.map(({ reward, sent, step }) => (sent && step !== null ? { ...reward, step } : reward));
    const step = this.#steps.get(batch.experiment)?.step ?? null;
    for (const one of fresh) {
      one.sent = true;
      one.step = step;
    }
    return given;
  }

  /** Ask for the current step, unless it is known: what is sent now joins it, or a later one. */
  async #learnStep(experiment: string): Promise<void> {
    const known = this.#steps.get(experiment);
    if (known !== undefined && this.#clock() - known.since <= STEP_KNOWN) return;
    try {
      const { step } = await this.#send(experiment, []);
      this.#steps.set(experiment, { step, since: this.#clock() });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // the rewards will be refused too, with their reason
    }
  }

  #refuse(batch: Batch, error: Refusal): void {
    const { experiment, rewards } = batch;
    if ((HALVED.has(error.status) || error.kind === "sealed") && rewards.length > 1) {
      const middle = Math.ceil(rewards.length / 2);
      const parts = [rewards.slice(0, middle), rewards.slice(middle)];
      this.#halves.unshift(...parts.map((part) => ({ experiment, rewards: part })));
      return;
    }
    const refused = rewards.map(({ reward: { key, amount } }) => ({ experiment, key, amount, error }));
    this.waiting -= refused.length;
    this.givenUp += refused.length;
    this.#refused.push(...refused.slice(0, this.#room - this.#refused.length));
    this.#onRefused(refused);
  }

  #next(): Batch | null {
    const half = this.#halves.shift();
    if (half !== undefined) return half;
    for (const [experiment, queue] of this.#queues) {
      const rewards = queue.splice(0, MOST);
      this.#queues.delete(experiment); // its turn comes again after the others
      if (queue.length > 0) this.#queues.set(experiment, queue);
      if (rewards.length > 0) return { experiment, rewards };
    }
    return null;
  }

  /** Wait; a flush cuts the lingering short. */
  #pause(seconds: number): Promise<void> {
    if (this.#hurry && seconds === this.#linger) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000 * seconds);
      this.#wake = () => {
        if (seconds !== this.#linger && !this.#stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
