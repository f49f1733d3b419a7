/** An error between us and a provider, without the provider's text, which may contain tokens: the log prints all. */
import type { FailedOutcome } from '../../shared/external-call.ts';

/** `unreachable`: no answer, or none in the expected format. `refused`: the answer is not trustworthy. */
type ProviderFailure = 'unreachable' | 'refused';

/** A failure with its reason. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ProviderFailure;
  /** What is counted: clients are told less. */
  readonly outcome: FailedOutcome;

  /** @param cause Only its kind is stored. */
  constructor(failure: ProviderFailure, cause: unknown) {
    super(`The provider failed (${failure}): ${problemKind(cause)}`);
    this.failure = failure;
    this.outcome = outcomeOf(cause);
  }
}

/** Codes of both libraries: a token that does not verify, or that is for another sign-in. */
const untrusted =
  /^(ERR_JW[ST]_|ERR_JWKS_NO_|ERR_JOSE_ALG_|OAUTH_(JWT_CLAIM|JWT_TIMESTAMP|JSON_ATTRIBUTE|KEY_SELECTION)_)/;

/** A code that is used up or has expired (RFC 6749, 5.2) is the browser's. All other errors of OAuth are ours or the provider's. */
function outcomeOf(error: unknown): FailedOutcome {
  if (!(error instanceof Error)) return 'failed';
  const { code, error: oauthCode, cause } = error as Detailed;
  if (oauthCode === 'invalid_grant') return 'refused';
  if (typeof code === 'string' && untrusted.test(code)) return 'distrusted';
  return outcomeOf(cause);
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
