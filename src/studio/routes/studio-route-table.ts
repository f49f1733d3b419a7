/**
 * The requests that only the studio sends, with their descriptions for `/openapi.json`.
 */
import type { ManagementCaller } from '../../management/management-caller.ts';
import type { Route, RouteFacts, RouteTable } from '../../server/route.ts';
import { sendJson } from '../../server/send-body.ts';
import { PublicError } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { about, anything, flag, listOf, named, objectOf, optional, orNull, record, text } from '../../shared/schema.ts';
import { isFromHere } from './from-here.ts';
import { answerAsRole } from './studio-operations.ts';
import type { Asked } from './studio-parts.ts';
import { describeProject, studioProject } from './studio-project.ts';

/** The handler and the caller that it requires. */
type Work =
  | { readonly access: 'anyone'; readonly run: (asked: Asked) => Promise<unknown> }
  | {
      readonly access: 'any_scope' | 'project:operate';
      readonly run: (asked: Asked, operator: ManagementCaller) => Promise<unknown>;
    };

/** Routes by method and path below `/studio`. */
type StudioRoutes = RouteTable<'GET' | 'POST', RouteFacts & Work>;

/** One route. */
export type StudioRoute = Route<StudioRoutes>;

/** The routes. */
export const studioRoutes: StudioRoutes = {
  'POST /session': {
    access: 'anyone',
    id: 'openStudioSession',
    summary: 'Exchange the one-time token that `pgreflect start` prints for the access token',
    body: [objectOf({ token: text })],
    answer: objectOf({ accessToken: text }),
    async run({ parts, studio, request }) {
      const { accessToken } = parts.config;
      const ticket = readTicket(request.body as Buffer | undefined);
      if (accessToken !== null && ticket !== null && studio.redeemTicket(ticket)) return { accessToken };
      const message = 'The one-time token is invalid, already used, or older than ten minutes.';
      throw new PublicError('UNAUTHENTICATED', message);
    },
  },
  'GET /entry': {
    access: 'anyone',
    id: 'readStudioEntry',
    summary: 'Read where a command for the project is typed',
    answer: objectOf({
      isLocal: about(flag, 'A project of `pgreflect start`.'),
      shellCall: about(
        orNull(text),
        'What the command begins with; null unless asked from the machine of a local project.',
      ),
    }),
    async run({ parts: { config }, request }) {
      const isHere = config.localProject && isFromHere(request);
      return { isLocal: config.localProject, shellCall: isHere ? config.shellCall : null };
    },
  },
  'GET /project': {
    access: 'any_scope',
    id: 'readStudioProject',
    summary: 'Read the project as the access token may see it',
    answer: studioProject,
    run: async ({ parts, studio, reply }, operator) =>
      sendJson(reply, await describeProject(operator, await studio.project.ref(), parts)),
  },
  'POST /graphql': {
    access: 'project:operate',
    id: 'runAsRole',
    summary: 'Run an operation as the service role, or as the role of users without one of them',
    query: { role: 'Default: the service role. The other one is that of signed-in users.' },
    body: [
      named(
        'GraphqlRequest',
        objectOf({
          query: about(text, 'A GraphQL document.'),
          operationName: optional(orNull(text)),
          variables: optional(orNull(record())),
          extensions: optional(record()),
        }),
      ),
    ],
    answer: named(
      'GraphqlResponse',
      objectOf({
        data: optional(orNull(record())),
        errors: optional(listOf(anything({ type: 'object', description: 'As GraphQL defines it.' }))),
      }),
    ),
    run: answerAsRole,
  },
};

function readTicket(body: Buffer | undefined): string | null {
  const json = parseJson(String(body));
  return isObject(json) && typeof json.token === 'string' ? json.token : null;
}
