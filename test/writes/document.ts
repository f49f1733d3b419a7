/** The document and the variables of a write. */
import { type GraphQLInputType, type GraphQLSchema, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { Random } from '../property/random.ts';
import type { RelatedFilter, Values } from './values.ts';
import type { Reference, Table } from './world.ts';
import type { Change, Children, Conflict, Deletion, Key, Link, Related, Tree, Write } from './write.ts';

/** A word of GraphQL: in variables a string, in documents without quotes. */
class Word {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  toJSON(): string {
    return this.name;
  }
}

/** What is sent. */
export interface Document {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Related rows that records show. */
export interface Below {
  readonly up: readonly {
    readonly field: string;
    readonly reference: Reference;
    readonly columns: readonly string[];
  }[];
  readonly down: readonly {
    readonly field: string;
    readonly table: Table;
    readonly reference: Reference;
    readonly columns: readonly string[];
  }[];
}

/** A mutation of these writes, with answers under `it0`, `it1`, …. @param below What records show; null: columns alone. */
export function documentOf(
  writes: readonly Write[],
  schema: GraphQLSchema,
  below: readonly (Below | null)[],
  random: Random,
): Document {
  const variables = new Variables(random);
  const fields = writes.map((write, index) => {
    const { kind, table, columns } = write;
    const many = `${kind === 'insert' ? 'insertInto' : kind === 'delete' ? 'deleteFrom' : kind}${table.name}Collection`;
    const fields = schema.getMutationType()?.getFields() ?? {};
    const alone = random.chance(0.6) ? ofOneRow(write) : null;
    const field = alone !== null && alone.field in fields ? alone.field : many;
    const defined = fields[field]?.args ?? [];
    // All of it is a variable, or nothing.
    const chance = !sharesRows(write) ? 0.5 : random.chance(0.5) ? 1 : 0;
    const passed = (field === many ? argumentsOf(write) : alone!.passed).map(([name, value]) => {
      const type = defined.find((each) => each.name === name)?.type;
      return `${name}: ${variables.print(value, type as GraphQLInputType, chance)}`;
    });
    const { up = [], down = [] } = below[index] ?? {};
    const nested = [
      ...up.map((each) => `${each.field} { ${each.columns.join(' ')} }`),
      ...down.map((each) => `${each.field}(first: 1000) { edges { node { ${each.columns.join(' ')} } } }`),
    ];
    const row = `{ ${[...(columns ?? []), ...nested].join(' ') || '__typename'} }`;
    const payload = field !== many ? row : columns === null ? '{ affectedCount }' : `{ affectedCount records ${row} }`;
    return `it${index}: ${field}(${passed.join(', ')}) ${payload}`;
  });
  return { query: `mutation ${variables.declared()}{ ${fields.join(' ')} }`, variables: variables.values() };
}

/** The same write as a field of one row; null: it may be of several. */
function ofOneRow(write: Write): { readonly field: string; readonly passed: [string, unknown][] } | null {
  const { name, key } = write.table;
  if (write.kind === 'insert') {
    const [[, objects], ...others] = argumentsOf(write) as [[string, object[]], ...[string, unknown][]];
    return objects.length === 1 ? { field: `insert${name}`, passed: [['object', objects[0]], ...others] } : null;
  }
  if (write.kind === 'updateMany') return null;
  const { filter, atMost } = write.kind === 'update' ? write.change : write;
  const given = filter.flatMap((each): [string, unknown][] =>
    'column' in each && each.operator === 'eq' && key.includes(each.column.name)
      ? [[each.column.name, each.value]]
      : [],
  );
  const isKey = filter.length === key.length && new Set(given.map(([column]) => column)).size === key.length;
  if (!isKey || atMost !== 1 || given.some(([, value]) => value === null)) return null;
  const changes = argumentsOf(write).filter(([argument]) => argument !== 'filter' && argument !== 'atMost');
  return { field: `${write.kind}${name}ByPk`, passed: [...given, ...changes] };
}

/** Conflicts of objects at one place must be written alike. */
function chanceOf(value: unknown, outer: number): number | undefined {
  if (outer === 0) return 0;
  return JSON.stringify(value).includes('onConflict') ? Number.MIN_VALUE : undefined;
}

/** Some values of a document are variables: whole arguments, and any part of them. */
class Variables {
  readonly #random: Random;
  readonly #given: { readonly type: GraphQLInputType; readonly value: unknown }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** @param chance How often the value itself is a variable; 0: nor any part of it. */
  print(value: unknown, type: GraphQLInputType, chance = 0.04): string {
    if (this.#random.chance(chance)) return `$v${this.#given.push({ type, value }) - 1}`;
    const named = isNonNullType(type) ? type.ofType : type;
    if (value instanceof Word) return value.name;
    if (Array.isArray(value)) {
      const element = isListType(named) ? named.ofType : named;
      return `[${value.map((each) => this.print(each, element, chanceOf(each, chance))).join(', ')}]`;
    }
    if (typeof value !== 'object' || value === null || !isInputObjectType(named)) return JSON.stringify(value);
    const fields = named.getFields();
    const members = Object.entries(value).map(([name, member]) => {
      const of = fields[name]?.type as GraphQLInputType;
      return `${name}: ${this.print(member, of, name === 'onConflict' ? 0 : chanceOf(member, chance))}`;
    });
    return `{${members.join(', ')}}`;
  }

  declared(): string {
    const list = this.#given.map(({ type }, index) => `$v${index}: ${type}`);
    return list.length === 0 ? '' : `(${list.join(', ')}) `;
  }

  values(): Readonly<Record<string, unknown>> {
    const entries = this.#given.map(({ value }, index) => [`v${index}`, value]);
    return JSON.parse(JSON.stringify(Object.fromEntries(entries)));
  }
}

function argumentsOf(write: Write): [string, unknown][] {
  switch (write.kind) {
    case 'insert':
      return [
        ['objects', write.trees.map(objectOf)],
        ...(write.conflict ? [['onConflict', conflictOf(write.conflict)] as [string, unknown]] : []),
      ];
    case 'update':
      return Object.entries(changeOf(write.change));
    case 'updateMany':
      return [['updates', write.changes.map(changeOf)]];
    case 'delete':
      return [
        ['filter', filterOf(write.filter)],
        ['atMost', write.atMost],
      ];
  }
}

/** An object that others refer to, as text: of equal ones of a field, one is written. */
export function textOf({ target }: Reference, tree: Tree, conflict: Conflict | null): string {
  return `${target.name} ${JSON.stringify(nestedOf(objectOf(tree), conflict))}`;
}

/** Whether objects that others refer to are equal: they must be written alike. */
function sharesRows(write: Write): boolean {
  const trees = write.kind === 'insert' ? write.trees : write.kind === 'update' ? treesOf(write.change) : [];
  const above = new Map<string, number>();
  const visit = ({ up, down }: Tree): void => {
    for (const { reference, tree, conflict } of up) {
      if (tree === null) continue;
      const text = textOf(reference, tree, conflict);
      above.set(text, (above.get(text) ?? 0) + 1);
      visit(tree);
    }
    for (const { trees: below } of down) for (const tree of below) visit(tree);
  };
  for (const tree of trees) visit(tree);
  return [...above.values()].some((count) => count > 1);
}

function treesOf({ links, related }: Change): readonly Tree[] {
  return [
    ...links.flatMap((link) =>
      link.way === 'insert' ? [link.tree] : link.way === 'update' ? treesOf(link.change) : [],
    ),
    ...related.flatMap(({ trees, updates }) => [...trees, ...updates.flatMap(treesOf)]),
  ];
}

function objectOf({ values, up, down }: Tree): object {
  const related = [
    ...up.map(({ reference, tree, conflict, key }) => [
      reference.up,
      tree === null ? { connect: keyOf(key) } : nestedOf(objectOf(tree), conflict),
    ]),
    ...down.map((children) => [children.reference.down, childrenOf(children)]),
  ];
  return { ...Object.fromEntries(values), ...Object.fromEntries(related) };
}

function childrenOf({ trees, keys, conflict }: Children): object {
  return {
    ...(trees.length > 0 && nestedOf(trees.map(objectOf), conflict)),
    ...(keys.length > 0 && { connect: keys.map(keyOf) }),
  };
}

function keyOf({ name, columns, values }: Key): object {
  const isSingle = columns[0] === name;
  return { [name]: isSingle ? values[0] : Object.fromEntries(columns.map((column, index) => [column, values[index]])) };
}

function nestedOf(insert: object, conflict: Conflict | null): object {
  return conflict === null ? { insert } : { insert, onConflict: conflictOf(conflict) };
}

function conflictOf({ constraint, columns, filter }: Conflict): object {
  return {
    constraint: new Word(constraint),
    ...(columns.length > 0 && { updateColumns: columns.map((column) => new Word(column)) }),
    ...(filter.length > 0 && { filter: filterOf(filter) }),
  };
}

function changeOf({ set, operators, links, related, filter, atMost }: Change): object {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const { name, column, value } of operators) changes[name] = { ...changes[name], [column.name]: value };
  const values = {
    ...Object.fromEntries(set as Values),
    ...Object.fromEntries(links.map((link) => [link.reference.up, linkOf(link)])),
    ...Object.fromEntries(related.map((each) => [each.reference.down, relatedOf(each)])),
  };
  return { set: values, ...changes, filter: filterOf(filter), atMost };
}

function linkOf(link: Link): object {
  switch (link.way) {
    case 'insert':
      return nestedOf(objectOf(link.tree), link.conflict);
    case 'connect':
      return { connect: keyOf(link.key) };
    case 'update':
      return { update: changeOf(link.change) };
    case 'disconnect':
      return { disconnect: true };
  }
}

function relatedOf({ deletes, updates, disconnects, replace, ...children }: Related): object {
  const deletions = (list: readonly Deletion[]) => list.map((each) => ({ ...each, filter: filterOf(each.filter) }));
  return {
    ...(deletes.length > 0 && { delete: deletions(deletes) }),
    ...(updates.length > 0 && { update: updates.map(changeOf) }),
    ...(disconnects.length > 0 && { disconnect: deletions(disconnects) }),
    ...(replace !== null && { replace: new Word(replace.how) }),
    ...(replace !== null && replace.atMost !== null && { replaceAtMost: replace.atMost }),
    ...childrenOf(children),
  };
}

function filterOf(filter: RelatedFilter): object {
  return Object.fromEntries(
    filter.map((each) => {
      if ('column' in each) return [each.column.name, { [each.operator]: each.value }];
      const related = filterOf(each.filter);
      return [each.field, each.quantifier === 'one' ? related : { [each.quantifier]: related }];
    }),
  );
}
