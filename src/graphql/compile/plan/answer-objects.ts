/**
 * Tells of the objects in an answer how many there can be, and how long: as JSON, which PostgreSQL makes of them before the
 * gateway can measure it (sql/bounded-object.ts).
 */
import { maxBytesIn } from '../sql/value-bytes.ts';
import { objectsIn } from './inspect-plan.ts';
import type { ConnectionPlan, Keyed, LimitPlan, ValuePlan } from './plan.ts';

/** Objects in the JSON that PostgreSQL makes. */
export interface AnswerObjects {
  /** Page sizes along their path, their own last: the product is how many there can be. */
  readonly pages: readonly LimitPlan[];
  /** Most bytes of one, without values of types without a bound and without the objects within it. */
  readonly bytes: number;
  /** The number of its values without a bound, at least 1. */
  readonly bounds: number;
}

/** All objects of an answer, outer ones first. */
export function answerObjects(values: readonly Keyed<ValuePlan>[], pages: readonly LimitPlan[] = []): AnswerObjects[] {
  return values.flatMap((value) => {
    const page = pageOf(value);
    const below = page === null ? pages : [...pages, page];
    const rows = objectsIn(value).flatMap(({ entries }) => {
      const sizes = entries.map(maxBytesIn);
      const bytes = entries.reduce((sum, { key }, index) => sum + key.length + 4 + (sizes[index] ?? 0), 2);
      const bounds = Math.max(1, sizes.filter((size) => size === null).length);
      return [{ pages: below, bytes, bounds }, ...answerObjects(entries, below)];
    });
    return value.kind === 'connection' ? [...connectionObjects(value.connection, pages), ...rows] : rows;
  });
}

function pageOf(value: ValuePlan): LimitPlan | null {
  if (value.kind === 'connection') return value.connection.page.limit;
  return value.kind === 'result' ? (value.result.page?.limit ?? null) : null;
}

// Its edges, page info, aggregates and groups: estimated, as each may have a few columns.
function connectionObjects({ entries, page }: ConnectionPlan, pages: readonly LimitPlan[]): readonly AnswerObjects[] {
  return entries.flatMap((entry): AnswerObjects[] => {
    const of = (members: readonly object[], below = pages): AnswerObjects[] => [
      { pages: below, bytes: bytesPerMember * members.length, bounds: Math.max(1, members.length) },
    ];
    switch (entry.kind) {
      case 'edges':
        return of(entry.entries, [...pages, page.limit]);
      case 'page_info':
        return of(entry.entries);
      case 'aggregate':
        return of(innermost(entry.entries));
      case 'groups':
        return of(innermost(entry.groups.entries), [...pages, entry.groups.limit]);
      default:
        return [];
    }
  });
}

function innermost(entries: readonly (object | { readonly entries: readonly object[] | null })[]): readonly object[] {
  return entries.flatMap((entry) => ('entries' in entry ? innermost(entry.entries ?? []) : [entry]));
}

const bytesPerMember = 40;
