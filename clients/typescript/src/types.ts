/** Types of the service, generated from its OpenAPI document by docs/tables/typescript.py. */

export interface Current {
  experiment: string;
  variant: string;
  step: number;
  role: "waiting" | "plan" | "washout" | "outside" | "shadow" | "missed" | "last" | "emergency" | "over";
  /** When the step ends, if it ends on a schedule; before a scheduled start, the start time. */
  valid_until: string | null;
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
  amount: number;
  /** The step to which it was sent before, if this is another try. */
  step?: number | null;
}
