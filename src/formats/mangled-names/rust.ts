/**
 * Rust's legacy mangling, which looks like a C++ name that ends with a hash (Node 26 has Temporal in Rust). Source: rustc's
 * "legacy" mangling: path parts with lengths in UTF-8, punctuation as `$LT$` and `..`.
 */

const escapes: Record<string, string> = {
  SP: '@',
  BP: '*',
  RF: '&',
  LT: '<',
  GT: '>',
  LP: '(',
  RP: ')',
  C: ',',
};

export function isRustName(name: string): boolean {
  return /^_ZN.*17h[0-9a-f]{16}E/.test(name);
}

/** `_ZN4core3fmt5Write17h…E` → `core::fmt::Write`, without the hash. */
export function demangleRust(name: string): string {
  const parts: string[] = [];
  let at = 3;
  for (;;) {
    const digits = /^\d+/.exec(name.slice(at, at + 5))?.[0];
    if (!digits) break;
    at += digits.length;
    parts.push(name.slice(at, at + Number(digits)));
    at += Number(digits);
  }
  return parts.slice(0, -1).map(unescapePart).join('::');
}

function unescapePart(part: string): string {
  return part
    .replace(/^_\$/, '$')
    .replace(/\$u([0-9a-f]{1,6})\$/g, (all, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    })
    .replace(/\$([A-Z]{1,2})\$/g, (all, code: string) => escapes[code] ?? all)
    .replace(/\.\./g, '::');
}
