/**
 * Everything worth logging or counting, as one closed union: the parts of the gateway say what happened, and the logger
 * (and whoever counts) decides what becomes of it.
 *
 * No member has room for a value of a request, a token, a key, a header or SQL text: what cannot be said cannot leak.
 */

/** Durations of the stages of one request in milliseconds; 0 for a stage that was not reached. */
export interface ObservedStages {
  readonly authenticateMs: number;
  readonly parseMs: number;
  readonly compileMs: number;
  readonly runMs: number;
}

/** A request that was answered, or whose client went away before the answer. */
export interface RequestObservation {
  readonly kind: 'request';
  readonly requestId: string;
  readonly method: string;
  /** Path without the query string. */
  readonly path: string;
  /** Pattern of the route that took it, such as `/admin/users/:id`; null where there was none. */
  readonly route: string | null;
  readonly status: number;
  /** IP address of the client; null where its connection was gone at once. */
  readonly address: string | null;
  /** Null where the caller was refused before a role was known. */
  readonly role: string | null;
  readonly operationName: string | null;
  readonly documentHash: string | null;
  /** Codes of the answer's errors, in order; each from a table of ours: this one, the auth service's, the management API's. */
  readonly codes: readonly string[];
  readonly stages: ObservedStages;
  readonly totalMs: number;
  /** Size of the answer's body before compression. */
  readonly bytes: number;
  /** The client went away first. */
  readonly aborted: boolean;
  /** Refused because of the load alone; the log tells of these together, as `requests_shed`. */
  readonly shed: boolean;
  /** A page of the studio says that it asked by itself. Anybody may say so. */
  readonly fromStudio: boolean;
}

/** Something that happened. */
export type Observation =
  | RequestObservation
  /** The address is reachable from now on. */
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'stopped' }
  /** An error that a client must not see. `id` is what the client sees instead. */
  | { readonly kind: 'masked_error'; readonly id: string; readonly requestId: string | null; readonly error: unknown }
  /** A new reflection serves. `reason` names what asked for it. */
  | { readonly kind: 'reloaded'; readonly reason: string; readonly durationMs: number }
  | { readonly kind: 'reload_failed'; readonly reason: string; readonly error: unknown }
  | { readonly kind: 'database_lost'; readonly reason: string }
  | { readonly kind: 'database_back' }
  /** A read replica answers queries from now on; `replica` counts from 1 in the order of the options. */
  | { readonly kind: 'replica_used'; readonly replica: number }
  /** A read replica answers no queries until it is well again. */
  | {
      readonly kind: 'replica_left_out';
      readonly replica: number;
      readonly reason: 'away' | 'behind' | 'not_a_replica';
    }
  /** A process of several answers requests; `worker` is the number of its place, from 1. */
  | { readonly kind: 'worker_ready'; readonly worker: number; readonly pid: number | null }
  /** A process of several has ended by itself, and is replaced. */
  | {
      readonly kind: 'worker_ended';
      readonly worker: number;
      /** Its exit code, or the signal that ended it. */
      readonly code: number | null;
      readonly signal: string | null;
    }
  /** So many requests were refused in the last second, because more come than can be served in time. */
  | { readonly kind: 'requests_shed'; readonly count: number }
  /** So many connections were refused in the last second: there were too many, of all or of one address. */
  | { readonly kind: 'connections_refused'; readonly count: number }
  /** There is a pooler before the database: nothing is prepared from now on. */
  | { readonly kind: 'prepared_statements_off' }
  /** An email was kept for the inbox instead of being sent; `email` is its kind. */
  | { readonly kind: 'email_captured'; readonly email: string; readonly inboxUrl: string }
  /**
   * An email that was stored to be sent could not be sent: it is tried again later, or nobody tries any more. `email` is its
   * kind; `attempts` are those that were made.
   */
  | {
      readonly kind: 'email_delayed' | 'email_given_up';
      readonly email: string;
      readonly userId: string;
      readonly attempts: number;
      readonly reason: string;
    }
  /** A text of the email was refused; `source` names where it comes from, `kept` what is used instead. */
  | {
      readonly kind: 'template_refused';
      readonly email: string;
      readonly source: string;
      readonly problem: string;
      readonly kept: 'previous' | 'built-in';
    }
  /** A text of the email met a value of a wrong kind, which was unequal or empty to it; `line` counts from 1. */
  | { readonly kind: 'template_tolerated'; readonly email: string; readonly part: string; readonly line: number }
  /** A text message was not taken by the provider, so the request that wanted it sent has failed. */
  | { readonly kind: 'text_not_sent'; readonly provider: string; readonly reason: string }
  /** A hook gave no answer to go on with, so what it was asked about was refused. `hook` is its name in the configuration. */
  | { readonly kind: 'hook_failed'; readonly hook: string; readonly reason: string }
  /** Something an operator should change; `hint` says how. */
  | { readonly kind: 'warning'; readonly message: string; readonly hint?: string };

/** Takes an observation. Never throws and never waits. */
export type Observe = (observation: Observation) => void;
