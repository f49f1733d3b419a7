/**
 * The key that signs what the auth service issues. It may be replaced while it runs.
 *
 * All processes verify with a new key before one of them signs with it: where the key before still verifies, and the
 * new one was not there yet, it signs a while later.
 */
import type { Config } from '../../config/config.ts';
import { findSigningKey } from '../../config/keys.ts';
import { isSameValue } from '../../config/live-config.ts';
import { createTokenSigner, type TokenSigner } from './signing-keys.ts';

/** How long after it verifies a new key signs, in milliseconds: processes look at changed files each second. */
const signAfterMs = 5000;

/** Signs with the present key. */
export class ReplaceableSigner {
  #signer: TokenSigner;
  #config: KeyOptions;
  #later: NodeJS.Timeout | null = null;

  private constructor(signer: TokenSigner, config: KeyOptions) {
    this.#signer = signer;
    this.#config = config;
  }

  /** Rejects if a key is malformed, or none signs. */
  static async open(config: Config): Promise<ReplaceableSigner> {
    return new ReplaceableSigner(await createTokenSigner(config), { ...config });
  }

  readonly signer: TokenSigner = signerOf(() => this.#signer);

  /** Imports other keys. Rejects as `open`. @returns Replaces the key. */
  async prepare(next: Config): Promise<() => void> {
    const signer = await createTokenSigner(next);
    return () => {
      const isKnown = verifies(this.#config, signingKeyOf(next));
      const isStillGood = verifies(next, signingKeyOf(this.#config));
      this.stop();
      const sign = () => {
        this.#signer = signer;
        this.#config = { ...next };
      };
      if (isKnown || !isStillGood) sign();
      else this.#later = setTimeout(sign, signAfterMs).unref();
    };
  }

  stop(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }
}

type KeyOptions = Pick<Config, 'jwtKeys' | 'jwtSecret'>;

function signerOf(present: () => TokenSigner): TokenSigner {
  return {
    get algorithm() {
      return present().algorithm;
    },
    sign: (claims) => present().sign(claims),
  };
}

/** What tells keys apart: the secret, or the members that verify. */
type KeyIdentity = readonly unknown[];

function signingKeyOf({ jwtKeys, jwtSecret }: KeyOptions): KeyIdentity {
  const key = findSigningKey(jwtKeys);
  return key === null ? identityOfSecret(jwtSecret) : identityOf(key);
}

function verifies({ jwtKeys, jwtSecret }: KeyOptions, key: KeyIdentity): boolean {
  return [...jwtKeys.map(identityOf), identityOfSecret(jwtSecret)].some((each) => isSameValue(each, key));
}

function identityOf({ kty, k, x, y, n }: KeyOptions['jwtKeys'][number]): KeyIdentity {
  return [kty, k ?? null, x ?? null, y ?? null, n ?? null];
}

function identityOfSecret(secret: string | null): KeyIdentity {
  return ['oct', secret === null ? null : Buffer.from(secret).toString('base64url'), null, null, null];
}
