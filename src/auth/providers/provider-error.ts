/** An error between us and a provider, without the provider's text, which may contain tokens: the log prints all. */

/** `unreachable`: no answer, or none in the expected format. `refused`: the answer is not trustworthy. */
type ProviderFailure = 'unreachable' | 'refused';

/** A failure with its reason. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ProviderFailure;

  /** @param cause Only its kind is stored. */
  constructor(failure: ProviderFailure, cause: unknown) {
    super(`The provider failed (${failure}): ${problemKind(cause)}`);
    this.failure = failure;
  }
}

type Detailed = Error & Partial<Record<'code' | 'error' | 'claim', unknown>>;

/** Names, codes and claims, which come from the libraries, and the codes of OAuth: no text of the provider. */
function problemKind(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { name, code, error: oauthCode, claim, cause } = error as Detailed;
  const words = [name, code, oauthCode, claim ?? (cause as Partial<Detailed> | undefined)?.claim].filter(
    (word) => typeof word === 'string' && /^\w{1,60}$/.test(word),
  );
  const inner = cause instanceof Error ? ` (${problemKind(cause)})` : '';
  return `${words.join(' ')}${inner}`;
}
