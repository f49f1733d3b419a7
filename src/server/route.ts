/**
 * A route of the auth service, the management API or the studio: one record in a table, from which the API mounts it and
 * /openapi.json and docs/endpoints.md describe it.
 */
import { about, type Described, type JsonSchema, optional, text } from '../shared/schema.ts';
import { type ApiDescription, type ApiOperation, response } from './openapi.ts';

/** Who may ask: anyone; with an API key; a user, or an admin, with key and token; with an access token and its scope. An admin may
 * show an access token instead, with the scope `project:operate`. */
type Access =
  | 'anyone'
  | 'key'
  | 'user'
  | 'admin'
  | 'auth_config:read'
  | 'auth_config:write'
  | 'project:read'
  | 'project:operate'
  | 'database:write'
  | 'any_scope';

/** Parameters by name. A sentence describes an optional text. */
type Parameters = Readonly<Record<string, string | Described>>;

/** What a route is, without its handler. */
export interface RouteFacts {
  /** Its name in generated clients, unique; default: made of method and path. */
  readonly id?: string;
  /** One sentence without the full stop. */
  readonly summary: string;
  readonly access: Access;
  /** Default: an id each. */
  readonly pathParameters?: Readonly<Record<string, Described>>;
  readonly query?: Parameters;
  readonly headers?: Parameters;
  /** Several for alternatives; absent: no body. */
  readonly body?: readonly Described[];
  readonly isBodyOptional?: true;
  /** Fields of a browser's form, each with a description; absent: no form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Default: 200. */
  readonly status?: 200 | 204;
  /** Statuses of redirects; without `answer`, the route always redirects. */
  readonly redirects?: readonly (302 | 303)[];
  /** What it answers with beside JSON, and of which type, by default HTML; absent: nothing. */
  readonly page?: string | { readonly type: string; readonly description: string };
  /** Null: no body. */
  readonly answer: Described | null;
  /** Headers of the answer, each with a description. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
}

/** Method and path of a route, relative to its API; parameters have a colon before them. */
interface Place {
  readonly method: string;
  readonly path: string;
}

/** Routes by method and path: `GET /admin/users/:id`. */
export type RouteTable<Method extends string, Facts extends RouteFacts> = Readonly<
  Record<`${Method} /${string}`, Facts>
>;

/** A route of a table. */
export type Route<T extends Readonly<Record<string, RouteFacts>>> = T[keyof T] & {
  readonly method: keyof T extends `${infer M} /${string}` ? M : never;
  readonly path: string;
};

/** All routes of several tables. */
export function routesOf<T extends RouteTable<string, RouteFacts>>(...tables: readonly T[]): readonly Route<T>[] {
  return tables
    .flatMap((table) => Object.entries(table))
    .map(([route, facts]) => {
      const [method, path] = route.split(' ');
      return { ...facts, method, path } as unknown as Route<T>;
    });
}

/** What the routes of an API have in common. */
interface Api<R> {
  /** The path under which they are mounted. */
  readonly prefix: string;
  readonly prefixParameters?: Readonly<Record<string, Described>>;
  readonly tagOf: (route: R) => string;
  readonly refusalsOf: (route: R) => JsonSchema;
  /** The schema of errors; null: none. */
  readonly error: Described | null;
}

/** Describes routes for /openapi.json. */
export function describeRoutes<R extends RouteFacts & Place>(routes: readonly R[], api: Api<R>): ApiDescription {
  const described = [
    ...routes.flatMap(({ answer, body = [] }) => [...body, ...(answer === null ? [] : [answer])]),
    ...(api.error === null ? [] : [api.error]),
  ];
  return {
    operations: routes.map((route) => describeRoute(route, api)),
    schemas: Object.assign({}, ...described.map(({ named }) => named)),
  };
}

function describeRoute<R extends RouteFacts & Place>(route: R, api: Api<R>): ApiOperation {
  const { method, path, access, summary, body = [], form } = route;
  const parameters = [
    ...parametersOf('path', { ...api.prefixParameters, ...pathParameters(route) }),
    ...parametersOf('query', route.query),
    ...parametersOf('header', route.headers),
  ];
  const content = {
    ...(body.length > 0 && { 'application/json': { schema: alternatives(body) } }),
    ...(form !== undefined && formContent(form)),
  };
  const isBodyRequired = body.length > 0 && !route.isBodyOptional;
  return {
    method,
    path: `${api.prefix}${path}`.replace(/:(\w+)/g, '{$1}'),
    id: route.id ?? operationId(method, path),
    tag: api.tagOf(route),
    summary: `${summary}.${access.startsWith('project:') ? ` Needs the scope \`${access}\`.` : ''}`,
    security: securityOf(access),
    more: {
      ...(parameters.length > 0 && { parameters }),
      ...(Object.keys(content).length > 0 && { requestBody: { required: isBodyRequired, content } }),
      responses: { ...successesOf(route), ...api.refusalsOf(route) },
    },
  };
}

/** `GET`, `/admin/users/:id` -> `getAdminUsersId`. */
function operationId(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replace(/[/:_.-]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function securityOf(access: Access): ApiOperation['security'] {
  switch (access) {
    case 'anyone':
      return [];
    case 'key':
      return [['apiKey']];
    case 'user':
      return [['apiKey', 'userToken']];
    case 'admin':
      return [['apiKey', 'serviceToken'], ['accessToken']];
    default:
      return [['accessToken']];
  }
}

function pathParameters({ path, pathParameters: given = {} }: RouteFacts & Place): Parameters {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return Object.fromEntries(names.map((name) => [name, given[name] ?? 'Id.']));
}

function parametersOf(place: 'path' | 'query' | 'header', parameters: Parameters = {}): readonly JsonSchema[] {
  return Object.entries(parameters).map(([name, given]) => {
    const { json, isOptional } = typeof given === 'string' ? optional(about(text, given)) : given;
    const { description, allowEmptyValue, ...schema } = json;
    const more = allowEmptyValue === true && { allowEmptyValue };
    const required = (place === 'path' || !isOptional) && { required: true };
    return { name, in: place, ...required, description, ...more, schema };
  });
}

function alternatives(schemas: readonly Described[]): JsonSchema {
  const [only] = schemas;
  return only !== undefined && schemas.length === 1 ? only.json : { anyOf: schemas.map((schema) => schema.json) };
}

function formContent(form: Readonly<Record<string, string>>): JsonSchema {
  const fields = Object.entries(form).map(([name, description]) => [name, { ...text.json, description }]);
  const schema = { type: 'object', properties: Object.fromEntries(fields) };
  return { 'application/x-www-form-urlencoded': { schema } };
}

function successesOf({ status = 200, redirects = [], answer, answerHeaders, page }: RouteFacts): JsonSchema {
  const headers = { Location: 'Where the browser goes next, with what came of it.' };
  const { type, description } = typeof page === 'string' ? { type: 'text/html', description: page } : (page ?? {});
  const isJson = answer !== null || (redirects.length === 0 && page === undefined);
  return {
    ...(type !== undefined && { 200: { description, content: { [type]: { schema: text.json } } } }),
    ...(isJson && response(status, answer?.json ?? null, answerHeaders)),
    ...Object.assign({}, ...redirects.map((redirect) => response(redirect, null, headers))),
  };
}
