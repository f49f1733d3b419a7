/** Fields of the auth configuration for sign-in with a provider: the same set for each supported provider. */
import { flag, type Schema } from '../../shared/schema.ts';
import { type AuthField, type FieldExtras, field, string } from './auth-field.ts';
import { checkWebAddress } from './auth-value-checks.ts';

/** The providers, by their name in requests. */
export const providers = ['apple', 'azure', 'facebook', 'github', 'gitlab', 'google', 'kakao', 'keycloak'] as const;

/** Name of a provider. */
export type Provider = (typeof providers)[number];

const switches = ['enabled', 'email_optional', 'skip_nonce_check'] as const;
const texts = ['client_id', 'url', 'additional_client_ids', 'redirect_uri', 'secret'] as const;

type ProviderFields = {
  readonly [K in Provider as `external_${K}_${(typeof switches)[number]}`]: AuthField<boolean>;
} & { readonly [K in Provider as `external_${K}_${(typeof texts)[number]}`]: AuthField<string | null> };

const docs = {
  enabled: 'Allow sign-in with',
  email_optional: 'Accept accounts without an email address from',
  skip_nonce_check: 'Accept ID tokens without a nonce from',
  client_id: 'OAuth client ID for',
  url: 'OIDC issuer URL, or GitHub Enterprise URL, for',
  additional_client_ids: 'Additional client IDs accepted in ID tokens, separated by commas, for',
  redirect_uri: 'Redirect URI, if not the callback of the gateway, for',
  secret: 'OAuth client secret for',
} as const satisfies Record<(typeof switches)[number] | (typeof texts)[number], string>;

const kinds: Partial<Record<(typeof texts)[number], Schema<string>>> = {
  url: string(checkWebAddress),
  redirect_uri: string(checkWebAddress),
};

/** The fields of all providers. */
export const providerFields = Object.fromEntries(
  providers.flatMap((provider) => {
    const rest = (key: keyof typeof docs): [doc: string, extras: FieldExtras] => {
      const place = { like: { placeholder: 'PROVIDER', word: provider }, file: `auth.external.${provider}.${key}` };
      const secrecy = { secret: true, sentTo: [`external_${provider}_url`] } as const;
      const more = { secret: secrecy, additional_client_ids: { list: true } } as const;
      return [`${docs[key]} ${provider}.`, { ...place, ...more[key as keyof typeof more] }];
    };
    const flags = switches.map((key) => [key, field(flag, false, ...rest(key))] as const);
    const others = texts.map((key) => [key, field<string | null>(kinds[key] ?? string(), null, ...rest(key))] as const);
    return [...flags, ...others].map(([key, made]) => [`external_${provider}_${key}`, made]);
  }),
) as unknown as ProviderFields;
