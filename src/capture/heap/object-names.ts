/** Names of objects in a count by class. Runs no code of the host: no getters, no proxy traps. */

export const nameless = '(anonymous)';
const mostNamedKeys = 8;

/** The name of the constructor, read as plain data. */
export function nameOf(prototype: object | null): string {
  const maker = plainValue(prototype, 'constructor');
  const name = typeof maker === 'function' ? plainValue(maker, 'name') : undefined;
  return typeof name === 'string' && name !== '' ? name.slice(0, 200) : nameless;
}

export function plainValue(holder: object | null, key: string): unknown {
  if (holder === null || process.getBuiltinModule('node:util').types.isProxy(holder)) return undefined;
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

/** As in the tables of a snapshot: `{role, content}`. */
export function shapeName(object: object, keys = Object.keys(object)): string {
  const shown = keys.slice(0, mostNamedKeys).map((key) => key.slice(0, 40));
  return `{${[...shown, ...(keys.length > shown.length ? ['…'] : [])].join(', ')}}`;
}
