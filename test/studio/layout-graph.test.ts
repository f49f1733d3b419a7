/**
 * The drawing of the schema: every table has a box of its own, and every foreign key a line between two of them.
 */
import { expect, test } from 'vitest';
import {
  boxHeight,
  type GraphDrawing,
  layoutGraph,
  type TableBox,
} from '../../src/studio/app/pages/schema/layout-graph.ts';
import type { SchemaRelationship, SchemaTable } from '../../src/studio/app/shared/role-schema.ts';

const table = (name: string): SchemaTable => ({
  name,
  object: `public.${name}`,
  kind: 'table',
  description: null,
  rowSecurity: true,
  rootFields: [],
  fields: [],
  added: [],
  insert: false,
  update: false,
  delete: false,
});
const key = (from: string, to: string): SchemaRelationship => ({
  from,
  to,
  field: to,
  inverse: from,
  cardinality: 'many',
});

const overlaps = (one: TableBox, other: TableBox): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + boxHeight &&
  other.y < one.y + boxHeight;

/** Names of boxes that lie on each other, or partly outside the drawing. */
function misplaced({ boxes, width, height }: GraphDrawing): readonly string[] {
  return boxes
    .filter(
      (box) =>
        !(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + boxHeight <= height) ||
        boxes.some((other) => other !== box && overlaps(box, other)),
    )
    .map((box) => box.table.name);
}

test('what a foreign key refers to is left of the table that has it, and its line begins and ends at their edges', () => {
  const drawing = layoutGraph([table('author'), table('book')], [key('book', 'author')]);
  const [author, book] = drawing.boxes as [TableBox, TableBox];
  expect(author.x + author.width).toBeLessThan(book.x);
  const [start, end] = [
    `M${book.x} ${book.y + boxHeight / 2}`,
    `${author.x + author.width} ${author.y + boxHeight / 2}`,
  ];
  expect(drawing.lines.map(({ path }) => [path.startsWith(start), path.endsWith(end)])).toEqual([[true, true]]);
});

test('tables that refer to each other, twice, in a circle or to themselves have their boxes and lines as well', () => {
  const names = ['a', 'b', 'c', 'd', 'alone'];
  const keys = [
    key('a', 'b'),
    key('b', 'a'),
    key('a', 'b'),
    key('b', 'c'),
    key('c', 'd'),
    key('d', 'a'),
    key('a', 'a'),
  ];
  const drawing = layoutGraph(names.map(table), keys);
  expect(drawing.boxes.map((box) => box.table.name).sort()).toEqual([...names].sort());
  expect(misplaced(drawing)).toEqual([]);
  expect(drawing.lines.map(({ relationship }) => relationship)).toEqual(keys);
  expect(new Set(drawing.lines.map(({ path }) => path)).size).toBe(keys.length);
  expect(drawing.lines.filter(({ path }) => /NaN|undefined|Infinity/.test(path))).toEqual([]);
});

test('tables whose names are those of members of every object are drawn like others', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'a'];
  const drawing = layoutGraph(
    names.map(table),
    names.map((name) => key('a', name)),
  );
  expect(drawing.boxes.map((box) => box.table.name).sort()).toEqual([...names].sort());
  expect(misplaced(drawing)).toEqual([]);
});

test('as many tables as are drawn at once fit, with or without relationships', () => {
  const names = Array.from({ length: 150 }, (_, number) => `table_${number}`);
  const keys = names.slice(1, 100).map((name, index) => key(name, `table_${Math.floor(index / 3)}`));
  expect(misplaced(layoutGraph(names.map(table), keys))).toEqual([]);
  expect(layoutGraph([], [])).toMatchObject({ boxes: [], lines: [] });
});
