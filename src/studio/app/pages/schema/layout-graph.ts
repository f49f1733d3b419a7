/** Layout of the schema drawing: connected tables in layers, the others in rows below. */
import { type EdgeLabel, Graph, type GraphLabel, layout, type NodeLabel } from '@dagrejs/dagre';
import type { SchemaRelationship, SchemaTable } from '../../shared/role-schema.ts';

/** A position, in pixels from the top left. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/** The box of a table, by its top left corner. */
export interface TableBox extends Point {
  readonly table: SchemaTable;
  readonly width: number;
}

/** The line of a foreign key, from its table to the referenced one. */
export interface RelationshipLine {
  readonly relationship: SchemaRelationship;
  /** The attribute `d` of a path. */
  readonly path: string;
}

/** The drawing. */
export interface GraphDrawing {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly TableBox[];
  readonly lines: readonly RelationshipLine[];
}

/** Height of every box. */
export const boxHeight = 46;

const gap = 24;
const margin = 20;
const rowWidth = 720;

/** Lays out tables and their relationships. */
export function layoutGraph(
  tables: readonly SchemaTable[],
  relationships: readonly SchemaRelationship[],
): GraphDrawing {
  const between = relationships.filter(({ from, to }) => from !== to);
  const linked = new Set(between.flatMap(({ from, to }) => [from, to]));
  const layers = layoutLayers(
    tables.filter(({ name }) => linked.has(name)),
    between,
  );
  const rows = layoutRows(
    tables.filter(({ name }) => !linked.has(name)),
    layers.height,
    Math.max(layers.width, rowWidth),
  );
  const boxes = [...layers.boxes, ...rows];
  const loops = relationships.filter(({ from, to }) => from === to);
  return {
    width: Math.max(0, ...boxes.map(({ x, width }) => x + width)) + margin,
    height: Math.max(0, ...boxes.map(({ y }) => y + boxHeight)) + margin,
    boxes,
    lines: [...layers.lines, ...loops.map((relationship) => drawLoop(relationship, boxes))],
  };
}

function layoutLayers(tables: readonly SchemaTable[], relationships: readonly SchemaRelationship[]): GraphDrawing {
  if (tables.length === 0) return { width: 0, height: 0, boxes: [], lines: [] };
  const graph = new Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true });
  graph.setGraph({ rankdir: 'RL', nodesep: gap, ranksep: 44, marginx: margin, marginy: margin });
  // Numbers instead of names: the layout uses plain objects as maps, and a table may be called "constructor".
  const ids = new Map(tables.map(({ name }, index) => [name, String(index)]));
  const idOf = (name: string) => ids.get(name)!;
  for (const table of tables) graph.setNode(idOf(table.name), { width: widthOf(table), height: boxHeight });
  relationships.forEach(({ from, to }, index) => {
    graph.setEdge(idOf(from), idOf(to), {}, String(index));
  });
  layout(graph);
  const boxes = tables.map((table): TableBox => {
    const { x = 0, y = 0 } = graph.node(idOf(table.name));
    const width = widthOf(table);
    return { table, width, x: x - width / 2, y: y - boxHeight / 2 };
  });
  const bends = relationships.map(({ from, to }, index) =>
    bendsOf(graph.edge(idOf(from), idOf(to), String(index)).points ?? []),
  );
  const lines = drawLines(relationships, bends, new Map(boxes.map((box) => [box.table.name, box])));
  const { width = 0, height = 0 } = graph.graph();
  return { width, height, boxes, lines };
}

/** Points between the layers: every second one is on a layer; the first and last belong to the boxes. */
function bendsOf(points: readonly Point[]): readonly Point[] {
  return points.slice(1, -1).filter((_, index) => index % 2 === 1);
}

/** Lines leave boxes at the left and right, ordered by the positions of their other ends. */
function drawLines(
  relationships: readonly SchemaRelationship[],
  bends: readonly (readonly Point[])[],
  boxes: ReadonlyMap<string, TableBox>,
): readonly RelationshipLine[] {
  const ends = relationships.flatMap(({ from, to }, index) => {
    const [start, end] = [boxes.get(from)!, boxes.get(to)!];
    const between = bends[index]!;
    return [toEnd(start, between[0] ?? middleOf(end)), toEnd(end, between.at(-1) ?? middleOf(start))];
  });
  const places = spreadEnds(ends);
  return relationships.map((relationship, index) => {
    const points = [places[2 * index]!, ...bends[index]!, places[2 * index + 1]!];
    return { relationship, path: curve(points) };
  });
}

interface LineEnd {
  readonly box: TableBox;
  readonly isLeft: boolean;
  /** The next point of the line. */
  readonly towards: Point;
}

function toEnd(box: TableBox, towards: Point): LineEnd {
  return { box, isLeft: towards.x < middleOf(box).x, towards };
}

function spreadEnds(ends: readonly LineEnd[]): readonly Point[] {
  return ends.map(({ box, isLeft, towards }) => {
    const others = ends.filter((end) => end.box === box && end.isLeft === isLeft);
    const sorted = [...others].sort((one, other) => one.towards.y - other.towards.y);
    const position = sorted.findIndex((end) => end.towards === towards);
    const y = box.y + (boxHeight * (position + 1)) / (sorted.length + 1);
    return { x: isLeft ? box.x : box.x + box.width, y };
  });
}

function middleOf({ x, y, width }: TableBox): Point {
  return { x: x + width / 2, y: y + boxHeight / 2 };
}

/** Every segment starts and ends horizontally. */
function curve([first, ...others]: readonly Point[]): string {
  let { x, y } = first!;
  let path = `M${x} ${y}`;
  for (const next of others) {
    const halfway = (x + next.x) / 2;
    path += `C${halfway} ${y} ${halfway} ${next.y} ${next.x} ${next.y}`;
    ({ x, y } = next);
  }
  return path;
}

function layoutRows(tables: readonly SchemaTable[], top: number, widest: number): readonly TableBox[] {
  const boxes: TableBox[] = [];
  let [x, y] = [margin, top + margin];
  for (const table of tables) {
    const width = widthOf(table);
    if (x > margin && x + width > widest) [x, y] = [margin, y + boxHeight + gap];
    boxes.push({ table, width, x, y });
    x += width + gap;
  }
  return boxes;
}

/** A table that refers to itself: a loop at its lower edge. */
function drawLoop(relationship: SchemaRelationship, boxes: readonly TableBox[]): RelationshipLine {
  const { x, y, width } = boxes.find(({ table }) => table.name === relationship.from)!;
  return { relationship, path: `M${x + width - 14} ${y + boxHeight}v7q0 9 -9 9h-14q-9 0 -9 -9v-7` };
}

/** The width of both lines of text in the usual system fonts. */
function widthOf({ name, object }: SchemaTable): number {
  return Math.ceil(Math.max(name.length * 8, object.length * 6.8)) + 28;
}
