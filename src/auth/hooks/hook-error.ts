/**
 * Errors of hooks: every code once, and the error that carries one.
 *
 * Codes, statuses and visibility are those of Supabase Auth's hooks. `message` is for the client; `reason` is for the
 * log and contains neither secrets nor the payload.
 */

const hookErrorCodes = {
  /** No answer within the time limit. */
  hook_timeout: 422,
  /** It was unreachable, or asked for a retry, until the last attempt. */
  hook_timeout_after_retry: 422,
  /** Payload or answer is too large. */
  hook_payload_over_size_limit: 422,
  /** The answer is not JSON. */
  hook_payload_invalid_content_type: 400,
  /** It failed, or its answer was unreadable. */
  unexpected_failure: 500,
  /** It refused, with a message for the client and its own status. */
  unknown: 400,
} as const satisfies Record<string, number>;

type HookErrorCode = keyof typeof hookErrorCodes;

/** A hook without a usable answer. Callers branch on `code`. */
export class HookError extends Error {
  override readonly name = 'HookError';
  readonly code: HookErrorCode;
  readonly status: number;
  /** The problem, for the operator; null if the hook refused deliberately. */
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
