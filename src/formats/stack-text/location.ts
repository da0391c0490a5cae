/**
 * Parses the location of a V8 frame line, the text between its parentheses. It is parsed from the right end, because the
 * grammar is only unambiguous there (paths may contain spaces, colons, parentheses and commas). Does not access the disk: a
 * path is text. Source: V8's call-site serialisation, https://v8.dev/docs/stack-trace-api.
 */

/** Lines and columns are 1-based. */
export interface TextPosition {
  /** A path; `file:` URLs are converted to paths. Other URLs (`node:`, `wasm:`, `webpack-internal:`…) are kept as printed. */
  file: string;
  /** As printed, if it was a URL. */
  url?: string;
  line: number;
  /** Absent in the few forms with a line only. */
  column?: number;
}

/** Position of the call of `eval` or `new Function` that created the code, innermost first. */
export interface EvalOrigin extends Partial<TextPosition> {
  /** The function that called eval. */
  functionName: string;
}

export type TextLocation =
  | { kind: 'source'; position: TextPosition }
  /** `position` is in the evaluated text, whose file is `<anonymous>` or its sourceURL. */
  | { kind: 'eval'; position?: TextPosition; origins: EvalOrigin[] }
  /** `offset` is in bytes from the start of the module. */
  | { kind: 'wasm'; module: string; functionIndex: number; offset?: number }
  | { kind: 'promise'; index: number }
  | { kind: 'native' }
  | { kind: 'anonymous' };

const deepestEval = 16;
const locationStart =
  /^(?:\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]{1,30}:|<anonymous>|native\)|index \d|eval at |\[|unknown location|REPL\d)/;

/** Whether a text after an opening parenthesis begins like a location. */
export function isLocationStart(text: string): boolean {
  return locationStart.test(text.slice(0, 64));
}

/** Parses `text` as a location; undefined if it is not one. */
export function parseLocation(text: string): TextLocation | undefined {
  if (text === 'native') return { kind: 'native' };
  if (text === '<anonymous>' || text === 'unknown location') return { kind: 'anonymous' };
  if (text.startsWith('index ')) {
    const digits = /^index (\d{1,9})$/.exec(text);
    return digits ? { kind: 'promise', index: Number(digits[1]) } : undefined;
  }
  if (text.startsWith('eval at ')) return parseEval(text);
  const wasm = parseWasm(text);
  if (wasm) return wasm;
  const position = parsePosition(text);
  return position ? { kind: 'source', position } : undefined;
}

/** `Error: listen EADDRINUSE: …`, which Next prints in the place of a location it does not know. */
const isSentence = /^[A-Za-z][\w$]*: /;

/** `file:line:column` or `file:line`. */
export function parsePosition(text: string): TextPosition | undefined {
  const last = numberAtEnd(text, text.length);
  if (!last) return undefined;
  const before = numberAtEnd(text, last.colon);
  const [file, line, column] = before
    ? [text.slice(0, before.colon), before.value, last.value]
    : [text.slice(0, last.colon), last.value, undefined];
  if (!file || line < 1 || isSentence.test(file)) return undefined;
  const path = filePathOf(file);
  return {
    file: path,
    ...(path !== file || isUrl(file) ? { url: file } : {}),
    line,
    ...(column === undefined ? {} : { column }),
  };
}

/** Parses `:digits` that ends at `end`. No file has a line number of more than nine digits. */
function numberAtEnd(text: string, end: number): { value: number; colon: number } | undefined {
  let at = end;
  while (at > 0 && end - at < 10 && isDigit(text.charCodeAt(at - 1))) at--;
  if (at === end || end - at > 9 || text[at - 1] !== ':') return undefined;
  return { value: Number(text.slice(at, end)), colon: at - 1 };
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/** A one-letter scheme is a drive. */
const isUrl = (text: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]{1,30}:/.test(text.slice(0, 34));

/** `eval at f (eval at g (file:1:2), <anonymous>:3:4), <anonymous>:5:6`, unwrapped from the outside. */
function parseEval(text: string): TextLocation | undefined {
  const comma = text.lastIndexOf('), ');
  const position = comma < 0 ? undefined : parsePosition(text.slice(comma + 3));
  let origin = comma < 0 ? text : text.slice(0, comma + 1);
  const origins: EvalOrigin[] = [];
  while (origins.length < deepestEval) {
    const open = origin.indexOf(' (', 8);
    if (open < 0 || !origin.endsWith(')')) {
      origins.push({ functionName: origin.slice(8) });
      break;
    }
    const inner = origin.slice(open + 2, -1);
    const functionName = origin.slice(8, open);
    if (!inner.startsWith('eval at ')) {
      origins.push({ functionName, ...parsePosition(inner) });
      break;
    }
    const split = inner.lastIndexOf('), ');
    origins.push({ functionName, ...(split < 0 ? undefined : parsePosition(inner.slice(split + 3))) });
    origin = split < 0 ? inner : inner.slice(0, split + 1);
  }
  return { kind: 'eval', ...(position ? { position } : {}), origins };
}

/** `wasm://wasm/name-hash:wasm-function[3]:0x12`; the scheme may be any URL scheme. */
function parseWasm(text: string): TextLocation | undefined {
  const at = text.lastIndexOf(':wasm-function[');
  if (at < 0) return undefined;
  const rest = /^:wasm-function\[(\d{1,9})\](?::0x([0-9a-f]{1,12}))?$/i.exec(text.slice(at, at + 64));
  if (!rest || at + 64 < text.length) return undefined;
  const offset = rest[2] === undefined ? {} : { offset: Number.parseInt(rest[2], 16) };
  return { kind: 'wasm', module: filePathOf(text.slice(0, at)), functionIndex: Number(rest[1]), ...offset };
}

/**
 * The path of a `file:` URL, without query and fragment; anything else unchanged. Not node:url's fileURLToPath, which throws
 * for paths of another system and for stray percent signs.
 */
export function filePathOf(url: string): string {
  if (!url.startsWith('file://')) return url;
  const path = decodePercent(url.slice(7).replace(/[?#].*$/s, ''));
  if (/^\/[A-Za-z]:[\\/]/.test(path)) return path.slice(1).replaceAll('/', '\\');
  if (path.startsWith('/')) return path;
  return `\\\\${path.replaceAll('/', '\\')}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
