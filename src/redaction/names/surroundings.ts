/**
 * Context for a name that is not sensitive itself: the object or the indented lines that contain it, and the field before it
 * that names it. Knows nothing about the format of values.
 */

import { findSecretData } from '../grammars/yaml-values.ts';
import type { Finding, Page } from '../scan/page.ts';
import { hasLongRandomPart, looksRandom } from '../values/randomness.ts';
import { indentOf, readIndented, readQuoted, startsLine, type ValueSpan } from '../values/value-span.ts';
import { isSecretValue, looksChosen, type ValueForm } from '../values/values.ts';
import type { NameVerdict } from './key-names.ts';
import type { NameBook } from './name-book.ts';
import type { NamePlace } from './name-place.ts';
import { judgeSelector } from './selectors.ts';

/** Objects of secrets are read up to this length. */
const longestGroup = 2048;

/** The verdicts that an object's name implies for its fields, and for fields that only hold its content. */
interface Group {
  end: number;
  verdict: NameVerdict;
  content: NameVerdict;
}

const nothing: NameVerdict = { strength: 0, rule: '' };

const contentBefore =
  /[{,]\s{0,20}\\*["']?(?:value|val|stringValue|content)\\*["']?\s?[:=]\s{0,4}\\*["']([^"'\\\n]{4,200})\\*["']\s?,\s{0,20}\\*["']?\w{2,10}\\*["']?\s?[:=]\s{0,4}\\*["']$/i;

/** `UPDATE settings SET value = 'x' WHERE name = '` */
const setBefore =
  /\bset\s{1,4}["`[]?\w{0,12}(?:value|val|content)["`\]]?\s?=\s?'([^'\n]{4,200})'[^;'\n]{0,80}\bwhere\s[^;'\n]{0,40}=\s?'$/i;

const typedBehind =
  /\s{0,20},\s{0,20}(?:\\*["']?\w{1,20}\\*["']?\s?:\s?[^,{}\n]{0,60},\s{0,20}){0,2}\\*["']?(?:text|value|input|content)\\*["']?\s?:\s?(?=\\*["'])/y;
const mayHoldId = /(?:id|ref|target)\\*["']?\s?:/;
const idOfField = /[{,\s]\\*["']?(?:id|ref|target)\\*["']?\s?:\s?\\*["']([\w.-]{2,40})\\*["'][^{}]{0,160}$/;

const mark = String.raw`\\*"(?:is_?)?(?:sensitive|secret|secured|masked)\\*"\s?:\s?true\b`;
const markedBefore = new RegExp(`${mark}[^{}]*$`, 'i');
const markedBehind = new RegExp(
  `^\\w+\\\\*"\\s?:\\s?\\\\*"[^"\\n]{1,200}"[^{}"]{0,20}(?:"[^{}\\n]{0,100}\\s{0,20})?${mark}`,
  'i',
);

/** The greatest distance between a name in one field and its value in another. */
const labelReach = 240;

export class Surroundings {
  private readonly names: NameBook;
  private page!: Page;
  private out!: Finding[];
  private label: NameVerdict | undefined;
  private labelUntil = 0;
  /** The innermost object of secrets, up to its first closing bracket. */
  private group: Group = { end: 0, verdict: nothing, content: nothing };

  constructor(names: NameBook) {
    this.names = names;
  }

  open(page: Page, out: Finding[]): void {
    this.page = page;
    this.out = out;
    this.label = undefined;
    this.group.end = 0;
  }

  get groupEnd(): number {
    return this.group.end;
  }

  /** The verdict for any field of the object around `start`. */
  groupAt(start: number): NameVerdict | undefined {
    if (start >= this.group.end || /^_?id\W/.test(this.page.text.slice(start, start + 4))) return undefined;
    return this.group.verdict;
  }

  /** `"password": {"value": "x"}`: such a field has the verdict of the object's name. */
  contentAt(start: number): NameVerdict | undefined {
    return start < this.group.end ? this.group.content : undefined;
  }

  /** An object under a name like `secrets`: random-looking values in it are secrets, whatever their names. */
  openGroup(at: number, verdict: NameVerdict): void {
    if (
      verdict.strength < 1 ||
      !/^(?:secret|token|credential|password|cookie|api-key|private-key)$/.test(verdict.rule)
    )
      return;
    const length = this.page.text
      .slice(at, at + longestGroup)
      .indexOf(this.page.units[at] === 91 ? ']' : '}');
    const end = length < 0 ? at : at + length;
    this.group = { end, verdict: { strength: 1, rule: verdict.rule }, content: verdict };
  }

  /** Like openGroup for YAML: all lines that are indented deeper. */
  openLines(at: number, place: NamePlace, { strength, rule }: NameVerdict): void {
    if (strength < 1 || !/^(?:secret|token|credential|password|api-key)$/.test(rule)) return;
    const lines = readIndented(this.page, at + 1, indentOf(this.page, place.start));
    if (!lines || !startsLine(this.page, place.start)) return;
    this.findItems(lines, rule);
    this.group = {
      end: Math.min(lines.end, at + longestGroup),
      // `passwords:` contains nothing else.
      verdict: { strength: rule === 'password' && this.page.units[place.end - 1] === 115 ? 3 : 1, rule },
      content: { strength, rule },
    };
  }

  /** `- x` below `secrets:`: random-looking items are secrets. */
  private findItems(lines: ValueSpan, rule: string): void {
    const text = this.page.text.slice(lines.start, Math.min(lines.end, lines.start + longestGroup));
    for (const match of text.matchAll(
      /(?:^|\n)[ \t]{0,40}(?:- )?["']?([^\s"':]{12,400})["']?[ \t]*(?=\r?\n|$)/g,
    )) {
      const value = match[1]!;
      if (!looksRandom(value) || !looksChosen(value)) continue;
      const start = lines.start + match.index + match[0].indexOf(value);
      this.out.push({ start, end: start + value.length, rule });
    }
  }

  /** `data:` of a Kubernetes secret: every value in it is a secret. */
  openManifest({ start, behind }: NamePlace): number {
    const end = findSecretData(this.page, start, behind);
    const verdict: NameVerdict = { strength: 3, rule: 'secret' };
    if (end !== undefined) this.group = { end, verdict, content: verdict };
    return behind;
  }

  /** Whether a field at `start` may take the noted label. */
  hasLabelFor(start: number): boolean {
    return this.label !== undefined && start <= this.labelUntil;
  }

  /** The value is itself a sensitive name, so the next field holds the secret. */
  noteLabel(span: ValueSpan, label?: NameVerdict): boolean {
    const { start, end } = span;
    if (label?.rule === 'selector')
      return end - start < 200 && this.takeTyped(span.close, judgeSelector(this.page.text.slice(start, end)));
    const named = this.names.lookUp(this.page, span.start, span.end);
    if (!named || (named.strength < 2 && named.rule !== 'session')) {
      // The name of another element.
      if (label?.rule === '' && this.page.text.slice(this.labelUntil - labelReach, span.start).includes('<'))
        this.label = undefined;
      return false;
    }
    // A field `type` only counts for unambiguous words: tokens of a parser have one too.
    if (label?.rule === 'type' && !/^(?:password|secret)$/.test(named.rule)) return false;
    const name = this.page.text.slice(span.start, span.end);
    // The names of a parameter store are paths: `/prod/db/password`.
    if (!/^[\w.$:/-]+$/.test(name) || hasLongRandomPart(name)) return false;
    // `key: PropertyKey$1`: a type of a compiled declaration.
    if (/[a-z]\$\d{1,2}$/.test(name)) return false;
    if (label && this.takeContentBefore(span, named)) return true;
    this.label = named;
    this.labelUntil = span.close + labelReach;
    return true;
  }

  /** The text for the selected field, in one of the next fields. */
  private takeTyped(from: number, verdict: NameVerdict | undefined): boolean {
    typedBehind.lastIndex = from;
    if (!verdict || !typedBehind.test(this.page.text)) return false;
    const span = readQuoted(this.page, typedBehind.lastIndex);
    const form: ValueForm = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    if (!span || span.end - span.start > longestGroup) return false;
    if (!isSecretValue(this.page.text.slice(span.start, span.end), verdict, form)) return false;
    this.out.push({ start: span.start, end: span.end, rule: verdict.rule });
    return true;
  }

  /** `{"id": "password", …, "value": "x"}`: the verdict on an identifier before the content. */
  idBefore(start: number): NameVerdict | undefined {
    const before = this.page.text.slice(Math.max(0, start - 200), start);
    if (!mayHoldId.test(before)) return undefined;
    const id = idOfField.exec(before)?.[1];
    const verdict = id === undefined ? undefined : this.names.judge(id);
    return verdict && verdict.strength >= 2 && !verdict.form ? verdict : undefined;
  }

  /** `{"value": "x", "sensitive": true}`, in either order: outputs of Terraform, variables of pipelines. */
  markedAround(start: number): NameVerdict | undefined {
    const { text } = this.page;
    const isMarked =
      markedBefore.test(text.slice(Math.max(0, start - 200), start)) ||
      markedBehind.test(text.slice(start, start + 400));
    return isMarked ? { strength: 3, rule: 'secret' } : undefined;
  }

  /** `{"value": "x", "name": "TOKEN"}`: the content comes first. */
  private takeContentBefore(label: ValueSpan, verdict: NameVerdict): boolean {
    const before = this.page.text.slice(Math.max(0, label.start - 300), label.start);
    const value = (contentBefore.exec(before) ?? setBefore.exec(before))?.[1];
    const form: ValueForm = { quoted: true, tight: false, startsLine: false, endsLine: false, next: 0 };
    if (value === undefined || !isSecretValue(value, verdict, form)) return false;
    const start = label.start - before.length + before.lastIndexOf(value);
    this.out.push({ start, end: start + value.length, rule: verdict.rule });
    return true;
  }

  /** A label was noted shortly before `sign`. */
  isLabelled(sign: number): boolean {
    return sign < this.labelEnd;
  }

  /** A sign before this position may follow a label; 0 if there is none. */
  get labelEnd(): number {
    return this.label === undefined ? 0 : this.labelUntil - labelReach + 8;
  }

  /** A name before this position may take the noted label; 0 if there is none. */
  get fieldEnd(): number {
    return this.label === undefined ? 0 : this.labelUntil + 1;
  }

  /** Returns the label from the field before, and clears it. */
  takeLabel(start: number): NameVerdict | undefined {
    if (!this.label || start > this.labelUntil) return undefined;
    const label = this.label;
    this.label = undefined;
    return label;
  }
}
