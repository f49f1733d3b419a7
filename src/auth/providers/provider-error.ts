/**
 * What went wrong between us and a provider. Its own words stay out of it: they can have tokens in them, and the log shows
 * an error with everything that belongs to it.
 */

/** `unreachable`: it does not answer, or not as a provider does. `refused`: what it answered is not to be believed. */
export type ProviderFailure = 'unreachable' | 'refused';

/** A failure, with the reason in a word. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ProviderFailure;

  /** @param cause Only its kind is kept. */
  constructor(failure: ProviderFailure, cause: unknown) {
    super(`The provider failed (${failure}): ${kindOf(cause)}`);
    this.failure = failure;
  }
}

type Detailed = Error & Partial<Record<'code' | 'error' | 'claim', unknown>>;

/** Names, codes and claims, which belong to the libraries, and the codes of OAuth: no text of the provider. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { name, code, error: oauthCode, claim, cause } = error as Detailed;
  const words = [name, code, oauthCode, claim ?? (cause as Partial<Detailed> | undefined)?.claim].filter(
    (word) => typeof word === 'string' && /^\w{1,60}$/.test(word),
  );
  const inner = cause instanceof Error ? ` (${kindOf(cause)})` : '';
  return `${words.join(' ')}${inner}`;
}
