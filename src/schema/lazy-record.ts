/**
 * What graphql-js takes for a record of everything by name, and is made piece by piece when it is read.
 */

/** Things by name. */
export interface LazySource<T> {
  names(): readonly string[];
  has(name: string): boolean;
  /** The same one each time; undefined when there is none. */
  find(name: string): T | undefined;
}

/** The things of a source in the order of their names, for reading alone. To list the names makes nothing. */
export function lazyRecord<T>(source: LazySource<T>): Record<string, T> {
  const find = (name: string | symbol): T | undefined => (typeof name === 'string' ? source.find(name) : undefined);
  return new Proxy(Object.create(null) as Record<string, T>, {
    get: (_, name) => find(name),
    has: (_, name) => typeof name === 'string' && source.has(name),
    ownKeys: () => [...source.names()],
    getOwnPropertyDescriptor(_, name) {
      if (typeof name !== 'string' || !source.has(name)) return undefined;
      return { enumerable: true, configurable: true, get: () => find(name) };
    },
  });
}
