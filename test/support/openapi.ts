/**
 * Requests and answers held against /openapi.json: what is sent and answered must be what it describes.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Json = any;

/** One exchange. */
interface Exchange {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  /** Parsed; undefined where none was sent. */
  readonly body?: unknown;
  readonly status: number;
  /** Parsed; null where none came. */
  readonly answer: unknown;
}

/** Holds exchanges against a document. */
export interface Conformance {
  /** What is wrong with the exchange; empty where nothing is. */
  check(exchange: Exchange): readonly string[];
  /** Operations and statuses that were described and answered so far: `post /auth/v1/signup 200`. */
  readonly seen: ReadonlySet<string>;
  /** All successes that the document describes, in the same form. */
  readonly described: readonly string[];
}

/** Takes the document; members that it does not describe are faults in answers. */
export function createConformance(document: Json): Conformance {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(close(document), 'openapi.json');
  const seen = new Set<string>();
  const paths = Object.keys(document.paths);
  const described = paths.flatMap((path) =>
    Object.entries<Json>(document.paths[path]).flatMap(([method, { responses }]) =>
      Object.keys(responses)
        .filter((status) => /^[23]/.test(status))
        .map((status) => `${method} ${path} ${status}`),
    ),
  );
  // Compiled once: this takes longer than the exchange.
  const compiled = new Map<string, ValidateFunction>();
  const schemaAt = (...place: readonly string[]): ValidateFunction => {
    const $ref = `openapi.json#/${place.map(pointer).join('/')}`;
    const validate = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, validate);
    return validate;
  };
  return {
    seen,
    described,
    check({ method, path, body, status, answer }) {
      const template = paths.find((known) => matches(known, path) && document.paths[known][method]);
      if (template === undefined) return [`${method} ${path} is not described`];
      const operation = document.paths[template][method];
      const response = operation.responses[status] === undefined ? 'default' : String(status);
      if (operation.responses[response] === undefined) return [`the status ${status} is not described`];
      if (status < 400 && response === 'default') return [`the success ${status} is not described`];
      seen.add(`${method} ${template} ${response}`);
      const problems: string[] = [];
      const hold = (what: string, value: unknown, place: readonly string[], type = 'application/json') => {
        const validate = schemaAt('paths', template, method, ...place, 'content', type, 'schema');
        if (!validate(value)) problems.push(`${what}: ${ajv.errorsText(validate.errors)}`);
      };
      if (body !== undefined && operation.requestBody === undefined) problems.push('a body is not described');
      // What was refused need not have been right.
      if (
        status < 400 &&
        operation.requestBody !== undefined &&
        (body !== undefined || operation.requestBody.required)
      ) {
        hold('request', body, ['requestBody'], Object.keys(operation.requestBody.content)[0]);
      }
      const [type] = Object.keys(operation.responses[response].content ?? {});
      if (type !== undefined) hold('answer', answer, ['responses', response], type);
      else if (answer !== null) problems.push('the body of the answer is not described');
      return problems;
    },
  };
}

function matches(template: string, path: string): boolean {
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(path);
}

function pointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Named objects, and those in them, have no members but those that are described. */
function close(document: Json): Json {
  const schemas = Object.entries<Json>(document.components.schemas).map(([name, schema]) => [
    name,
    closeObject(schema),
  ]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}

function closeObject(schema: Json): Json {
  if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map(closeObject) };
  if (schema.items) return { ...schema, items: closeObject(schema.items) };
  if (!schema.properties) return schema;
  const members = Object.entries<Json>(schema.properties).map(([name, member]) => [name, closeObject(member)]);
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(members) };
}
