/** `Client`: one service, its experiments, and the rewards on their way to it. */
import { AfterglowError, Unavailable, errorOf } from "./errors.ts";
import type { RefusedReward } from "./errors.ts";
import { Outbox } from "./outbox.ts";
import type { Receipt, Reward } from "./types.ts";
import { Variant } from "./variant.ts";
import type { Decision } from "./variant.ts";

const AWAY = new Set([502, 503, 504]); // answers of a replica that can't serve now

export interface Settings {
  /** Seconds that a call may take; 10 unless set. */
  timeout?: number;
  /** Seconds that a request for the current variant may take; 2 unless set. */
  currentTimeout?: number;
  /** Rewards that may wait; 10,000 unless set. */
  buffer?: number;
  /** Seconds that a reward waits for others; 0.1 unless set. */
  linger?: number;
  /** Called with rewards that are given up. */
  onRefused?: (refused: readonly RefusedReward[]) => void;
  /** Another `fetch`, for instance one with an agent. */
  fetch?: typeof fetch;
  /** A clock in seconds that never goes back, for tests. */
  clock?: () => number;
}

export interface Delivery {
  readonly waiting: number;
  readonly delivered: number;
  readonly duplicates: number;
  readonly givenUp: number;
  readonly error: AfterglowError | null;
}

export class Client {
  readonly #addresses: readonly string[];
  readonly #token: string;
  readonly #settings: Settings;
  readonly #clock: () => number; // seconds
  readonly #outbox: Outbox;
  readonly #experiments = new Map<string, Experiment>();
  #at = 0; // the address in use

  /** `address` is that of the service, or several of its replicas; `token` is what `afterglow token create` printed. */
  constructor(address: string | readonly string[], token: string, settings: Settings = {}) {
    this.#addresses = (typeof address === "string" ? [address] : [...address]).map(checkedAddress);
    if (this.#addresses.length === 0) throw new AfterglowError("give at least one address of the service", "bad-value");
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new AfterglowError("token must be the text that `afterglow token create` printed", "bad-value");
    }
    this.#token = token;
    this.#settings = settings;
    const { buffer = 10_000, linger = 0.1, onRefused = () => {} } = settings;
    this.#clock = settings.clock ?? (() => performance.now() / 1000);
    this.#outbox = new Outbox((name, rewards) => this.#report(name, rewards), buffer, linger, this.#clock, onRefused);
  }

  /**
   * A handle on an experiment; `initial` is served until the service has answered once. In an experiment with units it
   * is a handle on one `unit`: its variant, its rewards.
   */
  experiment(name: string, initial: string | null = null, unit: string | null = null): Experiment {
    const key = JSON.stringify([name, initial, unit]);
    const known = this.#experiments.get(key);
    if (known !== undefined) return known;
    const ask = (path: string, init: RequestInit, seconds: number) => this.#fetch(path, init, seconds);
    const path = pathOf(name, "current") + (unit === null ? "" : `?unit=${encodeURIComponent(unit)}`);
    const variant = new Variant(path, ask, this.#settings.currentTimeout ?? 2, this.#clock, initial);
    const made = new Experiment(name, variant, this.#outbox, unit);
    this.#experiments.set(key, made);
    return made;
  }

  get delivery(): Delivery {
    const { waiting, delivered, duplicates, givenUp, error } = this.#outbox;
    return { waiting, delivered, duplicates, givenUp, error };
  }

  /** Wait until everything reported so far is delivered; `Undelivered` if some was refused or time is up. */
  flush(seconds = 5): Promise<void> {
    return this.#outbox.flush(seconds);
  }

  /**
   * Deliver what waits, and take no more rewards; `Undelivered` if that isn't possible in time, and then the rest is
   * given up. A program ends only after this, or when nothing waits.
   */
  async close(seconds = 5): Promise<void> {
    this.#outbox.closed = true;
    try {
      await this.#outbox.flush(seconds);
    } finally {
      this.#outbox.stop();
    }
  }

  async #report(name: string, rewards: readonly Reward[]): Promise<Receipt> {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(rewards) };
    const response = await this.#fetch(pathOf(name, "rewards"), init, this.#settings.timeout ?? 10);
    const text = await response.text();
    if (response.status !== 202) throw errorOf(response.status, response.headers, text);
    return JSON.parse(text) as Receipt;
  }

  /**
   * One request, at the next address if this one gives no answer or can't serve now. All requests may be made twice:
   * reads, and rewards, which count once by their keys.
   */
  async #fetch(path: string, init: RequestInit, seconds: number): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#token}` };
    let failure: unknown;
    let answer: Response | null = null;
    for (let tried = 0; tried < this.#addresses.length; tried += 1) {
      const address = this.#addresses[this.#at % this.#addresses.length] as string;
      try {
        const signal = AbortSignal.timeout(1000 * seconds);
        const found = await (this.#settings.fetch ?? fetch)(address + path, { ...init, headers, signal });
        giveUp(answer);
        if (!AWAY.has(found.status)) return found;
        answer = found;
      } catch (error) {
        failure = error;
      }
      this.#at += 1;
    }
    if (answer !== null) return answer;
    throw new Unavailable(`${this.#addresses.join(", ")} can't be reached; try again later`, "unreachable", 0, failure);
  }
}

/** Made by `Client.experiment`. */
export class Experiment {
  readonly name: string;
  /** Whose variant and rewards these are, in an experiment with units. */
  readonly unit: string | null;
  readonly #variant: Variant;
  readonly #outbox: Outbox;

  constructor(name: string, variant: Variant, outbox: Outbox, unit: string | null = null) {
    this.name = name;
    this.unit = unit;
    this.#variant = variant;
    this.#outbox = outbox;
  }

  /** The variant to serve now; while the service can't be reached, the last one or the initial one. */
  async current(): Promise<string> {
    return (await this.decision()).variant;
  }

  /** The variant to serve now, with its step, and whether it is a fallback. */
  decision(): Promise<Decision> {
    return this.#variant.decision();
  }

  /**
   * Report an amount, in the unit of the experiment. It is sent in the background, and counts once; its key. `metric` is
   * the name of a secondary total that a guard watches; its keys are apart from those of rewards.
   */
  reward(amount: number, key: string = crypto.randomUUID(), metric?: string): string {
    if (typeof amount !== "number" || !Number.isFinite(amount) || (amount < 0 && this.unit === null)) {
      throw new AfterglowError(`amount must be a finite number of at least 0, got ${String(amount)}`, "bad-value");
    }
    const unit = this.unit === null ? {} : { unit: this.unit };
    this.#outbox.put(this.name, metric === undefined ? { key, amount, ...unit } : { key, amount, metric, ...unit });
    return key;
  }
}

/** Free the connection of an answer that nobody will read. */
function giveUp(answer: Response | null): void {
  answer?.body?.cancel().catch(() => {});
}

function pathOf(name: string, part: string): string {
  return `/v1/experiments/${encodeURIComponent(name)}/${part}`;
}

function checkedAddress(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new AfterglowError(`address must be that of the service, such as https://experiments.example, got ${address}`, "bad-value");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new AfterglowError(`address must begin with http:// or https://, got ${address}`, "bad-value");
  }
  return address.replace(/\/+$/, "");
}
