/**
 * The account of a core for people at a terminal: the fault, the stack of the thread that died with native and JavaScript
 * frames in one column, what was waiting, the other threads in one line each, what was on the heap, what is missing.
 */
import type { Account } from '../model/account.ts';
import { bareNativeName, placeOf } from '../model/frame-text.ts';
import { clip, formatBytes, formatCount, formatNumber } from '../model/quantities.ts';
import type { Frame, LocalVariable, Thread } from '../model/thread.ts';
import { defuseWorkflowCommands, escapeTerminal } from './escape-terminal.ts';
import { mapStrings } from './map-strings.ts';
import { type Palette, plainPalette } from './palette.ts';
import { fitLines } from './text/fit.ts';
import { renderHeadline, renderSummary } from './text/headline.ts';
import { keyValues, oneLine, type Page, section, wrap } from './text/layout.ts';
import { renderCodeFrame } from './text/stack.ts';
import { renderHandles, renderProcess, renderVariables } from './text/surroundings.ts';
import { renderTable } from './text/table.ts';

export interface CoreTextOptions {
  palette?: Palette;
  columns?: number;
  /** Every thread, frame and register. */
  all?: boolean;
}

const limits = { frames: 48, locals: 8, suspended: 12, classes: 12, internals: 4, gaps: 12 };
const noLimits = { frames: 1e9, locals: 1e9, suspended: 1e9, classes: 1e9, internals: 1e9, gaps: 1e9 };
type Limits = typeof limits;
const nameColumns = 44;

export function renderCore(account: Account, options: CoreTextOptions = {}): string {
  const page: Page = { palette: options.palette ?? plainPalette, columns: options.columns ?? 100 };
  const limit = options.all ? noLimits : limits;
  const safe = mapStrings(account, escapeTerminal);
  const died = safe.threads?.find((t) => t.crashed) ?? safe.threads?.find((t) => t.kind === 'main');
  const others = (safe.threads ?? []).filter((t) => t !== died);
  const lines = [
    ...renderHeadline(safe, page),
    ...renderSummary(safe, page),
    ...section(page, 'Fault', renderFault(safe, died, page)),
    ...(died ? section(page, titleOf(died), renderThread(died, page, limit)) : []),
    ...section(page, 'Waiting', renderSuspended(safe, page, limit)),
    ...section(page, 'Handles', renderHandles(safe, page)),
    ...section(page, 'Process', renderProcess(safe, page)),
    ...(options.all ? section(page, 'Environment', renderVariables(safe, page)) : []),
    ...(options.all
      ? others.flatMap((t) => section(page, titleOf(t), renderThread(t, page, limit)))
      : section(page, 'Other threads', renderOthers(others, page))),
    ...section(page, 'Heap', renderClasses(safe, page, limit)),
    ...(options.all ? section(page, 'Registers', renderRegisters(died, page)) : []),
    ...(options.all ? section(page, 'Modules', renderModules(safe, page)) : []),
    ...section(page, 'Gaps', renderGaps(safe, page, limit)),
  ];
  return `${defuseWorkflowCommands(fitLines(lines, page.columns).join('\n'))}\n`;
}

/** For a bundle that contains a core: replaces the stacks from its other parts. */
export function coreSections(account: Account, page: Page): string[] {
  const { threads = [] } = account;
  const died = threads.find((t) => t.crashed) ?? threads.find((t) => t.kind === 'main');
  const others = threads.filter((t) => t !== died);
  return [
    ...section(page, 'Fault', account.signal?.evidence ? renderFault(account, died, page) : []),
    ...(died ? section(page, titleOf(died), renderThread(died, page, limits)) : []),
    ...section(page, 'Waiting', renderSuspended(account, page, limits)),
    ...section(page, 'Other threads', renderOthers(others, page)),
  ];
}

/** Frames with addresses of machine code come from a core. */
export function hasCore({ threads = [] }: Account): boolean {
  return threads.some(({ frames }) => frames.some(({ address, trust }) => address && trust !== 'heap'));
}

function renderFault({ signal }: Account, died: Thread | undefined, page: Page): string[] {
  if (!signal) return [];
  const top = died?.frames[0];
  return keyValues(page, [
    ['signal', `${signal.name}${signal.code ? ` (${signal.code})` : ''}`],
    ['address', signal.faultAddress && `${signal.faultAddress}${signal.access ? `, ${signal.access}` : ''}`],
    ['at', top && `${top.address ?? ''} ${shortName(top)}`],
    ['bytes', signal.instruction?.replace(/../g, '$& ').trim()],
    [
      'known from',
      signal.evidence === 'signal-frame'
        ? 'the signal frame on the stack (the kernel’s note was overwritten)'
        : undefined,
    ],
  ]);
}

function titleOf(thread: Thread): string {
  const name = thread.name ?? `${thread.kind} thread`;
  return `Thread ${thread.id}, ${name}${thread.crashed ? ', died here' : ''}`;
}

function renderThread(thread: Thread, page: Page, limit: Limits): string[] {
  const own = thread.crashed ? thread.frames.find((f) => f.inApp && f.source?.length) : undefined;
  const code = renderCodeFrame(own, page);
  const lines = code.length > 0 ? [...code, ''] : [];
  for (const frame of thread.frames.slice(0, limit.frames)) lines.push(...renderFrame(frame, page, limit));
  const more = thread.frames.length - limit.frames;
  if (more > 0) lines.push(page.palette.faint(`  … ${formatCount(more, 'more frame')}, see --all`));
  return lines;
}

/** `● js   Agent.run    src/agent.ts:10:5   maglev`. */
function renderFrame(frame: Frame, page: Page, limit: Limits): string[] {
  const { palette } = page;
  const world = frame.tier ? 'js ' : 'c++';
  const name = clip(shortName(frame), nameColumns).padEnd(nameColumns);
  const place = placeOf(frame) ?? moduleName(frame);
  const how = [frame.tier, frame.inlined ? 'inlined' : '', trustWord(frame)].filter(Boolean).join(', ');
  const text = `${world} ${oneLine(name)} ${oneLine(place)}`;
  const line = frame.inApp
    ? `${palette.bad('●')} ${palette.strong(text)}`
    : `  ${frame.tier ? text : palette.faint(text)}`;
  const locals = (frame.locals ?? []).filter((l) => isTelling(l, frame, limit)).slice(0, limit.locals);
  const width = limit === noLimits ? noLimits.frames : Math.max(40, page.columns - 14);
  return [
    `${line}${how ? `  ${palette.faint(how)}` : ''}`,
    ...locals.map((l) => palette.faint(`        ${oneLine(clip(`${l.name} = ${l.value}`, width))}`)),
  ];
}

/** The arguments of a function; the variables of its closure only on request. */
function isTelling({ scope, value }: LocalVariable, frame: Frame, limit: Limits): boolean {
  if (limit === noLimits) return true;
  if (scope === 'this') return frame.inApp && value !== 'globalThis' && value !== 'undefined';
  return scope === 'argument';
}

/** Only shown if the frame is not certain. */
function trustWord(frame: Frame): string {
  if (frame.trust === 'scan') return 'guessed';
  if (frame.trust === 'instructions') return 'by instructions';
  return frame.trust === 'frame-pointer' && !frame.tier ? 'by frame pointer' : '';
}

function shortName(frame: Frame): string {
  const name = frame.function ?? (frame.file ? '<anonymous>' : (frame.address ?? '?'));
  return frame.tier ? name : bareNativeName(name);
}

const moduleName = (frame: Frame) => frame.module?.split('/').at(-1) ?? '';

/** Functions that await each other; the one that waits for something else comes first. */
export function renderSuspended(
  { suspended, process }: Account,
  page: Page,
  limit: Limits = limits,
): string[] {
  const { palette } = page;
  const shown = (suspended ?? []).filter((s) => limit === noLimits || s.frames.some((f) => f.inApp));
  const lines: string[] = [];
  for (const { count, frames } of shown.slice(0, limit.suspended)) {
    const prefix = count !== undefined && count > 1 ? `${formatNumber(count)} × ` : '';
    frames.forEach((frame, i) => {
      const text = `${i === 0 ? prefix : '← '}${shortName(frame)}`;
      lines.push(
        `${i === 0 ? '' : '  '}${text.padEnd(nameColumns)} ${palette.place(placeOf(frame, process?.cwd) ?? '')}`.trimEnd(),
      );
      const values = (frame.locals ?? []).slice(0, limit.locals).map((l) => `${l.name} = ${l.value}`);
      if (values.length > 0)
        lines.push(
          palette.faint(`      ${oneLine(clip(values.join(', '), Math.max(40, page.columns - 10)))}`),
        );
    });
  }
  if (shown.length > limit.suspended)
    lines.push(palette.faint(`… ${formatCount(shown.length - limit.suspended, 'more')}, see --all`));
  return lines;
}

/** Threads with the same stack are one line. */
function renderOthers(threads: readonly Thread[], page: Page): string[] {
  const groups = new Map<string, Thread[]>();
  for (const thread of threads) {
    const place = thread.frames.slice(0, 4).map(shortName).join(' ← ');
    const key = `${thread.name ?? thread.kind}\n${place}`;
    groups.set(key, [...(groups.get(key) ?? []), thread]);
  }
  return [...groups].flatMap(([key, [first, ...rest]]) => {
    const [name = '', place = ''] = key.split('\n');
    const ids = rest.length === 0 ? `${first?.id}` : `${rest.length + 1} threads`;
    const own = first?.frames.filter((f) => f.inApp && f.tier) ?? [];
    return [
      `${ids.padEnd(10)} ${name}`,
      ...wrap(place, page.columns - 14, '           ').map(page.palette.faint),
      ...own
        .slice(0, 6)
        .map((f) => `           ${page.palette.bad('●')} js ${shortName(f)}  ${placeOf(f) ?? ''}`),
    ];
  });
}

/** Classes with constructors come first; V8's internal types, in parentheses, are for experts. */
function renderClasses({ memory }: Account, page: Page, limit: Limits): string[] {
  const classes = memory?.classes ?? [];
  const isInternal = ({ name }: { name: string }) => name.startsWith('(');
  const isKnown = ({ name }: { name: string }) =>
    limit === noLimits || !/^\((?:internal type|free space|filler)/.test(name);
  const shown = [
    ...classes.filter((c) => !isInternal(c)).slice(0, limit.classes),
    ...classes.filter((c) => isInternal(c) && isKnown(c)).slice(0, limit.internals),
  ];
  return renderTable(
    page,
    ['objects', 'own size', 'constructor'],
    shown.map(({ count, selfSizeBytes, name }) => [
      formatNumber(count),
      selfSizeBytes === undefined ? '' : formatBytes(selfSizeBytes),
      name,
    ]),
  );
}

function renderRegisters(thread: Thread | undefined, page: Page): string[] {
  return keyValues(page, Object.entries(thread?.registers ?? {}));
}

function renderModules({ modules }: Account, page: Page): string[] {
  return renderTable(
    page,
    ['base', 'build id', 'path'],
    (modules?.native ?? []).map(({ base, buildId, path }) => [base, buildId ?? '', path]),
  );
}

function renderGaps({ gaps }: Account, page: Page, limit: Limits): string[] {
  const lines = gaps
    .slice(0, limit.gaps)
    .flatMap(({ part, reason, lookedFor }) =>
      wrap(`${part}: ${reason}${lookedFor ? ` (looked for: ${lookedFor})` : ''}`, page.columns - 2, '- '),
    );
  if (gaps.length > limit.gaps)
    lines.push(`… ${formatCount(gaps.length - limit.gaps, 'more gap')}, see --json`);
  return lines.map(page.palette.warn);
}
