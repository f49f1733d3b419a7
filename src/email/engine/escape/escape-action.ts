/** Chooses the escapers of an action in its context, also if the action calls `html` or `urlquery` itself. */
import { invariant } from '../../../shared/invariant.ts';
import { failScan } from '../template-error.ts';
import type { Pipeline, PipelineCommand } from '../tree.ts';
import { type Context, type ContextState, isComment } from './context.ts';
import { type Escaper, type EscaperName, type Escapers, isReplacedBy } from './escapers.ts';

const byState: Partial<Record<ContextState, EscaperName>> = {
  text: 'markup',
  keptComment: 'markup',
  rcdata: 'markup',
  tag: 'name',
  attributeName: 'name',
  metaUrl: 'scheme',
  srcset: 'srcset',
  script: 'scriptValue',
  doubleString: 'scriptString',
  singleString: 'scriptString',
  templateLiteral: 'templateLiteral',
  regexp: 'regexp',
  css: 'cssValue',
};

const urlStates: ReadonlySet<ContextState> = new Set<ContextState>([
  'url', 'cssDoubleString', 'cssSingleString', 'cssDoubleUrl', 'cssSingleUrl', 'cssUrl',
]); // biome-ignore format: a list

/** Escapers for an action in its started context, in order. Throws for an ambiguous URL. */
export function chooseEscapers(context: Context): EscaperName[] {
  const names = urlStates.has(context.state) ? urlEscapers(context) : stateEscapers(context.state);
  if (context.delimiter === 'space') names.push('unquoted');
  else if (context.delimiter !== 'none') names.push('markup');
  return names;
}

function stateEscapers(state: ContextState): EscaperName[] {
  if (isComment(state)) return ['comment'];
  const name = byState[state];
  // An ordinary attribute value is only escaped for its quotes.
  return name === undefined ? [] : [name];
}

function urlEscapers({ state, urlPart }: Context): EscaperName[] {
  if (urlPart === 'mixed')
    failScan(
      'ambiguous_url',
      'the action appears in an ambiguous context within a URL: write its `?` or `#` before it',
    );
  if (urlPart === 'query') return ['fullUrl'];
  const inner: EscaperName = state === 'cssDoubleString' || state === 'cssSingleString' ? 'cssString' : 'normalUrl';
  return urlPart === 'start' ? ['scheme', inner] : [inner];
}

/** Name of the internal function that joins the arguments of a predefined escaper. */
export const joinFunction = 'join arguments';

/**
 * Removes a predefined escaper at the pipeline's end if one of the context's does the same; returns pipeline and
 * escapers.
 *
 * Throws for a predefined escaper elsewhere: a later command could undo it.
 */
export function escapePipeline(
  pipeline: Pipeline,
  names: readonly EscaperName[],
  context: Context,
  escapers: Escapers,
): { readonly pipeline: Pipeline; readonly escapers: readonly Escaper[] } {
  const plain = { pipeline, escapers: names.map((name) => escapers[name]) };
  const last = pipeline.commands.length - 1;
  const found = pipeline.commands.findIndex((command) => predefined(command) !== null);
  if (found < 0) return plain;
  const command = pipeline.commands[found];
  invariant(command !== undefined, 'the command was found');
  const called = predefined(command);
  invariant(called !== null, 'the command calls an escaper');
  const unquoted = context.state === 'attribute' && context.delimiter === 'space' && called === 'html';
  if (found < last || unquoted) failScan('misplaced_escaper', `predefined escaper "${called}" disallowed in template`);
  const isEqual = names.some((name) => isReplacedBy(name, called));
  const joined = joinArguments(pipeline, command);
  if (isEqual) {
    const replaced = names.map((name) => escapers[isReplacedBy(name, called) ? called : name]);
    return { pipeline: { ...pipeline, commands: joined ?? pipeline.commands.slice(0, last) }, escapers: replaced };
  }
  if (joined === null) return plain;
  return { pipeline: { ...pipeline, commands: joined }, escapers: [escapers[called], ...plain.escapers] };
}

/** `{{ html .A .B }}` as `{{ (.A .B joined) | html }}`, so that escapers fit in between; null for other pipelines. */
function joinArguments(pipeline: Pipeline, { at, operands }: PipelineCommand): readonly PipelineCommand[] | null {
  const [, ...rest] = operands;
  if (pipeline.commands.length > 1 || rest.length === 0) return null;
  return [{ at, operands: [{ kind: 'function', at, name: joinFunction }, ...rest] }];
}

function predefined({ operands: [first] }: PipelineCommand): 'html' | 'urlquery' | null {
  if (first.kind !== 'function') return null;
  return first.name === 'html' || first.name === 'urlquery' ? first.name : null;
}
