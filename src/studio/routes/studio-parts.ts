/**
 * What the routes of the studio are built from: GraphiQL, the inbox, and what only operators may ask.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthParts } from '../../auth/routes/auth-parts.ts';
import type { Inbox } from '../../email/transport/inbox.ts';
import type { EventStreams } from '../../graphql/routes/event-stream.ts';
import type { GraphqlParts } from '../../graphql/routes/graphql-parts.ts';
import type { ManagedProject } from '../../management/managed-project.ts';

/** The parts of all pages. */
export interface PageParts extends GraphqlParts {
  /** API key to prefill in GraphiQL; null leaves the field empty. Only for local projects: the page is public. */
  readonly graphiqlApiKey: string | null;
  /** The auth service; absent if no key signs tokens. */
  readonly auth?: AuthParts;
  /** Captured emails; absent without an auth service. */
  readonly inbox?: InboxParts;
  /** The studio; absent without a management API. */
  readonly studio?: StudioParts;
}

/** The parts of all pages, and what answers subscriptions. */
export interface OperationParts extends PageParts {
  readonly streams: EventStreams;
}

/** What the routes of the inbox need. */
export interface InboxParts {
  readonly inbox: Inbox;
  /** Whether emails are captured now; if not, these paths answer 404. */
  readonly isCaptured: () => boolean;
  /** Whether a token is an access token that may read the emails of this project. @param from The client's network. */
  readonly verifyAccessToken: (token: string, from: string) => boolean | Promise<boolean>;
  /** Whether browsers on this machine need no token. */
  readonly isOpen: boolean;
}

/** What the routes of the studio need in addition. */
export interface StudioParts {
  /** Whether the one-time token of an address was valid. Uses it up. */
  readonly redeemTicket: (ticket: string) => boolean;
  readonly project: ManagedProject;
}

/** A request with what answers it. */
export interface Asked {
  readonly parts: OperationParts;
  readonly studio: StudioParts;
  /** Rejects if the access token may not ask this any longer. */
  readonly verify: (request: FastifyRequest) => Promise<unknown>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
