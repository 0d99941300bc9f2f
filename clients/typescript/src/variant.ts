/** The current variant: kept as long as the service allows, with a fallback while the service can't be reached. */
import { Backoff } from "./backoff.ts";
import { AfterglowError, Refusal, Unavailable, errorOf } from "./errors.ts";
import type { Current } from "./types.ts";

/**
 * What to serve. `fallback` is null for an answer of the service, "last" for an earlier one while the service can't be
 * reached, and "default" before the first answer; `error` is the reason of a fallback.
 */
export interface Decision {
  readonly variant: string;
  readonly step: number | null;
  readonly role: string | null;
  readonly validUntil: string | null;
  readonly fallback: "last" | "default" | null;
  readonly error: AfterglowError | null;
}

export type Fetch = (path: string, init: RequestInit, seconds: number) => Promise<Response>;

export class Variant {
  readonly #path: string;
  readonly #fetch: Fetch;
  readonly #timeout: number; // seconds
  readonly #clock: () => number; // seconds
  readonly #default: string | null;
  readonly #pauses = new Backoff();
  #last: Decision | null = null;
  #etag: string | null = null;
  #until = -Infinity;
  #quiet = -Infinity;
  #error: AfterglowError | null = null;
  #asking: Promise<Decision> | null = null;

  constructor(path: string, fetch: Fetch, timeout: number, clock: () => number, initial: string | null) {
    this.#path = path;
    this.#fetch = fetch;
    this.#timeout = timeout;
    this.#clock = clock;
    this.#default = initial;
  }

  /** The variant to serve; calls at the same time share one request. */
  async decision(): Promise<Decision> {
    const now = this.#clock();
    if (this.#last !== null && this.#error === null && now < this.#until) return this.#last;
    if (this.#error !== null && now < this.#quiet) return this.#fallback();
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #ask(): Promise<Decision> {
    const asked = this.#clock();
    try {
      const headers: Record<string, string> = this.#etag === null ? {} : { "if-none-match": this.#etag };
      const response = await this.#fetch(this.#path, { headers, cache: "no-store" }, this.#timeout);
      if (response.status !== 304 || this.#last === null) await this.#take(response);
      this.#until = asked + freshFor(response.headers);
    } catch (error) {
      return this.#failed(error instanceof AfterglowError ? error : new Unavailable(String(error)));
    }
    this.#error = null;
    this.#pauses.over();
    return this.#last as unknown as Decision;
  }

  async #take(response: Response): Promise<void> {
    const text = await response.text();
    if (response.status !== 200) throw errorOf(response.status, response.headers, text);
    const body = JSON.parse(text) as Partial<Current>;
    if (typeof body.variant !== "string") {
      throw new Unavailable("the answer has no variant; is the address that of the service?", "bad-format");
    }
    const { variant, step = null, role = null, valid_until: validUntil = null } = body;
    this.#last = { variant, step, role, validUntil, fallback: null, error: null };
    this.#etag = response.headers.get("etag");
  }

  /** The service isn't asked again for a while. A wrong name or token is thrown before anything was ever served. */
  #failed(error: AfterglowError): Decision {
    if (error instanceof Refusal && this.#last === null) throw error;
    this.#error = error;
    this.#quiet = this.#clock() + this.#pauses.next(error instanceof Unavailable ? error.retryAfter : 0);
    return this.#fallback();
  }

  #fallback(): Decision {
    if (this.#last !== null) return { ...this.#last, fallback: "last", error: this.#error };
    if (this.#default !== null) {
      const nothing = { step: null, role: null, validUntil: null };
      return { variant: this.#default, ...nothing, fallback: "default", error: this.#error };
    }
    throw this.#error ?? new Unavailable("no variant is known");
  }
}

/** Seconds for which an answer may be kept, by Cache-Control and Age. */
function freshFor(headers: Headers): number {
  const rules = (headers.get("cache-control") ?? "").split(",").map((rule) => rule.trim().toLowerCase());
  if (rules.includes("no-cache") || rules.includes("no-store")) return 0;
  const age = rules.find((rule) => rule.startsWith("max-age="))?.slice(8) ?? "";
  const spent = headers.get("age") ?? "0";
  if (!/^\d+$/.test(age) || !/^\d+$/.test(spent)) return 0;
  return Math.max(0, Number(age) - Number(spent));
}
