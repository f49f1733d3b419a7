/**
 * The first steps of a flight, reset and settings, cached for the caller's next request.
 *
 * HTTP uses the same `Caller` object for requests with equal facts about their caller; such a request sends the bytes
 * made for the first one. The cache is attached to that object, so callers never share it.
 */
import type { TransactionDefaults } from '../wire/driver.ts';
import { encodeSteps, type FlightStep } from '../wire/flight.ts';
import type { StatementNames } from '../wire/statement-names.ts';
import { setApplicationName, tracedName } from '../wire/traced-name.ts';
import type { Caller } from './caller.ts';
import { type ConnectionState, connectionReset } from './connection-reset.ts';
import {
  buildSettings,
  characteristicsOf,
  planForValues,
  type SettingsInput,
  type SettingsStatements,
} from './settings.ts';

/** The preamble of a request's flights. */
export interface Preamble {
  readonly settings: SettingsStatements;
  /** Only named steps are cached. */
  readonly steps: Map<ConnectionState, readonly FlightStep[]>;
}

interface Kept {
  readonly input: SettingsInput;
  readonly preamble: Preamble;
}

/** Separate, because a caller's requests often alternate between the two. */
const readOnlyKept = new WeakMap<Caller, Kept>();
const readWriteKept = new WeakMap<Caller, Kept>();

/** The preamble for a request, cached if nothing differs. @throws PublicError as `buildSettings`. */
export function preambleOf(input: Omit<SettingsInput, 'readOnly'>, readOnly: boolean): Preamble {
  const kept = readOnly ? readOnlyKept : readWriteKept;
  const known = kept.get(input.caller);
  if (known !== undefined && isSameInput(known.input, input)) return known.preamble;
  const { caller, searchPath, settings, timeoutMs, freshness, preRequest } = input;
  const own: SettingsInput = { caller, searchPath, settings, timeoutMs, freshness, preRequest, readOnly };
  const preamble: Preamble = { settings: buildSettings(own), steps: new Map() };
  kept.set(caller, { input: own, preamble: preamble });
  return preamble;
}

function isSameInput(a: SettingsInput, b: Omit<SettingsInput, 'readOnly'>): boolean {
  return (
    a.settings === b.settings &&
    a.searchPath === b.searchPath &&
    a.timeoutMs === b.timeoutMs &&
    a.preRequest === b.preRequest &&
    a.freshness?.snapshot === b.freshness?.snapshot &&
    a.freshness?.memberships === b.freshness?.memberships
  );
}

/** Step 0 of a flight. `names` null: everything unnamed. */
export function preambleSteps(
  { settings, steps: kept }: Preamble,
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

/** Step 0 of a flight on a shared connection, where another client may have changed how transactions begin. */
export function sharedPreambleSteps({ settings }: Preamble, defaults: TransactionDefaults): readonly FlightStep[] {
  return makeSteps(settings, 'shared', { names: null, characteristics: characteristicsOf(settings.own, defaults) });
}

/** Sent after the preamble of a flight whose statements get custom plans. `names` null: unnamed. */
export function planningStep(names: StatementNames | null): FlightStep {
  return fixedStep(planForValues, names);
}

/** Sent after the preamble, so that PostgreSQL logs the trace with what follows; a step of its own, for few requests. */
export function traceStep(traceId: string, names: StatementNames | null): FlightStep {
  return { ...fixedStep(setApplicationName, names), values: [tracedName(traceId)] };
}

/** Steps that reset a connection. `names` null: nothing named runs, so a check for foreign names is not needed. */
function resetSteps(state: ConnectionState, names: StatementNames | null): readonly FlightStep[] {
  const steps = names === null ? connectionReset[state].filter(({ isUnnamed }) => !isUnnamed) : connectionReset[state];
  return steps.map(({ text, isUnnamed }) =>
    isUnnamed ? { text, values: [], name: '', isKept: true } : fixedStep(text, names),
  );
}

/** A step that is the same for all callers. `names` null: unnamed. */
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
  // Before any statement that reads. Unnamed, because foreign names are not checked yet. PostgreSQL would warn if it
  // came very first.
  return ['reset role', characteristics].map((each) => fixedStep(each, null)).concat(steps);
}
