/**
 * Every event to log or count, as one closed union: the parts of the gateway report events, and the logger and the
 * metrics decide what to do with them.
 *
 * No member can hold a value of a request, a token, a key, a header or SQL text, so none can leak.
 */
import type { Code } from './errors.ts';
import type { Stages } from './stopwatch.ts';
import type { Span } from './trace/span.ts';

/** What is observed of an answer of the GraphQL API. */
export interface AnswerFacts {
  /** False if `data` is absent: the request could not be executed (400 for `application/graphql-response+json`). */
  readonly executed: boolean;
  /** Codes of the errors in the body, in order; empty on success. The edge reads `errorCodes[code].transport`. */
  readonly codes: readonly Code[];
  /** What operators may read of them (server/recent/told-message.ts); absent: nothing. */
  readonly messages?: readonly string[] | undefined;
  readonly operationName: string | null;
  /** Absent: refused before it was known, or a batch. */
  readonly operationType?: 'query' | 'mutation' | 'subscription' | undefined;
  readonly documentHash: string | null;
  readonly stages: Stages;
}

/** Durations of a request's stages in milliseconds; 0 for stages not reached. */
export interface ObservedStages extends Stages {
  readonly authenticateMs: number;
  /** From the end of the last stage to that of the answer. */
  readonly serializeMs: number;
}

/** What somebody tried at the auth service; the codes of the answer say how it ended. */
export interface AuthAttempt {
  readonly action: 'sign_in' | 'sign_up' | 'refresh' | 'verify' | 'second_factor';
  /** One of a few words of ours, such as the grant type or the kind of the link. */
  readonly method: string;
}

/** A request that was answered, or whose client disconnected first. */
export interface RequestObservation {
  readonly kind: 'request';
  readonly requestId: string;
  readonly span: Span;
  readonly method: string;
  /** Path without the query string. */
  readonly path: string;
  /** Pattern of its route, such as `/admin/users/:id`; null for none. */
  readonly route: string | null;
  readonly status: number;
  /** IP address of the client; null if the connection was closed immediately. */
  readonly address: string | null;
  /** Null if the request was refused before its role was known. */
  readonly role: string | null;
  readonly operationName: string | null;
  /** Null: no operation, a batch, or refused before it was known. */
  readonly operationType: 'query' | 'mutation' | 'subscription' | null;
  readonly documentHash: string | null;
  /** Codes of the answer's errors, in order, from our tables: this one, the auth service's, the management API's. */
  readonly codes: readonly string[];
  /** Of the answer, see `AnswerFacts`; not logged. */
  readonly messages?: readonly string[] | undefined;
  readonly stages: ObservedStages;
  /** Null for other requests. */
  readonly attempt: AuthAttempt | null;
  readonly totalMs: number;
  /** Size of the body before compression. */
  readonly bytes: number;
  /** The client disconnected first. */
  readonly aborted: boolean;
  /** Refused because of overload; the log summarizes these as `requests_shed`. */
  readonly shed: boolean;
  /** A page of the studio claims to have sent it on its own. Any client can claim that. */
  readonly fromStudio: boolean;
}

/** A call to another service, or to a hook in the database. */
export interface ExternalCall {
  readonly kind: 'external_call';
  readonly service: 'hook' | 'provider' | 'captcha' | 'email' | 'text';
  /** Which of them, as the configuration names it. */
  readonly name: string;
  /** `refused`: by the other, who works, such as a mail server that does not know the recipient. `distrusted`: by us. */
  readonly outcome: 'success' | 'refused' | 'distrusted' | 'failed';
  readonly durationMs: number;
}

/** A subscription that has ended. That of an event stream has the id of its request. */
export interface SubscriptionObservation {
  readonly kind: 'subscription';
  readonly requestId: string;
  readonly span: Span | null;
  readonly role: string;
  readonly operationName: string | null;
  readonly documentHash: string | null;
  readonly totalMs: number;
  /** Answers that it was sent. */
  readonly events: number;
  /** Runs of its query meanwhile, which equal subscriptions share. */
  readonly runs: number;
  /** Its client left, the gateway stops, or the code of the error. */
  readonly ended: 'client' | 'stopping' | Code;
}

/** What a start took: until its first step, for the schema, for the auth service, for the HTTP server; in milliseconds. */
interface StartTimes {
  readonly loadMs: number;
  readonly schemaMs: number;
  readonly authMs: number;
  readonly serverMs: number;
}

/** An event. */
export type Observation =
  | RequestObservation
  | SubscriptionObservation
  | ExternalCall
  /** The server listens at the address. */
  | {
      readonly kind: 'listening';
      readonly url: string;
      /** What the start took, in milliseconds. */
      readonly took: StartTimes;
    }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'stopped' }
  /** An error hidden from the client, which sees `id` instead. */
  | {
      readonly kind: 'masked_error';
      readonly id: string;
      readonly requestId: string | null;
      /** Absent: the current one. */
      readonly span?: Span | null | undefined;
      readonly error: unknown;
    }
  /** A new reflection is in use. `reason` names the cause of the reload. */
  | { readonly kind: 'reloaded'; readonly reason: string; readonly durationMs: number }
  | {
      readonly kind: 'reload_failed';
      readonly reason: string;
      readonly error: unknown;
      readonly durationMs: number;
    }
  /** They were read again. */
  | { readonly kind: 'trusted_documents'; readonly number: number }
  /** A connection to the database could not be made; `pool` is who wanted it, `reason` a word for what `message` says. */
  | {
      readonly kind: 'connection_failed';
      readonly pool: string;
      readonly reason: string;
      readonly message: string;
      /** False: the log has it already. */
      readonly isNew: boolean;
    }
  | { readonly kind: 'database_lost'; readonly reason: string }
  | { readonly kind: 'database_back' }
  /** Live queries know which tables change (`exact`), or run at an interval, which they do at first. */
  | { readonly kind: 'live_mode'; readonly exact: boolean }
  /** A read replica starts answering queries; `replica` is its number in the order of the options, from 1. */
  | { readonly kind: 'replica_used'; readonly replica: number }
  /** A read replica stops answering queries until it recovers. */
  | {
      readonly kind: 'replica_left_out';
      readonly replica: number;
      readonly reason: 'away' | 'behind' | 'not_a_replica';
      /** SQL, without which it is not known whether the replica follows the new primary. */
      readonly fix?: string;
    }
  /** A worker process answers requests; `worker` is its number, from 1. */
  | { readonly kind: 'worker_ready'; readonly worker: number; readonly pid: number | null }
  /** A worker process ended unexpectedly and is replaced. */
  | {
      readonly kind: 'worker_ended';
      readonly worker: number;
      /** Its exit code, or the signal that ended it. */
      readonly code: number | null;
      readonly signal: string | null;
    }
  /** Number of requests refused in the last second because of overload. */
  | { readonly kind: 'requests_shed'; readonly count: number }
  /** Number of connections refused in the last second, over the total limit or the limit per address. */
  | { readonly kind: 'connections_refused'; readonly count: number }
  /** Number of connections closed because large requests and unread answers would have taken too much memory. */
  | { readonly kind: 'connections_closed'; readonly count: number }
  /** A pooler is in front of the database: nothing is prepared from now on. */
  | { readonly kind: 'prepared_statements_off' }
  /** An email was stored in the inbox instead of being sent; `email` is its kind. */
  | { readonly kind: 'email_captured'; readonly email: string; readonly inboxUrl: string }
  /** A queued email could not be sent. `email` is its kind; `attempts` is their number so far. */
  | {
      readonly kind: 'email_delayed' | 'email_given_up';
      readonly email: string;
      readonly userId: string;
      readonly attempts: number;
      readonly reason: string;
    }
  /** An email got into a state; `email` is its kind. The list of deliveries says more. */
  | { readonly kind: 'email'; readonly email: string; readonly state: string }
  /** A text of the email is invalid; `source` names its origin, `kept` the text used instead. */
  | {
      readonly kind: 'template_refused';
      readonly email: string;
      readonly source: string;
      readonly problem: string;
      readonly kept: 'previous' | 'built-in';
    }
  /** A template of the email treated a value of a wrong type as unequal or empty; `line` counts from 1. */
  | { readonly kind: 'template_tolerated'; readonly email: string; readonly part: string; readonly line: number }
  /** An address in an email became `#ZgotmplZ`, because links may not have its scheme. */
  | { readonly kind: 'link_filtered'; readonly email: string; readonly redirectScheme: string }
  /** A sign-in with a password was refused because the user has none. The client learns nothing of it. */
  | { readonly kind: 'password_absent'; readonly userId: string }
  /** The provider refused a text message, so its request failed. */
  | { readonly kind: 'text_not_sent'; readonly provider: string; readonly reason: string }
  /** A hook gave no usable answer, so its request was refused. `hook` is its name in the configuration. */
  | { readonly kind: 'hook_failed'; readonly hook: string; readonly reason: string }
  /** A message of the command that serves, such as how to send the first request. */
  | {
      readonly kind: 'message';
      readonly level: 'info' | 'warn' | 'error';
      readonly message: string;
      readonly hint?: string | null;
    }
  /** A problem that an operator should fix; `hint` says how, `address` which client has shown it. */
  | { readonly kind: 'warning'; readonly message: string; readonly hint?: string; readonly address?: string | null };

/** Takes an observation. Never throws and never waits. */
export type Observe = (observation: Observation) => void;
