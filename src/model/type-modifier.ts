/**
 * The modifier of a declared type as it can be written behind the catalog's own name of the type, `numeric(8,2)`.
 *
 * Computed from `atttypmod`, because what `format_type` prints belongs to another spelling: `interval(3)` is
 * `pg_catalog.interval(32767,3)` under its own name.
 */

/** Modifiers of `pg_catalog` types from their encoding in `atttypmod`. */
const decoders: Readonly<Record<string, (typmod: number) => string>> = {
  varchar: (typmod) => String(typmod - 4),
  bpchar: (typmod) => String(typmod - 4),
  numeric: (typmod) => `${((typmod - 4) >> 16) & 0xffff},${(((typmod - 4) & 0x7ff) ^ 0x400) - 0x400}`,
  bit: String,
  varbit: String,
  time: String,
  timetz: String,
  timestamp: String,
  timestamptz: String,
  interval: (typmod) => {
    const fields = (typmod >> 16) & 0x7fff;
    const precision = typmod & 0xffff;
    return precision === 0xffff ? String(fields) : `${fields},${precision}`;
  },
};

/**
 * The text between the parentheses, null without a modifier.
 *
 * @param builtIn Name of the `pg_catalog` type, or of the element for arrays; null for types of other namespaces. Theirs
 *   are taken from the printed type, and only when they are numbers: `geometry(Point,4326)` is cast without.
 */
export function typeModifier(
  builtIn: string | null,
  declared: { readonly typmod: number; readonly text: string | null },
): string | null {
  if (declared.typmod === -1) return null;
  if (builtIn === null) return /\(([-\d][-\d, ]*)\)(?:\[\])?$/.exec(declared.text ?? '')?.[1] ?? null;
  return Object.hasOwn(decoders, builtIn) ? (decoders[builtIn]?.(declared.typmod) ?? null) : null;
}
