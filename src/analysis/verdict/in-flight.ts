/** What the agent had open at the end of the process: joins the death with the agent's events. */
import { partNames } from '../../bundle/layout/bundle.ts';
import type { AgentLoop, OpenWork, WaitCycle } from '../../model/agent-state.ts';
import { culpritFrame, frameText } from '../../model/frame-text.ts';
import { childText, endedBadly } from '../../model/process-events/child-text.ts';
import { tellingLine } from '../../model/process-events/printed-lines.ts';
import { clip, formatCount, formatNumber } from '../../model/quantities.ts';
import type { Frame } from '../../model/thread.ts';
import type { Evidence } from '../../model/verdict.ts';
import { isInstalled } from '../../platform/paths.ts';
import { packageOf } from './errors/module-errors.ts';
import type { VerdictFacts } from './facts.ts';
import { cwdOf, deathFrames } from './wording.ts';

const mostShown = 5;
const mostChildren = 3;
const mostStacks = 3;
const mostNamed = 3;
const longestFact = 400;

/** Work with a recorded start and no recorded end, without the tool or step that died itself. */
export function openWorkOf({ account }: VerdictFacts): OpenWork[] {
  const { runs = [], diedIn } = account.agent ?? {};
  const died = account.error && diedIn?.from === 'context' ? [diedIn.toolId ?? diedIn.stepId] : [];
  return runs.flatMap(({ open = [] }) => open).filter(({ id }) => id === undefined || !died.includes(id));
}

export const pendingOf = (facts: VerdictFacts): string[] => openWorkOf(facts).map(({ text }) => text);

/** Tool calls that the model requested and that were never seen to run. */
function requestedOf({ account }: VerdictFacts): string[] {
  return account.agent?.runs.flatMap(({ requested = [] }) => requested) ?? [];
}

/** A program that calls its own functions for the tools leaves no event of that, but a trace on the stack of its death. */
export function findRequestedOnStack(account: VerdictFacts['account']): void {
  const own = deathFrames(account).filter((frame) => frame.inApp);
  const isOnStack = (tool: string | undefined) =>
    tool !== undefined && own.some(({ function: name }) => name === tool || name?.endsWith(`.${tool}`));
  const all = (account.agent?.runs ?? []).flatMap(({ requested = [] }) => requested);
  const awaited =
    all.filter((text) => unseen.test(text)).length === 1 ? awaitedByPackage(account) : undefined;
  for (const run of account.agent?.runs ?? [])
    if (run.requested)
      run.requested = run.requested.map((text) =>
        isOnStack(/^tool (\S+) \(/.exec(text)?.[1])
          ? text.replace(unseen, ', whose run was not recorded; a function of its name is on the stack')
          : awaited === undefined
            ? text
            : text.replace(unseen, `, whose run was not recorded; ${awaited}`),
      );
}

const unseen = /, not seen to run$/;

/** The only function of the program that a package awaits: packages call the program's tools without a trace. */
function awaitedByPackage(account: VerdictFacts['account']): string | undefined {
  const found = new Set<string>();
  for (const { frames } of account.suspended ?? []) {
    const placed = frames.filter(({ file }) => file !== undefined && !file.startsWith('node:'));
    const at = placed.findIndex(
      ({ inApp, file = '' }, index) =>
        inApp && !isInstalled(file) && isInstalled(placed[index + 1]?.file ?? ''),
    );
    const [own, caller] = [placed[at], placed[at + 1]];
    const name = caller?.file === undefined ? undefined : packageOf(caller.file);
    if (own && name !== undefined)
      found.add(`${frameText(own, cwdOf(account))} was suspended, awaited by ${name}`);
  }
  const [only, other] = [...found];
  return other === undefined ? only : undefined;
}

/** Cycles of waits and loops first, because they explain why nothing else ended. */
export function inFlightEvidence(facts: VerdictFacts): Evidence[] {
  const { waitGraph, loops = [] } = facts.account.agent ?? {};
  return [
    ...(waitGraph?.cycles ?? []).map(({ sentence }) => `Circle of waits: ${sentence}`),
    ...loops.map(({ sentence }) => `Loop: ${sentence}`),
    ...pendingOf(facts)
      .slice(0, mostShown)
      .map((open) => `Begun and not ended: ${open}`),
    ...requestedOf(facts)
      .slice(0, mostShown)
      .map((asked) => `Requested by the model: ${asked}`),
  ]
    .map((fact): Evidence => ({ fact: `${clip(fact, longestFact)}.`, part: partNames.agentEvents }))
    .concat(suspendedEvidence(facts), childEvidence(facts));
}

/** The program's own suspended async functions, each stack with its awaiting callers. */
function ownSuspended({ account, trigger }: VerdictFacts): Frame[][] {
  // That verdict reports itself which of them the main module waits for.
  if (trigger?.kind === 'pending-exit' && !trigger.duringTest) return [];
  const all = (account.suspended ?? [])
    .map(({ frames }) => frames)
    .filter((frames) => frames.some((f) => f.inApp));
  // If the program is an installed tool, such as a test runner, its own functions wait for those of the project.
  const ofProject = all.filter((frames) => frames.some((f) => f.inApp && f.file && !isInstalled(f.file)));
  return ofProject.length > 0 ? ofProject : all;
}

function suspendedEvidence(facts: VerdictFacts): Evidence[] {
  // The verdict of a core lists them in its own evidence.
  if (facts.core) return [];
  const all = ownSuspended(facts);
  const shown = new Set(all.map((frames) => waitText(frames, facts)));
  const more = shown.size - mostStacks;
  return [...shown].slice(0, mostStacks).map((text, at) => ({
    fact: `Suspended: ${clip(text, longestFact)}.${more > 0 && at === mostStacks - 1 ? ` And ${formatCount(more, 'more stack')}.` : ''}`,
    part: partNames.suspended,
  }));
}

/** The places where they wait, each once, by their text. */
export function placesOfWaits(facts: VerdictFacts): Map<string, Frame> {
  const frames = ownSuspended(facts)
    .map((stack) => culpritFrame(stack))
    .filter((frame) => frame !== undefined);
  return new Map(frames.map((frame) => [frameText(frame, cwdOf(facts.account)), frame]));
}

/** `fetchOrder (orders.mjs:3:49), awaited by serve (server.mjs:4:33)`. */
function waitText(frames: readonly Frame[], { account }: VerdictFacts): string {
  const named = frames.filter((frame) => frame.inApp).map((frame) => frameText(frame, cwdOf(account)));
  const more = named.length - mostNamed;
  return `${named.slice(0, mostNamed).join(', awaited by ')}${more > 0 ? `, and ${formatNumber(more)} more around it` : ''}`;
}

/** Children that ended badly, newest first: a service that the agent used may have ended with them. */
function childEvidence({ account }: VerdictFacts): Evidence[] {
  const failed = (account.happenings?.children ?? []).filter(endedBadly);
  return failed
    .slice(-mostChildren)
    .reverse()
    .map((child) => {
      const said = tellingLine(child.stderrTail ?? '');
      const died = child.verdict
        ? ` Its own bundle says (${child.verdict.confidence}): ${child.verdict.title}.`
        : '';
      const bundle = child.bundle ? `${died} Its bundle is ${child.bundle.name}.` : '';
      const fact = `Child process ${childText(child)}${said && `, its last words: ${clip(said, 160)}`}.${bundle}`;
      return { fact, part: partNames.processEvents };
    });
}

export function firstCycle({ account }: VerdictFacts): WaitCycle | undefined {
  return account.agent?.waitGraph?.cycles[0];
}

/** A loop that the agent didn't leave: no other call came after it. */
export function ongoingLoop({ account }: VerdictFacts): AgentLoop | undefined {
  return account.agent?.loops?.find(({ ongoing }) => ongoing);
}

const kindWords: Record<OpenWork['kind'], string> = {
  'model-call': 'model call',
  tool: 'tool call',
  step: 'step',
  wait: 'wait',
};

/** `tool search (call_1), running for 3 s`, or `2 tool calls and 1 step`; undefined when nothing was open. */
export function inFlightText(facts: VerdictFacts): string | undefined {
  const open = openWorkOf(facts);
  const [only] = open;
  if (only === undefined || open.length === 1) return only?.text;
  const counts = new Map<OpenWork['kind'], number>();
  for (const { kind } of open) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const named = [...counts].map(([kind, count]) => formatCount(count, kindWords[kind]));
  return [named.slice(0, -1).join(', '), ...named.slice(-1)].filter(Boolean).join(' and ');
}

/**
 * ` during tool search (call_1), running for 3 s`. Says `waiting` only for a wait that the program named, or a lock: the
 * caller of anything else may have abandoned it without leaving a trace.
 */
export function duringText(facts: VerdictFacts): string | undefined {
  // Without what follows the age: how much of a reply had come.
  const what = inFlightText(facts)?.replace(/( for [\d.]+ \w+), .*$/, '$1');
  if (what === undefined) return undefined;
  const isWait = openWorkOf(facts).every(({ kind, leftBehind }) => kind === 'wait' && !leftBehind);
  return isWait && openWorkOf(facts).length === 1 ? ` while waiting for ${what}` : ` during ${what}`;
}

/** ` Open then: tool search (call_1), running for 3 s.`, or empty if the agent had nothing open. */
export function inFlightSentence(facts: VerdictFacts): string {
  const what = inFlightText(facts);
  return what === undefined ? '' : ` Open then: ${what}.`;
}
