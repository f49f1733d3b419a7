/**
 * Fields of the auth configuration for sign-in with a provider, the same set for each provider that we speak to.
 */
import { type AuthField, boolean, field, string } from './auth-field.ts';

/** The providers, by the name that requests use. */
export const providers = ['apple', 'azure', 'facebook', 'github', 'google', 'kakao', 'keycloak'] as const;

/** Name of a provider. */
export type Provider = (typeof providers)[number];

const switches = ['enabled', 'email_optional', 'skip_nonce_check'] as const;
const texts = ['client_id', 'url', 'additional_client_ids', 'redirect_uri', 'secret'] as const;

/** The rows. */
export type ProviderFields = {
  readonly [K in Provider as `external_${K}_${(typeof switches)[number]}`]: AuthField<boolean>;
} & { readonly [K in Provider as `external_${K}_${(typeof texts)[number]}`]: AuthField<string | null> };

const docs = {
  enabled: 'Users may sign in with it.',
  email_optional: 'Accounts without an email address are accepted.',
  skip_nonce_check: 'ID tokens need no nonce.',
  client_id: 'Our client there.',
  url: 'Its address, where it is not always the same.',
  additional_client_ids: 'Further clients whose ID tokens are accepted, separated by commas.',
  redirect_uri: 'Where it sends users back to, where that is not our callback.',
  secret: "Our client's secret.",
} as const satisfies Record<(typeof switches)[number] | (typeof texts)[number], string>;

/** The rows of all providers. */
export const providerFields = makeFields();

function makeFields(): ProviderFields {
  const entries = providers.flatMap((provider) => {
    const like = { placeholder: 'PROVIDER', word: provider };
    const place = (key: string) => ({ like, file: { table: `auth.external.${provider}`, key } });
    const title = `Provider ${provider}: `;
    return [
      ...switches.map((key) => {
        const row = field({ kind: boolean, default: false, ...place(key), doc: title + docs[key] });
        return [`external_${provider}_${key}`, row] as const;
      }),
      ...texts.map((key) => {
        const secret = key === 'secret' ? { secret: true as const } : {};
        const row = field<string | null>({
          kind: string(),
          default: null,
          ...secret,
          ...place(key),
          doc: title + docs[key],
        });
        return [`external_${provider}_${key}`, row] as const;
      }),
    ];
  });
  return Object.fromEntries(entries) as unknown as ProviderFields;
}
