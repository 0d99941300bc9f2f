/** Client of an Afterglow service: the current variant with a fallback, and rewards that count once. */
export { Client, Experiment } from "./client.ts";
export type { Delivery, Settings } from "./client.ts";
export { AfterglowError, Refusal, Unavailable, Undelivered } from "./errors.ts";
export type { RefusedReward } from "./errors.ts";
export type { Decision } from "./variant.ts";
export type { Current, Problem, Receipt, Reward } from "./types.ts";
