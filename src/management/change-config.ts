/**
 * A change of the stored configuration: refreshed, validated, merged while the row is locked, and stored as the next version.
 */
import { layerAuthConfig } from '../config/auth/auth-config.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import type { ChangeNote } from './change-note.ts';
import type { ConfigSnapshot, ConfigStore } from './config-store.ts';
import { ManagementError } from './management-error.ts';
import { mergeChanges } from './merge-changes.ts';
import { presentConfig } from './present-config.ts';
import type { DigestSecret } from './secret-digest.ts';
import { lockStored, writeStored } from './stored-config.ts';
// Validating templates needs the whole engine: this file is loaded with the first change.
import { type ValidChanges, validateChanges } from './validate-changes.ts';

/** Where the configuration is stored. */
export interface ChangedProject {
  /** Connections that may read and write our tables. */
  readonly pool: SystemPool;
  readonly store: ConfigStore;
  readonly ref: () => Promise<string>;
  readonly digest: DigestSecret;
  readonly ignoreUnknown: boolean;
}

/** What is told of a change. */
export interface ToldOfChange {
  readonly ignored: readonly string[];
  readonly warnings: readonly ChangeNote[];
  /** What is told beside warnings to who asks for them. */
  readonly consequences: readonly ChangeNote[];
}

/**
 * Stores a change, or finds that it changes nothing.
 *
 * @param body Values by field; null removes a stored one.
 * @throws ManagementError `invalid_body`, `validation_failed`, `version_conflict`; DatabaseError
 */
export async function changeConfig(
  project: ChangedProject,
  body: unknown,
  how: { readonly by: string; readonly ifVersion: number | null; readonly allowWarnings: boolean },
): Promise<ToldOfChange & { readonly snapshot: ConfigSnapshot }> {
  const { store, pool, digest, ignoreUnknown } = project;
  const config = await store.refreshIfNewer(pool);
  const now = store.snapshot();
  const presented = presentConfig(now, digest);
  const start = layerAuthConfig(now.start);
  const { allowWarnings } = how;
  const { values, ...told } = validateChanges(body, { config, start, presented, ignoreUnknown, allowWarnings });
  return { snapshot: await storeChanges(project, values, how), ...told };
}

/** Locks, merges, stores, and updates this process's store after the commit. */
async function storeChanges(
  { pool, store, ref: projectRef, digest }: ChangedProject,
  changes: ValidChanges['values'],
  { by, ifVersion }: { readonly by: string; readonly ifVersion: number | null },
): Promise<ConfigSnapshot> {
  const ref = await projectRef();
  const stored = await pool.transaction(async (tx) => {
    const before = await lockStored(tx, ref);
    if (ifVersion !== null && before.version !== ifVersion) throw new ManagementError('version_conflict');
    const { start } = store.snapshot();
    const { values, changed } = mergeChanges({ stored: before.values, start, digest }, changes);
    if (changed.length === 0) return before;
    return { version: await writeStored(tx, ref, { values, changed, by }), values };
  });
  return store.accept(stored);
}
