/**
 * Parses the text of a V8 stack, from `error.stack`, Node's stderr or util.inspect: header, frames, and attached stacks
 * (causes, aggregated errors, continuations that libraries append). Any text has a result, even if it is only a header; time
 * is linear in its length. Can't tell whether a host has already mapped the positions. Sources:
 * https://v8.dev/docs/stack-trace-api, Node's lib/internal/util/inspect.js as seen in 20 to 26.
 */
import { parseFrameLine, type TextFrame } from './frame-line.ts';
import { type HeaderFacts, readHeader, readThrowSite, type ThrowSite } from './header.ts';
import { parsePosition } from './location.ts';
import { type ElidedFrames, type Relation, SectionStack } from './sections.ts';

export interface StackText extends HeaderFacts {
  /** All text above the frames, as printed, except for the excerpt. */
  header: string;
  frames: TextFrame[];
  /** Places where the printer omitted frames that another stack of the same text repeats. */
  elided: ElidedFrames[];
  related: { relation: Relation; label: string; stack: StackText }[];
  /** The text after the frames, as printed: mostly properties. */
  rest: string;
  thrownAt?: ThrowSite;
  /** The text exceeded the limit and was truncated. */
  cut: boolean;
}

export interface StackTextHints {
  /** The error's message, if known, so that lines of it that look like frames are not parsed as frames. */
  message?: string;
  /** Maximum number of characters to read. */
  limitChars?: number;
}

const defaultLimit = 8 * 1024 * 1024;

/** Parses any text as a stack. Never throws. */
export function readStackText(text: string, hints: StackTextHints = {}): StackText {
  const limit = hints.limitChars ?? defaultLimit;
  const cut = text.length > limit;
  const lines = (cut ? text.slice(0, limit) : text).split(/\r?\n/);
  const excerpt = readThrowSite(lines);
  const start = excerpt?.next ?? 0;
  const sections = new SectionStack();
  const headerLines = countHeaderLines(lines, start, hints.message);
  for (let row = start; row < start + headerLines; row++) sections.addHeader(lines[row] ?? '');
  for (let row = start + headerLines; row < lines.length; row++) readLine(sections, lines[row] ?? '');
  const root = finish(sections, cut, headerLines > 0);
  return excerpt ? { ...root, thrownAt: excerpt.site } : root;
}

/** Number of lines of the known message, including the name before it; 0 if it is not found. */
function countHeaderLines(lines: readonly string[], start: number, message: string | undefined): number {
  if (!message) return 0;
  const wanted = message.split(/\r?\n/);
  const first = lines[start] ?? '';
  const last = wanted.length - 1;
  const head = wanted[0] ?? '';
  if (last === 0) return first.includes(head) ? 1 : 0;
  if (!first.endsWith(head)) return 0;
  for (let n = 1; n < last; n++) if (lines[start + n] !== wanted[n]) return 0;
  return lines[start + last]?.startsWith(wanted[last] ?? '') ? wanted.length : 0;
}

const elidedLine = /^\s*\[?\.\.\. (?:(\d{1,7}) )?(?:lines matching|more|frames? )/;
const sectionStart =
  /^\s*(?:\[(cause|errors)\]: |(cause|errors): (?=\[|\w*Error\b)|(caused by:? )|(Thrown at:)$)/i;

function readLine(sections: SectionStack, line: string): void {
  const frame = parseFrameLine(line);
  if (frame) sections.addFrame(frame, line);
  else if (!readAnnotation(sections, line) && !openSection(sections, line)) sections.addText(line);
}

/** Lines that printers put between frames: a mapped position, a number of omitted frames. */
function readAnnotation(sections: SectionStack, line: string): boolean {
  const start = line.slice(0, 4096);
  const arrow = /^\s+-> (?=\S)/.exec(start);
  const mapped = arrow && parsePosition(line.slice(arrow[0].length).trimEnd());
  if (mapped) return sections.mapLastFrame(mapped);
  const elided = elidedLine.exec(start);
  return elided !== null && sections.elide(elided[1] === undefined ? undefined : Number(elided[1]));
}

function openSection(sections: SectionStack, line: string): boolean {
  const start = sectionStart.exec(line.slice(0, 4096));
  if (!start || !sections.mayBranch()) return false;
  const rest = line.slice(start[0].length);
  const word = (start[1] ?? start[2] ?? '').toLowerCase();
  if (word === 'errors' && rest.trim() === '[') sections.openList();
  else sections.openSection(start[4] ? 'thrown-at' : 'cause', start[0].trim(), rest);
  return true;
}

/** Converts the sections to the result, children before parents. */
function finish(sections: SectionStack, cut: boolean, headerKnown: boolean): StackText {
  const done = new Map<unknown, StackText>();
  for (const section of sections.innermostFirst()) {
    const { header, runs, rest } = section.settle(headerKnown && section.isRoot);
    const [own, ...continuations] = runs;
    const related: StackText['related'] = continuations.map((run) => ({
      relation: 'continuation',
      label: run.label,
      stack: { header: '', frames: run.frames, elided: run.elided, related: [], rest: '', cut: false },
    }));
    for (const child of section.children) {
      const stack = done.get(child.section);
      if (stack) related.push({ relation: child.relation, label: child.label, stack });
    }
    const { frames = [], elided = [] } = own ?? {};
    done.set(section, { ...readHeader(header), header, frames, elided, related, rest, cut });
  }
  return done.get(sections.root) as StackText;
}
