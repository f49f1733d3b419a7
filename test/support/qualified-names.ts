/**
 * Finds the names of a SQL text that PostgreSQL would look up in the search path: whoever may create in one of its schemas could
 * put something there that fits better than what we mean.
 *
 * A name is safe where it stands with its schema. Where the transaction has pinned its path to `pg_catalog, pg_temp` (the pinned settings of
 * src/postgres/system/system-connection.ts), names of PostgreSQL's own functions, operators and types may stand alone; relations may
 * not, because `pg_temp` is searched for them.
 */
import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';

await loadModule();

/** The search path when a text runs: pinned, or whatever the connection has. */
export type Path = 'unpinned' | 'pinned';

type Node = Readonly<Record<string, unknown>>;

/** What was found, in the order of the text, each once: `operator =`, `function lower`, `type text`, `relation users`. */
export function findBareNames(text: string, path: Path): readonly string[] {
  const found = new Set<string>();
  const search = new Search((name) => found.add(name), path);
  for (const { stmt } of parseSync(text).stmts ?? []) search.visit(stmt, new Set());
  return [...found];
}

/** Kinds of `A_Expr` whose operator cannot be written with its schema, as they are written. */
const fixedOperators: Readonly<Record<string, string>> = {
  AEXPR_DISTINCT: 'is distinct from',
  AEXPR_NOT_DISTINCT: 'is not distinct from',
  AEXPR_NULLIF: 'nullif',
  AEXPR_IN: 'in',
  AEXPR_LIKE: 'like',
  AEXPR_ILIKE: 'ilike',
  AEXPR_SIMILAR: 'similar to',
  AEXPR_BETWEEN: 'between',
  AEXPR_NOT_BETWEEN: 'not between',
  AEXPR_BETWEEN_SYM: 'between symmetric',
  AEXPR_NOT_BETWEEN_SYM: 'not between symmetric',
};

/** Types whose text is the name of something, looked up when the text is read; roles and namespaces have no schema. */
const nameTypes = new Set(['regclass', 'regtype', 'regproc', 'regprocedure', 'regoper', 'regoperator', 'regcollation']);

/** Functions that read a name from their first argument. */
const nameFunctions = new Set([
  'to_regclass',
  'to_regtype',
  'to_regproc',
  'to_regprocedure',
  'nextval',
  'currval',
  'setval',
]);

const noQueries: ReadonlySet<string> = new Set();

class Search {
  readonly #add: (name: string) => void;
  readonly #path: Path;

  constructor(add: (name: string) => void, path: Path) {
    this.#add = add;
    this.#path = path;
  }

  /** @param queries Names of `with` queries in sight, which are no relations. */
  visit(value: unknown, queries: ReadonlySet<string>): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) this.visit(each, queries);
      return;
    }
    const node = value as Node;
    const inSight =
      node.withClause === undefined ? queries : new Set([...queries, ...queryNames(node.withClause as Node)]);
    this.#inspect(node, inSight);
    for (const key in node) {
      const child = node[key];
      // `for update of x` names an alias.
      if (typeof child !== 'object' || child === null || key === 'lockedRels') continue;
      // What is written to is never a `with` query.
      this.visit(child, key === 'relation' ? noQueries : inSight);
      this.#inspectKind(key, child as Node);
    }
  }

  /** Nodes that are known by their members, because the parser does not say their kind wherever only one is possible. */
  #inspect(node: Node, queries: ReadonlySet<string>): void {
    if (Array.isArray(node.names) && 'typemod' in node) this.#name('type', node.names);
    if (typeof node.relname === 'string' && 'relpersistence' in node && node.schemaname === undefined) {
      if (!queries.has(node.relname)) this.#add(`relation ${node.relname}`);
    }
    if (Array.isArray(node.collname)) this.#name('collation', node.collname);
    if (Array.isArray(node.opclass)) this.#name('operator class', node.opclass);
    if (Array.isArray(node.useOp)) this.#name('operator', node.useOp);
    if (Array.isArray(node.objname)) this.#name('function', node.objname);
  }

  #inspectKind(kind: string, node: Node): void {
    if (kind === 'FuncCall') this.#call(node);
    if (kind === 'A_Expr') this.#expression(node);
    if (kind === 'SubLink' && node.testexpr !== undefined) {
      if (node.operName === undefined) this.#operator('in');
      else this.#name('operator', node.operName as readonly unknown[]);
    }
    if (kind === 'CaseExpr' && node.arg !== undefined) this.#operator('case … when');
    if (kind === 'JoinExpr' && (node.isNatural === true || node.usingClause !== undefined))
      this.#operator('join … using');
    if (kind === 'TypeCast') this.#cast(node);
    if (kind === 'DoStmt') this.#body(node.args, 'void', this.#path);
    if (kind === 'CreateFunctionStmt') this.#function(node);
    if (kind === 'CreateTrigStmt' || kind === 'CreateEventTrigStmt') this.#own('function', node.funcname);
    if (kind === 'CreateEnumStmt' || kind === 'CompositeTypeStmt') this.#own('type', node.typeName ?? node.typevar);
    if (kind === 'CommentStmt' && textsOf((node.object as Node)?.List).length > 0) {
      if (node.objtype === 'OBJECT_TABLE') this.#own('relation', ((node.object as Node).List as Node).items);
    }
    if (kind === 'DropStmt') {
      for (const object of node.objects as readonly Node[]) {
        if (object.List !== undefined) this.#own('relation', (object.List as Node).items);
      }
    }
  }

  #call(node: Node): void {
    const names = node.funcname as readonly unknown[];
    this.#name('function', names);
    const read = nameFunctions.has(last(names)) ? textOf((node.args as readonly unknown[] | undefined)?.[0]) : null;
    if (read !== null) this.#readName(read);
  }

  #expression({ kind, name }: Node): void {
    const fixed = fixedOperators[String(kind)];
    // `like` may also be written as an operator; then it is an ordinary one.
    if (fixed === undefined) this.#name('operator', name as readonly unknown[]);
    else this.#operator(fixed);
  }

  #cast({ arg, typeName }: Node): void {
    const text = textOf(arg);
    const type = last((typeName as Node).names as readonly unknown[]);
    if (text !== null && nameTypes.has(type)) this.#readName(text);
  }

  /** The text is the name of an object, as in `'auth.users'::regclass`. */
  #readName(text: string): void {
    if (!text.includes('.')) this.#add(`name '${text}'`);
  }

  #function(node: Node): void {
    this.#own('function', node.funcname);
    const options = (node.options ?? []) as readonly Node[];
    const isPinned = JSON.stringify(options).includes('"search_path"');
    const { names, setof } = (node.returnType ?? { names: [] }) as { names: readonly unknown[]; setof?: boolean };
    const returned = ['void', 'trigger', 'event_trigger'].find((type) => type === last(names)) ?? 'text';
    this.#body(options, setof ? 'setof text' : returned, isPinned ? 'pinned' : 'unpinned');
  }

  /** The body of a function or of `do`, where it is a text: its names are looked up when it runs. */
  #body(args: unknown, returned: string, path: Path): void {
    const options = (args ?? []) as readonly Node[];
    const optionOf = (name: string) =>
      options.map(({ DefElem }) => DefElem as Node).find(({ defname }) => defname === name)?.arg;
    const body = textsOf(optionOf('as')).at(-1);
    const language = textsOf(optionOf('language'))[0] ?? 'plpgsql';
    if (body === undefined) return;
    const texts = language === 'sql' ? [body] : statementsOf(body, returned);
    for (const text of texts) for (const name of findBareNames(text, path)) this.#add(name);
  }

  #operator(name: string): void {
    if (this.#path === 'unpinned') this.#add(`operator ${name}`);
  }

  #name(kind: string, names: readonly unknown[]): void {
    if (names.length === 1 && this.#path === 'unpinned') this.#add(`${kind} ${last(names)}`);
  }

  /** Something of ours, which is never in pg_catalog. */
  #own(kind: string, names: unknown): void {
    const texts = textsOf(names);
    if (texts.length === 1) this.#add(`${kind} ${texts[0]}`);
  }
}

function queryNames(withClause: Node): readonly string[] {
  return (withClause.ctes as readonly { CommonTableExpr: { ctename: string } }[]).map(
    ({ CommonTableExpr }) => CommonTableExpr.ctename,
  );
}

function last(names: readonly unknown[]): string {
  return textsOf(names).at(-1) ?? '';
}

/** The texts of String nodes in a node, in order. */
function textsOf(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { sval } = node as Node;
  return typeof sval === 'string' ? [sval] : Object.values(node).flatMap(textsOf);
}

function textOf(node: unknown): string | null {
  const constant = (node as Node | undefined)?.A_Const as Node | undefined;
  const value = (constant?.sval as Node | undefined)?.sval;
  return typeof value === 'string' ? value : null;
}

/** The statements and expressions of a body in PL/pgSQL, each as a statement. */
function statementsOf(body: string, returned: string): readonly string[] {
  const mark = '$the_body_of_a_function$';
  const parsed = parsePlPgSQLSync(
    `create function pg_temp.f() returns ${returned} language plpgsql as ${mark}${body}${mark}`,
  ) as unknown;
  const statements: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { query, parseMode } = value as { readonly query?: unknown; readonly parseMode?: number };
    // 0 is a statement; what is not one is an expression, from 3 on behind what it is assigned to.
    const expression = (parseMode ?? 0) >= 3 ? /^.*?:?=(.*)$/s.exec(String(query))?.[1] : query;
    if (typeof query === 'string') statements.push(parseMode === 0 ? query : `select ${expression}`);
    for (const child of Object.values(value)) visit(child);
  };
  visit(parsed);
  return statements;
}
