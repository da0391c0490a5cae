/**
 * Parses the names of a function's parameters from its source, because V8 keeps no names for parameters on the stack. The
 * text begins at the start of the parameters, like V8's function positions. Strings, comments and nested brackets are
 * skipped.
 */

const maxParameters = 1000;
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/u;

/** `(a, {b}, c = 1, ...rest) {` → `a`, `{…}`, `c`, `...rest`. Empty if the text does not start with parameters. */
export function parseParameterNames(source: string): string[] {
  const text = source.replace(/^async\b\s*/, '');
  const single = identifier.exec(text)?.[0];
  if (single && /^\s*=>/.test(text.slice(single.length))) return [single];
  if (!text.startsWith('(')) return [];
  const names: string[] = [];
  for (const piece of splitParameters(text)) {
    const name = nameOf(piece);
    if (name) names.push(name);
    if (names.length >= maxParameters) break;
  }
  return names;
}

/** Number of characters that the parameters occupy in `source`, including the closing parenthesis. */
export function measureParameters(source: string): number {
  const text = source.replace(/^async\b\s*/, '');
  const skipped = source.length - text.length;
  if (!text.startsWith('(')) return skipped + (/^[^\s=]*\s*=>/.exec(text)?.[0].length ?? 0);
  const pieces = splitParameters(text);
  return skipped + pieces.reduce((sum, piece) => sum + piece.length + 1, 1);
}

function nameOf(piece: string): string | undefined {
  const text = stripComments(piece).trim();
  const rest = text.startsWith('...') ? '...' : '';
  const binding = text.slice(rest.length).trimStart();
  if (binding.startsWith('{')) return `${rest}{…}`;
  if (binding.startsWith('[')) return `${rest}[…]`;
  const name = identifier.exec(binding)?.[0];
  return name && rest + name;
}

const stripComments = (text: string) => text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, ' ');

/** State of the loop: bracket depth, and the position after the last comma at depth one. */
function splitParameters(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let from = 1;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === '"' || c === "'" || c === '`') i = skipString(text, i, c);
    else if (c === '/' && (text[i + 1] === '*' || text[i + 1] === '/')) i = skipComment(text, i);
    else if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) {
      depth--;
      if (depth === 0) {
        pieces.push(text.slice(from, i));
        break;
      }
    } else if (c === ',' && depth === 1) {
      pieces.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return pieces;
}

function skipString(text: string, at: number, quote: string): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  return text.length;
}

function skipComment(text: string, at: number): number {
  const end = text[at + 1] === '*' ? text.indexOf('*/', at + 2) + 1 : text.indexOf('\n', at);
  return end <= 0 ? text.length : end;
}
