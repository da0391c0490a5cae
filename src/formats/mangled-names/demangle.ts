/**
 * C++ names as the compiler mangled them, back into source form. Follows the Itanium C++ ABI §5.1 ("External Names");
 * prints as c++filt does. A name outside of what is known here comes back as it was. Depth and length are bounded,
 * since the names come from files that may be hostile.
 */
import { builtinTypes, operators, standardSubstitutions } from './codes.ts';
import { MangledText, Unknown } from './mangled-text.ts';
import { demangleRust, isRustName } from './rust.ts';
import { join, lastComponent, plain, pointer, type TypeText, withArguments } from './type-text.ts';

interface NameText {
  text: string;
  /** Ends with template arguments, so an encoding of it starts with its return type. */
  isTemplate: boolean;
  /** Constructor, destructor or conversion: no return type is written. */
  isSpecial: boolean;
  qualifiers: string;
}

const maxDepth = 256;
const maxLength = 16_384;
const maxInput = 8_192;

/** `_ZN4node5StartEiPPc` → `node::Start(int, char**)`; anything else unchanged. */
export function demangle(name: string): string {
  if (!name.startsWith('_Z') || name.length > maxInput) return name;
  if (isRustName(name)) return demangleRust(name);
  try {
    return new Demangler(name).demangle();
  } catch (error) {
    if (error instanceof Unknown) return name;
    throw error;
  }
}

class Demangler {
  readonly #input: MangledText;
  #depth = 0;
  readonly #substitutions: TypeText[] = [];
  /** Arguments of the innermost template whose parameters may be named. A pack is a list. */
  #arguments: (TypeText | TypeText[])[] = [];
  #packIndex: number | undefined;
  #packLength: number | undefined;

  constructor(input: string) {
    this.#input = new MangledText(input, 2);
  }

  demangle(): string {
    const text = this.#encoding();
    const rest = this.#input.rest();
    if (rest === '') return text;
    if (/^(?:\.[a-zA-Z_]+(?:\.\d+)*)+$/.test(rest))
      return text + rest.replace(/\.[a-zA-Z_]+(?:\.\d+)*/g, (clone) => ` [clone ${clone}]`);
    throw new Unknown();
  }

  /** A name that lies in a function shows that function without its return type. */
  #encoding(isOuter = false): string {
    return this.#nested(() => {
      const special = this.#specialName();
      if (special !== undefined) return special;
      const name = this.#name();
      if (this.#input.atEnd()) return name.text + name.qualifiers;
      let left = '';
      let right = '';
      if (name.isTemplate && !name.isSpecial) {
        const result = this.#type();
        if (isOuter) return `${name.text}(${this.#parameters()})${name.qualifiers}`;
        left = result.left.endsWith('(*') || result.wraps ? result.left : `${result.left} `;
        right = result.right;
      }
      return `${left}${name.text}(${this.#parameters()})${right}${name.qualifiers}`;
    });
  }

  #specialName(): string | undefined {
    const two = this.#input.next(2);
    const prefixes: Record<string, string> = {
      TV: 'vtable for ',
      TT: 'VTT for ',
      TI: 'typeinfo for ',
      TS: 'typeinfo name for ',
    };
    const prefix = prefixes[two];
    if (prefix) {
      this.#input.at += 2;
      return prefix + join(this.#type());
    }
    const variable: Record<string, string> = {
      GV: 'guard variable for ',
      TH: 'TLS init function for ',
      TW: 'TLS wrapper function for ',
    };
    const described = variable[two];
    if (described) {
      this.#input.at += 2;
      return described + this.#name().text;
    }
    if (two !== 'Th' && two !== 'Tv') return undefined;
    this.#input.at += 2;
    this.#input.until('_');
    if (two === 'Tv') this.#input.until('_');
    return `${two === 'Th' ? 'non-virtual' : 'virtual'} thunk to ${this.#encoding()}`;
  }

  #parameters(): string {
    const list: string[] = [];
    while (!this.#input.atEnd()) {
      const type = this.#typeOrPack();
      list.push(...type.map(join));
    }
    return list.length === 1 && list[0] === 'void' ? '' : list.join(', ');
  }

  #name(): NameText {
    const c = this.#input.peek();
    if (c === 'N') return this.#nestedName();
    if (c === 'Z') return this.#localName();
    let text: string;
    let isSpecial = false;
    if (c === 'S' && this.#input.peek(1) !== 't') {
      text = join(this.#substitution());
    } else {
      const isStd = this.#input.take('St');
      const part = this.#unqualified('');
      text = (isStd ? 'std::' : '') + part.text;
      isSpecial = part.isSpecial;
      if (this.#input.peek() === 'I') this.#remember(text);
    }
    if (this.#input.peek() !== 'I') return { text, isTemplate: false, isSpecial, qualifiers: '' };
    return {
      text: withArguments(text, this.#templateArguments(true)),
      isTemplate: true,
      isSpecial,
      qualifiers: '',
    };
  }

  /** Every prefix may be referred to later, but not the whole name: that is for the type around it. */
  #nestedName(): NameText {
    this.#input.at++;
    if (this.#input.peek() === 'E') throw new Unknown();
    const qualifiers = this.#qualifiers();
    const reference = this.#input.take('R') ? ' &' : this.#input.take('O') ? ' &&' : '';
    let text = '';
    let last = '';
    let isTemplate = false;
    let isSpecial = false;
    let remembered = false;
    while (!this.#input.take('E')) {
      const c = this.#input.peek();
      if (c === 'I' && text) {
        text = withArguments(text, this.#templateArguments(true));
        isTemplate = true;
      } else if (c === 'S' && this.#input.peek(1) !== 't') {
        text = join(this.#substitution());
        last = lastComponent(text);
        remembered = false;
        continue;
      } else if (c === 'T') {
        text = join(this.#templateParameter());
        isTemplate = false;
      } else if (c === 'D' && /[tT]/.test(this.#input.peek(1) ?? '')) {
        text = join(this.#type());
      } else if (c === 'M') {
        this.#input.at++;
        continue;
      } else {
        const isStd = this.#input.take('St');
        const part = isStd
          ? { text: `std::${this.#unqualified('').text}`, isSpecial: false }
          : this.#unqualified(last);
        last = part.text;
        isSpecial = part.isSpecial;
        isTemplate = false;
        text = text ? `${text}::${part.text}` : part.text;
      }
      this.#remember(text);
      remembered = true;
    }
    if (remembered) this.#substitutions.pop();
    return { text, isTemplate, isSpecial, qualifiers: qualifiers + reference };
  }

  #localName(): NameText {
    this.#input.at++;
    const outer = this.#encoding(true);
    this.#input.expect('E');
    if (this.#input.take('s')) {
      this.#discriminator();
      return { text: `${outer}::string literal`, isTemplate: false, isSpecial: false, qualifiers: '' };
    }
    if (this.#input.take('d')) this.#input.until('_');
    const name = this.#name();
    this.#discriminator();
    return { ...name, text: `${outer}::${name.text}` };
  }

  #discriminator(): void {
    const match = /^(?:__\d+_|_\d)/.exec(this.#input.next(12));
    if (match) this.#input.at += match[0].length;
  }

  #unqualified(enclosing: string): { text: string; isSpecial: boolean } {
    this.#input.take('L');
    const c = this.#input.peek();
    let text: string;
    let isSpecial = false;
    if (c >= '0' && c <= '9') text = this.#input.sourceName();
    else if (c === 'C' || (c === 'D' && /[0-5]/.test(this.#input.peek(1) ?? ''))) {
      this.#input.at += 2;
      if (c === 'C' && this.#input.peek(-1) === 'I') throw new Unknown();
      const name = lastComponent(enclosing);
      text = c === 'D' ? `~${name}` : name;
      isSpecial = true;
    } else if (c === 'U') text = this.#unnamed();
    else ({ text, isSpecial } = this.#operator());
    while (this.#input.take('B')) text += `[abi:${this.#input.sourceName()}]`;
    return { text, isSpecial };
  }

  #unnamed(): string {
    this.#input.at++;
    if (this.#input.take('t')) return `{unnamed type#${this.#input.index()}}`;
    if (!this.#input.take('l')) throw new Unknown();
    const parameters = this.#parameters();
    this.#input.expect('E');
    return `{lambda(${parameters})#${this.#input.index()}}`;
  }

  #operator(): { text: string; isSpecial: boolean } {
    const code = this.#input.next(2);
    this.#input.at += 2;
    if (code === 'cv') return { text: `operator ${join(this.#type())}`, isSpecial: true };
    if (code === 'li') return { text: `operator"" ${this.#input.sourceName()}`, isSpecial: false };
    const symbol = operators[code];
    if (!symbol) throw new Unknown();
    return { text: `operator${/^[a-z]/.test(symbol) ? ' ' : ''}${symbol}`, isSpecial: false };
  }

  /** A pack expansion gives many. */
  #typeOrPack(): TypeText[] {
    if (!this.#input.take('Dp')) return [this.#type()];
    const start = this.#input.at;
    const known = this.#substitutions.length;
    const list: TypeText[] = [];
    const outer = this.#packIndex;
    for (let i = 0; ; i++) {
      this.#input.at = start;
      if (i > 0) this.#substitutions.length = known;
      this.#packIndex = i;
      this.#packLength = undefined;
      const type = this.#type();
      const length = this.#packLength ?? 1;
      if (length > 0) list.push(type);
      if (i + 1 >= length || i > maxDepth) break;
    }
    this.#packIndex = outer;
    return list;
  }

  #type(): TypeText {
    return this.#nested(() => {
      const c = this.#input.peek();
      const builtin = builtinTypes[c];
      if (builtin) {
        this.#input.at++;
        return plain(builtin);
      }
      if (c === 'S' && this.#input.peek(1) !== 't') return this.#substitutedType();
      const type = this.#compoundType(c);
      if (type.isBuiltin) return type.text;
      return this.#keep(type.text);
    });
  }

  #substitutedType(): TypeText {
    const base = this.#substitution();
    if (this.#input.peek() !== 'I') return base;
    return this.#keep(plain(withArguments(join(base), this.#templateArguments(false))));
  }

  #compoundType(c: string): { text: TypeText; isBuiltin?: boolean } {
    if (/[rVK]/.test(c)) {
      const qualifiers = this.#qualifiers();
      const inner = this.#type();
      if (inner.wraps) return { text: { ...inner, right: inner.right + qualifiers } };
      // `T const` where T is const already says it once.
      if (inner.left.endsWith(qualifiers)) return { text: inner };
      return { text: { ...inner, left: inner.left + qualifiers } };
    }
    if (c === 'P' || c === 'R' || c === 'O') {
      this.#input.at++;
      return { text: pointer(this.#type(), c === 'P' ? '*' : c === 'R' ? '&' : '&&') };
    }
    if (c === 'F') return { text: this.#functionType() };
    if (c === 'A') return { text: this.#arrayType() };
    if (c === 'M') {
      this.#input.at++;
      const owner = join(this.#type());
      const member = this.#type();
      if (member.wraps)
        return { text: { left: `${member.left}(${owner}::*`, right: `)${member.right}`, wraps: false } };
      return { text: { left: `${member.left} ${owner}::*`, right: member.right, wraps: false } };
    }
    if (c === 'T') {
      const parameter = this.#templateParameter();
      if (this.#input.peek() !== 'I') return { text: parameter };
      this.#keep(parameter);
      return { text: plain(withArguments(join(parameter), this.#templateArguments(false))) };
    }
    if (c === 'D') return this.#extendedType();
    if (c === 'u') {
      this.#input.at++;
      return { text: plain(this.#input.sourceName()) };
    }
    const outer = this.#arguments;
    const name = this.#name();
    this.#arguments = outer;
    return { text: plain(name.text) };
  }

  #extendedType(): { text: TypeText; isBuiltin?: boolean } {
    const builtins: Record<string, string> = {
      Dn: 'decltype(nullptr)',
      Di: 'char32_t',
      Ds: 'char16_t',
      Du: 'char8_t',
      Da: 'auto',
      Dc: 'decltype(auto)',
    };
    const code = this.#input.next(2);
    const builtin = builtins[code];
    if (builtin) {
      this.#input.at += 2;
      return { text: plain(builtin), isBuiltin: true };
    }
    if (code === 'Do') {
      this.#input.at += 2;
      const inner = this.#functionType();
      return { text: { ...inner, right: `${inner.right} noexcept` } };
    }
    throw new Unknown();
  }

  #functionType(): TypeText {
    this.#input.expect('F');
    this.#input.take('Y');
    const result = this.#type();
    const list: string[] = [];
    while (!this.#input.take('E')) {
      const c = this.#input.peek();
      if ((c === 'R' || c === 'O') && this.#input.peek(1) === 'E') {
        this.#input.at += 2;
        break;
      }
      list.push(...this.#typeOrPack().map(join));
    }
    const parameters = list.length === 1 && list[0] === 'void' ? '' : list.join(', ');
    return { left: `${result.left} `, right: `(${parameters})${result.right}`, wraps: true };
  }

  #arrayType(): TypeText {
    this.#input.expect('A');
    const size = this.#input.until('_');
    if (!/^\d*$/.test(size)) throw new Unknown();
    const element = this.#type();
    const right = element.right.startsWith(' [') ? element.right.slice(1) : element.right;
    return { left: element.left, right: ` [${size}]${right}`, wraps: true };
  }

  #templateArguments(forName: boolean): string {
    this.#input.expect('I');
    const list: (TypeText | TypeText[])[] = [];
    const outer = this.#arguments;
    while (!this.#input.take('E')) list.push(this.#templateArgument());
    this.#arguments = forName ? list : outer;
    return list
      .flat()
      .map(join)
      .filter((text) => text !== '')
      .join(', ');
  }

  #templateArgument(): TypeText | TypeText[] {
    if (this.#input.take('J')) {
      const pack: TypeText[] = [];
      while (!this.#input.take('E')) pack.push(...[this.#templateArgument()].flat());
      return pack;
    }
    if (this.#input.peek() === 'L') return plain(this.#literal());
    if (this.#input.take('X')) {
      // Of expressions only the address of a function is common.
      if (!this.#input.take('ad')) throw new Unknown();
      const address = plain(`&${this.#literal().replace(/\(.*\)$/, '')}`);
      this.#input.expect('E');
      return address;
    }
    const list = this.#typeOrPack();
    return list.length === 1 ? (list[0] as TypeText) : list;
  }

  #literal(): string {
    this.#input.expect('L');
    if (this.#input.take('_Z')) {
      const text = this.#encoding();
      this.#input.expect('E');
      return text;
    }
    const code = this.#input.peek();
    const type = join(this.#type());
    const value = this.#input.until('E').replace(/^n/, '-');
    if (code === 'b') return value === '1' ? 'true' : 'false';
    const suffixes: Record<string, string> = { i: '', j: 'u', l: 'l', m: 'ul', x: 'll', y: 'ull' };
    const suffix = suffixes[code];
    return suffix === undefined ? `(${type})${value}` : value + suffix;
  }

  #templateParameter(): TypeText {
    this.#input.expect('T');
    const digits = this.#input.until('_');
    const argument = this.#arguments[digits === '' ? 0 : Number.parseInt(digits, 36) + 1];
    if (argument === undefined) throw new Unknown();
    if (!Array.isArray(argument)) return argument;
    if (this.#packIndex === undefined) return plain(argument.map(join).join(', '));
    this.#packLength = argument.length;
    return argument[this.#packIndex] ?? plain('');
  }

  #substitution(): TypeText {
    this.#input.expect('S');
    const standard = standardSubstitutions[this.#input.peek()];
    if (standard) {
      this.#input.at++;
      return plain(standard);
    }
    const digits = this.#input.until('_');
    const found = this.#substitutions[digits === '' ? 0 : Number.parseInt(digits, 36) + 1];
    if (!found) throw new Unknown();
    return found;
  }

  #qualifiers(): string {
    let text = '';
    const [isRestrict, isVolatile, isConst] = [
      this.#input.take('r'),
      this.#input.take('V'),
      this.#input.take('K'),
    ];
    if (isConst) text += ' const';
    if (isVolatile) text += ' volatile';
    if (isRestrict) text += ' restrict';
    return text;
  }

  #remember(text: string): void {
    this.#substitutions.push(plain(text));
  }

  #keep(type: TypeText): TypeText {
    this.#substitutions.push(type);
    return type;
  }

  #nested<T extends string | TypeText>(parse: () => T): T {
    if (++this.#depth > maxDepth) throw new Unknown();
    const result = parse();
    const length = typeof result === 'string' ? result.length : result.left.length + result.right.length;
    if (length > maxLength) throw new Unknown();
    this.#depth--;
    return result;
  }
}
