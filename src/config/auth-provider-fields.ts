/**
 * Fields of the auth configuration for sign-in with a provider, the same set for each provider that we speak to.
 */
import { type AuthField, boolean, type FieldKind, field, string } from './auth-field.ts';
import { checkWebAddress } from './auth-value-checks.ts';

/** The providers, by the name that requests use. */
export const providers = ['apple', 'azure', 'facebook', 'github', 'gitlab', 'google', 'kakao', 'keycloak'] as const;

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
  url: 'Its address, where it is not the usual one: the issuer of OpenID Connect, or the site of GitHub Enterprise.',
  additional_client_ids: 'Further clients whose ID tokens are accepted, separated by commas.',
  redirect_uri: 'Where it sends users back to, where that is not our callback.',
  secret: "Our client's secret.",
} as const satisfies Record<(typeof switches)[number] | (typeof texts)[number], string>;

const kinds: Partial<Record<(typeof texts)[number], FieldKind<string>>> = {
  url: string(checkWebAddress),
  redirect_uri: string(checkWebAddress),
};

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
          kind: kinds[key] ?? string(),
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
