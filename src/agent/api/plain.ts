/**
 * Converts any value of a host program to a tree that JSON can represent: bounded in depth, count and size, calling no
 * getter, with cycles marked, and with Map, Set, Date, Error, bytes and class instances in a readable form. Recursion stops
 * at the depth limit.
 */

const depthLimit = 24;
const nodeLimit = 20_000;
const charLimit = 1024 * 1024;

interface Budget {
  nodes: number;
  chars: number;
  /** The objects that contain the value, to detect cycles. */
  path: object[];
  cutText: (text: string) => string;
}

/** `cutText` shortens a text that is too long; it is called for every text. */
export function toPlain(value: unknown, cutText: (text: string) => string): unknown {
  return plain(value, { nodes: nodeLimit, chars: charLimit, path: [], cutText });
}

function plain(value: unknown, budget: Budget): unknown {
  switch (typeof value) {
    case 'string':
      return plainText(value, budget);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'undefined':
      return undefined;
    case 'bigint':
      return `${value}n`;
    case 'symbol':
      return String(value);
    case 'function':
      return '[function]';
    default:
      return value === null ? null : plainObject(value as object, budget);
  }
}

function plainText(text: string, budget: Budget): string {
  const short = budget.cutText(text);
  budget.chars -= short.length;
  return budget.chars < 0 ? `[cut: ${text.length} characters]` : short;
}

function plainObject(value: object, budget: Budget): unknown {
  if (budget.path.includes(value)) return '[circular]';
  if (budget.path.length >= depthLimit) return '[cut: too deep]';
  if (--budget.nodes < 0 || budget.chars < 0) return '[cut: too much]';
  budget.path.push(value);
  try {
    return plainByKind(value, budget);
  } catch {
    // A trap of a proxy threw, or the proxy is revoked.
    return '[unreadable]';
  } finally {
    budget.path.pop();
  }
}

function plainByKind(value: object, budget: Budget): unknown {
  if (Array.isArray(value)) return plainList(value, value.length, budget);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Error) return plainError(value, budget);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return { '[Map]': plainList([...value], value.size, budget) };
  if (value instanceof Set) return { '[Set]': plainList([...value], value.size, budget) };
  if (value instanceof Promise) return '[promise]';
  return plainFields(value, budget);
}

function plainList(list: readonly unknown[], length: number, budget: Budget): unknown[] {
  const out: unknown[] = [];
  for (let i = 0; i < length; i++) {
    if (budget.nodes < 0 || budget.chars < 0) {
      out.push(`[cut: ${length - i} more]`);
      break;
    }
    budget.nodes--;
    out.push(plain(list[i], budget) ?? null);
  }
  return out;
}

function plainError(error: Error, budget: Budget): unknown {
  const { name, message } = error;
  return { name: plain(String(name), budget), message: plain(String(message), budget) };
}

function plainFields(value: object, budget: Budget): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (--budget.nodes < 0 || budget.chars < 0) {
      out['[cut]'] = 'more fields';
      break;
    }
    const field = Object.getOwnPropertyDescriptor(value, key);
    if (!field) continue;
    budget.chars -= key.length;
    const read = field.get ? '[getter]' : plain(field.value, budget);
    // A plain assignment to this name would set the prototype.
    if (key === '__proto__') Object.defineProperty(out, key, { value: read, enumerable: true });
    else out[key] = read;
  }
  return out;
}
