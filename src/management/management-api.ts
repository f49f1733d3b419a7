/**
 * The management API without HTTP (auth.md 7.1): who may ask, the configuration, and changes of it.
 *
 * Every failure is a `ManagementError`; its `cause`, where there is one, is for the log.
 */
import { layerAuthConfig } from '../config/auth/auth-config.ts';
import { DatabaseError } from '../postgres/failure.ts';
import type { Clock } from '../shared/clock.ts';
import { accessScopes, findAccessToken, isSameToken } from './access-tokens.ts';
import type { ConfigSnapshot } from './config-store.ts';
import { demand, type ManagementCaller, masked } from './management-caller.ts';
import { ManagementError } from './management-error.ts';
import { mergeChanges } from './merge-changes.ts';
import { presentConfig } from './present-config.ts';
import type { DigestSecret } from './secret-digest.ts';
import { hasConfigTables, lockStored, writeStored } from './stored-config.ts';
import { createDraftApi, type DraftApi, type DraftOptions } from './templates/draft-api.ts';
import type { ValidChanges } from './validate-changes.ts';

/** The configuration as clients see it. */
export type PresentedConfig = Readonly<Record<string, unknown>>;

/** The configuration, and the version of what is stored of it. */
export interface ReadResult {
  readonly config: PresentedConfig;
  /** Grows with every change; 0 where nothing is stored. */
  readonly version: number;
}

/** A change that was stored, or that changed nothing. */
export interface ChangeResult extends ReadResult {
  readonly ignored: readonly string[];
  readonly warnings: readonly string[];
}

/** The operations. */
export interface ManagementApi extends DraftApi {
  /** Checks ref, token and project, in this order. @throws ManagementError, or DatabaseError where it cannot be known. */
  authorize(ref: string, authorization: string | undefined): Promise<ManagementCaller>;
  /** @throws ManagementError `forbidden`, `read_failed` */
  readConfig(caller: ManagementCaller): Promise<ReadResult>;
  /**
   * Checks a body and stores it as the next version. It is in force for every request that starts after this resolves, on
   * every process.
   *
   * @param readBody Called once the caller is known to be allowed.
   * @param ifVersion Only where this is the version of what is stored; null: whatever it is.
   * @throws ManagementError `forbidden`, `config_only`, `invalid_body`, `validation_failed`, `version_conflict`, `update_failed`
   */
  changeConfig(caller: ManagementCaller, readBody: () => unknown, ifVersion: number | null): Promise<ChangeResult>;
}

/** What the API is made of. */
export interface ManagementOptions extends DraftOptions {
  /** One token that is not stored (`--access-token`); null: none. May do everything. */
  readonly accessToken: string | null;
  readonly ignoreUnknown: boolean;
  readonly digest: DigestSecret;
  readonly clock: Clock;
}

/** Makes the API. */
export function createManagementApi(options: ManagementOptions): ManagementApi {
  const { pool, store } = options;
  const findCaller = createTokenCheck(options);

  function present(snapshot: ConfigSnapshot): ReadResult {
    return { config: presentConfig(snapshot, options.digest), version: snapshot.version };
  }

  return {
    authorize: (ref, authorization) => authorize(options, findCaller, ref, authorization),

    async readConfig(caller) {
      demand(caller, 'auth_config:read');
      return masked('read_failed', async () => {
        await store.refreshIfNewer(pool);
        return present(store.snapshot());
      });
    },

    async changeConfig(caller, readBody, ifVersion) {
      demand(caller, 'auth_config:write');
      if (store.configOnly) throw new ManagementError('config_only');
      const body = readBody();
      return masked('update_failed', async () => {
        const config = await store.refreshIfNewer(pool);
        // Loaded with the first change: the trial of templates needs their whole engine.
        const { validateChanges } = await import('./validate-changes.ts');
        const start = layerAuthConfig(store.snapshot().start);
        const changes = validateChanges(body, { config, start, ignoreUnknown: options.ignoreUnknown });
        const snapshot = await storeChanges(options, changes, { by: caller.by, ifVersion });
        return { ...present(snapshot), ignored: changes.ignored, warnings: changes.warnings };
      });
    },
    ...createDraftApi(options),
  };
}

type FindCaller = (token: string) => Promise<(ManagementCaller & { readonly projectRef: string | null }) | null>;

async function authorize(
  { ref: projectRef, pool }: ManagementOptions,
  findCaller: FindCaller,
  ref: string,
  authorization: string | undefined,
): Promise<ManagementCaller> {
  if (!/^[a-z0-9]{20}$/.test(ref)) throw new ManagementError('invalid_ref');
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new ManagementError('unauthorized');
  const caller = await findCaller(token).catch((error) => {
    // A database without our tables has no project that could be managed.
    if (error instanceof DatabaseError && isMissing(error)) throw new ManagementError('project_not_found');
    throw error;
  });
  if (caller === null) throw new ManagementError('unauthorized');
  if (ref !== (await projectRef()) || !(await hasConfigTables(pool))) throw new ManagementError('project_not_found');
  if (caller.projectRef !== null && caller.projectRef !== ref) throw new ManagementError('forbidden');
  return caller;
}

function createTokenCheck({ pool, accessToken, clock }: ManagementOptions): FindCaller {
  return async (token) => {
    if (accessToken !== null && isSameToken(token, accessToken)) {
      return { tokenId: 'fixed', by: 'the access token of the configuration', scopes: accessScopes, projectRef: null };
    }
    const found = await findAccessToken(pool, token, new Date(clock.now()));
    if (found === null) return null;
    const { id, name, scopes, projectRef } = found;
    return { tokenId: id, by: `${name} (${id})`, scopes, projectRef };
  };
}

/** Locks, merges, stores, and tells the store of this process once it is committed. */
async function storeChanges(
  { pool, store, ref: projectRef, digest }: ManagementOptions,
  { values: changes }: ValidChanges,
  { by, ifVersion }: { readonly by: string; readonly ifVersion: number | null },
): Promise<ConfigSnapshot> {
  const ref = await projectRef();
  const stored = await pool.transaction(async (session) => {
    const before = await lockStored(session, ref);
    if (ifVersion !== null && before.version !== ifVersion) throw new ManagementError('version_conflict');
    const { start } = store.snapshot();
    const { values, changed } = mergeChanges({ stored: before.values, start, digest }, changes);
    if (changed.length === 0) return before;
    return { version: await writeStored(session, ref, { values, changed, by }), values };
  });
  return store.accept(stored);
}

function isMissing({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '42P01' || sqlstate === '3F000';
}
