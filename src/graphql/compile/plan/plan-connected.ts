/**
 * The rows that objects name by a unique key (docs/nested-writes.md): of a variable, whose number is not part of the plan, or
 * in the document.
 *
 * Refuses a name of none or several keys.
 */
import { type GraphQLInputField, type GraphQLInputObjectType, getNamedType } from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import type { Column, Relationship, Table, TableKey } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { placesText } from '../input/composite-text.ts';
import { type Input, refuseInput } from '../input/input.ts';
import type { Path, Slot } from '../input/slot.ts';
import { columnOf } from './plan-order.ts';
import type { KeyValues } from './write/assignment.ts';

/** An entry of objects for related rows. */
export interface NestedField {
  readonly field: GraphQLInputField;
  readonly relationship: Relationship;
  readonly target: Table;
}

/** Rows named by one unique key. */
export interface ConnectedRows {
  /** Texts of each column of the key. */
  readonly by: readonly KeyValues[];
  readonly count: Slot;
  /** For each of them, the number of the object that names it, from 1. */
  readonly parents: Slot;
  /** For each object, the number of the only row that it names, from 1, or null. */
  readonly links: Slot;
  /** The place of all of them, as text or as a path into the variables. */
  readonly place: string | Path;
}

/** Where the objects stand in the variables. */
interface Objects {
  /** Their list, or their only one; empty for an object of the document with this number. */
  readonly path: Path;
  readonly first: number;
}

/** The rows that objects of a variable name. @param names All names. @param below Their path from an object. */
export function variableConnected(
  names: Input,
  of: NestedField,
  { path, first }: Objects,
  below: Path,
): readonly ConnectedRows[] {
  const keys = keysOf(names);
  const given = names.members(keys.map(({ fieldName }) => fieldName));
  if (given === null) throw refuseName(names);
  const at = names.path();
  invariant(at, 'the names come from a variable');
  return given.map((fieldName) => {
    const key = keys.find((each) => each.fieldName === fieldName)!;
    const values = columnsOf(of, key).map((column) => {
      const inner = key.inputName === null ? [] : [column.fieldName!];
      return { column, values: { kind: 'path_values', path: [...at, fieldName, ...inner] } as const };
    });
    return {
      by: values,
      count: { kind: 'row_count', path: [...at, fieldName] },
      parents: { kind: 'row_parents', path, below: [...below, fieldName], first },
      links: { kind: 'row_links', path, below: [...below, fieldName], among: null },
      place: at,
    };
  });
}

/** The rows that objects of the document name. @param given By object. @param place The place of several. */
export function documentConnected(
  given: readonly (Input | null)[],
  of: NestedField,
  place: string,
): readonly ConnectedRows[] {
  const isMany = of.relationship.cardinality === 'many';
  const lists = given.filter((input) => input !== null);
  const [only] = lists;
  if (only === undefined) return [];
  const path = isMany && lists.length === 1 ? only.path() : null;
  if (path !== null) {
    const below = [...path, '*'];
    return variableConnected(only.below(only.type, below), of, { path: [], first: given.indexOf(only) + 1 }, below);
  }
  const named = given.flatMap((input, index) => {
    if (input === null) return [];
    return (isMany ? [...input.items()] : [input]).map((item) => readName(item, index));
  });
  return [...Map.groupBy(named, ({ key }) => key)].map(([key, rows]): ConnectedRows => {
    const numbers = new Map(rows.map(({ index }, number) => [index, number + 1]));
    return {
      by: columnsOf(of, key).map((column, at) => ({
        column,
        values: { kind: 'array', items: rows.map(({ values }) => values[at]!) },
      })),
      count: { kind: 'constant', value: String(rows.length) },
      parents: { kind: 'constant', value: placesText(rows.map(({ index }) => index + 1)) },
      links: { kind: 'constant', value: placesText(given.map((_, index) => numbers.get(index) ?? null)) },
      place: rows.length === 1 ? rows[0]!.place : place,
    };
  });
}

const absent: Slot = { kind: 'constant', value: null };

function readName(item: Input, index: number) {
  item.requireValue();
  const given = item.fields().filter(({ input }) => input.state() === 'value');
  const [only, another] = given;
  if (only === undefined || another !== undefined) throw refuseName(item);
  const origin = inputFieldOrigin(only.field);
  invariant(origin.kind === 'row_key', 'a name holds keys');
  const { key } = origin;
  const place = item.place();
  if (key.inputName === null) return { key, index, place, values: [only.input.slot()] };
  const members = new Map(only.input.fields().map(({ field, input }) => [columnNumber(field), input]));
  const values = key.columns.map((number) => {
    const input = members.get(number);
    input?.requireValue();
    return input?.slot() ?? absent;
  });
  return { key, index, place, values };
}

function columnNumber(field: GraphQLInputField): number {
  const origin = inputFieldOrigin(field);
  invariant(origin.kind === 'column', 'a key holds columns');
  return origin.column.number;
}

function keysOf({ type }: Input): readonly TableKey[] {
  return Object.values((getNamedType(type) as GraphQLInputObjectType).getFields()).map((field) => {
    const origin = inputFieldOrigin(field);
    invariant(origin.kind === 'row_key', 'a name holds keys');
    return origin.key;
  });
}

function columnsOf({ target }: NestedField, { columns }: TableKey): readonly Column[] {
  return columns.map((number) => columnOf(target, number));
}

function refuseName(names: Input) {
  return refuseInput('A row is named by exactly one of its keys, with a value.', names);
}
