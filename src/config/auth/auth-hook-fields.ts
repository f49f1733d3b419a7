/**
 * Fields of the auth configuration for hooks, which the service calls before it acts: the same three fields for each.
 */
import { flag } from '../../shared/schema.ts';
import { type AuthField, field, string } from './auth-field.ts';
import { checkHookTarget, parseHookTarget, parseWebhookSecrets, problemOf } from './hook-target.ts';

const hookNames = ['custom_access_token', 'before_user_created', 'send_email', 'send_sms'] as const;

/** Name of a hook. */
export type HookName = (typeof hookNames)[number];

type HookFields = { readonly [K in HookName as `hook_${K}_enabled`]: AuthField<boolean> } & {
  readonly [K in HookName as `hook_${K}_uri` | `hook_${K}_secrets`]: AuthField<string | null>;
};

/** The values of some hooks. */
export type HookValues = { readonly [K in HookName as `hook_${K}_enabled`]: boolean } & {
  readonly [K in HookName as `hook_${K}_uri` | `hook_${K}_secrets`]: string | null;
};

/** The fields of all hooks. */
export const hookFields = Object.fromEntries(
  hookNames.flatMap((name) => {
    const title = name.replaceAll('_', ' ');
    const place = (key: string) => ({ like: { placeholder: 'NAME', word: name }, file: `auth.hook.${name}.${key}` });
    const enabled = field(flag, false, `Enable the ${title} hook.`, place('enabled'));
    const target = `Target of the ${title} hook: pg-functions://postgres/SCHEMA/FUNCTION or an https URL.`;
    const uri = field<string | null>(string(checkHookTarget, 2000), null, target, place('uri'));
    const doc = `Signing secrets of the ${title} webhook, v1,whsec_BASE64, separated by |.`;
    const more = { secret: true, sentTo: [], ...place('secrets') } as const;
    const secrets = field<string | null>(string(undefined, 2000), null, doc, more);
    return Object.entries({ enabled, uri, secrets }).map(([key, made]) => [`hook_${name}_${key}`, made]);
  }),
) as unknown as HookFields;

/** Why enabled hooks cannot be called, as sentences. */
export function checkHooks(values: HookValues): readonly string[] {
  return hookNames.flatMap((name) => (values[`hook_${name}_enabled`] ? checkHook(name, values) : []));
}

function checkHook(name: HookName, values: HookValues): readonly string[] {
  const uri = values[`hook_${name}_uri`];
  const secrets = values[`hook_${name}_secrets`];
  if (!uri) return [`hook_${name}_enabled needs hook_${name}_uri`];
  if (parseHookTarget(uri).kind === 'function') return [];
  if (!secrets) return [`hook_${name}_enabled needs hook_${name}_secrets, which sign its requests`];
  const problem = problemOf(() => parseWebhookSecrets(secrets));
  return problem === null ? [] : [`hook_${name}_secrets ${problem}`];
}
