/**
 * Merges validated changes into the stored values: the next values, and the names of changed fields.
 *
 * Pure; runs while the stored row is locked, so no concurrent change is lost.
 */
import { isDeepStrictEqual } from 'node:util';
import { type AuthValues, checkAuthConfig, layerAuthConfig } from '../config/auth/auth-config.ts';
import { type AuthFieldName, authField, authFieldNames, isAuthFieldName } from '../config/auth/auth-fields.ts';
import { noteOnChange, noteOnValue } from './change-note.ts';
import { configFields, type StoredValues } from './config-fields.ts';
import { refuseChange } from './management-error.ts';
import { type DigestSecret, isDigest } from './secret-digest.ts';
import type { Change } from './stored-config.ts';

/**
 * @param changes Checked values by name; null removes one.
 * @returns The next version; `changed` is empty if nothing differs.
 * @throws ManagementError `validation_failed` if fields contradict each other, a digest belongs to another secret, or a
 *   secret would be sent to another address.
 */
export function mergeChanges(
  {
    stored,
    start,
    digest,
  }: { readonly stored: StoredValues; readonly start: AuthValues; readonly digest: DigestSecret },
  changes: ReadonlyMap<string, unknown>,
): Pick<Change, 'values' | 'changed'> {
  const values = new Map(Object.entries(stored));
  const changed: string[] = [];
  for (const [name, value] of changes) {
    if (configFields.get(name)?.row.secret && isDigest(value)) {
      const secret = values.get(name) ?? (isAuthFieldName(name) ? start[name] : undefined);
      if (value === digest(name, String(secret))) continue;
      refuseChange([noteOnValue(name, 'is the digest of another secret; send the secret itself')]);
    }
    if (isDeepStrictEqual(value, values.get(name) ?? null)) continue;
    if (value === null) values.delete(name);
    else values.set(name, value);
    changed.push(name);
  }
  const merged = Object.fromEntries(values);
  const before = effective(stored);
  const after = effective(merged);
  const problems = [
    ...checkAuthConfig(layerAuthConfig(start, after)),
    ...checkBoundSecrets(changes, { start, before, after }),
  ];
  if (problems.length > 0) refuseChange(problems.map((problem) => noteOnChange(problem, fieldIn(problem, changes))));
  return { values: merged, changed };
}

/** A contradiction belongs to the first changed field that it names, or else to the first field. */
function fieldIn(contradiction: string, changes: ReadonlyMap<string, unknown>): string | null {
  const names = (contradiction.match(/\w+/g) ?? []).filter((word) => configFields.has(word));
  return names.find((name) => changes.has(name)) ?? names[0] ?? null;
}

function effective(stored: StoredValues): AuthValues {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => isAuthFieldName(name))) as AuthValues;
}

/** The address fields, each with the secrets that are sent there. */
const rows = Map.groupBy(
  authFieldNames.flatMap((secret) => (authField(secret).sentTo ?? []).map((address) => ({ secret, address }))),
  ({ address }) => address as AuthFieldName,
);

/**
 * Sentences about secrets that would go to another address without being given again. Otherwise, a user who may change
 * the configuration could have a secret sent to their own server, although no answer shows it. Giving up the stored
 * secret is the same in two steps: the start value would go to the stored address.
 *
 * @param values Stored values before and after the change, on top of the start values.
 */
function checkBoundSecrets(
  changes: ReadonlyMap<string, unknown>,
  { start, before, after }: Readonly<Record<'start' | 'before' | 'after', AuthValues>>,
): readonly string[] {
  const [then, now] = [before, after].map((values) => layerAuthConfig(start, values));
  const isAtStart = (name: string) => !Object.hasOwn(after, name);
  const isGiven = (name: string) => typeof changes.get(name) === 'string' && !isDigest(changes.get(name));
  return [...rows].flatMap(([address, all]) => {
    const secrets = all.map(({ secret }) => secret);
    if (!now?.[address]) return [];
    const isMoved = (secret: AuthFieldName) => now[address] !== then?.[address] || now[secret] !== then?.[secret];
    const unknown = secrets.filter(
      (secret) => now[secret] && isMoved(secret) && !isGiven(secret) && !(isAtStart(address) && isAtStart(secret)),
    );
    return unknown.map((secret) => `${address} is where ${secret} is sent; send the secret itself with it`);
  });
}
