/**
 * What can go wrong when a hook is asked: every code once, and the error that carries one.
 *
 * The codes, their statuses and who may read what are those of the ecosystem's hooks. `message` is for the client; `reason`
 * is for the log and names neither secrets nor anything of the payload.
 */

/** All codes with their status. */
export const hookErrorCodes = {
  /** No answer within the time limit. */
  hook_timeout: 422,
  /** It could not be reached, or asked to be asked again, until the last attempt. */
  hook_timeout_after_retry: 422,
  /** Payload or answer is too large. */
  hook_payload_over_size_limit: 422,
  /** The answer is not JSON. */
  hook_payload_invalid_content_type: 400,
  /** It failed, or answered what nobody can read. */
  unexpected_failure: 500,
  /** It said no, in words for the client and with a status of its own. */
  unknown: 400,
} as const satisfies Record<string, number>;

/** One of the codes above. */
export type HookErrorCode = keyof typeof hookErrorCodes;

/** A hook that gave no answer to go on with. Callers branch on `code`. */
export class HookError extends Error {
  override readonly name = 'HookError';
  readonly code: HookErrorCode;
  readonly status: number;
  /** What went wrong, for the operator; null where the hook itself refused, as it may. */
  readonly reason: string | null;

  constructor(
    code: HookErrorCode,
    message: string,
    { reason, status }: { readonly reason: string | null; readonly status?: number },
  ) {
    super(message);
    this.code = code;
    this.status = status ?? hookErrorCodes[code];
    this.reason = reason;
  }
}
