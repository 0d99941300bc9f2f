/** Errors of the client. Programs decide by class and `kind`, never by the sentence. */
import type { Problem } from "./types.ts";

/** Base class of all errors of this package. */
export class AfterglowError extends Error {
  readonly kind: string;

  constructor(message: string, kind: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.kind = kind;
  }
}

/** The service can't be reached, or asks to try again later. */
export class Unavailable extends AfterglowError {
  readonly retryAfter: number; // seconds

  constructor(message: string, kind = "unavailable", retryAfter = 0, cause?: unknown) {
    super(message, kind, cause);
    this.retryAfter = retryAfter;
  }
}

/** The service refuses a call: `status`, `kind` and, where an argument is wrong, `field`. */
export class Refusal extends AfterglowError {
  readonly status: number;
  readonly field: string;

  constructor(status: number, problem: Partial<Problem>) {
    const slug = (problem.type ?? "").split("/").pop() ?? "";
    super(problem.detail ?? problem.title ?? `the service answered ${status}`, problem.kind || slug || "refused");
    this.status = status;
    this.field = problem.field ?? "";
  }
}

/** A reward that was given up, and why. */
export interface RefusedReward {
  readonly experiment: string;
  readonly key: string;
  readonly amount: number;
  readonly error: AfterglowError;
}

/** Rewards were refused, or still wait when time is up. */
export class Undelivered extends AfterglowError {
  readonly rewards: readonly RefusedReward[];

  constructor(message: string, rewards: readonly RefusedReward[]) {
    super(message, "undelivered");
    this.rewards = rewards;
  }
}

/** The error for an answer that is no success. Answers that are not the service's own may pass later. */
export function errorOf(status: number, headers: Headers, text: string): Refusal | Unavailable {
  const problem = parsed(text);
  const own = (problem.type ?? "").includes("/problems/");
  const refusal = new Refusal(status, problem);
  if (own && status !== 429 && status < 500) return refusal;
  return new Unavailable(refusal.message, refusal.kind, seconds(headers.get("retry-after")));
}

function parsed(text: string): Partial<Problem> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Partial<Problem>) : {};
  } catch {
    return {};
  }
}

function seconds(value: string | null): number {
  return value !== null && /^\d{1,6}$/.test(value.trim()) ? Number(value) : 0;
}
