/**
 * Reads one setting by its name: the option of `install()` if given, else the environment variable of the same name. Both are
 * validated by the same rules, since a program in JavaScript may pass anything. Contains no names of settings.
 */

const knownSignals = [
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGINT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGBREAK',
  'SIGALRM',
  'SIGXCPU',
  'SIGSTKFLT',
  'SIGINFO',
];

/** The source of a value, for the warning, and the value as it was given. */
interface Said {
  by: string;
  value: unknown;
}

export class SettingReader {
  readonly #environment: Record<string, string | undefined>;
  readonly #options: Record<string, unknown>;
  readonly #warn: (text: string) => void;

  constructor(
    environment: Record<string, string | undefined>,
    options: Record<string, unknown>,
    warn: (text: string) => void,
  ) {
    this.#environment = environment;
    this.#options = options;
    this.#warn = warn;
  }

  /** Whether a value was given; an empty one does not count. */
  isSaid(name: string): boolean {
    return this.#said(name) !== undefined;
  }

  /** The main switch: `off`, and common spellings of it. */
  onOrOff(value: string | undefined): boolean {
    const text = value?.trim().toLowerCase() ?? '';
    if (/^(off|0|false|no)$/.test(text)) return false;
    if (!/^(on|1|true|yes)?$/.test(text)) this.#warn('AGENTDUMP is not one of on, off; using on');
    return true;
  }

  text(name: string): string | undefined {
    const said = this.#said(name);
    if (said === undefined || typeof said.value === 'string') return said?.value as string | undefined;
    this.#warn(`${said.by} is not a text; ignored`);
    return undefined;
  }

  list(name: string): string[] {
    const said = this.#said(name);
    const items = said && asItems(said.value);
    if (said && !items) this.#warn(`${said.by} is not a list of names; ignored`);
    return items ?? [];
  }

  choice<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    fallback: NoInfer<Choice>,
  ): Choice {
    const said = this.#said(name);
    if (said === undefined) return fallback;
    const wanted = String(said.value).toLowerCase();
    const found = choices.find((choice) => choice === wanted);
    if (found === undefined) this.#warn(`${said.by} is not one of ${choices.join(', ')}; using ${fallback}`);
    return found ?? fallback;
  }

  /** 0 to `most`. */
  count(name: string, fallback: number, most = Number.MAX_SAFE_INTEGER): number {
    const said = this.#said(name);
    if (said === undefined) return fallback;
    const count = asNumber(said.value, /^(\d{1,15})$/);
    if (count !== undefined && count <= most) return count;
    const range = most < Number.MAX_SAFE_INTEGER ? `a number from 0 to ${most}` : 'a number';
    this.#warn(`${said.by} is not ${range}; using ${fallback}`);
    return fallback;
  }

  /** Bytes: digits, optionally followed by K, M or G (powers of 1024). */
  size(name: string, fallback: number): number {
    const said = this.#said(name);
    if (said === undefined) return fallback;
    const size = asNumber(said.value, /^(\d{1,15})\s*([KMG])?i?B?$/i);
    if (size === undefined)
      this.#warn(`${said.by} is not a number (K, M and G may follow it); using ${fallback}`);
    return size ?? fallback;
  }

  /** `none` and an empty list mean no signals. Unknown names are left out; if none is left, the default applies. */
  signals(name: string, fallback: NodeJS.Signals[]): NodeJS.Signals[] {
    const said = this.#said(name);
    if (said === undefined) return fallback;
    const wanted = (asItems(said.value) ?? [String(said.value)]).filter((item) => !isNone(item));
    const known = wanted.flatMap((item) => asSignal(item) ?? []);
    const useDefault = wanted.length > 0 && known.length === 0;
    for (const item of wanted.filter((item) => asSignal(item) === undefined))
      this.#warnOfSignal(said, item, useDefault ? `using ${fallback.join(',')}` : 'ignored');
    return useDefault ? fallback : known;
  }

  signal(name: string, fallback: NodeJS.Signals | 'off'): NodeJS.Signals | 'off' {
    const said = this.#said(name);
    if (said === undefined) return fallback;
    const text = String(said.value);
    if (isNone(text)) return 'off';
    const signal = asSignal(text);
    if (signal === undefined) this.#warnOfSignal(said, text, `using ${fallback}`);
    return signal ?? fallback;
  }

  #warnOfSignal({ by }: Said, text: string, consequence: string): void {
    this.#warn(`${by} names ${JSON.stringify(text)}, which is no signal that can be caught; ${consequence}`);
  }

  #said(name: string): Said | undefined {
    const option = this.#options[name];
    if (option !== undefined && option !== null)
      return { by: `install's ${name}`, value: typeof option === 'string' ? option.trim() : option };
    const variable = `AGENTDUMP_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
    const value = this.#environment[variable]?.trim();
    return value ? { by: variable, value } : undefined;
  }
}

/** From an array or a comma-separated text; undefined for anything else. */
function asItems(value: unknown): string[] | undefined {
  const items = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(items) || !items.every((item) => typeof item === 'string')) return undefined;
  return items.map((item) => item.trim()).filter(Boolean);
}

/** A number as it is, or the digits that `form` matches, times the power of 1024 that its second group names. */
function asNumber(value: unknown, form: RegExp): number | undefined {
  if (typeof value === 'number') return value >= 0 && Number.isFinite(value) ? value : undefined;
  const [, digits, unit = ''] = form.exec(String(value)) ?? [];
  return digits === undefined
    ? undefined
    : Number(digits) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase());
}

function asSignal(text: string): NodeJS.Signals | undefined {
  const upper = text.toUpperCase();
  const signal = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  return knownSignals.includes(signal) ? (signal as NodeJS.Signals) : undefined;
}

function isNone(text: string): boolean {
  return /^(off|none)$/i.test(text);
}
