/**
 * Which relations live queries have read, and how changes of these are noticed.
 *
 * The locks of a run name them (graphql/execute/read-relations.ts). Views, policies, functions and partitions need no analysis: what
 * they have read is locked until the end of the transaction. Another path needs a change of something that was read. Where there is
 * only one, the first run is asked alone: asking takes PostgreSQL longer than a small query.
 */
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import type { LiveChange } from './change.ts';

const relationsStatement = loadSqlFile('live-relations.sql');

/** `exact`: each change is recorded. `foreign`: changes leave no trace. `interval`: some may not be recorded. */
type ReadKind = 'exact' | 'interval' | 'foreign';

/** What a run has read, shared by all groups whose last run has read the same. */
export class Reads<Group> {
  /** As the runs have told it. */
  readonly text: string;
  readonly kind: ReadKind;
  /** The next run of the same statement reads the same, unless it calls functions itself. */
  readonly isFixed: boolean;
  readonly #relations: ReadonlySet<string>;
  readonly groups = new Set<Group>();

  constructor(
    text: string,
    { kind, isFixed }: Pick<Fact, 'isFixed'> & { kind: ReadKind },
    relations: ReadonlySet<string>,
  ) {
    this.text = text;
    this.kind = kind;
    this.isFixed = isFixed;
    this.#relations = relations;
  }

  /** Whether the answer may be another one after this change. */
  isTouchedBy({ hasMoved, relations }: LiveChange): boolean {
    if (relations === null || this.kind === 'foreign') return true;
    if (this.kind === 'interval') return hasMoved;
    for (const relation of relations) if (this.#relations.has(relation)) return true;
    return false;
  }
}

interface Fact {
  readonly kind: ReadKind | 'none';
  /** Whoever reads it reads the same others each time. */
  readonly isFixed: boolean;
  /** With itself, separated by commas. */
  readonly ancestors: string;
}

const unknown = { kind: 'interval', isFixed: false } as const;

/** What all groups have read. */
export class RelationsRead<Group> {
  readonly #systemPool: Pick<SystemPool, 'query'>;
  /** By oid. */
  #facts = new Map<string, Fact>();
  /** By the text of a run. */
  #reads = new Map<string, Reads<Group>>();
  /** Of groups without a run that tells: they run whenever something has changed. */
  #unknown = new Reads<Group>('', unknown, new Set());
  readonly #ofGroup = new Map<Group, Reads<Group>>();
  /** Whether refreshes of materialized views are recorded. */
  #isWatched = false;
  #epoch = 0;

  constructor(systemPool: Pick<SystemPool, 'query'>) {
    this.#systemPool = systemPool;
  }

  get all(): readonly Reads<Group>[] {
    return [this.#unknown, ...this.#reads.values()];
  }

  of(group: Group): Reads<Group> {
    return this.#ofGroup.get(group) ?? this.#unknown;
  }

  /** Forgets everything: triggers, tables or views may be others. */
  reset(isWatched: boolean): void {
    this.#isWatched = isWatched;
    this.#epoch += 1;
    this.#facts = new Map();
    this.#reads = new Map();
    this.#unknown = new Reads('', unknown, new Set());
    for (const group of this.#ofGroup.keys()) this.#put(group, this.#unknown);
  }

  /** A new group has read nothing yet. */
  add(group: Group): void {
    if (!this.#ofGroup.has(group)) this.#put(group, this.#unknown);
  }

  /** @param text Of the last run; null: it did not tell. Never rejects. */
  async note(group: Group, text: string | null): Promise<void> {
    const found = text === null ? this.#unknown : await this.#readsOf(text).catch(() => this.#unknown);
    // Not one of before a reset.
    const reads = this.#reads.get(found.text) === found ? found : this.#unknown;
    if (this.#ofGroup.get(group) === reads) return;
    this.forget(group);
    this.#put(group, reads);
  }

  forget(group: Group): void {
    const reads = this.#ofGroup.get(group);
    this.#ofGroup.delete(group);
    if (reads === undefined || !reads.groups.delete(group) || reads.groups.size > 0) return;
    if (this.#reads.get(reads.text) === reads) this.#reads.delete(reads.text);
  }

  /** Looks again at the relations of all groups. @returns Whether anything is another. @throws DatabaseError */
  async hasChanged(): Promise<boolean> {
    const known = this.#facts;
    if (known.size === 0) return false;
    const now = await this.#ask([...known.keys()]);
    return [...known].some(([oid, fact]) => {
      const found = now.get(oid);
      return found?.kind !== fact.kind || found.isFixed !== fact.isFixed || found.ancestors !== fact.ancestors;
    });
  }

  #put(group: Group, reads: Reads<Group>): void {
    this.#ofGroup.set(group, reads);
    reads.groups.add(group);
  }

  async #readsOf(text: string): Promise<Reads<Group>> {
    const known = this.#reads.get(text);
    if (known !== undefined) return known;
    const epoch = this.#epoch;
    const facts = this.#facts;
    const oids = text === '' ? [] : text.split(',');
    const missing = oids.filter((oid) => oid !== '0' && !facts.has(oid));
    if (missing.length > 0) for (const [oid, fact] of await this.#ask(missing)) facts.set(oid, fact);
    if (epoch !== this.#epoch) return this.#unknown;
    const found = oids.map((oid) => facts.get(oid));
    const has = (kind: Fact['kind']) => found.some((fact) => fact?.kind === kind);
    // 0: the run has locked something in order to write.
    const isExact = !oids.includes('0') && found.every((fact) => fact?.kind === 'exact' || fact?.kind === 'none');
    const relations = new Set(found.flatMap((fact) => fact?.ancestors.split(',') ?? []));
    const kind = isExact ? 'exact' : has('foreign') ? 'foreign' : 'interval';
    const isFixed = found.every((fact) => fact?.isFixed === true);
    const reads = new Reads<Group>(text, { kind, isFixed }, relations);
    const made = this.#reads.get(text) ?? reads;
    this.#reads.set(text, made);
    return made;
  }

  async #ask(oids: readonly string[]): Promise<ReadonlyMap<string, Fact>> {
    const rows = await this.#systemPool.query(relationsStatement, [oids, this.#isWatched]);
    return new Map(
      rows.map(({ oid, kind, is_fixed: isFixed, ancestors }) => [
        String(oid),
        {
          kind: kind as Fact['kind'],
          isFixed: isFixed === true,
          ancestors: String(ancestors).split(',').sort().join(),
        },
      ]),
    );
  }
}
