/**
 * Types, template arguments and substitutions of mangled C++ names: Itanium C++ ABI §5.1.5 to §5.1.10. The grammar of names,
 * which is mutually recursive with this one, is in demangle.ts.
 */
import { builtinTypes, standardSubstitutions } from './codes.ts';
import { MangledText, Unknown } from './mangled-text.ts';
import { join, plain, pointer, type TypeText, withArguments } from './type-text.ts';

export interface NameText {
  text: string;
  /** Ends with template arguments, so its encoding starts with the return type. */
  isTemplate: boolean;
  /** Constructor, destructor or conversion: has no return type in the encoding. */
  isSpecial: boolean;
  qualifiers: string;
}

const maxDepth = 256;
const maxLength = 16_384;

export abstract class TypeDemangler {
  protected readonly input: MangledText;
  protected depth = 0;
  protected readonly substitutions: TypeText[] = [];
  /** Arguments of the innermost template whose parameters can be referred to. A pack is a list. */
  protected arguments: (TypeText | TypeText[])[] = [];
  protected packIndex: number | undefined;
  protected packLength: number | undefined;
  constructor(input: string) {
    this.input = new MangledText(input, 2);
  }

  /** A pack expansion results in several types. */
  protected typeOrPack(): TypeText[] {
    if (!this.input.take('Dp')) return [this.type()];
    const start = this.input.at;
    const known = this.substitutions.length;
    const list: TypeText[] = [];
    const outer = this.packIndex;
    for (let i = 0; ; i++) {
      this.input.at = start;
      if (i > 0) this.substitutions.length = known;
      this.packIndex = i;
      this.packLength = undefined;
      const type = this.type();
      const length = this.packLength ?? 1;
      if (length > 0) list.push(type);
      if (i + 1 >= length || i > maxDepth) break;
    }
    this.packIndex = outer;
    return list;
  }

  protected type(): TypeText {
    return this.nested(() => {
      const c = this.input.peek();
      const builtin = builtinTypes[c];
      if (builtin) {
        this.input.at++;
        return plain(builtin);
      }
      if (c === 'S' && this.input.peek(1) !== 't') return this.substitutedType();
      const type = this.compoundType(c);
      if (type.isBuiltin) return type.text;
      return this.keep(type.text);
    });
  }

  protected substitutedType(): TypeText {
    const base = this.substitution();
    if (this.input.peek() !== 'I') return base;
    return this.keep(plain(withArguments(join(base), this.templateArguments(false))));
  }

  protected compoundType(c: string): { text: TypeText; isBuiltin?: boolean } {
    if (/[rVK]/.test(c)) {
      const qualifiers = this.qualifiers();
      const inner = this.type();
      if (inner.wraps) return { text: { ...inner, right: inner.right + qualifiers } };
      // `T const` where T is already const.
      if (inner.left.endsWith(qualifiers)) return { text: inner };
      return { text: { ...inner, left: inner.left + qualifiers } };
    }
    if (c === 'P' || c === 'R' || c === 'O') {
      this.input.at++;
      return { text: pointer(this.type(), c === 'P' ? '*' : c === 'R' ? '&' : '&&') };
    }
    if (c === 'F') return { text: this.functionType() };
    if (c === 'A') return { text: this.arrayType() };
    if (c === 'M') {
      this.input.at++;
      const owner = join(this.type());
      const member = this.type();
      if (member.wraps)
        return { text: { left: `${member.left}(${owner}::*`, right: `)${member.right}`, wraps: false } };
      return { text: { left: `${member.left} ${owner}::*`, right: member.right, wraps: false } };
    }
    if (c === 'T') {
      const parameter = this.templateParameter();
      if (this.input.peek() !== 'I') return { text: parameter };
      this.keep(parameter);
      return { text: plain(withArguments(join(parameter), this.templateArguments(false))) };
    }
    if (c === 'D') return this.extendedType();
    if (c === 'u') {
      this.input.at++;
      return { text: plain(this.input.sourceName()) };
    }
    const outer = this.arguments;
    const name = this.name();
    this.arguments = outer;
    return { text: plain(name.text) };
  }

  protected extendedType(): { text: TypeText; isBuiltin?: boolean } {
    const builtins: Record<string, string> = {
      Dn: 'decltype(nullptr)',
      Di: 'char32_t',
      Ds: 'char16_t',
      Du: 'char8_t',
      Da: 'auto',
      Dc: 'decltype(auto)',
    };
    const code = this.input.next(2);
    const builtin = builtins[code];
    if (builtin) {
      this.input.at += 2;
      return { text: plain(builtin), isBuiltin: true };
    }
    if (code === 'Do') {
      this.input.at += 2;
      const inner = this.functionType();
      return { text: { ...inner, right: `${inner.right} noexcept` } };
    }
    throw new Unknown();
  }

  protected functionType(): TypeText {
    this.input.expect('F');
    this.input.take('Y');
    const result = this.type();
    const list: string[] = [];
    while (!this.input.take('E')) {
      const c = this.input.peek();
      if ((c === 'R' || c === 'O') && this.input.peek(1) === 'E') {
        this.input.at += 2;
        break;
      }
      list.push(...this.typeOrPack().map(join));
    }
    const parameters = list.length === 1 && list[0] === 'void' ? '' : list.join(', ');
    return { left: `${result.left} `, right: `(${parameters})${result.right}`, wraps: true };
  }

  protected arrayType(): TypeText {
    this.input.expect('A');
    const size = this.input.until('_');
    if (!/^\d*$/.test(size)) throw new Unknown();
    const element = this.type();
    const right = element.right.startsWith(' [') ? element.right.slice(1) : element.right;
    return { left: element.left, right: ` [${size}]${right}`, wraps: true };
  }

  protected templateArguments(forName: boolean): string {
    this.input.expect('I');
    const list: (TypeText | TypeText[])[] = [];
    const outer = this.arguments;
    while (!this.input.take('E')) list.push(this.templateArgument());
    this.arguments = forName ? list : outer;
    return list
      .flat()
      .map(join)
      .filter((text) => text !== '')
      .join(', ');
  }

  protected templateArgument(): TypeText | TypeText[] {
    if (this.input.take('J')) {
      const pack: TypeText[] = [];
      while (!this.input.take('E')) pack.push(...[this.templateArgument()].flat());
      return pack;
    }
    if (this.input.peek() === 'L') return plain(this.literal());
    if (this.input.take('X')) {
      // The address of a function is the only common expression.
      if (!this.input.take('ad')) throw new Unknown();
      const address = plain(`&${this.literal().replace(/\(.*\)$/, '')}`);
      this.input.expect('E');
      return address;
    }
    const list = this.typeOrPack();
    return list.length === 1 ? (list[0] as TypeText) : list;
  }

  protected literal(): string {
    this.input.expect('L');
    if (this.input.take('_Z')) {
      const text = this.encoding();
      this.input.expect('E');
      return text;
    }
    const code = this.input.peek();
    const type = join(this.type());
    const value = this.input.until('E').replace(/^n/, '-');
    if (code === 'b') return value === '1' ? 'true' : 'false';
    const suffixes: Record<string, string> = { i: '', j: 'u', l: 'l', m: 'ul', x: 'll', y: 'ull' };
    const suffix = suffixes[code];
    return suffix === undefined ? `(${type})${value}` : value + suffix;
  }

  protected templateParameter(): TypeText {
    this.input.expect('T');
    const digits = this.input.until('_');
    const argument = this.arguments[digits === '' ? 0 : Number.parseInt(digits, 36) + 1];
    if (argument === undefined) throw new Unknown();
    if (!Array.isArray(argument)) return argument;
    if (this.packIndex === undefined) return plain(argument.map(join).join(', '));
    this.packLength = argument.length;
    return argument[this.packIndex] ?? plain('');
  }

  protected substitution(): TypeText {
    this.input.expect('S');
    const standard = standardSubstitutions[this.input.peek()];
    if (standard) {
      this.input.at++;
      return plain(standard);
    }
    const digits = this.input.until('_');
    const found = this.substitutions[digits === '' ? 0 : Number.parseInt(digits, 36) + 1];
    if (!found) throw new Unknown();
    return found;
  }

  protected qualifiers(): string {
    let text = '';
    const [isRestrict, isVolatile, isConst] = [
      this.input.take('r'),
      this.input.take('V'),
      this.input.take('K'),
    ];
    if (isConst) text += ' const';
    if (isVolatile) text += ' volatile';
    if (isRestrict) text += ' restrict';
    return text;
  }

  protected remember(text: string): void {
    this.substitutions.push(plain(text));
  }

  protected keep(type: TypeText): TypeText {
    this.substitutions.push(type);
    return type;
  }

  protected nested<T extends string | TypeText>(parse: () => T): T {
    if (++this.depth > maxDepth) throw new Unknown();
    const result = parse();
    const length = typeof result === 'string' ? result.length : result.left.length + result.right.length;
    if (length > maxLength) throw new Unknown();
    this.depth--;
    return result;
  }

  protected abstract name(): NameText;
  protected abstract encoding(isOuter?: boolean): string;
}
