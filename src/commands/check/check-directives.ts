/**
 * Checks of `pgreflect check` for keys of comment directives without effect: misspelled ones, and values that mean
 * "off". The gateway must accept them, because pg_graphql does.
 */
import { snakeCase } from 'change-case';
import type { Catalog, CommentedObject } from '../../catalog/catalog.ts';
import { nearestName } from '../../config/nearest-name.ts';
import type { Keys } from '../../model/comments/comment-fix.ts';
import { type DirectiveHolder, directiveHolders } from '../../model/comments/commented-objects.ts';
import { commentsOnly, createContext } from '../../model/model-context.ts';
import { isObject } from '../../shared/json.ts';
import type { Finding } from './finding.ts';

/** The values of a key: switches are parsed leniently here; other values are checked when the directive is read. */
type Kind = 'true' | 'enabled' | 'any';

const known: Readonly<Record<CommentedObject, Readonly<Record<string, Kind>>>> = {
  namespace: { inflect_names: 'true', introspection: 'true', max_rows: 'any', extensions: 'any', ignore: 'any' },
  table: {
    name: 'any', description: 'any', totalCount: 'enabled', aggregate: 'enabled', primary_key_columns: 'any',
    foreign_keys: 'any', max_rows: 'any', many_to_many: 'any', ignore: 'any',
  }, // biome-ignore format: a table of names
  column: { name: 'any', description: 'any' },
  constraint: { foreign_name: 'any', local_name: 'any' },
  routine: { name: 'any', description: 'any', filter: 'true', order: 'true', ignore: 'any' },
  type: { name: 'any', mappings: 'any' },
};
const ofDomain = { opaque: 'true' } as const;

/** A key or value of a directive without effect. */
interface Stray extends Pick<Finding, 'check' | 'message'> {
  /** The fix; null: a person must decide. */
  readonly change: Keys | null;
}

/** Keys without effect, each with the nearest valid name or value. */
export function checkDirectives(catalog: Catalog): readonly Finding[] {
  return directiveHolders(createContext(catalog, commentsOnly, null)).flatMap((holder) => {
    const strays = [...findStrayKeys(catalog, holder), ...findUnknownColumns(catalog, holder)];
    // One statement per comment: a second one would undo the first.
    const fix = holder.fix(Object.assign({}, ...strays.map(({ change }) => change)));
    return strays.map(({ check, message, change }): Finding => {
      const { object } = holder;
      return { check, severity: 'warning', object, message, fix: change && fix };
    });
  });
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
    const wanted = kind === 'true' ? 'true' : '{"enabled": true}';
    const change = meantBy(kind, value) === value ? null : { [key]: meantBy(kind, value) };
    const off = `${message} has ${JSON.stringify(value)} for "${key}", which means off. To switch it on, write ${wanted}.`;
    return [{ check: 'directive_value', message: off, change }];
  });
}

/** An explicit "off" counts. */
function meansSomething(kind: Kind, value: unknown): boolean {
  if (kind === 'true') return value === true || value === false;
  const enabled = isObject(value) ? value.enabled : undefined;
  return [true, false, 'true', 'false'].includes(enabled as never);
}

/** The value that was probably meant; the same value if unclear. */
function meantBy(kind: Kind, value: unknown): unknown {
  const plain = isObject(value) ? value.enabled : value;
  const isOn = plain === true || ['true', 'on', 'yes', '1'].includes(String(plain).toLowerCase());
  if (kind === 'any' || meansSomething(kind, value) || !isOn) return value;
  return kind === 'true' ? true : { enabled: true };
}

/** Columns in a key that the table lacks: such a key is ignored. */
function findUnknownColumns(catalog: Catalog, { address, object }: DirectiveHolder): readonly Stray[] {
  const table = address[0] === 'table' ? catalog.table(address[1]) : undefined;
  const directive = catalog.directive(...address);
  const columns = directive.kind === 'directive' ? directive.value.primary_key_columns : undefined;
  if (table === undefined || !Array.isArray(columns)) return [];
  if (!columns.every((column) => typeof column === 'string')) return [];
  const names = table.getAttributes().map(({ attname }) => attname);
  const meant = columns.map((column) => (names.includes(column) ? column : nearestName(column, names)));
  return columns
    .filter((column) => !names.includes(column))
    .map((column): Stray => {
      const nearest = nearestName(column, names);
      return {
        check: 'directive_column',
        message: `The comment directive of ${object} names the column "${column}", which does not exist, so its key does not count.${nearest === null ? '' : ` Did you mean "${nearest}"?`}`,
        change: meant.includes(null) ? null : { primary_key_columns: meant },
      };
    });
}
