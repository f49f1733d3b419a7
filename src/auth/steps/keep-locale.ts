/** Keeps the language of the browser that makes a new user, where the configuration says so. */
import { languagesOf } from '../../email/message/choose-texts.ts';
import type { Metadata } from '../model/metadata.ts';
import type { AuthContext } from './auth-context.ts';

/** The metadata of a new user, with `locale` if they name no language. */
export function withLocale({ config, languages }: AuthContext, data: Metadata): Metadata {
  const [locale] = languages;
  if (!config.mailer_keep_locale || locale === undefined || languagesOf(data, []).length > 0) return data;
  return { ...data, locale };
}
