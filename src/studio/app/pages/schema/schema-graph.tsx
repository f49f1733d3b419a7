/** The tables and relationships as a drawing with links, and as a list of sentences. */
import { type ComponentProps, type ReactNode, useEffect, useMemo, useState } from 'react';
import { Choice } from '../../components/choice.tsx';
import { Link } from '../../components/link.tsx';
import { Empty } from '../../components/problem.tsx';
import { placeInSchema } from '../../shared/places.ts';
import type { RoleSchema, SchemaRelationship } from '../../shared/role-schema.ts';
import { boxHeight, type GraphDrawing, type RelationshipLine, type TableBox } from './layout-graph.ts';
import { type DrawnSchema, neighborhoodOf } from './neighborhood.ts';
import { type Area, usePanZoom } from './pan-zoom.ts';

interface SchemaGraphProps {
  readonly schema: RoleSchema;
  /** Name of the table shown beside it; null: none. */
  readonly chosen: string | null;
}

/** So many are drawn around the selected table without being asked: their names stay legible. */
const fewTables = 12;

/** So many are drawn where none is selected. */
const someTables = 40;

/** Extent of the drawing: tables within so many relationships of the selected one, or all. */
type Scope = '1' | '2' | 'all';

/** The drawing above the list. */
export function SchemaGraph({ schema, chosen }: SchemaGraphProps) {
  const [wanted, setWanted] = useState<Scope | null>(null);
  const { tables } = schema;
  const center = tables.some(({ name }) => name === chosen) ? chosen : null;
  const scope = scopeOf(schema, center, wanted);
  const drawn = useMemo(
    () => (center === null || scope === 'all' ? schema : neighborhoodOf(schema, center, Number(scope))),
    [schema, center, scope],
  );
  if (tables.length === 0) {
    return (
      <Empty title={`${schema.role} sees no tables`}>
        <p>
          {schema.missing.length === 0
            ? 'The schemas of the API have none. The statement of Hidden objects makes a first one.'
            : 'Choose a table from Hidden objects, copy its grant, and run it as the owner. The page shows it at once.'}
        </p>
      </Empty>
    );
  }
  if (scope === null) {
    return (
      <Empty title={`${tables.length} tables`}>
        <p>Choose one from the list to see it with its neighbors.</p>
        <button type="button" onClick={() => setWanted('all')}>
          Draw all tables
        </button>
      </Empty>
    );
  }
  const options = [
    { name: '1', title: '1 step', isDisabled: center === null },
    { name: '2', title: '2 steps', isDisabled: center === null },
    { name: 'all', title: 'All tables' },
  ] as const;
  return (
    <section className="schema-graph" aria-label="Relationships">
      <Drawing drawn={drawn} role={schema.role} center={center}>
        <Choice label="Tables around the chosen one" options={options} chosen={scope} onChoose={setWanted} />
      </Drawing>
      <Sentences relationships={drawn.relationships} />
    </section>
  );
}

/** Null: too many tables to draw all without being asked. */
function scopeOf(schema: RoleSchema, center: string | null, wanted: Scope | null): Scope | null {
  const { length: count } = schema.tables;
  if (center === null) return count <= someTables || wanted === 'all' ? 'all' : null;
  if (wanted !== null) return wanted;
  if (count <= fewTables) return 'all';
  return neighborhoodOf(schema, center, 2).tables.length <= fewTables ? '2' : '1';
}

/** Laid out in a worker; null until done. An unchanged schema keeps its layout. */
function useDrawing(drawn: DrawnSchema): GraphDrawing | null {
  const [drawing, setDrawing] = useState<GraphDrawing | null>(null);
  const names = drawn.tables.map(({ name, object }) => [name, object]);
  const key = JSON.stringify([names, drawn.relationships]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is all that the layout goes by
  useEffect(() => {
    const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<GraphDrawing>) => setDrawing(data);
    worker.postMessage({ tables: drawn.tables, relationships: drawn.relationships });
    return () => worker.terminate();
  }, [key]);
  return drawing;
}

interface DrawingProps {
  readonly drawn: DrawnSchema;
  readonly role: string;
  /** Name of the selected table; null: none. */
  readonly center: string | null;
  readonly children: ReactNode;
}

function Drawing({ drawn, role, center, children }: DrawingProps) {
  const drawing = useDrawing(drawn);
  const { svg, content, zoomBy, show } = usePanZoom();
  const isChosenDrawn = drawing?.boxes.some(({ table }) => table.name === center) ?? false;
  useEffect(() => {
    if (drawing !== null && (center === null || isChosenDrawn))
      show(areaAround(drawing, center), center === null ? 'whole' : 'legible');
  }, [drawing, center, isChosenDrawn, show]);
  return (
    <>
      <div className="schema-tools">
        {children}
        <fieldset className="row">
          <legend className="visually-hidden">Zoom</legend>
          <button type="button" aria-label="Zoom out" onClick={() => zoomBy(1 / 1.4)}>
            −
          </button>
          <button type="button" aria-label="Zoom in" onClick={() => zoomBy(1.4)}>
            +
          </button>
          <button type="button" disabled={drawing === null} onClick={() => show(areaAround(drawing!, null), 'whole')}>
            Fit
          </button>
        </fieldset>
      </div>
      <div className="schema-drawing">
        {drawing === null && <p className="loading">Drawing {drawn.tables.length} tables …</p>}
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links has no element of its own */}
        <svg ref={svg} role="group" aria-label="Tables, with lines from foreign keys to the tables they reference">
          <Markers />
          <g ref={content}>
            {drawing?.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two foreign keys may differ in nothing that is told of them
              <Line key={index} line={line} isNear={isOf(line.relationship, center)} />
            ))}
            {drawing?.boxes.map((box) => (
              <Box
                key={box.table.name}
                box={box}
                role={role}
                isChosen={box.table.name === center}
                onFocus={({ currentTarget }) => {
                  if (!isWithin(currentTarget, svg.current!)) show(areaOf(box), 'as it is');
                }}
              />
            ))}
          </g>
        </svg>
      </div>
    </>
  );
}

function isWithin(element: Element, place: Element): boolean {
  const [inner, outer] = [element.getBoundingClientRect(), place.getBoundingClientRect()];
  const isAcross = inner.left >= outer.left && inner.right <= outer.right;
  return isAcross && inner.top >= outer.top && inner.bottom <= outer.bottom;
}

/** The area of the selected table and its neighbors, or everything. */
function areaAround({ width, height, boxes, lines }: GraphDrawing, center: string | null): Area {
  const chosen = boxes.find(({ table }) => table.name === center);
  if (chosen === undefined) return { x: 0, y: 0, width, height };
  const near = new Set(
    lines.flatMap(({ relationship: { from, to } }) => (isOf({ from, to }, center) ? [from, to] : [])),
  );
  const middle = { x: chosen.x + chosen.width / 2, y: chosen.y + boxHeight / 2 };
  const reach = { x: chosen.width / 2, y: boxHeight / 2 };
  for (const box of boxes.filter(({ table }) => near.has(table.name))) {
    reach.x = Math.max(reach.x, Math.abs(box.x - middle.x), Math.abs(box.x + box.width - middle.x));
    reach.y = Math.max(reach.y, Math.abs(box.y - middle.y), Math.abs(box.y + boxHeight - middle.y));
  }
  return { x: middle.x - reach.x, y: middle.y - reach.y, width: 2 * reach.x, height: 2 * reach.y };
}

function areaOf({ x, y, width }: TableBox): Area {
  return { x, y, width, height: boxHeight };
}

function isOf({ from, to }: Pick<SchemaRelationship, 'from' | 'to'>, table: string | null): boolean {
  return from === table || to === table;
}

function Sentences({ relationships }: { readonly relationships: readonly SchemaRelationship[] }) {
  if (relationships.length === 0) return null;
  return (
    <details className="schema-sentences">
      <summary>
        {relationships.length === 1 ? '1 relationship as text' : `${relationships.length} relationships as text`}
      </summary>
      <ul>
        {relationships.map((relationship, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two foreign keys may differ in nothing that is told of them
          <li key={index}>{describe(relationship)}</li>
        ))}
      </ul>
    </details>
  );
}

/** `Each Order has one Customer (customer); each Customer has many Order (orderCollection).` */
function describe({ from, to, field, inverse, cardinality }: SchemaRelationship): string {
  const named = (name: string | null) => (name === null ? 'no field' : `field ${name}`);
  return `${from} has one ${to} (${named(field)}). ${to} has ${cardinality} ${from} (${named(inverse)}).`;
}

/** Line ends, for lines of the selected table and for others. */
function Markers() {
  const size = { markerWidth: 12, markerHeight: 12, markerUnits: 'userSpaceOnUse', orient: 'auto' } as const;
  return (
    <defs>
      {(['far', 'near'] as const).map((name) => (
        <g key={name} className={`line ${name}`}>
          <marker id={`schema-many-${name}`} {...size} refX="0" refY="6">
            <path d="M10 6L0 1M10 6L0 11" />
          </marker>
          <marker id={`schema-one-${name}`} {...size} refX="9" refY="6">
            <path d="M1 2L9 6L1 10" />
          </marker>
        </g>
      ))}
    </defs>
  );
}

function Line({ line: { relationship, path }, isNear }: { readonly line: RelationshipLine; readonly isNear: boolean }) {
  const name = isNear ? 'near' : 'far';
  return (
    <path
      className={`line ${name}`}
      d={path}
      markerStart={relationship.cardinality === 'many' ? `url(#schema-many-${name})` : undefined}
      markerEnd={`url(#schema-one-${name})`}
    >
      <title>{describe(relationship)}</title>
    </path>
  );
}

interface BoxProps extends Pick<ComponentProps<'a'>, 'onFocus'> {
  readonly box: TableBox;
  readonly role: string;
  readonly isChosen: boolean;
}

function Box({ box: { table, x, y, width }, role, isChosen, onFocus }: BoxProps) {
  return (
    <Link
      to={placeInSchema(role, table.name)}
      isCurrent={isChosen}
      data-table={table.name}
      className="box"
      draggable={false}
      onFocus={onFocus}
    >
      <rect x={x} y={y} width={width} height={boxHeight} rx="7" />
      <text x={x + 14} y={y + 20}>
        {table.name}
      </text>
      <text x={x + 14} y={y + 36} className="object">
        {table.object}
      </text>
    </Link>
  );
}
