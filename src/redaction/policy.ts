/**
 * The redaction settings of one process: the host's lists of names, known values, patterns and home folder, plus counts of
 * what was withheld so far, by rule. Everything that capture writes passes through one of these methods.
 */
import { redactArguments } from './arguments.ts';
import { type EnvironmentValue, isWorthKnowing, redactEnvironment } from './environment.ts';
import { HomeFolder } from './home-folder.ts';
import { NameBook } from './names/name-book.ts';
import { renderMasked, renderQuotedOnly } from './program-text.ts';
import { Detector } from './scan/detector.ts';
import { defaultLimits, redactValue, type ValueLimits } from './structured-value.ts';
import { KnownValues } from './values/known-values.ts';

export type { ValueLimits };

import { type Render, TextRedactor } from './text-redactor.ts';

export interface PolicyOptions {
  /** Values of variables with sensitive names become known values. */
  environment?: Record<string, string | undefined>;
  known?: readonly string[];
  /** Names (of variables, fields, headers) that are never withheld, in any casing. */
  allow?: readonly string[];
  /** Names that are always withheld. */
  deny?: readonly string[];
  /** Whatever they match is withheld. The host is responsible for their speed. */
  patterns?: readonly RegExp[];
  /** The user's name in this path is removed from paths. */
  home?: string;
}

export interface Policy {
  /** Redacts a text. */
  text(text: string): string;
  /** A JSON-safe copy of any value. Property names are read as context. Never throws. */
  value(value: unknown, limits?: Partial<ValueLimits>): unknown;
  environment(environment: Record<string, string | undefined>): Record<string, EnvironmentValue>;
  argv(argv: readonly string[]): string[];
  /** From now on withholds this value wherever it occurs. False if it is too short to be searched for. */
  addKnown(value: string): boolean;
  /** What was withheld since the last reset, by rule. */
  counts(): Map<string, number>;
  resetCounts(): void;
  /** A redactor for a text in chunks, under this policy. */
  stream(): { write(chunk: string): string; end(): string };
  /** Redacts program source; length and line breaks are preserved. */
  code(text: string): string;
  /** Like `text`, with length and line breaks preserved: for memory, where addresses must stay valid. */
  masked(text: string): string;
  /** Like `text`, but for lists of names, where a word is no context for the next one. */
  names(text: string): string;
}

export function createPolicy(options: PolicyOptions = {}): Policy {
  return new ProcessPolicy(options);
}

const longestRemembered = 120;
const mostRemembered = 1000;

/** Built on first use: a process that never dies only pays for a copy of its environment. */
interface Engine {
  detector: Detector;
  nameDetector: Detector;
}

class ProcessPolicy implements Policy {
  private readonly book: NameBook;
  private readonly known = new KnownValues();
  private readonly patterns: RegExp[];
  private readonly home: HomeFolder;
  /** A copy from when the policy was created, because programs may delete their secrets from the environment later. */
  private environmentThen: Record<string, string | undefined> | undefined;
  private built: Engine | undefined;
  private tally = new Map<string, number>();
  /**
   * Texts in which nothing was withheld. Names, hosts and folders recur, and a short text costs as much as a page (measured:
   * 20 to 40 µs).
   */
  private readonly clean = new Set<string>();

  constructor(options: PolicyOptions) {
    this.book = new NameBook(options.allow, options.deny);
    this.patterns = (options.patterns ?? []).map(asGlobal);
    this.home = new HomeFolder(options.home);
    this.environmentThen = { ...options.environment };
    for (const value of options.known ?? []) this.addKnown(value);
  }

  private engine(): Engine {
    this.learnEnvironment();
    this.built ??= this.build();
    return this.built;
  }

  private build(): Engine {
    const parts = { names: this.book, known: this.known, patterns: this.patterns };
    return {
      detector: new Detector({ ...parts, context: true }),
      nameDetector: new Detector({ ...parts, context: false }),
    };
  }

  private learnEnvironment(): void {
    const environment = this.environmentThen;
    if (!environment) return;
    this.environmentThen = undefined;
    for (const [name, value] of Object.entries(environment))
      if (value !== undefined && isWorthKnowing(name, value, this.book)) this.addKnown(value);
  }

  text(text: string): string {
    if (this.clean.has(text)) return text;
    const shown = this.home.hide(this.run(this.engine().detector, text));
    if (shown === text && text.length <= longestRemembered && this.clean.size < mostRemembered)
      this.clean.add(text);
    return shown;
  }

  names(text: string): string {
    return this.home.hide(this.run(this.engine().nameDetector, text));
  }

  code(text: string): string {
    const { detector, nameDetector } = this.engine();
    return this.run(nameDetector, this.run(detector, text, renderQuotedOnly), renderMasked);
  }

  masked(text: string): string {
    return this.run(this.engine().detector, text, renderMasked);
  }

  private run(detector: Detector, text: string, render?: Render): string {
    if (text.length < 4) return text;
    const redactor = new TextRedactor(detector, this, render);
    return redactor.write(text) + redactor.end();
  }

  stream(): { write(chunk: string): string; end(): string } {
    return new TextRedactor(this.engine().detector, this);
  }

  value(value: unknown, limits: Partial<ValueLimits> = {}): unknown {
    return redactValue(value, this.rules(), { ...defaultLimits, ...limits });
  }

  environment(environment: Record<string, string | undefined>): Record<string, EnvironmentValue> {
    return redactEnvironment(environment, this.rules());
  }

  argv(argv: readonly string[]): string[] {
    return redactArguments(argv, this.rules());
  }

  addKnown(value: string): boolean {
    this.clean.clear();
    return typeof value === 'string' && this.known.add(value);
  }

  counts(): Map<string, number> {
    return new Map(this.tally);
  }

  resetCounts(): void {
    this.tally = new Map();
  }

  count(rule: string): void {
    this.tally.set(rule, (this.tally.get(rule) ?? 0) + 1);
  }

  private rules() {
    return {
      names: this.book,
      text: (text: string) => this.text(text),
      count: (rule: string) => this.count(rule),
    };
  }
}

const asGlobal = (pattern: RegExp): RegExp =>
  new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
