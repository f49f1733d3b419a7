/**
 * The first steps of a flight, reset and settings, kept for the next request of the same caller.
 *
 * HTTP gives the same `Caller` object to requests that say the same about their caller; such a request then sends the
 * bytes that were made for the one before. Nothing is shared between two callers: what is kept hangs on the object.
 */

import { encodeSteps, type FlightStep } from '../wire/flight.ts';
import type { StatementNames } from '../wire/statement-names.ts';
import type { Caller } from './caller.ts';
import { type ConnectionState, connectionReset } from './connection-reset.ts';
import {
  buildSettings,
  characteristicsOf,
  planForValues,
  type SettingsInput,
  type SettingsStatements,
  type TransactionDefaults,
} from './settings.ts';

/** What opens the flights of one request. */
export interface Opening {
  readonly settings: SettingsStatements;
  /** Only named steps are kept. */
  readonly steps: Map<ConnectionState, readonly FlightStep[]>;
}

interface Kept {
  readonly input: SettingsInput;
  readonly opening: Opening;
}

/** Apart, because a caller's requests often alternate between the two. */
const readOnlyKept = new WeakMap<Caller, Kept>();
const readWriteKept = new WeakMap<Caller, Kept>();

/**
 * The opening for a request, the one before where nothing differs.
 *
 * @throws PublicError as `buildSettings`.
 */
export function openingOf(input: Omit<SettingsInput, 'readOnly'>, readOnly: boolean): Opening {
  const kept = readOnly ? readOnlyKept : readWriteKept;
  const known = kept.get(input.caller);
  if (known !== undefined && isSame(known.input, input)) return known.opening;
  const { caller, searchPath, settings, timeoutMs, freshness } = input;
  const own: SettingsInput = { caller, searchPath, settings, timeoutMs, freshness, readOnly };
  const opening: Opening = { settings: buildSettings(own), steps: new Map() };
  kept.set(caller, { input: own, opening });
  return opening;
}

function isSame(a: SettingsInput, b: Omit<SettingsInput, 'readOnly'>): boolean {
  return (
    a.settings === b.settings &&
    a.searchPath === b.searchPath &&
    a.timeoutMs === b.timeoutMs &&
    a.freshness?.snapshot === b.freshness?.snapshot &&
    a.freshness?.memberships === b.freshness?.memberships
  );
}

/** Step 0 of a flight. `names` null: everything unnamed. */
export function openingSteps(
  { settings, steps: kept }: Opening,
  state: ConnectionState,
  names: StatementNames | null,
): readonly FlightStep[] {
  const known = names === null ? undefined : kept.get(state);
  if (known !== undefined) return known;
  const made = makeSteps(settings, state, { names, characteristics: settings.characteristics });
  if (names === null) return made;
  const steps = encodeSteps(made);
  kept.set(state, steps);
  return steps;
}

/** Step 0 of a flight on a connection that others use as well, whose transactions begin as somebody has left it. */
export function sharedOpeningSteps({ settings }: Opening, defaults: TransactionDefaults): readonly FlightStep[] {
  return makeSteps(settings, 'shared', { names: null, characteristics: characteristicsOf(settings.own, defaults) });
}

/** Behind the opening of a flight whose statements are planned for their values. `names` null: unnamed. */
export function planningStep(names: StatementNames | null): FlightStep {
  return fixedStep(planForValues, names);
}

/** What makes a connection fit for a statement. `names` null: nothing named is run, so nobody looks for what others have named. */
function resetSteps(state: ConnectionState, names: StatementNames | null): readonly FlightStep[] {
  const steps = names === null ? connectionReset[state].filter(({ isUnnamed }) => !isUnnamed) : connectionReset[state];
  return steps.map(({ text, isUnnamed }) =>
    isUnnamed ? { text, values: [], name: '', isKept: true } : fixedStep(text, names),
  );
}

/** A step that is the same for everybody. `names` null: unnamed. */
function fixedStep(text: string, names: StatementNames | null): FlightStep {
  return { text, values: [], name: names?.fixedNameOf(text) ?? '' };
}

function makeSteps(
  { text, values }: SettingsStatements,
  state: ConnectionState,
  { names, characteristics }: { readonly names: StatementNames | null; readonly characteristics: string | null },
): FlightStep[] {
  const steps = [...resetSteps(state, names), { ...fixedStep(text[state], names), values }];
  if (characteristics === null) return steps;
  // Before anything that reads; unnamed, because nothing has looked at the names yet. PostgreSQL warns where it is the very first.
  return ['reset role', characteristics].map((each) => fixedStep(each, null)).concat(steps);
}
