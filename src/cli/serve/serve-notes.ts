/** Messages of `pgreflect serve` once it serves. */

import { summarizeRole } from '../../check/check-api.ts';
import { layerAuthConfig } from '../../config/auth/auth-config.ts';
import { describeGuesses } from '../../config/auth/guessed-accounts.ts';
import type { Config } from '../../config/config.ts';
import type { Gateway } from '../../gateway.ts';
import type { Model } from '../../graphql/model/model.ts';
import type { Omission } from '../../graphql/model/model-context.ts';
import { createProjectRef } from '../../management/project-ref.ts';
import { operatorTokenCommand } from '../../management/tokens/access-tokens.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import { authSchemas } from '../../postgres/migrations/migrate.ts';
import { guardPool } from '../../postgres/migrations/own-pool.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import { type CommandContext, CommandError } from '../shared/command.ts';
import { describePlace } from '../shared/describe-error.ts';
import { firstTable, makeFirstOperation, printCurl } from '../shared/first-operation.ts';
import { describeLeftOut, describeMalformed } from '../shared/left-out.ts';
import { commandLine } from '../shared/typed-options.ts';
import { withDatabase } from '../shared/with-database.ts';

/** Prints what is served, and where. */
export async function noteServing(config: Config, url: string, context: CommandContext): Promise<void> {
  context.note(`pgreflect serves ${describePlace(config.databaseUrl)}.`);
  context.note(`GraphQL and GraphiQL: ${url}/graphql/v1`);
  await noteAuth(config, url, context);
  const guesses = describeGuesses(layerAuthConfig(config.authValues));
  if (guesses !== null) context.note(`Warning: ${guesses}`);
}

/** Prints where the auth service is, and where its configuration can be changed; nothing if it is off. */
async function noteAuth(config: Config, url: string, context: CommandContext): Promise<void> {
  const ref = await withDatabase(config.adminDatabaseUrl, async (pool) =>
    (await guardPool(pool, authSchemas(config.adoptRole ?? [])).isOurs())
      ? await createProjectRef(config.projectRef)(pool)
      : null,
  ).catch((error) => {
    if (error instanceof CommandError || error instanceof DatabaseError) return null;
    throw error;
  });
  if (ref === null) return;
  const { mailer_transport: transport, smtp_host: host } = layerAuthConfig(config.authValues);
  const isCaptured = transport === 'smtp' && !host;
  const place =
    config.managementApiEnabled && isCaptured ? `   (emails without a mail server: ${url}/studio/inbox)` : '';
  context.note(`Auth: ${url}/auth/v1${place}`);
  if (!config.managementApiEnabled) return;
  context.note(`Management API: ${url}/v1/projects/${ref}/config/auth`);
  context.note(`Studio: ${url}/studio   (needs an access token: ${operatorTokenCommand})`);
}

/** Prints a line to paste, or why the API is empty and how to fill it. */
export async function noteFirstOperation(config: Config, gateway: Gateway, context: CommandContext): Promise<void> {
  const { schemas, anonRole, authenticatedRole } = config;
  const modelOf = async (role: string) =>
    await gateway.model(role).catch((error) => {
      if (error instanceof DatabaseError) return null;
      throw error;
    });
  const model = await modelOf(anonRole);
  if (model === null) return;
  const check = commandLine('check', context);
  const operation = makeFirstOperation(model);
  if (operation !== null) {
    context.note(`Try:\n  ${printCurl(`${gateway.url}/graphql/v1`, '$PGREFLECT_ANON_KEY', operation)}`);
    const lack = await describeLeftOut(config, gateway, check);
    if (lack !== null) context.note(lack);
    return;
  }
  const omissions = (await gateway.hints(anonRole))?.omissions ?? [];
  const malformed = describeMalformed(omissions, check);
  if (malformed !== null) {
    context.note(malformed);
    return;
  }
  const users = await modelOf(authenticatedRole);
  if (!isEmpty(model)) context.note(`${summarizeRole(anonRole, model)} To offer more:`);
  else if (users === null || isEmpty(users)) context.note(`The API of the role "${anonRole}" is empty:`);
  else {
    context.note(summarizeRole(authenticatedRole, users));
    context.note(`The API of the role "${anonRole}" is empty. Where visitors are meant to have one:`);
  }
  if (model.namespaces.length === 0) {
    const names = (schemas ?? ['public']).join(', ');
    context.note(
      `  - The role has no usage on any exposed schema.\n      grant usage on schema ${names} to ${anonRole};`,
    );
  }
  // Introspection that is off leaves no table out.
  const reasons = omissions.filter(({ kind }) => kind !== 'switch');
  for (const omission of reasons.slice(0, maxReasons)) context.note(printOmission(omission));
  if (reasons.length > maxReasons)
    context.note(`  … and ${reasons.length - maxReasons} more: ${check} --only not_granted,left_out`);
  if (reasons.length === 0)
    context.note(`  A table needs a primary key, a grant and a policy, for example:
      ${firstTable(anonRole).join('\n      ')}`);
  context.note(`  The gateway takes notice by itself. Row security decides which rows callers see: ${check}`);
}

const maxReasons = 5;

function isEmpty({ tables, routines }: Model): boolean {
  return tables.size === 0 && routines.size === 0;
}

function printOmission({ reason, fix }: Omission): string {
  const statement = fix === null ? null : pasteable(fix);
  return `  - ${onOneLine(reason)}${statement === null ? '' : `\n      ${statement}`}`;
}
