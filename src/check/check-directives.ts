/**
 * Checks of `pgreflect check` for what has no effect in comments: misspelled keys of directives, values that mean "off",
 * and tags of PostGraphile. The gateway must accept them, because pg_graphql does.
 */
import { snakeCase } from 'change-case';
import { nearestName } from '../config/nearest-name.ts';
import type { Catalog, CommentedObject } from '../graphql/catalog/catalog.ts';
import type { Keys } from '../graphql/model/comments/comment-fix.ts';
import { type DirectiveHolder, directiveHolders } from '../graphql/model/comments/commented-objects.ts';
import { commentsOnly, createContext } from '../graphql/model/model-context.ts';
import { isObject } from '../shared/json.ts';
import { withoutPauses } from '../shared/slices.ts';
import { type Finding, findingKinds, firstOf } from './finding.ts';

/** The values of a key: switches are parsed leniently here; other values are checked when the directive is read. */
type Kind = 'true' | 'enabled' | 'list' | 'any';

const known: Readonly<Record<CommentedObject, Readonly<Record<string, Kind>>>> = {
  namespace: {
    inflect_names: 'true', introspection: 'true', max_rows: 'any', extensions: 'any', totalCount: 'enabled', aggregate: 'enabled',
    numbers: 'any', json: 'any', ignore: 'list',
  }, // biome-ignore format: a table of names
  table: {
    name: 'any', description: 'any', totalCount: 'enabled', aggregate: 'enabled', primary_key_columns: 'any',
    foreign_keys: 'any', max_rows: 'any', many_to_many: 'any', partitions: 'any', ignore: 'list',
  }, // biome-ignore format: a table of names
  column: { name: 'any', description: 'any' },
  constraint: { foreign_name: 'any', local_name: 'any' },
  routine: { name: 'any', description: 'any', filter: 'true', order: 'true', ignore: 'list' },
  type: { name: 'any', mappings: 'any' },
};
const ofDomain = { opaque: 'true' } as const;
const ofForeignKey = [
  'local_columns', 'foreign_schema', 'foreign_table', 'foreign_columns', 'foreign_name', 'local_name',
]; // biome-ignore format: a list of names

/** A key or value of a directive without effect. */
interface Stray extends Pick<Finding, 'check' | 'message'> {
  /** The fix; null: a person must decide. */
  readonly change: Keys | null;
}

/** Keys without effect, each with the nearest valid name or value. */
export function checkDirectives(catalog: Catalog): readonly Finding[] {
  return withoutPauses(directiveHolders(createContext(catalog, commentsOnly, null))).flatMap((holder) => {
    const strays = [...findStrayKeys(catalog, holder), ...findStrayWords(catalog, holder)];
    // One statement per comment: a second one would undo the first.
    const fix = holder.fix(Object.assign({}, ...strays.map(({ change }) => change)));
    return strays.map(({ check, message, change }): Finding => {
      const { object } = holder;
      return { check, severity: 'warning', object, message, fix: change && fix };
    });
  });
}

/** Comments that begin with the tags of PostGraphile. Those with a directive have been looked at. */
export function findSmartComments(catalog: Catalog): readonly Finding[] {
  const tagsOf = (address: DirectiveHolder['address']) =>
    catalog.directive(...address).kind === 'none' ? smartTags(catalog.comment(...address) ?? '') : [];
  const context = createContext(catalog, commentsOnly, null);
  const holders = withoutPauses(directiveHolders(context, (address) => tagsOf(address).length > 0));
  return holders.map(({ address, object }): Finding => {
    const tags = tagsOf(address);
    const hid = tags.some((tag) => /^@(?:omit|behavior)\b/.test(tag)) ? ' What they hid, grants must hide.' : '';
    const message = `The comment of ${object} has tags of PostGraphile, which have no effect here: ${firstOf(tags)}.${hid}`;
    return { check: 'smart_comment', severity: 'warning', object, message, fix: null };
  });
}

/** The first lines, as long as each is a tag. */
function smartTags(comment: string): readonly string[] {
  const lines = comment.split('\n');
  const end = lines.findIndex((line) => !/^@\w+(?:\s|$)/.test(line));
  return (end === -1 ? lines : lines.slice(0, end)).map((line) => line.trim());
}

function findStrayKeys(catalog: Catalog, { address, object }: DirectiveHolder): readonly Stray[] {
  const directive = catalog.directive(...address);
  if (directive.kind !== 'directive') return [];
  const isDomain = address[0] === 'type' && catalog.type(address[1])?.typtype === 'd';
  const kinds: Readonly<Record<string, Kind>> = isDomain ? ofDomain : known[address[0]];
  const taken = new Set(Object.keys(directive.value));
  return Object.entries(directive.value).flatMap(([key, value]): readonly Stray[] => {
    const message = `The comment directive of ${object}`;
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind === undefined) {
      const nearest = nearestName(key, Object.keys(kinds)) ?? nearestName(snakeCase(key), Object.keys(kinds));
      const meant = nearest === null ? '' : ` Did you mean "${nearest}"?`;
      const corrected = nearest !== null && !taken.has(nearest);
      if (corrected) taken.add(nearest);
      const change = corrected ? { [key]: undefined, [nearest]: meantBy(kinds[nearest]!, value) } : null;
      const unknown = `${message} has the unknown key "${key}", which has no effect.${meant}`;
      return [{ check: 'directive_key', message: unknown, change }];
    }
    if (kind === 'any' || meansSomething(kind, value)) return [];
    const wanted = { true: 'true', enabled: '{"enabled": true}', list: `["${findingKinds[0]}"]` }[kind];
    const change = meantBy(kind, value) === value ? null : { [key]: meantBy(kind, value) };
    const off = `${message} has ${JSON.stringify(value)} for "${key}", which means off. To switch it on, write ${wanted}.`;
    return [{ check: 'directive_value', message: off, change }];
  });
}

/** An explicit "off" counts. */
function meansSomething(kind: Kind, value: unknown): boolean {
  if (kind === 'true') return value === true || value === false;
  if (kind === 'list') return Array.isArray(value);
  const enabled = isObject(value) ? value.enabled : undefined;
  return [true, false, 'true', 'false'].includes(enabled as never);
}

/** The value that was probably meant; the same value if unclear. */
function meantBy(kind: Kind, value: unknown): unknown {
  if (kind === 'list') return typeof value === 'string' ? [value] : value;
  const plain = isObject(value) ? value.enabled : value;
  const isOn = plain === true || ['true', 'on', 'yes', '1'].includes(String(plain).toLowerCase());
  if (kind === 'any' || meansSomething(kind, value) || !isOn) return value;
  return kind === 'true' ? true : { enabled: true };
}

/** Words inside of a value, of which some exist. */
interface Words {
  readonly check: Finding['check'];
  readonly words: readonly string[];
  readonly known: readonly string[];
  /** Ends the sentence about one that does not exist. */
  says(word: string): string;
  /** The value with other words in their places. */
  change(meant: readonly string[]): Keys;
}

function findStrayWords(catalog: Catalog, { address, object }: DirectiveHolder): readonly Stray[] {
  const directive = catalog.directive(...address);
  if (directive.kind !== 'directive') return [];
  return wordsOf(catalog, address, directive.value).flatMap(({ check, words, known: exist, says, change }) => {
    const meant = words.map((word) => (exist.includes(word) ? word : nearestName(word, exist)));
    const isClear = meant.every((word) => word !== null) && new Set(meant).size === new Set(words).size;
    return words.flatMap((word, at): readonly Stray[] => {
      if (exist.includes(word)) return [];
      const hint = meant[at] === null ? '' : ` Did you mean "${meant[at]}"?`;
      const message = `The comment directive of ${object} ${says(word)}.${hint}`;
      return [{ check, message, change: isClear ? change(meant) : null }];
    });
  });
}

function wordsOf(
  catalog: Catalog,
  [kind, oid]: DirectiveHolder['address'],
  { ignore, primary_key_columns: columns, foreign_keys: keys, mappings }: Readonly<Record<string, unknown>>,
): readonly Words[] {
  const found: Words[] = [];
  const isTexts = (list: unknown): list is readonly string[] =>
    Array.isArray(list) && list.every((entry) => typeof entry === 'string');
  const table = kind === 'table' ? catalog.table(oid) : undefined;
  const type = kind === 'type' ? catalog.type(oid) : undefined;
  if (isTexts(ignore)) {
    const says = (word: string) => `ignores the kind of findings "${word}", which does not exist`;
    found.push({
      check: 'directive_value',
      words: ignore,
      known: findingKinds,
      says,
      change: (list) => ({ ignore: list }),
    });
  }
  if (table !== undefined && isTexts(columns)) {
    found.push({
      check: 'directive_column',
      words: columns,
      known: table.getAttributes().map(({ attname }) => attname),
      says: (word) => `names the column "${word}", which does not exist, so its key does not count`,
      change: (list) => ({ primary_key_columns: list }),
    });
  }
  if (table !== undefined && Array.isArray(keys) && keys.every(isObject)) {
    found.push({
      check: 'directive_key',
      words: keys.flatMap((entry) => Object.keys(entry)),
      known: ofForeignKey,
      says: (word) => `has the unknown key "${word}" in "foreign_keys", which has no effect`,
      change: (list) => {
        const left = [...list];
        return { foreign_keys: keys.map((entry) => renameKeys(entry, left.splice(0, Object.keys(entry).length))) };
      },
    });
  }
  if (type?.typtype === 'e' && isObject(mappings)) {
    found.push({
      check: 'directive_value',
      words: Object.keys(mappings),
      known: type.getEnumValues().map(({ enumlabel }) => enumlabel),
      says: (word) => `maps the label "${word}", which does not exist`,
      change: (list) => ({ mappings: renameKeys(mappings, list) }),
    });
  }
  return found;
}

function renameKeys(value: object, names: readonly string[]): object {
  return Object.fromEntries(Object.values(value).map((member, at) => [names[at], member]));
}
