/**
 * Everything reflected from one catalog: for each role its model, schema and compiled operations. Immutable except for
 * caches. A reload makes a new one and takes over unchanged schemas, with everything compiled for them.
 */
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config/config.ts';
import { inSlices, type Sliced } from '../../shared/slices.ts';
import type { ReadCatalog } from '../catalog/assemble-catalog.ts';
import { extraSchemas } from '../catalog/catalog.ts';
import { quoteAlways } from '../catalog/quote-name.ts';
import { buildModelInSlices } from '../model/build-model.ts';
import type { Model } from '../model/model.ts';
import type { ModelOptions } from '../model/model-context.ts';
import { ModelMemory } from '../model/model-memory.ts';
import { isSameModel } from '../model/same-model.ts';
import { buildIntrospectionSchema, buildSchemaInSlices, type IntrospectionPolicy } from '../schema/build-schema.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';
import { type DocumentCounts, Documents } from './documents.ts';

/** Options that affect models and schemas. */
export type ReflectionOptions = Pick<
  Config,
  'extensions' | 'introspection' | 'serviceRole' | 'extraSearchPath' | 'statementTimeoutMs' | 'variablePositions'
>;

/** The schema shared by all roles that see the same. */
interface SharedSchema {
  readonly policy: IntrospectionPolicy;
  /** Equal for roles that see the same. */
  readonly model: Model;
  /** Of the build of that model, or of a later equal one. */
  memory: ModelMemory;
  readonly schema: GraphQLSchema;
  /** Resolves to the schema for `__schema` and `__type`, made on first use; null if introspection is off. */
  readonly introspection: (() => Promise<LazySchema>) | null;
  /** Messages may suggest names. */
  readonly suggestions: boolean;
  readonly documents: Documents;
}

/** Everything for requests of a role. */
export interface RoleReflection extends ModelOptions {
  readonly catalog: ReadCatalog;
  /**
   * When the catalog had been read, in terms of `performance.now()`: a server with all commits until then has that
   * catalog.
   */
  readonly readUntil: number;
  readonly shared: SharedSchema;
  /** Value of `search_path` for its transactions. */
  readonly searchPath: string;
  /** The function that runs before each request; null: none. */
  readonly preRequest: string | null;
  /** The role's own settings without `statement_timeout`. */
  readonly settings: ReadonlyMap<string, string>;
  /** The smaller of the role's and the gateway's statement timeouts, in milliseconds. */
  readonly timeoutMs: number;
}

/** How long the models of the catalog before may answer, in milliseconds, from when the new catalog was read. */
export const maxMeanwhileMs = 10_000;

/** One catalog and what was built from it so far. */
export class Reflection {
  readonly catalog: ReadCatalog;
  /** When reading began, in terms of `performance.now()`: all changes committed before are included. */
  readonly readStartedAt: number;
  readonly #readUntil = performance.now();
  /** Counts of this reflection and all before it. */
  readonly documentCounts: DocumentCounts;
  readonly #options: ReflectionOptions;
  /** In order of use, the most recent last. */
  readonly #roles = new Map<string, RoleReflection>();
  readonly #schemas = new Set<SharedSchema>();
  /** What is being built, by role: for all who ask for it meanwhile. */
  #building = new Map<string, Promise<SharedSchema>>();
  /** The last schema that is looked for or built: one after the other, so that equal models find each other's. */
  #sharing: Promise<unknown> = Promise.resolve();
  #size = 0;
  /** Schemas of the previous reflection, by roles not requested since; each is kept until one of its roles is. */
  readonly #previous = new Map<string, SharedSchema>();
  /** Answers for roles whose schema is not built yet; null: nothing does. */
  #meanwhile: Reflection | null = null;

  constructor(catalog: ReadCatalog, readStartedAt: number, options: ReflectionOptions, previous: Reflection | null) {
    this.catalog = catalog;
    this.readStartedAt = readStartedAt;
    this.#options = options;
    this.documentCounts = previous?.documentCounts ?? { hits: 0, misses: 0 };
    if (previous?.catalog.fingerprint === catalog.fingerprint) this.#continue(previous);
    for (const { role, shared } of previous === null ? [] : previous.#roles.values()) {
      if (catalog.roles.has(role) && !this.#roles.has(role)) this.#previous.set(role, shared);
    }
  }

  /** Takes over all that was made of an equal catalog. */
  #continue(previous: Reflection): void {
    const { catalog } = this;
    const seen = { catalog, readUntil: this.#readUntil, preRequest: catalog.preRequest };
    for (const [name, role] of previous.#roles) this.#roles.set(name, { ...role, ...seen });
    for (const shared of previous.#schemas) this.#schemas.add(shared);
    this.#size = previous.#size;
    this.#building = previous.#building;
  }

  /** Lets the previous reflection answer for roles whose schema is not built yet, for a while. */
  answerMeanwhile(previous: Reflection): void {
    previous.#meanwhile = null;
    this.#meanwhile = previous;
    setTimeout(() => {
      this.#meanwhile = null;
    }, maxMeanwhileMs).unref();
  }

  /**
   * What answers for the role until its schema is built, which begins now: the schema before, with all else as the
   * catalog has it. Null if there is none, it was read before `since`, or the role's own is there.
   */
  meanwhile(role: string, since: number): RoleReflection | null {
    const previous = this.#meanwhile;
    if (previous === null || previous.readStartedAt < since || this.#roles.has(role)) return null;
    const old = previous.#roles.get(role);
    if (old === undefined || !this.catalog.roles.has(role)) return null;
    // Who comes when the time is over gets the error.
    if (!this.#building.has(role)) this.role(role).catch(() => {});
    return { ...this.#reflect(role, old.shared), catalog: old.catalog };
  }

  /** Resolves when all that is being built now is done. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#building.values());
  }

  /** The reflection of a role, built on demand, with pauses; null for an unknown role. */
  async role(role: string): Promise<RoleReflection | null> {
    const known = this.#roles.get(role);
    if (known) {
      this.#roles.delete(role);
      this.#roles.set(role, known);
      return known;
    }
    if (!this.catalog.roles.has(role)) return null;
    const shared = this.#keep(await this.#share(role));
    return this.#roles.get(role) ?? this.#add(role, shared);
  }

  #add(role: string, shared: SharedSchema): RoleReflection {
    this.#previous.delete(role);
    const reflection = this.#reflect(role, shared);
    this.#roles.set(role, reflection);
    this.#forget();
    return reflection;
  }

  #reflect(role: string, shared: SharedSchema): RoleReflection {
    const { extensions, extraSearchPath, statementTimeoutMs } = this.#options;
    const own = new Map(this.catalog.roles.get(role)?.settings);
    const timeoutMs = smallerTimeout(own.get('statement_timeout'), statementTimeoutMs);
    own.delete('statement_timeout');
    const { catalog } = this;
    const namespaces = shared.model.namespaces.map(({ name }) => name);
    const searchPath = searchPathText([...namespaces, ...extraSchemas(catalog, extraSearchPath)]);
    const seen = { catalog, readUntil: this.#readUntil, preRequest: catalog.preRequest };
    return { ...seen, role, extensions, shared, searchPath, settings: own, timeoutMs };
  }

  /** Drops the least recently used roles with their schemas: a caller who may choose roles could fill the memory. */
  #forget(): void {
    for (const [role, { shared }] of this.#roles) {
      const isFull = this.#roles.size > maxRoles || this.#size > maxSize;
      if (!isFull || this.#roles.size === 1) return;
      this.#roles.delete(role);
      if ([...this.#roles.values()].some((other) => other.shared === shared)) continue;
      this.#schemas.delete(shared);
      this.#size -= sizeOf(shared.model);
    }
  }

  #share(role: string): Promise<SharedSchema> {
    return this.#once(role, async () => {
      const { extensions } = this.#options;
      const last = this.#previous.get(role) ?? null;
      const memory = new ModelMemory(last?.memory ?? null);
      const model = await inSlices(buildModelInSlices(this.catalog, { role, extensions }, memory));
      const shared = await this.#shareModel(role, model, memory);
      // Another role of the schema keeps its own.
      if (shared === last && memory.continues) shared.memory = memory;
      return shared;
    });
  }

  /** What is being built already, or `build`. */
  #once(role: string, build: () => Promise<SharedSchema>): Promise<SharedSchema> {
    const begun = this.#building.get(role);
    if (begun !== undefined) return begun;
    const building = build().finally(() => this.#building.delete(role));
    this.#building.set(role, building);
    return building;
  }

  #shareModel(role: string, model: Model, memory: ModelMemory): Promise<SharedSchema> {
    const { introspection: mode, serviceRole } = this.#options;
    const always = mode === 'always' || (mode === 'service' && role === serviceRole);
    const policy: IntrospectionPolicy = mode === 'never' ? 'never' : always ? 'always' : 'directive';
    const shared = this.#sharing.then(async () =>
      this.#keep((await this.#find(policy, model)) ?? (await this.#build(policy, model, memory))),
    );
    this.#sharing = shared.catch(() => {});
    return shared;
  }

  /** The schema of an equal model; null for none. */
  async #find(policy: IntrospectionPolicy, model: Model): Promise<SharedSchema | null> {
    for (const known of new Set([...this.#schemas, ...this.#previous.values()])) {
      if (known.policy === policy && (await inSlices(isSameModel(known.model, model)))) return known;
    }
    return null;
  }

  async #build(policy: IntrospectionPolicy, model: Model, memory: ModelMemory): Promise<SharedSchema> {
    const schema = await inSlices(buildSchemaInSlices(model));
    const described = buildIntrospectionSchema(model, policy);
    // If a namespace is hidden from introspection, a suggestion could name its objects.
    const suggestions =
      described !== null && (policy === 'always' || model.namespaces.every((each) => each.introspection));
    const options = {
      model,
      schema,
      introspection: described !== null,
      suggestions,
      strictVariablePositions: this.#options.variablePositions === 'strict',
      counts: this.documentCounts,
    };
    const introspection = described && runOnce(described);
    return { policy, model, memory, schema, introspection, suggestions, documents: new Documents(options) };
  }

  #keep(shared: SharedSchema): SharedSchema {
    if (!this.#schemas.has(shared)) this.#size += sizeOf(shared.model);
    this.#schemas.add(shared);
    return shared;
  }
}

/** Runs work when it is first asked for. */
function runOnce<T>(work: Sliced<T>): () => Promise<T> {
  let done: Promise<T> | null = null;
  return () => {
    done ??= inSlices(work);
    return done;
  };
}

/** Limits of cached roles, and of the columns, relationships and routines they see in total. */
const maxRoles = 1000;
const maxSize = 500_000;

function sizeOf({ tables, routines }: Model): number {
  let size = routines.size;
  for (const { columns, relationships } of tables.values()) size += 1 + columns.length + relationships.length;
  return size;
}

const unitsInMs: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

// PostgreSQL's notation: a number in milliseconds, or with a unit; 0 is no limit.
const timeoutPattern =
  /^\s*\+?(0[xX][\da-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?:(us|ms|s|min|h|d)\s*)?$/;

function smallerTimeout(own: string | undefined, limitMs: number): number {
  const match = timeoutPattern.exec(own ?? '');
  const ownMs = match ? Number(match[1]) * (unitsInMs[match[2] || 'ms'] ?? 1) : 0;
  if (ownMs <= 0) return limitMs;
  return limitMs === 0 ? Math.ceil(ownMs) : Math.min(Math.ceil(ownMs), limitMs);
}

/**
 * A value for the setting `search_path`: names as quoted identifiers. Without names it is `""`, which finds nothing.
 */
function searchPathText(names: readonly string[]): string {
  return names.length === 0 ? '""' : names.map(quoteAlways).join(', ');
}
