/** Types of the service, generated from its OpenAPI document by docs/tables/typescript.py. */

export interface Current {
  experiment: string;
  variant: string;
  step: number;
  role: "waiting" | "plan" | "washout" | "outside" | "shadow" | "missed" | "last" | "emergency" | "over";
  /** When the step ends, if it ends on a schedule; before a scheduled start, the start time. */
  valid_until: string | null;
  /** Of an experiment with units; else null. */
  unit: string | null;
}

export interface Problem {
  type: "/problems/malformed" | "/problems/unauthorized" | "/problems/forbidden" | "/problems/unknown-experiment" | "/problems/not-found" | "/problems/method-not-allowed" | "/problems/name-taken" | "/problems/step-closed" | "/problems/out-of-turn" | "/problems/horizon-reached" | "/problems/sealed" | "/problems/unusable" | "/problems/too-large" | "/problems/unsupported-media-type" | "/problems/bad-value" | "/problems/attribution-refused" | "/problems/key-reused" | "/problems/too-many-requests" | "/problems/internal" | "/problems/overloaded" | "/problems/database-unavailable" | "/problems/too-slow";
  title: string;
  status: number;
  detail: string;
  /** The kind of error, where there is one: `unknown-variant`. */
  kind?: string;
  /** The field or argument at fault, where there is one. */
  field?: string;
  errors?: Array<{ where: string; what: string }>;
}

export interface Receipt {
  /** The step whose total they joined. */
  step: number;
  accepted: number;
  /** Received before, with the same amount. */
  duplicates: number;
}

export interface Reward {
  /** Random, such as a UUID. */
  key: string;
  /** At least 0, but in an experiment with units. */
  amount: number;
  /** The step to which it was sent before, if this is another try. */
  step?: number | null;
  /** The secondary total that it belongs to, one that a guard watches; null for the reward. Keys of a metric are apart from those of rewards. */
  metric?: string | null;
  /** The unit whose total it joins, in an experiment with units. */
  unit?: string | null;
}
