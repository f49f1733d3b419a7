/** Pages of long lists: the page that a request asks for, and the headers that link to the others. */
import { AuthError } from '../model/auth-error.ts';

/** A page of a list. */
export interface Page {
  /** From 1. */
  readonly number: number;
  readonly size: number;
}

/** An answer with the headers that link to the other pages. */
export interface PageAnswer<Body> {
  readonly body: Body;
  readonly headers: Readonly<Record<string, string>>;
}

const defaultSize = 50;
const maxSize = 1000;

/** Reads `page` and `per_page`; empty ones count as absent. @throws AuthError `validation_failed` */
export function parsePage(query: URLSearchParams): Page {
  const number = parseCount('page', query.get('page')) ?? 1;
  const size = parseCount('per_page', query.get('per_page')) ?? defaultSize;
  if (size === 0) throw pageError('per_page must be at least 1');
  return { number: Math.max(1, number), size: Math.min(size, maxSize) };
}

function parseCount(name: string, text: string | null): number | null {
  if (!text) return null;
  if (!/^[0-9]{1,9}$/.test(text)) throw pageError(`${name} must be a whole number`);
  return Number(text);
}

function pageError(reason: string): AuthError {
  return new AuthError('validation_failed', `Bad Pagination Parameters: ${reason}`);
}

/** Rows before the page. */
export function rowsBefore({ number, size }: Page): number {
  return (number - 1) * size;
}

/**
 * The headers `X-Total-Count` and `Link`. Clients parse the page number after the first `=`, so `page` comes first.
 *
 * @param url Of the list, without a query.
 */
export function paginationHeaders(
  url: string,
  { number, size }: Page,
  total: number,
): Readonly<Record<string, string>> {
  const last = Math.ceil(total / size);
  const link = (page: number, relation: string) => `<${url}?page=${page}&per_page=${size}>; rel="${relation}"`;
  const next = number < last ? [link(number + 1, 'next')] : [];
  return { 'x-total-count': String(total), link: [...next, link(last, 'last')].join(', ') };
}
