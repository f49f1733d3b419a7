/** The enums of a role's schema: which are exposed, and the names of their labels. */
import type { CatalogType } from '../catalog/catalog.ts';
import { quotePath } from '../catalog/quote-name.ts';
import { typeFix, validName } from './comments/comment-fix.ts';
import { readSettings } from './comments/directive-settings.ts';
import { baseForm, enumFilterName, isEnumValueName, isValidName } from './inflect.ts';
import { missingGrant } from './missing-grant.ts';
import type { EnumType } from './model.ts';
import { type ContextNamespace, type ModelContext, noteOmission, type Reason } from './model-context.ts';
import type { NameClaims } from './name-claims.ts';

/** Enums of the schema, by oid of the type. */
export type EnumTypes = ReadonlyMap<string, EnumType>;

/** Enums of exposed namespaces that the role may use and GraphQL can spell, before names are claimed. */
export function candidateEnums(context: ModelContext): EnumTypes {
  const candidates = new Map<string, EnumType>();
  for (const type of context.catalog.enums) {
    const namespace = context.namespaces.get(type.typnamespace);
    if (!namespace?.exposed) continue;
    const enumType = toEnumType(context, namespace, type);
    const reason = whyOmitted(context, enumType);
    if (reason === null) candidates.set(enumType.oid, enumType);
    else omit(context, enumType, reason);
  }
  return candidates;
}

/** The candidates of one namespace that get their type names; columns of others are `Opaque`. */
export function claimEnums(
  context: ModelContext,
  candidates: EnumTypes,
  namespace: ContextNamespace,
  claims: NameClaims,
): readonly EnumType[] {
  return [...candidates.values()].filter((enumType) => {
    if (enumType.namespace !== namespace.name) return false;
    const path = quotePath(enumType.namespace, enumType.name);
    const { graphqlName } = enumType;
    const holder = claims.claim([graphqlName, enumFilterName(graphqlName)], `type ${path}`);
    if (holder === null) {
      noteLabels(context, enumType, path);
      return true;
    }
    const reason = `Type ${path} would be "${graphqlName}" in GraphQL, and ${holder} has such a name already.`;
    const name = validName(baseForm(`${enumType.namespace}_${enumType.name}`, namespace.inflectNames));
    omit(context, enumType, { kind: 'name', reason, fix: typeFix(context, enumType, { name }) });
    return false;
  });
}

function omit(context: ModelContext, { namespace, name, graphqlName }: EnumType, reason: Reason): void {
  noteOmission(context, () => ({ object: quotePath(namespace, name), names: [graphqlName, name], ...reason }));
}

function whyOmitted(context: ModelContext, enumType: EnumType): Reason | null {
  const { access, role } = context;
  const path = quotePath(enumType.namespace, enumType.name);
  if (!access.usesType(enumType.oid)) {
    const grant = { privileges: 'USAGE', on: 'type', name: path, column: null } as const;
    return missingGrant(context, grant, `Type ${path} exists; role ${role} has no USAGE on it.`);
  }
  if (!isValidName(enumType.graphqlName)) {
    const reason = `Type ${path} has no valid GraphQL name ("${enumType.graphqlName}").`;
    return { kind: 'name', reason, fix: typeFix(context, enumType, { name: validName(enumType.graphqlName) }) };
  }
  if (enumType.values.every((value) => value.graphqlName === null)) {
    const fix = labelsFix(context, enumType);
    return { kind: 'name', reason: `No label of type ${path} is a valid GraphQL name.`, fix };
  }
  return null;
}

/** Records the labels that clients read although the enum does not have them. */
function noteLabels(context: ModelContext, enumType: EnumType, path: string): void {
  const labels = enumType.values.filter(({ graphqlName }) => graphqlName === null).map(({ label }) => label);
  if (labels.length === 0) return;
  noteOmission(context, () => {
    const [are, they] =
      labels.length === 1 ? ['is no valid GraphQL name', 'it'] : ['are no valid GraphQL names', 'them'];
    const named = labels.map((label) => `"${label}"`).join(', ');
    const reason = `${named} of type ${path} ${are}: answers contain ${they}, and the enum "${enumType.graphqlName}" does not.`;
    return { kind: 'name', object: path, names: labels, reason, fix: labelsFix(context, enumType) };
  });
}

/** Gives each label without a valid name one that is free. */
function labelsFix(context: ModelContext, enumType: EnumType): string | null {
  const taken = new Set(enumType.values.map(({ graphqlName }) => graphqlName));
  const { mappings } = readSettings(context.catalog, 'type', enumType.oid).settings;
  const keepsCase = enumType.values.some(({ graphqlName }) => graphqlName !== null);
  // Thousands of labels may differ only in what a name leaves out.
  const numbers = new Map<string, number>();
  const added = enumType.values.flatMap(({ label, graphqlName }) => {
    if (graphqlName !== null) return [];
    const plain = validName(label);
    const base = keepsCase && isEnumValueName(plain) ? plain : plain.toUpperCase();
    let name = base;
    for (let number = numbers.get(base) ?? 2; taken.has(name); number += 1) {
      name = `${base}_${number}`;
      numbers.set(base, number + 1);
    }
    taken.add(name);
    return [[label, name]];
  });
  return typeFix(context, enumType, { mappings: { ...Object.fromEntries(mappings), ...Object.fromEntries(added) } });
}

function toEnumType({ catalog }: ModelContext, namespace: ContextNamespace, type: CatalogType): EnumType {
  const { settings } = readSettings(catalog, 'type', type._id);
  const labels = type.getEnumValues().map((row) => row.enumlabel);
  const names = mapLabels(labels, settings.mappings);
  return {
    namespace: namespace.name,
    name: type.typname,
    oid: type._id,
    graphqlName: settings.name ?? baseForm(type.typname, namespace.inflectNames),
    values: labels.map((label) => {
      const graphqlName = names.get(label) ?? label;
      return { label, graphqlName: isEnumValueName(graphqlName) ? graphqlName : null };
    }),
    mapped: labels.some((label) => (names.get(label) ?? label) !== label),
    hasListFilter: false,
  };
}

/** Of two labels with one name, the last in byte order gets it; the other keeps its own. */
function mapLabels(labels: readonly string[], mappings: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const holders = new Map<string, string>();
  for (const label of [...labels].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const name = mappings.get(label);
    if (name !== undefined) holders.set(name, label);
  }
  return new Map([...holders].map(([name, label]) => [label, name]));
}
