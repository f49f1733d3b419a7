/**
 * Ends live queries whose user has signed out, or was deleted: the token still holds until it expires, but nothing more is
 * sent for it.
 *
 * Tokens of other issuers may name sessions that nobody here knows. A session counts as ended when it was there once.
 */
import { isUuid } from '../../shared/uuid.ts';

/** Which of these sessions there are; null where that is unknown. */
export type FindSessions = (ids: readonly string[]) => Promise<ReadonlySet<string> | null>;

/** The pauses between two looks, in milliseconds: after somebody has come, and else. */
const soonMs = 1000;
const pauseMs = 20_000;

/** What is known of one session. */
interface Watched {
  isKnown: boolean;
  readonly ends: Set<() => void>;
}

/** The sessions of all live queries. */
export class SessionWatch {
  readonly #find: FindSessions;
  readonly #sessions = new Map<string, Watched>();
  #timer: NodeJS.Timeout | null = null;
  #isSoon = false;

  constructor(find: FindSessions) {
    this.#find = find;
  }

  /** @param end Called once, when the session has ended. @returns Forgets it. */
  add(id: string, end: () => void): () => void {
    const watched = this.#sessions.get(id) ?? { isKnown: false, ends: new Set() };
    watched.ends.add(end);
    this.#sessions.set(id, watched);
    if (!watched.isKnown && !this.#isSoon) this.#lookIn(soonMs);
    return () => {
      if (watched.ends.delete(end) && watched.ends.size === 0 && this.#sessions.get(id) === watched)
        this.#sessions.delete(id);
    };
  }

  #lookIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isSoon = ms === soonMs;
    this.#timer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    this.#isSoon = false;
    const asked = [...this.#sessions];
    const found = asked.length === 0 ? null : await this.#find(asked.map(([id]) => id)).catch(() => null);
    if (found !== null) {
      for (const [id, watched] of asked) {
        if (found.has(id)) watched.isKnown = true;
        else if (watched.isKnown) for (const end of [...watched.ends]) end();
      }
    }
    this.#timer = null;
    if (this.#sessions.size > 0 && !this.#isSoon) this.#lookIn(pauseMs);
  }
}

/** The session that claims name, as our tokens and Supabase's do; null: none. */
export function sessionOf(claims: string): string | null {
  const { session_id: id } = JSON.parse(claims) as { readonly session_id?: unknown };
  return typeof id === 'string' && isUuid(id) ? id.toLowerCase() : null;
}
