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
import { userListRule } from './scan/page.ts';
import { defaultLimits, redactValue, type ValueLimits } from './structured-value.ts';
import { Findings } from './values/findings.ts';
import { KnownValues } from './values/known-values.ts';

export type { ValueLimits };

import { type Render, TextRedactor } from './text-redactor.ts';

export interface PolicyOptions {
  /** Values of variables with sensitive names become known values. */
  environment?: Record<string, string | undefined>;
  /** What is withheld from these words is withheld everywhere. */
  commandLine?: readonly string[];
  known?: readonly string[];
  /** Names (of variables, fields, headers) that are never withheld, in any casing. */
  allow?: readonly string[];
  /** Names that are always withheld. */
  deny?: readonly string[];
  /** Whatever they match is withheld. The host is responsible for their speed. */
  patterns?: readonly RegExp[];
  /** The user's name in this path is removed from paths. */
  home?: string;
  /** What it withholds becomes a known value, as far as it is a secret in any surroundings. */
  learns?: boolean;
  /** `util.types.isProxy`, if the values are of a program that must not notice that they are copied: none of its code is run. */
  isProxy?: (value: object) => boolean;
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
  /** What it has withheld so far and would be worth knowing. */
  findings(): string[];
  /** Withholds known values only: in what was written before they were known. Length is preserved on request. */
  knownOnly(text: string, keepsLength?: boolean): string;
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
  knownDetector: Detector;
}

class ProcessPolicy implements Policy {
  private readonly book: NameBook;
  private readonly known = new KnownValues();
  private readonly patterns: RegExp[];
  private readonly home: HomeFolder;
  private readonly learns: boolean;
  private readonly isProxy: PolicyOptions['isProxy'];
  private readonly found = new Findings();
  /** A copy from when the policy was created, because programs may delete their secrets from the environment later. */
  private environmentThen: Record<string, string | undefined> | undefined;
  private commandLine: readonly string[];
  private built: Engine | undefined;
  private tally = new Map<string, number>();
  /** What a flag of a command line announces is certain, even if it is a word. */
  private inArguments = false;
  /**
   * Texts in which nothing was withheld. Names, hosts and folders recur, and a short text costs as much as a page (measured:
   * 20 to 40 µs).
   */
  private readonly clean = new Set<string>();

  constructor(options: PolicyOptions) {
    this.book = new NameBook(options.allow, options.deny);
    this.patterns = (options.patterns ?? []).map(asGlobal);
    this.home = new HomeFolder(options.home);
    this.learns = options.learns ?? false;
    this.isProxy = options.isProxy;
    this.environmentThen = { ...options.environment };
    this.commandLine = options.commandLine ?? [];
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
      knownDetector: new Detector({ ...parts, patterns: [], context: false, onlyKnown: true }),
    };
  }

  private learnEnvironment(): void {
    const environment = this.environmentThen;
    if (!environment) return;
    this.environmentThen = undefined;
    for (const [name, value] of Object.entries(environment))
      if (value !== undefined && isWorthKnowing(name, value, this.book)) this.addKnown(value);
    this.learnCommandLine();
  }

  /** Counts nothing: this is not yet a part of a bundle. */
  private learnCommandLine(): void {
    if (this.commandLine.length === 0) return;
    const { tally } = this;
    this.tally = new Map();
    this.argv(this.commandLine);
    this.tally = tally;
    for (const value of this.found.all()) this.addKnown(value);
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

  /** A secret may stand bare before the place that shows what it is: what is found now is looked for again. */
  private run(detector: Detector, text: string, render?: Render): string {
    if (text.length < 4) return text;
    const { count } = this.found;
    const clean = this.search(detector, text, render);
    return this.learns && this.found.count > count ? this.knownOnly(clean, render !== undefined) : clean;
  }

  private search(detector: Detector, text: string, render?: Render): string {
    const redactor = new TextRedactor(detector, this, render);
    return redactor.write(text) + redactor.end();
  }

  findings(): string[] {
    return this.found.all();
  }

  knownOnly(text: string, keepsLength = false): string {
    return this.search(this.engine().knownDetector, text, keepsLength ? renderMasked : undefined);
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
    // The first call learns the process's own command line with another one.
    const { inArguments } = this;
    this.inArguments = true;
    try {
      return redactArguments(argv, this.rules());
    } finally {
      this.inArguments = inArguments;
    }
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

  count(rule: string, value: string, isCertain = false): void {
    this.tally.set(rule, (this.tally.get(rule) ?? 0) + 1);
    if (rule === 'known-value' || rule === userListRule) return;
    if (this.found.note(value, isCertain || this.inArguments) && this.learns) this.addKnown(value);
  }

  private rules() {
    return {
      names: this.book,
      text: (text: string) => this.text(text),
      count: (rule: string, value: string, isCertain?: boolean) => this.count(rule, value, isCertain),
      isProxy: this.isProxy,
    };
  }
}

const asGlobal = (pattern: RegExp): RegExp =>
  new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
