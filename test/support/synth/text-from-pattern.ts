/**
 * Generates a text that matches a simple regular expression: classes, groups, alternatives, bounded repetitions. Lookaheads
 * and lookbehinds are ignored. With it the examples for each rule are generated at run time, and no file contains one.
 */
import type { Random } from './seeded-random.ts';

const wordLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_';
const figures = '0123456789';

export function textFromPattern(pattern: RegExp, random: Random): string {
  const maker = new Maker(pattern.source, random);
  return maker.alternatives();
}

class Maker {
  private readonly source: string;
  private readonly random: Random;
  private at = 0;

  constructor(source: string, random: Random) {
    this.source = source;
    this.random = random;
  }

  /** Reads up to the closing parenthesis or the end. Every branch is read, and one is chosen. */
  alternatives(): string {
    const branches = [this.sequence()];
    while (this.source[this.at] === '|') {
      this.at += 1;
      branches.push(this.sequence());
    }
    return this.random.pick(branches);
  }

  private sequence(): string {
    let out = '';
    while (this.at < this.source.length && !'|)'.includes(this.source[this.at]!)) out += this.repeated();
    return out;
  }

  private repeated(): string {
    const start = this.at;
    const first = this.atom();
    const after = this.at;
    const [least, most] = this.bounds();
    const end = this.at;
    // Enough for any rule that requires random text, and short enough for fast tests.
    const count = Math.max(least, Math.min(most, Math.max(least, 24)));
    let out = count > 0 ? first : '';
    for (let n = 1; n < count; n++) {
      this.at = start;
      out += this.atom();
    }
    this.at = count > 1 ? end : Math.max(after, end);
    return out;
  }

  private bounds(): [number, number] {
    const match = /^(?:\{(\d+)(?:,(\d+))?\}|\?|\*|\+)\??/.exec(this.source.slice(this.at));
    if (!match) return [1, 1];
    this.at += match[0].length;
    if (match[0].startsWith('?')) return [0, 1];
    if (match[0].startsWith('*')) return [0, 8];
    if (match[0].startsWith('+')) return [1, 8];
    return [Number(match[1]), Number(match[2] ?? match[1])];
  }

  private atom(): string {
    const unit = this.source[this.at]!;
    if (unit === '(') return this.group();
    if (unit === '[') return this.fromClass();
    this.at += 1;
    if (unit === '\\') return this.escaped();
    return unit;
  }

  private group(): string {
    const isLook = /^\(\?[=!<]/.test(this.source.slice(this.at));
    this.at += /^\(\?:/.test(this.source.slice(this.at)) ? 3 : isLook ? 3 : 1;
    const text = this.alternatives();
    this.at += 1;
    return isLook ? '' : text;
  }

  private escaped(): string {
    const unit = this.source[this.at]!;
    this.at += 1;
    if (unit === 'd') return this.random.pick([...figures]);
    return unit === 'w' ? this.random.pick([...wordLetters]) : unit;
  }

  private fromClass(): string {
    const end = this.source.indexOf(']', this.at + 1);
    const inside = this.source.slice(this.at + 1, end);
    this.at = end + 1;
    if (inside.startsWith('^')) return this.random.pick([...wordLetters]);
    return this.random.pick([...expandClass(inside)]);
  }
}

function expandClass(inside: string): string {
  let out = '';
  for (let i = 0; i < inside.length; i++) {
    const unit = inside[i]!;
    if (unit === '\\') {
      i += 1;
      out += inside[i] === 'd' ? figures : inside[i] === 'w' ? wordLetters : inside[i];
    } else if (inside[i + 1] === '-' && i + 2 < inside.length) {
      for (let code = unit.charCodeAt(0); code <= inside.charCodeAt(i + 2); code++)
        out += String.fromCharCode(code);
      i += 2;
    } else out += unit;
  }
  return out;
}
