/** Fields of errors, read without running code of the program. */
import { types } from 'node:util';

/** Undefined for a getter, for what is inherited, and for everything of a proxy. */
export const ownField = (holder: object, name: string): unknown =>
  types.isProxy(holder) ? undefined : Object.getOwnPropertyDescriptor(holder, name)?.value;

export function textField(holder: object, name: string): string | undefined {
  const value = ownField(holder, name);
  return typeof value === 'string' ? value : undefined;
}
