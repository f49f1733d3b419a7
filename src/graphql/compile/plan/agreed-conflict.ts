/**
 * What entries for related rows say about conflicts. One statement inserts the rows of a place.
 *
 * Refuses entries that say different things.
 */
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import type { PublicError } from '../../../shared/errors.ts';
import { type Input, refuseInput } from '../input/input.ts';
import type { Path } from '../input/slot.ts';
import { agreed } from '../input/variable-path.ts';
import type { NestedField } from './plan-connected.ts';

/** The type of a member of an entry for related rows, undefined for none. */
export function memberType(
  { field }: NestedField,
  name: 'insert' | 'connect' | 'onConflict',
): Input['type'] | undefined {
  return (getNamedType(field.type) as GraphQLInputObjectType).getFields()[name]?.type;
}

/** What the entries of a variable's objects say about conflicts, where they insert rows: one statement writes them. */
export function agreedConflict(objects: Input, each: Path, of: NestedField): Input | null {
  const type = memberType(of, 'onConflict');
  if (type === undefined) return null;
  const path = [...each, of.field.name, 'onConflict'];
  const answer = objects.uniformValue(path);
  const onConflict = objects.below(type, [...path, agreed]);
  if (answer === 'other') throw refuseDifferent(of, onConflict);
  return answer === 'none' ? null : onConflict;
}

function refuseDifferent({ field }: NestedField, onConflict: Input): PublicError {
  return refuseInput(
    `"${field.name}" has a different "onConflict" in other objects. Give all of them the same.`,
    onConflict,
  );
}

/** What the entries in the document that insert rows say about conflicts. */
export function sameConflict(given: readonly (Input | undefined)[], of: NestedField): Input | null {
  const conflicts = given.map((input) => (input?.state() === 'value' ? input : null));
  // A variable that many objects have is compared once: its value may be large.
  const [first = null, ...others] = new Map(conflicts.map((input) => [input?.source(), input])).values();
  const different = others.find((input) => input === null || first?.hasSameValue(input) !== true);
  if (different !== undefined) throw refuseDifferent(of, (different ?? first)!);
  return first;
}
