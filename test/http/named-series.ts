/** The series that PromQL names, with their labels and the values that these are compared with. */

/** One series in an expression. */
export interface NamedSeries {
  readonly name: string;
  /** Of the matchers. */
  readonly labels: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

const words: ReadonlySet<string> = new Set([
  'and',
  'or',
  'unless',
  'by',
  'on',
  'ignoring',
  'without',
  'offset',
  'bool',
]);

/** All in an expression. */
export function seriesIn(expression: string): readonly NamedSeries[] {
  const bare = expression.replaceAll(/\b(?:by|on|ignoring|without) \([^)]*\)/g, '').replaceAll(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(/([a-zA-Z_][\w:]*)(\s*\()?(?:\{([^}]*)\})?/g)]
    .filter(([, name = '', call]) => call === undefined && !words.has(name))
    .map(([, name = '', , matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)].map(
        ([, label = '', operator = '', value = '']) => ({
          label,
          operator,
          value,
        }),
      ),
    }));
}

/** The labels that an expression groups by. */
export function groupedBy(expression: string): readonly string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((one) => one.trim()),
  );
}
