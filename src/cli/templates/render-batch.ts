/**
 * Renders templates in batch: one request per line in, one answer per line out, in order and immediately.
 *
 * For template tests in CI and for comparisons with Go's engine. Needs neither configuration nor database.
 */
import { parseTemplate, renderTemplate, type TemplateData } from '../../email/engine/template.ts';
import { TemplateError, type TemplatePhase } from '../../email/engine/template-error.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { linesOf } from '../../shared/lines.ts';

/** An answer; `line` counts from 1 and is present if the fault has a place. */
interface BatchAnswer {
  readonly id: string | number | null;
  readonly output?: string;
  readonly error?: TemplatePhase | 'input';
  readonly message?: string;
  readonly line?: number;
}

/** The answer to a line that is not a request. */
type Refusal = BatchAnswer & { readonly error: 'input' };

interface BatchRequest {
  readonly id: string | number;
  readonly kind: 'html' | 'text';
  readonly template: string;
  readonly data: TemplateData;
  readonly layout: string | null;
  readonly partials: Readonly<Record<string, string>>;
}

/** Answers every line. @param input Pieces of UTF-8, split anywhere. @returns Whether all lines were requests. */
export async function renderBatch(
  input: AsyncIterable<Uint8Array>,
  answer: (answer: BatchAnswer) => void,
): Promise<boolean> {
  let sound = true;
  for await (const line of linesOf(input)) {
    const result = answerLine(new TextDecoder().decode(line));
    if (result.error === 'input') sound = false;
    answer(result);
  }
  return sound;
}

function answerLine(line: string): BatchAnswer {
  const request = readRequest(line);
  if ('error' in request) return request;
  const { id, kind, template, data, layout, partials } = request;
  try {
    return { id, output: renderTemplate(parseTemplate(template, { kind, layout, partials }), data) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const answer = { id, error: error.phase, message: error.message };
    return error.line === null ? answer : { ...answer, line: error.line };
  }
}

function readRequest(line: string): BatchRequest | Refusal {
  const value = parseJson(line);
  if (value === undefined) return { id: null, error: 'input', message: 'The line is not JSON.' };
  const request = isObject(value) ? value : {};
  const { kind, template, data, layout = null, partials = {} } = request;
  const id = typeof request.id === 'string' || typeof request.id === 'number' ? request.id : null;
  const refuse = (message: string): Refusal => ({ id, error: 'input', message });
  if (!isObject(value)) return refuse('A request is a JSON object.');
  if (id === null) return refuse('"id" must be a string or a number.');
  if (kind !== 'html' && kind !== 'text') return refuse('"kind" must be "html" or "text".');
  if (typeof template !== 'string') return refuse('"template" must be a string.');
  if (!isObject(data)) return refuse('"data" must be an object.');
  if (layout !== null && typeof layout !== 'string') return refuse('"layout" must be a string.');
  if (!isObject(partials) || Object.values(partials).some((text) => typeof text !== 'string'))
    return refuse('"partials" must be an object of strings.');
  return { id, kind, template, data, layout, partials: partials as BatchRequest['partials'] };
}
