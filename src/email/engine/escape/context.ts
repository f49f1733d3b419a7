/** The context of an action in the page, for escaping. Immutable: text makes new ones, and branches merge theirs. */

/** The innermost syntax around the text. */
export type ContextState =
  | 'text' | 'tag' | 'attributeName' | 'afterName' | 'beforeValue' | 'htmlComment' | 'keptComment' | 'rcdata'
  | 'attribute' | 'url' | 'srcset' | 'metaContent' | 'metaUrl'
  | 'script' | 'doubleString' | 'singleString' | 'templateLiteral' | 'regexp' | 'blockComment' | 'lineComment'
  | 'htmlOpenComment' | 'htmlCloseComment'
  | 'css' | 'cssDoubleString' | 'cssSingleString' | 'cssDoubleUrl' | 'cssSingleUrl' | 'cssUrl' | 'cssBlockComment' | 'cssLineComment'
  /** After `break` and `continue`: unreachable. */
  | 'dead'; // biome-ignore format: a list

/** The end of the attribute value around the text. `space` is white space or `>`; `none`: not in a value. */
export type Delimiter = 'none' | 'double' | 'single' | 'space';

/** Position in a URL. `mixed`: branches differ. */
type UrlPart = 'start' | 'path' | 'query' | 'mixed';

/** What a slash in a script starts. `mixed`: branches differ. */
export type Slash = 'regexp' | 'division' | 'mixed';

/** Content of the attribute whose name or value comes next. */
export type ContextAttribute = 'plain' | 'script' | 'scriptType' | 'css' | 'url' | 'srcset' | 'metaContent';

/** The element whose tag or content is around the text, if relevant. */
export type ContextElement = 'none' | 'script' | 'style' | 'textarea' | 'title' | 'meta';

/** A context. */
export interface Context {
  readonly state: ContextState;
  readonly delimiter: Delimiter;
  readonly urlPart: UrlPart;
  readonly slash: Slash;
  /** For each open `${` of template literals, the number of open braces inside it; the innermost last. */
  readonly braces: readonly number[];
  readonly attribute: ContextAttribute;
  readonly element: ContextElement;
}

/** The context in which a page starts and must end. */
export const startContext: Context = {
  state: 'text',
  delimiter: 'none',
  urlPart: 'start',
  slash: 'regexp',
  braces: [],
  attribute: 'plain',
  element: 'none',
};

/** The context after `break` and `continue`. */
export const deadContext: Context = { ...startContext, state: 'dead' };

/** Equal for equal contexts only. */
export function contextKey({ state, delimiter, urlPart, slash, braces, attribute, element }: Context): string {
  return `${state} ${delimiter} ${urlPart} ${slash} ${braces.join(',')} ${attribute} ${element}`;
}

/** Whether two contexts are the same. */
export function sameContext(a: Context, b: Context): boolean {
  return a === b || contextKey(a) === contextKey(b);
}

/** States in which an attribute's value starts. */
export const valueStates = {
  plain: 'attribute',
  script: 'script',
  scriptType: 'attribute',
  css: 'css',
  url: 'url',
  srcset: 'srcset',
  metaContent: 'metaContent',
} as const satisfies Record<ContextAttribute, ContextState>;

/** The context after an action starts: it begins a name or an unquoted value. */
export function beginAction(context: Context): Context {
  switch (context.state) {
    case 'tag':
      return { ...context, state: 'attributeName' };
    case 'beforeValue':
      return { ...context, state: valueStates[context.attribute], delimiter: 'space', attribute: 'plain' };
    case 'afterName':
      return { ...context, state: 'attributeName', attribute: 'plain' };
    default:
      return context;
  }
}

/** The merged context of two branches; null if they are incompatible. */
export function joinContexts(a: Context, b: Context): Context | null {
  if (a.state === 'dead') return b;
  if (b.state === 'dead' || sameContext(a, b)) return a;
  if (sameContext({ ...a, urlPart: b.urlPart }, b)) return { ...a, urlPart: 'mixed' };
  if (sameContext({ ...a, slash: b.slash }, b)) return { ...a, slash: 'mixed' };
  // `<p title={{ if .C }}{{ . }}{{ end }}` ends in an unquoted value, which only the action started.
  const [begunA, begunB] = [beginAction(a), beginAction(b)];
  return begunA === a && begunB === b ? null : joinContexts(begunA, begunB);
}

const comments: ReadonlySet<ContextState> = new Set<ContextState>([
  'htmlComment', 'blockComment', 'lineComment', 'htmlOpenComment', 'htmlCloseComment', 'cssBlockComment', 'cssLineComment',
]); // biome-ignore format: a list

/** Whether text is in a comment that is left out of the output. */
export function isComment(state: ContextState): boolean {
  return comments.has(state);
}

/** Whether text is in a string, template literal or regular expression of a script. */
export function isScriptLiteral(state: ContextState): boolean {
  return state === 'doubleString' || state === 'singleString' || state === 'templateLiteral' || state === 'regexp';
}

/** Result of scanning literal text: the context after the first `read` characters, in UTF-16 units. */
export interface Scan {
  readonly context: Context;
  readonly read: number;
}
