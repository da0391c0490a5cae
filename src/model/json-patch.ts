/**
 * RFC 6902 operations on JSON documents. The document is not modified: values on the path to the change are copied, all
 * others shared. Pointers are those of RFC 6901. A pointer to a missing value throws RangeError.
 */
export interface PatchOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: unknown;
}

/** The document after all operations, in order. If one throws, none is applied. */
export function applyPatch(document: unknown, operations: readonly PatchOperation[]): unknown {
  let now = document;
  for (const operation of operations) now = applyOne(now, operation);
  return now;
}

/** The value at a pointer; undefined if there is none. */
export function findAtPointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of readPointer(pointer)) value = childOf(value, token);
  return value;
}

/** The reference tokens of a pointer. `''` is the document itself. */
export function readPointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw new RangeError(`a JSON pointer starts with "/": ${pointer}`);
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function renderPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function applyOne(document: unknown, { op, path, from, value }: PatchOperation): unknown {
  const tokens = readPointer(path);
  switch (op) {
    case 'add':
      return change(document, tokens, 0, (parent, token) => inserted(parent, token, value), value);
    case 'replace':
      requireAt(document, path);
      return change(document, tokens, 0, (parent, token) => replaced(parent, token, value), value);
    case 'remove':
      requireAt(document, path);
      return change(document, tokens, 0, removed, undefined);
    case 'move': {
      const moved = requireAt(document, from ?? '');
      const without = applyOne(document, { op: 'remove', path: from ?? '' });
      return applyOne(without, { op: 'add', path, value: moved });
    }
    case 'copy':
      return applyOne(document, { op: 'add', path, value: requireAt(document, from ?? '') });
    case 'test':
      if (JSON.stringify(requireAt(document, path)) !== JSON.stringify(value))
        throw new RangeError(`the value at "${path}" is another`);
      return document;
  }
}

type Change = (parent: object, token: string) => object;

/** A copy of `node` with `apply` performed on the parent of the last token; `whole` replaces the document itself. */
function change(node: unknown, tokens: string[], at: number, apply: Change, whole: unknown): unknown {
  const token = tokens[at];
  if (token === undefined) return whole;
  if (typeof node !== 'object' || node === null)
    throw new RangeError(`nothing to hold "${renderPointer(tokens.slice(0, at + 1))}"`);
  if (at === tokens.length - 1) return apply(node, token);
  if (childOf(node, token) === undefined)
    throw new RangeError(`no value at "${renderPointer(tokens.slice(0, at + 1))}"`);
  return replaced(node, token, change(childOf(node, token), tokens, at + 1, apply, whole));
}

function childOf(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
  return (value as Record<string, unknown>)[token];
}

function requireAt(document: unknown, pointer: string): unknown {
  const found = findAtPointer(document, pointer);
  if (found === undefined) throw new RangeError(`no value at "${pointer}"`);
  return found;
}

function indexOf(list: unknown[], token: string): number {
  const index = token === '-' ? list.length : /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > list.length)
    throw new RangeError(`no place "${token}" in a list of ${list.length}`);
  return index;
}

function inserted(parent: object, token: string, value: unknown): object {
  if (!Array.isArray(parent)) return replaced(parent, token, value);
  return parent.toSpliced(indexOf(parent, token), 0, value);
}

function replaced(parent: object, token: string, value: unknown): object {
  if (Array.isArray(parent)) return parent.with(Number(token), value);
  const copy = { ...parent };
  // An ordinary assignment to `__proto__` would change the prototype of the copy.
  Object.defineProperty(copy, token, { value, enumerable: true, configurable: true, writable: true });
  return copy;
}

function removed(parent: object, token: string): object {
  if (Array.isArray(parent)) return parent.toSpliced(Number(token), 1);
  const copy: Record<string, unknown> = { ...parent };
  delete copy[token];
  return copy;
}
