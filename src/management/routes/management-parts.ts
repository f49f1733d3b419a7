/**
 * What the routes of the management API are built from.
 */
import type { AuthParts } from '../../auth/routes/auth-parts.ts';
import type { Config } from '../../config/config.ts';
import type { LiveOverview, LiveTarget } from '../../server/recent/live-schemas.ts';
import type { RecentRequests, RequestFilter, Usage } from '../../server/recent/recent-schemas.ts';
import type { AccessOverview } from '../access/access-schemas.ts';
import type { Checked } from '../check-report.ts';
import type { ManagedProject } from '../managed-project.ts';
import type { HealthParts } from '../project-health.ts';

/** Largest body in bytes: enough for all fourteen emails. */
export const maxManagementBodyBytes = 2 * 1024 * 1024;

/** What the routes of the management API need. */
export interface ManagementParts {
  readonly project: ManagedProject;
  /** Null if no key signs tokens. */
  readonly auth: AuthParts | null;
  /** The schema of a role, as JSON; null if the database lacks the role. @throws DatabaseError */
  readonly describeSchema: (role: string) => Promise<unknown>;
  /** A table of it, by its object type; null if the role does not see it. @throws DatabaseError */
  readonly describeTable: (role: string, name: string) => Promise<unknown>;
  /** Who may do what with the exposed tables, now. @throws DatabaseError */
  readonly readAccess: () => Promise<AccessOverview>;
  /** Runs SQL of an operator, all or none; null without an admin connection. @returns Warnings. @throws DatabaseError */
  readonly runStatements: ((statements: string) => Promise<readonly string[]>) | null;
  /** The statements of an operation with their plans. @throws PublicError The first reason why it cannot run. */
  readonly explain: (operation: ExplainedOperation) => Promise<readonly unknown[]>;
  readonly config: Pick<Config, 'allowedRoles' | 'serviceRole'>;
  /** What `pgreflect check` finds, looked for now and then. Rejects if the database cannot be checked. */
  readonly check: () => Promise<Checked>;
  /** How the parts of this process are. */
  readonly health: HealthParts;
  /** What all processes of this gateway do, and have done. */
  readonly recent: {
    readonly live: () => Promise<LiveOverview>;
    /** Ends subscriptions. */
    readonly endLive: (target: LiveTarget) => Promise<{ readonly ended: number }>;
    readonly requests: (filter: RequestFilter) => Promise<RecentRequests>;
    readonly usage: () => Promise<Usage>;
  };
  /** Requests per minute and token; null: no limit. */
  readonly perMinute: number | null;
  /**
   * Counts a request of a token. Renderings and requests about users are counted separately, because the studio
   * sends one at every pause in typing.
   *
   * @param limit Requests per minute.
   * @returns Null if allowed, otherwise the milliseconds until the next one is.
   */
  readonly takeRequest: (tokenId: string, kind: RequestKind, limit: number) => Promise<number | null>;
}

/** An operation, and who would run it. */
interface ExplainedOperation {
  readonly role: string;
  /** JSON. */
  readonly claims: string;
  /** A GraphQL request. */
  readonly body: Uint8Array;
}

/** Kinds of requests, counted separately. */
export type RequestKind = 'request' | 'rendering' | 'user request' | 'read';
