/**
 * The types that routines need of their own (extension `writes`): objects for results with columns, inputs for
 * composite types. A routine whose type gets no name is left out and recorded, as is a column or attribute that is no
 * field.
 */
import { quoteName, quotePath } from '../../catalog/quote-name.ts';
import { routineFix, typeFix, validName } from '../comments/comment-fix.ts';
import type { ArgumentType, CompositeType, Routine, Table } from '../model.ts';
import { type ModelContext, noteOmission, takenBy } from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';
import { otherTableName } from '../tables/tables.ts';
import { columnProblem } from './routine-results.ts';

type Routines = ReadonlyMap<string, Routine>;

interface Unnamed {
  readonly routines: Routines;
  readonly composites: ReadonlyMap<string, CompositeType>;
  readonly claims: NameClaims;
}

/** The routines whose types get their names, and the inputs that they use. */
export function claimRoutineTypes(context: ModelContext, unnamed: Unnamed): Pick<Unnamed, 'routines' | 'composites'> {
  const inputs = new Inputs(context, unnamed);
  const routines = new Map(
    [...unnamed.routines].filter(([, routine]) => {
      const used = routine.arguments.map(({ type }) => inputs.holderOf(type)).find((holder) => holder !== null);
      if (used === undefined) return claimResult(context, routine, unnamed.claims);
      noteRoutine(context, routine, used);
      return false;
    }),
  );
  return { routines, composites: inputs.claimed };
}

/** A name that something else has. */
interface Taken {
  readonly name: string;
  readonly holder: string;
  readonly fix: () => string | null;
}

/** Claims the names of inputs, each once. */
class Inputs {
  readonly claimed = new Map<string, CompositeType>();
  readonly #context: ModelContext;
  readonly #unnamed: Unnamed;
  readonly #known = new Map<string, Taken | null>();

  constructor(context: ModelContext, unnamed: Unnamed) {
    this.#context = context;
    this.#unnamed = unnamed;
  }

  /** What has the name of an input that the argument needs; null if it gets all of them. */
  holderOf(type: ArgumentType | null): Taken | null {
    if (type?.kind !== 'composite') return null;
    const known = this.#known.get(type.composite);
    if (known !== undefined) return known;
    const composite = this.#unnamed.composites.get(type.composite)!;
    const taken = this.#claim(composite);
    this.#known.set(type.composite, taken);
    if (taken === null) this.claimed.set(type.composite, composite);
    return taken;
  }

  #claim(type: CompositeType): Taken | null {
    for (const attribute of type.attributes) {
      const inner = attribute.fieldName === null ? null : this.holderOf(attribute.type);
      if (inner !== null) return inner;
    }
    const { namespace, name, inputName } = type;
    const holder = this.#unnamed.claims.claim([inputName], `type ${quotePath(namespace, name)}`);
    if (holder !== null) return { name: inputName, holder, fix: () => this.#fix(type) };
    for (const attribute of type.attributes) {
      const problem = columnProblem(attribute);
      // Columns that a role may not select are not worth a finding for each function.
      if (problem === null || type.table === null || this.#context.catalog.table(type.table) !== undefined) continue;
      const object = quotePath(namespace, name);
      const reason = `The input of type ${object} is shown without its attribute ${quoteName(attribute.name)}, which ${problem}.`;
      noteOmission(this.#context, () => ({ kind: 'type', object, names: [attribute.name], reason, fix: null }));
    }
    return null;
  }

  #fix(type: CompositeType): string | null {
    const table = this.#context.catalog.table(type.table ?? '0');
    if (table !== undefined) return otherTableName(this.#context, table);
    return typeFix(this.#context, type, { name: validName(`${type.namespace}_${type.name}`) });
  }
}

function claimResult(context: ModelContext, routine: Routine, claims: NameClaims): boolean {
  const { oid, namespace, name, result } = routine;
  if (result.kind !== 'object') return true;
  const object = quotePath(namespace, name);
  const holder = claims.claim([result.typeName], `function ${object}`);
  if (holder !== null) {
    const fix = () => routineFix(context, oid, { name: validName(`${namespace}_${name}`) });
    noteRoutine(context, routine, { name: result.typeName, holder, fix });
    return false;
  }
  for (const column of result.columns) {
    const problem = columnProblem(column);
    if (problem === null) continue;
    const reason = `The result of function ${object} is shown without its column ${quoteName(column.name)}, which ${problem}.`;
    noteOmission(context, () => ({ kind: 'type', object, names: [column.name], reason, fix: null }));
  }
  return true;
}

function noteRoutine(context: ModelContext, routine: Routine, { name, holder, fix }: Taken): void {
  const object = quotePath(routine.namespace, routine.name);
  const reason = takenBy(holder, `Function ${object}`, `the type "${name}"`);
  noteOmission(context, () => ({ kind: 'name', object, names: [name, routine.name], reason, fix: fix() }));
}

/** The table without the routines that are left out. */
export function keepRoutines(table: Table, routines: Routines): Table {
  const isKept = ({ routine }: { readonly routine: string }) => routines.has(routine);
  return {
    ...table,
    computedFields: table.computedFields.filter((oid) => routines.has(oid)),
    filterFunctions: table.filterFunctions.filter(isKept),
    orderFunctions: table.orderFunctions.filter(isKept),
  };
}
