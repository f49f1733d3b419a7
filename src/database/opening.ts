/**
 * The first steps of a flight, hygiene and settings, kept for the next request of the same caller.
 *
 * HTTP gives the same `Caller` object to requests that say the same about their caller; such a request then sends the
 * bytes that were made for the one before. Nothing is shared between two callers: what is kept hangs on the object.
 */
import type { Caller } from './caller.ts';
import { serverTime } from './commit-pace.ts';
import { encodeSteps, type FlightStep } from './flight.ts';
import {
  afterMutation,
  afterTemporaryTables,
  alwaysFirst,
  buildSettings,
  planForValues,
  type SettingsInput,
  type SettingsStatements,
} from './settings.ts';
import type { StatementNames } from './statement-names.ts';

/** What opens the flights of one request. */
export interface Opening {
  readonly settings: SettingsStatements;
  /** Only named steps are kept. */
  readonly steps: Map<SessionState, readonly FlightStep[]>;
}

/** What the flight before may have left in a session: nothing to speak of, anything, or temporary tables as well. */
export type SessionState = 'plain' | 'dirty' | 'temporary';

const cleaning: Readonly<Record<SessionState, readonly string[]>> = {
  plain: alwaysFirst,
  dirty: afterMutation,
  temporary: afterTemporaryTables,
};

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
  opening: Opening,
  session: SessionState,
  names: StatementNames | null,
): readonly FlightStep[] {
  if (names === null || !names.enabled) return makeSteps(opening.settings, session, null);
  const known = opening.steps.get(session);
  if (known !== undefined) return known;
  const steps = encodeSteps(makeSteps(opening.settings, session, names));
  opening.steps.set(session, steps);
  return steps;
}

/** Behind the opening of a flight whose statements are planned for their values. `names` null: unnamed. */
export function planningStep(names: StatementNames | null): FlightStep {
  return fixedStep(planForValues, names);
}

/** In front of the opening of a flight whose beginning the server tells. `names` null: unnamed. */
export function timeStep(names: StatementNames | null): FlightStep {
  return { ...fixedStep(serverTime, names), isTime: true };
}

/** A step that is the same for everybody. `names` null: unnamed. */
export function fixedStep(text: string, names: StatementNames | null): FlightStep {
  return { text, values: [], name: names?.fixedNameOf(text) ?? '' };
}

function makeSteps(settings: SettingsStatements, session: SessionState, names: StatementNames | null): FlightStep[] {
  const text = session === 'temporary' ? settings.textAfterDiscard : settings.text;
  const steps = cleaning[session].map((each) => fixedStep(each, names));
  steps.push({ ...fixedStep(text, names), values: settings.values });
  return steps;
}
