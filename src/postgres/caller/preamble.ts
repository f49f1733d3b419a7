/**
 * The first steps of a flight: reset and settings.
 *
 * The reset is the same for all callers. The values of the settings are cached as bytes for the caller's next request: HTTP
 * uses the same `Caller` object for requests with equal facts about their caller. The cache is attached to that object, so
 * callers never share it.
 */
import type { TransactionDefaults } from '../wire/driver.ts';
import { boundValues, type FlightStep } from '../wire/flight.ts';
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
  textsOf,
} from './settings.ts';

/** The preamble of a request's flights. */
export interface Preamble {
  readonly settings: SettingsStatements;
  /** The values of the settings as they are sent; null: not sent yet. */
  bound: Uint8Array | null;
}

interface Kept {
  readonly input: SettingsInput;
  readonly preamble: Preamble;
}

const kept = new WeakMap<Caller, Kept>();

/** The preamble for a request, cached if nothing differs. @throws PublicError as `buildSettings`. */
export function preambleOf(input: SettingsInput): Preamble {
  const known = kept.get(input.caller);
  if (known !== undefined && isSameInput(known.input, input)) return known.preamble;
  const { caller, searchPath, settings, timeoutMs, freshness, preRequest } = input;
  const own: SettingsInput = { caller, searchPath, settings, timeoutMs, freshness, preRequest };
  const preamble: Preamble = { settings: buildSettings(own), bound: null };
  kept.set(caller, { input: own, preamble });
  return preamble;
}

function isSameInput(a: SettingsInput, b: SettingsInput): boolean {
  return (
    a.settings === b.settings &&
    a.searchPath === b.searchPath &&
    a.timeoutMs === b.timeoutMs &&
    a.preRequest === b.preRequest &&
    a.freshness?.snapshot === b.freshness?.snapshot &&
    a.freshness?.memberships === b.freshness?.memberships
  );
}

/** How a transaction begins. */
export interface Beginning {
  readonly state: ConnectionState;
  readonly readOnly: boolean;
  /** Null: everything unnamed. */
  readonly names: StatementNames | null;
}

/** Step 0 of a flight. */
export function preambleSteps(preamble: Preamble, { state, readOnly, names }: Beginning): readonly FlightStep[] {
  const { settings } = preamble;
  const text = textsOf(settings, readOnly).first[state];
  preamble.bound ??= boundValues(settings.values);
  const own = { ...fixedStep(text, names), values: settings.values, bound: preamble.bound };
  return [...beginning(settings.characteristics), ...resetSteps(state, names), own];
}

/** Step 0 of a flight on a shared connection, where another client may have changed how transactions begin. */
export function sharedPreambleSteps(
  { settings }: Preamble,
  { readOnly, defaults }: { readonly readOnly: boolean; readonly defaults: TransactionDefaults },
): readonly FlightStep[] {
  const text = textsOf(settings, readOnly).first.shared;
  const own = { ...fixedStep(text, null), values: settings.values };
  return [...beginning(characteristicsOf(settings.own, defaults)), ...resetSteps('shared', null), own];
}

/**
 * Before any statement that reads. Unnamed, because foreign names are not checked yet. PostgreSQL would warn if it came
 * very first.
 */
function beginning(characteristics: string | null): readonly FlightStep[] {
  return characteristics === null ? none : ['reset role', characteristics].map((each) => fixedStep(each, null));
}

/** Sent after the preamble of a flight whose statements get custom plans. `names` null: unnamed. */
export function planningStep(names: StatementNames | null): FlightStep {
  return fixedStep(planForValues, names);
}

/** Sent after the preamble, so that PostgreSQL logs the trace with what follows; a step of its own, for few requests. */
export function traceStep(traceId: string, names: StatementNames | null): FlightStep {
  return { ...fixedStep(setApplicationName, names), values: [tracedName(traceId)] };
}

/**
 * Runs deferred constraints and triggers before the commit, where no time limit would apply to them: once a flight commits, it is
 * not cancelled any more. `names` null: unnamed.
 */
export function lastOfWrites(names: StatementNames | null): FlightStep {
  return { ...fixedStep('set constraints all immediate', names), isGuard: true };
}

/** By the names of their statements. */
const resets = new WeakMap<object, Map<ConnectionState, readonly FlightStep[]>>();
const unnamed = {};

/** Steps that reset a connection. `names` null: nothing named runs, so a check for foreign names is not needed. */
function resetSteps(state: ConnectionState, names: StatementNames | null): readonly FlightStep[] {
  const ofNames = resets.get(names ?? unnamed) ?? new Map<ConnectionState, readonly FlightStep[]>();
  resets.set(names ?? unnamed, ofNames);
  const known = ofNames.get(state);
  if (known !== undefined) return known;
  const used = names === null ? connectionReset[state].filter(({ isUnnamed }) => !isUnnamed) : connectionReset[state];
  const steps = used.map(({ text, isUnnamed }) => {
    const step = isUnnamed ? { text, values: none, name: '', isKept: true } : fixedStep(text, names);
    return { ...step, bound: boundValues(none) };
  });
  ofNames.set(state, steps);
  return steps;
}

/** A step that is the same for all callers. `names` null: unnamed. */
function fixedStep(text: string, names: StatementNames | null): FlightStep {
  return { text, values: none, name: names?.fixedNameOf(text) ?? '' };
}

const none: readonly never[] = [];
