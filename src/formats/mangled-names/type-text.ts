/** C++ types in source form, and names with template arguments. */

/** Declarators grow around their middle: `void (*` … `)(int)`. */
export interface TypeText {
  left: string;
  right: string;
  /** A function or an array: a pointer to it needs parentheses. */
  wraps: boolean;
}

export const plain = (text: string): TypeText => ({ left: text, right: '', wraps: false });
export const join = (type: TypeText): string => type.left + type.right;

export function pointer(type: TypeText, mark: string): TypeText {
  if (type.wraps) {
    const isArray = type.right.startsWith(' [');
    return { left: `${type.left}${isArray ? ' ' : ''}(${mark}`, right: `)${type.right}`, wraps: false };
  }
  // References to references collapse: && applied to & is &.
  if (mark === '&&' && type.left.endsWith('&')) return type;
  if (mark === '&' && type.left.endsWith('&&')) return { ...type, left: type.left.slice(0, -1) };
  if (mark === '&' && type.left.endsWith('&')) return type;
  return { ...type, left: type.left + mark };
}

export function withArguments(name: string, list: string): string {
  return `${name}${name.endsWith('<') ? ' ' : ''}<${list}${list.endsWith('>') ? ' ' : ''}>`;
}

/** `a::b<c::d>` → `b`, the name of its constructor. */
export function lastComponent(name: string): string {
  let depth = 0;
  let end = name.length;
  for (let i = name.length - 1; i >= 0; i--) {
    const c = name[i];
    if (c === '>' || c === ')') depth++;
    else if (c === '<' || c === '(') {
      depth--;
      if (depth === 0 && c === '<') end = i;
    } else if (c === ':' && depth === 0) return name.slice(i + 1, end);
  }
  return name.slice(0, end);
}
