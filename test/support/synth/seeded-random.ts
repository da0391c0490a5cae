/** Random numbers from a seed, and texts generated with them. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An integer in [0, limit). */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  text(length: number, alphabet: string): string;
}

/** Mulberry32: small, and the same on every platform. */
export class SeededRandom implements Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  text(length: number, alphabet: string): string {
    let out = '';
    for (let i = 0; i < length; i++) out += alphabet[this.below(alphabet.length)];
    return out;
  }
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = lower.toUpperCase();
const digits = '0123456789';

/** The alphabets of the template letters. */
export const letters = {
  A: lower + upper + digits,
  a: lower + digits,
  U: `${upper}234567`,
  h: `${digits}abcdef`,
  H: `${digits}ABCDEF`,
  d: '123456789',
  w: `${lower}${upper}${digits}_-`,
  b: `${lower}${upper}${digits}+/`,
};

/** Generates a text for a template of secret-kinds.ts: `{A36}` becomes 36 letters and digits. */
export function fillTemplate(template: string, random: Random): string {
  return template.replace(/\{([AaUhHdwb])(\d+)\}/g, (_, kind: keyof typeof letters, length: string) =>
    random.text(Number(length), letters[kind]),
  );
}
