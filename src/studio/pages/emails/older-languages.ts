/**
 * Which translations are older than the main text: it was changed, and they are as they were before that.
 */
import { useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';
import {
  type AuthConfig,
  areSame,
  type DescribedEmail,
  fieldsOf,
  textsIn,
  translationOf,
  translationsIn,
} from './described.ts';
import type { StoredEmails } from './emails-state.ts';

interface Version {
  readonly version: number;
  readonly changed: readonly string[];
}

/** Their language tags. Changes that the project no longer keeps as versions do not count. */
export function useOlderLanguages({ config, version }: StoredEmails, email: DescribedEmail): readonly string[] {
  const locales = Object.keys(translationsIn(config, email));
  const key = locales.length === 0 ? null : `${email.email} ${version}`;
  const { value: before } = useAnswer(key, (signal) => readBefore(email, signal));
  if (before === null || locales.length === 0) return [];
  return locales.filter((locale) => {
    const translation = translationOf(config, email, locale);
    return (
      locale in translationsIn(before, email) && areSame(textsIn(before, translation), textsIn(config, translation))
    );
  });
}

/** The configuration before the last change of the main text. */
async function readBefore(email: DescribedEmail, signal: AbortSignal): Promise<AuthConfig> {
  const fields = fieldsOf(email);
  const { body: versions } = await askProject<readonly Version[]>('config/auth/versions', { signal });
  const change = versions.findIndex(({ changed }) => changed.some((name) => fields.includes(name)));
  const before = change === -1 ? undefined : versions[change + 1];
  if (before === undefined) return {};
  const { body } = await askProject<{ readonly values: AuthConfig }>(`config/auth/versions/${before.version}`, {
    signal,
  });
  return body.values;
}
