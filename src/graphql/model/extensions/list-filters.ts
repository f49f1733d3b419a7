/** Filters of lists of enums: a type for each enum of which a filter has a list, if its name is free. */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import { quotePath } from '../../catalog/quote-name.ts';
import { typeFix, validName } from '../comments/comment-fix.ts';
import type { EnumTypes } from '../enums.ts';
import { enumListFilterName } from '../inflect.ts';
import type { EnumType, Table, ValueType } from '../model.ts';
import { type ModelContext, noteOmission } from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';

/** The enums, of which some have a filter of their lists. */
export function* addListFilters(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  { enums, claims }: { readonly enums: EnumTypes; readonly claims: NameClaims },
): Sliced<EnumTypes> {
  if (enums.size === 0) return enums;
  const filtered = new Set<string>();
  for (const { columns, filterFunctions } of tables.values()) {
    if (sliceIsOver()) yield;
    for (const { filterable, type } of columns) if (filterable) addElement(filtered, type);
    for (const { input, type } of filterFunctions) if (input === null) addElement(filtered, type);
  }
  if (filtered.size === 0) return enums;
  return new Map(
    [...enums].map(([oid, enumType]) => [
      oid,
      filtered.has(oid) && claimListFilter(context, enumType, claims) ? { ...enumType, hasListFilter: true } : enumType,
    ]),
  );
}

function addElement(filtered: Set<string>, type: ValueType | null): void {
  if (type?.kind === 'list' && type.element.kind === 'enum') filtered.add(type.element.enum);
}

function claimListFilter(context: ModelContext, enumType: EnumType, claims: NameClaims): boolean {
  const { namespace, name, graphqlName } = enumType;
  const path = quotePath(namespace, name);
  const filter = enumListFilterName(graphqlName);
  const holder = claims.claim([filter], `type ${path}`);
  if (holder === null) return true;
  noteOmission(context, () => {
    const reason = `Lists of type ${path} have no filter: ${holder} has the name "${filter}" already.`;
    const fix = typeFix(context, enumType, { name: validName(`${graphqlName}Value`) });
    return { kind: 'name', object: path, names: [filter], reason, fix };
  });
  return false;
}
