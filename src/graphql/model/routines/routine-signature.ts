/** The input arguments of a routine as declared, and its name with their types. */
import type { Catalog, CatalogRoutine } from '../../catalog/catalog.ts';
import { pathIn } from '../model-context.ts';
import { typePath } from '../sql-types.ts';

/** One input argument as declared. */
export interface InputArgument {
  /** Empty if unnamed. */
  readonly name: string;
  /** Oid of the type. */
  readonly type: string;
  /** An array that stands for any number of arguments. */
  readonly isVariadic: boolean;
}

/** Input arguments in order, without `out` and `table` ones. */
export function inputArguments(routine: CatalogRoutine): readonly InputArgument[] {
  const types = routine.proallargtypes ?? routine.proargtypes ?? [];
  return types.flatMap((type, index) => {
    const mode = routine.proargmodes?.[index] ?? 'i';
    const name = routine.proargnames?.[index] ?? '';
    return 'ibv'.includes(mode) ? [{ name, type, isVariadic: mode === 'v' }] : [];
  });
}

/** `lib.total(int4, text[])`, which names one of several with the name. */
export function signature(catalog: Catalog, routine: CatalogRoutine): string {
  const types = inputArguments(routine).map(({ type }) => typePath(catalog, type));
  return `${pathIn(catalog, routine.pronamespace, routine.proname)}(${types.join(', ')})`;
}

/** The name in statements, with the types of the arguments where several routines have the name. */
export function routineName(catalog: Catalog, routine: CatalogRoutine): string {
  const { proname, pronamespace } = routine;
  return catalog.routinesNamed(pronamespace, proname).length > 1
    ? signature(catalog, routine)
    : pathIn(catalog, pronamespace, proname);
}
