/**
 * Demangles C++ names. Follows the Itanium C++ ABI §5.1 ("External Names"); the output is that of c++filt. Names with
 * unsupported constructs are returned unchanged. Depth and length are limited, because names may come from hostile files.
 */
import { operators } from './codes.ts';
import { type NameText, TypeDemangler } from './demangle-types.ts';
import { Unknown } from './mangled-text.ts';
import { demangleRust, isRustName } from './rust.ts';
import { join, lastComponent, withArguments } from './type-text.ts';

const maxInput = 8_192;

/** `_ZN4node5StartEiPPc` → `node::Start(int, char**)`; anything else is returned unchanged. */
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

/** The grammar of names. It extends the grammar of types, because names and types contain each other. */
class Demangler extends TypeDemangler {
  demangle(): string {
    const text = this.encoding();
    const rest = this.input.rest();
    if (rest === '') return text;
    if (/^(?:\.[a-zA-Z_]+(?:\.\d+)*)+$/.test(rest))
      return text + rest.replace(/\.[a-zA-Z_]+(?:\.\d+)*/g, (clone) => ` [clone ${clone}]`);
    throw new Unknown();
  }

  /** For a name inside of a function, that function is printed without its return type. */
  protected encoding(isOuter = false): string {
    return this.nested(() => {
      const special = this.specialName();
      if (special !== undefined) return special;
      const name = this.name();
      if (this.input.atEnd()) return name.text + name.qualifiers;
      let left = '';
      let right = '';
      if (name.isTemplate && !name.isSpecial) {
        const result = this.type();
        if (isOuter) return `${name.text}(${this.parameters()})${name.qualifiers}`;
        left = result.left.endsWith('(*') || result.wraps ? result.left : `${result.left} `;
        right = result.right;
      }
      return `${left}${name.text}(${this.parameters()})${right}${name.qualifiers}`;
    });
  }

  protected specialName(): string | undefined {
    const two = this.input.next(2);
    const prefixes: Record<string, string> = {
      TV: 'vtable for ',
      TT: 'VTT for ',
      TI: 'typeinfo for ',
      TS: 'typeinfo name for ',
    };
    const prefix = prefixes[two];
    if (prefix) {
      this.input.at += 2;
      return prefix + join(this.type());
    }
    const variable: Record<string, string> = {
      GV: 'guard variable for ',
      TH: 'TLS init function for ',
      TW: 'TLS wrapper function for ',
    };
    const described = variable[two];
    if (described) {
      this.input.at += 2;
      return described + this.name().text;
    }
    if (two !== 'Th' && two !== 'Tv') return undefined;
    this.input.at += 2;
    this.input.until('_');
    if (two === 'Tv') this.input.until('_');
    return `${two === 'Th' ? 'non-virtual' : 'virtual'} thunk to ${this.encoding()}`;
  }

  protected parameters(): string {
    const list: string[] = [];
    while (!this.input.atEnd()) {
      const type = this.typeOrPack();
      list.push(...type.map(join));
    }
    return list.length === 1 && list[0] === 'void' ? '' : list.join(', ');
  }

  protected name(): NameText {
    const c = this.input.peek();
    if (c === 'N') return this.nestedName();
    if (c === 'Z') return this.localName();
    let text: string;
    let isSpecial = false;
    if (c === 'S' && this.input.peek(1) !== 't') {
      text = join(this.substitution());
    } else {
      const isStd = this.input.take('St');
      const part = this.unqualified('');
      text = (isStd ? 'std::' : '') + part.text;
      isSpecial = part.isSpecial;
      if (this.input.peek() === 'I') this.remember(text);
    }
    if (this.input.peek() !== 'I') return { text, isTemplate: false, isSpecial, qualifiers: '' };
    return {
      text: withArguments(text, this.templateArguments(true)),
      isTemplate: true,
      isSpecial,
      qualifiers: '',
    };
  }

  /** Later substitutions may refer to every prefix, but not to the whole name; the enclosing type adds that. */
  protected nestedName(): NameText {
    this.input.at++;
    if (this.input.peek() === 'E') throw new Unknown();
    const qualifiers = this.qualifiers();
    const reference = this.input.take('R') ? ' &' : this.input.take('O') ? ' &&' : '';
    let text = '';
    let last = '';
    let isTemplate = false;
    let isSpecial = false;
    let remembered = false;
    while (!this.input.take('E')) {
      const c = this.input.peek();
      if (c === 'I' && text) {
        text = withArguments(text, this.templateArguments(true));
        isTemplate = true;
      } else if (c === 'S' && this.input.peek(1) !== 't') {
        text = join(this.substitution());
        last = lastComponent(text);
        remembered = false;
        continue;
      } else if (c === 'T') {
        text = join(this.templateParameter());
        isTemplate = false;
      } else if (c === 'D' && /[tT]/.test(this.input.peek(1) ?? '')) {
        text = join(this.type());
      } else if (c === 'M') {
        this.input.at++;
        continue;
      } else {
        const isStd = this.input.take('St');
        const part = isStd
          ? { text: `std::${this.unqualified('').text}`, isSpecial: false }
          : this.unqualified(last);
        last = part.text;
        isSpecial = part.isSpecial;
        isTemplate = false;
        text = text ? `${text}::${part.text}` : part.text;
      }
      this.remember(text);
      remembered = true;
    }
    if (remembered) this.substitutions.pop();
    return { text, isTemplate, isSpecial, qualifiers: qualifiers + reference };
  }

  protected localName(): NameText {
    this.input.at++;
    const outer = this.encoding(true);
    this.input.expect('E');
    if (this.input.take('s')) {
      this.discriminator();
      return { text: `${outer}::string literal`, isTemplate: false, isSpecial: false, qualifiers: '' };
    }
    if (this.input.take('d')) this.input.until('_');
    const name = this.name();
    this.discriminator();
    return { ...name, text: `${outer}::${name.text}` };
  }

  protected discriminator(): void {
    const match = /^(?:__\d+_|_\d)/.exec(this.input.next(12));
    if (match) this.input.at += match[0].length;
  }

  protected unqualified(enclosing: string): { text: string; isSpecial: boolean } {
    this.input.take('L');
    const c = this.input.peek();
    let text: string;
    let isSpecial = false;
    if (c >= '0' && c <= '9') text = this.input.sourceName();
    else if (c === 'C' || (c === 'D' && /[0-5]/.test(this.input.peek(1) ?? ''))) {
      this.input.at += 2;
      if (c === 'C' && this.input.peek(-1) === 'I') throw new Unknown();
      const name = lastComponent(enclosing);
      text = c === 'D' ? `~${name}` : name;
      isSpecial = true;
    } else if (c === 'U') text = this.unnamed();
    else ({ text, isSpecial } = this.operator());
    while (this.input.take('B')) text += `[abi:${this.input.sourceName()}]`;
    return { text, isSpecial };
  }

  protected unnamed(): string {
    this.input.at++;
    if (this.input.take('t')) return `{unnamed type#${this.input.index()}}`;
    if (!this.input.take('l')) throw new Unknown();
    const parameters = this.parameters();
    this.input.expect('E');
    return `{lambda(${parameters})#${this.input.index()}}`;
  }

  protected operator(): { text: string; isSpecial: boolean } {
    const code = this.input.next(2);
    this.input.at += 2;
    if (code === 'cv') return { text: `operator ${join(this.type())}`, isSpecial: true };
    if (code === 'li') return { text: `operator"" ${this.input.sourceName()}`, isSpecial: false };
    const symbol = operators[code];
    if (!symbol) throw new Unknown();
    return { text: `operator${/^[a-z]/.test(symbol) ? ' ' : ''}${symbol}`, isSpecial: false };
  }
}
