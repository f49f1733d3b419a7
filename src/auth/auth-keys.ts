/**
 * The keys of the auth service: those that verify, and the one that signs. They may be replaced while it runs.
 *
 * All processes verify with a new key before one of them signs with it: where the key before still verifies, and the
 * new one was not there yet, it signs a while later.
 */
import type { Config } from '../config/config.ts';
import { findSigningKey } from '../config/keys.ts';
import { isSameValue } from '../config/live-config.ts';
import { findKey, refuseWithdrawnKey } from '../server/caller/authenticate.ts';
import { createTokenVerifier } from '../server/caller/verify-token.ts';
import type { Clock } from '../shared/clock.ts';
import type { VerifyClaims } from './rules/bearer.ts';
import { createTokenSigner, type TokenSigner } from './secrets/signing-keys.ts';

/** How long after it verifies a new key signs, in milliseconds: processes look at changed files each second. */
const signAfterMs = 5000;

/** The present keys. */
export class AuthKeys {
  #verify: VerifyClaims;
  #signer: TokenSigner;
  #config: KeyOptions;
  readonly #clock: Clock;
  #later: NodeJS.Timeout | null = null;

  private constructor({ verify, signer }: Imported, config: KeyOptions, clock: Clock) {
    this.#verify = verify;
    this.#signer = signer;
    this.#config = config;
    this.#clock = clock;
  }

  /** Rejects if a key is malformed, or none signs. */
  static async open(config: Config, clock: Clock): Promise<AuthKeys> {
    return new AuthKeys(await importKeys(config, clock), { ...config }, clock);
  }

  readonly verify: VerifyClaims = (token) => this.#verify(token);

  readonly signer: TokenSigner = signerOf(() => this.#signer);

  /** Imports other keys. Rejects as `open`. @returns Replaces the keys. */
  async prepare(next: Config): Promise<() => void> {
    const { verify, signer } = await importKeys(next, this.#clock);
    return () => {
      const isKnown = verifies(this.#config, signingKeyOf(next));
      const isStillGood = verifies(next, signingKeyOf(this.#config));
      this.stop();
      this.#verify = verify;
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

interface Imported {
  readonly verify: VerifyClaims;
  readonly signer: TokenSigner;
}

async function importKeys(config: Config, clock: Clock): Promise<Imported> {
  const [verify, signer] = await Promise.all([createClaimsVerifier({ ...config }, clock), createTokenSigner(config)]);
  return { verify, signer };
}

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

/**
 * Verifies the Bearer token of a request and returns its claims. Clients without a token send their API key instead,
 * and an opaque key stands for a token of its role. Only tokens of our own keys count: the holder of a further key may
 * name any caller at the GraphQL API, but must not become an admin or a user here.
 */
async function createClaimsVerifier(options: Config, clock: Clock): Promise<VerifyClaims> {
  const verify = await createTokenVerifier({ ...options, jwks: [], jwksUrl: null }, clock);
  return async (token) => {
    const key = await findKey(token, { options, verify, clock });
    if (key !== null) return JSON.parse(key.identity.claims);
    const verified = await verify(token, { ownKeysOnly: true, checkAudience: true });
    refuseWithdrawnKey(verified, options);
    return verified.claims;
  };
}
