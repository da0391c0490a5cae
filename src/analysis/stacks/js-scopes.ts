/**
 * Finds the functions and classes that enclose an offset of a JavaScript text, with a tokenizer that keeps the open brackets
 * and the declarations in front of them. Not a parser: a regular expression in an unusual place may confuse it, so callers
 * compare the names with those that V8 printed. One pass for all offsets, no recursion.
 */

export interface Scope {
  kind: 'function' | 'class';
  name: string;
  /** 0-based offset of the name in the text. */
  nameOffset: number;
}

interface Token {
  text: string;
  start: number;
}

interface Opener {
  bracket: string;
  /** The tokens in front of the bracket, nearest first. */
  before: Token[];
  scope?: Scope;
}

const rememberedTokens = 6;
const identifierStart = /[\p{ID_Start}$_#]/u;
const identifierPart = /[\p{ID_Continue}$\u200c\u200d]/u;
/** Keywords after which a slash begins a regular expression, and which can't be method names. */
const operatorWords = new Set(
  'return typeof case in of delete void throw new instanceof do else yield await'.split(' '),
);
const blockWords = new Set('if for while switch with catch'.split(' '));
const closers: Record<string, string> = { '}': '{', ')': '(', ']': '[' };

/** The enclosing scopes of each offset, innermost first; offsets in ascending order. Unnamed functions have an empty name. */
export function findEnclosingScopes(text: string, offsets: readonly number[]): Scope[][] {
  const found: Scope[][] = [];
  const scanner = new Scanner(text);
  for (const offset of offsets) {
    scanner.advanceTo(offset);
    found.push(scanner.openScopes());
  }
  return found;
}

class Scanner {
  private readonly text: string;
  private at = 0;
  private readonly open: Opener[] = [];
  private recent: Token[] = [];
  /** The tokens before the last closed parentheses: the head of a function, if a body follows. */
  private head: Token[] = [];

  constructor(text: string) {
    this.text = text;
  }

  openScopes(): Scope[] {
    const scopes: Scope[] = [];
    for (let n = this.open.length - 1; n >= 0; n--) {
      const scope = this.open[n]?.scope;
      if (scope) scopes.push(scope);
    }
    return scopes;
  }

  advanceTo(offset: number): void {
    while (this.at < offset && this.at < this.text.length) this.step();
  }

  /** Consumes one token, comment or run of white space. */
  private step(): void {
    const { text } = this;
    const char = text[this.at] as string;
    if (char <= ' ') this.at++;
    else if (char === '"' || char === "'") this.skipString(char);
    else if (char === '`') this.skipTemplate();
    else if (char === '/') this.slash();
    else if (char >= '0' && char <= '9') this.word();
    else if (isIdentifier(char, identifierStart)) this.word();
    else if (char === '{' || char === '(' || char === '[') this.openBracket(char);
    else if (char === '}' || char === ')' || char === ']') this.closeBracket(char);
    else if (char === '=' && text[this.at + 1] === '>') this.take(2);
    else this.take(1);
  }

  private take(length: number): void {
    const token = { text: this.text.slice(this.at, this.at + length), start: this.at };
    this.recent.unshift(token);
    if (this.recent.length > rememberedTokens) this.recent.pop();
    this.at += length;
  }

  private word(): void {
    let end = this.at + 1;
    while (end < this.text.length && isIdentifier(this.text[end] as string, identifierPart)) end++;
    this.take(end - this.at);
  }

  private skipString(quote: string): void {
    let end = this.at + 1;
    while (end < this.text.length && this.text[end] !== quote && this.text[end] !== '\n')
      end += this.text[end] === '\\' ? 2 : 1;
    this.take(end + 1 - this.at);
  }

  /** Skips to the closing backquote or to `${`, whose closing brace continues the template. */
  private skipTemplate(): void {
    let end = this.at + 1;
    for (; end < this.text.length; end++) {
      const char = this.text[end];
      if (char === '\\') end++;
      else if (char === '`') break;
      else if (char === '$' && this.text[end + 1] === '{') {
        this.at = end + 2;
        this.open.push({ bracket: '`', before: [] });
        this.recent = [];
        return;
      }
    }
    this.take(end + 1 - this.at);
  }

  private slash(): void {
    const next = this.text[this.at + 1];
    if (next === '/') this.at = this.endOf('\n');
    else if (next === '*') this.at = this.endOf('*/');
    else if (this.expectsOperand()) this.skipRegex();
    else this.take(1);
  }

  private endOf(mark: string): number {
    const end = this.text.indexOf(mark, this.at + 2);
    return end < 0 ? this.text.length : end + mark.length;
  }

  private expectsOperand(): boolean {
    const last = this.recent[0]?.text;
    if (last === undefined) return true;
    if (operatorWords.has(last)) return true;
    return !/^(?:[\p{ID_Start}$_#\d"'`)\]}])/u.test(last);
  }

  /** If a line break comes first, the slash was a division. */
  private skipRegex(): void {
    let inClass = false;
    for (let end = this.at + 1; end < this.text.length; end++) {
      const char = this.text[end];
      if (char === '\n') break;
      if (char === '\\') end++;
      else if (char === '[') inClass = true;
      else if (char === ']') inClass = false;
      else if (char === '/' && !inClass) {
        this.take(end + 1 - this.at);
        return;
      }
    }
    this.take(1);
  }

  private openBracket(bracket: string): void {
    const before = [...this.recent];
    const scope = bracket === '{' ? scopeOpenedBy(before, this.head, this.isInClassOrObject()) : undefined;
    this.open.push({ bracket, before, ...(scope ? { scope } : {}) });
    this.take(1);
    this.recent = this.recent.slice(0, 1);
  }

  /** Methods are directly inside braces. */
  private isInClassOrObject(): boolean {
    return this.open.at(-1)?.bracket === '{';
  }

  private closeBracket(bracket: string): void {
    const opener = this.open.at(-1);
    if (bracket === '}' && opener?.bracket === '`') {
      this.open.pop();
      this.skipTemplate();
      return;
    }
    if (opener?.bracket === closers[bracket]) {
      this.open.pop();
      if (bracket === ')') this.head = opener?.before ?? [];
    }
    this.take(1);
  }
}

const isIdentifier = (char: string, pattern: RegExp): boolean =>
  (char >= 'a' && char <= 'z') ||
  (char >= 'A' && char <= 'Z') ||
  char === '_' ||
  char === '$' ||
  (pattern === identifierPart && char >= '0' && char <= '9') ||
  (char > '\u007f' && pattern.test(char)) ||
  (char === '#' && pattern === identifierStart);

/** `before`: the tokens in front of a brace; `head`: those in front of the parentheses that end there. */
function scopeOpenedBy(
  before: readonly Token[],
  head: readonly Token[],
  inBraces: boolean,
): Scope | undefined {
  const last = before[0]?.text;
  if (last === '=>') {
    const parameters = before[1]?.text === ')' ? head : before.slice(2);
    return assignedFunction(parameters[0]?.text === 'async' ? parameters.slice(1) : parameters);
  }
  if (last === ')') return functionBefore(head, inBraces);
  return classBefore(before);
}

function functionBefore(head: readonly Token[], inBraces: boolean): Scope | undefined {
  const [name, keyword] = head;
  const heir = head.findIndex((token) => token.text === 'extends');
  if (heir >= 0) return classBefore(head.slice(heir));
  if (!name || blockWords.has(name.text)) return undefined;
  if (name.text === 'function' || (name.text === '*' && keyword?.text === 'function')) {
    const rest = head.slice(name.text === '*' ? 2 : 1);
    return assignedFunction(rest[0]?.text === 'async' ? rest.slice(1) : rest);
  }
  if (!isName(name.text)) return inBraces ? unnamed : undefined;
  if (keyword?.text === 'function' || (keyword?.text === '*' && head[2]?.text === 'function'))
    return { kind: 'function', name: name.text, nameOffset: name.start };
  return inBraces ? { kind: 'function', name: name.text, nameOffset: name.start } : undefined;
}

const unnamed: Scope = { kind: 'function', name: '', nameOffset: -1 };

/** `name = function`, `name: function`, `name => …`: the engine takes the name from the left side. */
function assignedFunction(rest: readonly Token[]): Scope {
  const [sign, name] = rest;
  if (!name || (sign?.text !== '=' && sign?.text !== ':') || !isName(name.text)) return unnamed;
  return { kind: 'function', name: name.text, nameOffset: name.start };
}

/** `class Name {`, `class Name extends Base {`, `name = class {`. */
function classBefore(before: readonly Token[]): Scope | undefined {
  const at = before.findIndex((token) => token.text === 'class');
  if (at < 0 || before.slice(0, at).some((token) => token.text !== '.' && !isName(token.text)))
    return undefined;
  const name = before[at - 1];
  if (name && name.text !== 'extends' && isName(name.text))
    return { kind: 'class', name: name.text, nameOffset: name.start };
  const assigned = assignedFunction(before.slice(at + 1));
  return { ...assigned, kind: 'class' };
}

const isName = (text: string): boolean => /^[\p{ID_Start}$_#]/u.test(text) && !operatorWords.has(text);
