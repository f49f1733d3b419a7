/**
 * The tables and their relationships as a drawing, whose boxes are links, and the same as a list of sentences.
 */
import { useEffect, useMemo, useRef } from 'react';
import { Link } from '../../components/link.tsx';
import { Empty } from '../../components/problem.tsx';
import { boxHeight, layoutGraph, type RelationshipLine, type TableBox } from './layout-graph.ts';
import { placeOf } from './place-of.ts';
import type { RoleSchema, SchemaRelationship } from './role-schema.ts';

interface SchemaGraphProps {
  readonly schema: RoleSchema;
  /** Name of the table that is shown beside it; null: none. */
  readonly chosen: string | null;
}

/** More boxes cannot be told apart; then those around the chosen table are drawn. */
const maxBoxes = 150;

/** Smaller, names cannot be read; then it scrolls. */
const smallestScale = 0.8;

/** The drawing above the list. */
export function SchemaGraph({ schema, chosen }: SchemaGraphProps) {
  const isWhole = schema.tables.length <= maxBoxes;
  const around = isWhole ? null : chosen;
  const { tables, relationships } = useMemo(
    () => (isWhole ? schema : cutAround(schema, around)),
    [schema, isWhole, around],
  );
  const drawing = useMemo(() => layoutGraph(tables, relationships), [tables, relationships]);
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = scroll.current?.querySelector(`[data-table="${CSS.escape(chosen ?? '')}"]`);
    box?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  if (schema.tables.length === 0) {
    return (
      <Empty title={`${schema.role} sees no tables`}>
        <p>Choose a table from Hidden objects, copy its grant, and run it as the owner. The page shows it at once.</p>
      </Empty>
    );
  }
  return (
    <section className="schema-graph" aria-label="Relationships">
      {!isWhole && (
        <p className="notice">
          {schema.tables.length} tables are too many to draw. The diagram shows the selected table and its neighbors.
          {chosen === null && ' Select one from the list.'}
        </p>
      )}
      <div className="schema-drawing" ref={scroll}>
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing of links has no element of its own */}
        <svg
          role="group"
          aria-label="Tables, with lines from foreign keys to the tables they reference"
          style={{ width: '100%', maxWidth: drawing.width, minWidth: drawing.width * smallestScale }}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        >
          <Markers />
          {drawing.lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two foreign keys may differ in nothing that is told of them
            <Line key={index} line={line} isNear={isOf(line.relationship, chosen)} />
          ))}
          {drawing.boxes.map((box) => (
            <Box key={box.table.name} box={box} role={schema.role} isChosen={box.table.name === chosen} />
          ))}
        </svg>
      </div>
      {relationships.length > 0 && (
        <details className="schema-sentences">
          <summary>
            {relationships.length === 1 ? '1 relationship as text' : `${relationships.length} relationships as text`}
          </summary>
          <ul>
            {relationships.map((relationship, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <li key={index}>{describe(relationship)}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function isOf({ from, to }: SchemaRelationship, table: string | null): boolean {
  return from === table || to === table;
}

function cutAround({ tables, relationships }: RoleSchema, chosen: string | null) {
  const near = relationships.filter((relationship) => isOf(relationship, chosen));
  const names = new Set([chosen, ...near.flatMap(({ from, to }) => [from, to])]);
  return { tables: tables.filter(({ name }) => names.has(name)), relationships: near };
}

/** `Each Order has one Customer (customer); each Customer has many Order (orderCollection).` */
function describe({ from, to, field, inverse, cardinality }: SchemaRelationship): string {
  const named = (name: string | null) => (name === null ? 'no field' : `field ${name}`);
  return `${from} has one ${to} (${named(field)}). ${to} has ${cardinality} ${from} (${named(inverse)}).`;
}

/** Ends of lines, once for those that touch the chosen table and once for the others. */
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

function Box({
  box: { table, x, y, width },
  role,
  isChosen,
}: {
  readonly box: TableBox;
  readonly role: string;
  readonly isChosen: boolean;
}) {
  return (
    <Link to={placeOf(role, table.name)} isCurrent={isChosen} data-table={table.name} className="box">
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
