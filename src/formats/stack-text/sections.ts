/**
 * Builds the sections of a stack text line by line: the error itself, its cause, the elements of an aggregate, each with a
 * header, runs of frames, and the text that follows. A message may contain lines that look like frames, and a library may
 * append a second run of frames; the role of each run is determined at the end of the section. Independent of the syntax of
 * lines, except for the brackets of util.inspect.
 */
import type { FrameLine, TextFrame } from './frame-line.ts';

/** `continuation`: the earlier stack that led to this one, appended by a library; `thrown-at`: Node's --trace-uncaught. */
export type Relation = 'cause' | 'errors' | 'continuation' | 'thrown-at';

export interface ElidedFrames {
  /** Index of the following frame. */
  before: number;
  /** Absent if the printer does not state it. */
  count?: number;
}

export interface FrameRun {
  /** The text between the previous run and this one. */
  label: string;
  frames: TextFrame[];
  elided: ElidedFrames[];
}

interface Settled {
  header: string;
  runs: FrameRun[];
  rest: string;
}

const mostSections = 1000;
const mostFrames = 20_000;
const deepest = 64;
/** Lines with which libraries announce that the frames below led to those above. */
const continuationLabel =
  /^\s*(?:from previous event:?|for call at|emitted 'error' event.*|-{3,}.*|={3,}.*|previous error.*|async stack.*|caused by:?)\s*$/i;

export class Section {
  readonly isRoot: boolean;
  readonly children: { relation: Relation; label: string; section: Section }[] = [];
  /** Lines before each run and after the last one: always one more than the number of runs. */
  private readonly texts: string[][] = [[]];
  private readonly runs: { frames: TextFrame[]; elided: FrameRun['elided']; lines: string[] }[] = [];
  private inRun = false;
  /** The printer opened a brace: only properties follow until it is closed. */
  braced = false;
  /** The last frame ended with a comma. */
  isElementEnd = false;

  constructor(isRoot: boolean) {
    this.isRoot = isRoot;
  }

  get hasFrames(): boolean {
    return this.runs.length > 0;
  }

  /** The run that the last line belonged to. */
  get openRun() {
    return this.inRun ? this.runs.at(-1) : undefined;
  }

  addText(line: string): void {
    this.inRun = false;
    this.texts.at(-1)?.push(line);
  }

  addFrame(frame: TextFrame, line: string): void {
    if (!this.inRun) {
      this.runs.push({ frames: [], elided: [], lines: [] });
      this.texts.push([]);
      this.inRun = true;
    }
    const run = this.runs.at(-1);
    run?.frames.push(frame);
    run?.lines.push(line);
  }

  /**
   * Splits the section into header, runs and rest. With a known header, the first run is the stack. Otherwise the stack is
   * the last run that no label announces as a continuation, and everything above it is the message.
   */
  settle(headerKnown: boolean): Settled {
    const rest = trimBlank(this.texts.at(-1) ?? []);
    if (this.runs.length === 0) return { header: rest, runs: [], rest: '' };
    let first = 0;
    if (!headerKnown) {
      first = this.runs.length - 1;
      while (first > 0 && this.isContinuation(first)) first--;
    }
    const above: string[] = [];
    for (let n = 0; n < first; n++)
      for (const part of [this.texts[n], this.runs[n]?.lines]) above.push(...(part ?? []));
    const header = trimBlank([...above, ...(this.texts[first] ?? [])]);
    const runs = this.runs.slice(first).map((run, n) => ({
      label: n === 0 ? '' : trimBlank(this.texts[first + n] ?? []),
      frames: run.frames,
      elided: run.elided,
    }));
    return { header, runs, rest };
  }

  private isContinuation(run: number): boolean {
    const between = (this.texts[run] ?? []).filter((line) => line.trim() !== '');
    return between.length > 0 && continuationLabel.test((between.at(-1) ?? '').slice(0, 200));
  }
}

type Scope = { kind: 'section'; section: Section } | { kind: 'list'; owner: Section };

export class SectionStack {
  readonly root = new Section(true);
  private readonly all: Section[] = [this.root];
  private readonly scopes: Scope[] = [{ kind: 'section', section: this.root }];
  private frameCount = 0;
  private ended = false;

  *innermostFirst(): Generator<Section> {
    for (let n = this.all.length - 1; n >= 0; n--) yield this.all[n] as Section;
  }

  addHeader(line: string): void {
    this.root.addText(line);
  }

  addFrame(parsed: FrameLine, line: string): void {
    const { section } = this.current();
    if (section.braced || this.ended || ++this.frameCount > mostFrames) {
      section.addText(line);
      return;
    }
    section.addFrame(parsed.frame, line);
    section.isElementEnd = parsed.tail === ',';
    if (parsed.tail === '{') section.braced = true;
  }

  mapLastFrame(mapped: NonNullable<TextFrame['mapped']>): boolean {
    const frame = this.current().section.openRun?.frames.at(-1);
    if (frame) frame.mapped = { file: mapped.file, line: mapped.line, ...columnOf(mapped) };
    return frame !== undefined;
  }

  elide(count: number | undefined): boolean {
    const run = this.current().section.openRun;
    run?.elided.push({ before: run.frames.length, ...(count === undefined ? {} : { count }) });
    return run !== undefined;
  }

  /** A new section can only begin after frames or inside of braces; earlier lines are part of a message. */
  mayBranch(): boolean {
    const { section } = this.current();
    return (section.hasFrames || section.braced) && this.scopes.length < deepest && !this.isFull();
  }

  openSection(relation: Relation, label: string, header: string): void {
    const section = new Section(false);
    this.current().section.children.push({ relation, label, section });
    this.all.push(section);
    this.scopes.push({ kind: 'section', section });
    this.startHeader(section, header);
  }

  openList(): void {
    this.scopes.push({ kind: 'list', owner: this.current().section });
  }

  addText(line: string): void {
    const bare = line.trim();
    if (/^Node\.js v\d/.test(bare) && this.root.hasFrames) this.ended = true;
    if (this.close(bare)) return;
    if (this.endsElement()) this.scopes.pop();
    const scope = this.current();
    if (scope.kind === 'list' && bare !== '' && !this.isFull()) {
      this.openElement(bare);
      return;
    }
    if (scope.kind === 'section' && !scope.section.hasFrames && bare.endsWith('] {'))
      scope.section.braced = true;
    scope.section.addText(line);
  }

  private openElement(header: string): void {
    const section = new Section(false);
    this.current().section.children.push({ relation: 'errors', label: '', section });
    this.all.push(section);
    this.scopes.push({ kind: 'section', section });
    this.startHeader(section, header);
  }

  /** An error without a stack is printed in brackets, with its brace on the same line. */
  private startHeader(section: Section, header: string): void {
    section.addText(header.replace(/ \{$/, ''));
    if (header.endsWith(' {')) section.braced = true;
  }

  /** `}` closes the innermost braced section, `]` the innermost list, and everything that is open inside of them. */
  private close(bare: string): boolean {
    const closer = /^([}\]]),?$/.exec(bare)?.[1];
    if (!closer) return false;
    const at = this.scopes.findLastIndex((scope) =>
      closer === ']' ? scope.kind === 'list' : scope.kind === 'section' && scope.section.braced,
    );
    if (at < 0) return false;
    this.scopes.length = Math.max(at, 1);
    if (at === 0) this.ended = true;
    return true;
  }

  /** The element of a list ended with a comma after its last frame. */
  private endsElement(): boolean {
    const top = this.scopes.at(-1);
    if (top?.kind !== 'section' || this.scopes.at(-2)?.kind !== 'list' || top.section.braced) return false;
    return top.section.isElementEnd;
  }

  private isFull(): boolean {
    return this.all.length >= mostSections;
  }

  /** The innermost scope, and the section that new lines and children are added to. */
  private current(): { kind: Scope['kind']; section: Section } {
    const top = this.scopes.at(-1) as Scope;
    return { kind: top.kind, section: top.kind === 'section' ? top.section : top.owner };
  }
}

const columnOf = (position: { column?: number }) =>
  position.column === undefined ? {} : { column: position.column };

/** Joins lines without blank lines at both ends. */
function trimBlank(lines: readonly string[]): string {
  let start = 0;
  let end = lines.length;
  while (start < end && lines[start]?.trim() === '') start++;
  while (end > start && lines[end - 1]?.trim() === '') end--;
  return lines.slice(start, end).join('\n');
}
