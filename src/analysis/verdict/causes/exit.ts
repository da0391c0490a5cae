/** The program called process.exit with a code other than 0, or set the code and let the event loop run empty. */

import { partNames } from '../../../bundle/layout/bundle.ts';
import type { ProcessEvents } from '../../../model/account.ts';
import { culpritFrame, frameText, isOfRuntime, placeOf } from '../../../model/frame-text.ts';
import { tellingLine } from '../../../model/process-events/printed-lines.ts';
import { clip, formatCount, formatDuration } from '../../../model/quantities.ts';
import { testTitle } from '../../../model/tests.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Evidence } from '../../../model/verdict.ts';
import { isInstalled } from '../../../platform/paths.ts';
import { portIsHeld } from '../errors/advice.ts';
import { packageOf } from '../errors/module-errors.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { inFlightEvidence } from '../in-flight.ts';
import { cwdOf, deathFrames, titled, titleWithPlace } from '../wording.ts';

const maxQuotedChars = 300;

/** The last relevant line of standard error, or else of standard output; of a file that has both it is not known which. */
function lastWords(events: ProcessEvents | undefined): { stream: string; line: string } | undefined {
  for (const stream of ['stderr', 'stdout', 'pino']) {
    const log = events?.logs?.find((one) => one.stream === stream);
    const line = tellingLine(log?.text ?? '');
    const isShared =
      log?.target !== undefined && events?.logs?.some((one) => one !== log && one.target === log.target);
    if (line !== '') return { stream: isShared ? 'output' : stream, line };
  }
  return undefined;
}

const streamText = (stream: string, word = 'On'): string =>
  stream === 'output'
    ? `${word === 'On' ? 'In' : 'in'} its output`
    : `${word} ${stream === 'pino' ? 'the log of pino' : stream}`;

/** `TypeError: no card, thrown in charge (src/pay.ts:4:9)`. */
function printedText({ printed, account }: VerdictFacts): string | undefined {
  if (!printed) return undefined;
  const culprit = culpritFrame(printed.frames);
  const where = culprit?.inApp ? `, thrown in ${frameText(culprit, cwdOf(account))}` : '';
  return `${clip(printed.headline.replace(/\.$/, ''), maxQuotedChars)}${where}`;
}

function printedPlace({ printed, account }: VerdictFacts): string | undefined {
  const culprit = culpritFrame(printed?.frames);
  return culprit?.inApp ? placeOf(culprit, cwdOf(account)) : undefined;
}

function printedSteps(facts: VerdictFacts): string[] {
  const place = printedPlace(facts);
  return place === undefined ? [] : [`Open ${place}, where the error that it printed was thrown.`];
}

/** A package that exits is named; the error that it printed before says more than a place inside of it. */
function titleOf(
  facts: VerdictFacts,
  exit: string,
  { caller, place }: { caller: Frame | undefined; place: string | undefined },
  line: string | undefined,
): string {
  const { account, printed, trigger } = facts;
  const { failedListen } = trigger ?? {};
  if (failedListen)
    return titleWithPlace(`${exit} after ${withoutWords(failedListen.message)}`, 'from', listenPlace(facts));
  if (!caller) return titled(line === undefined ? exit : `${exit}: ${line}`);
  // Also where the program is a package of the project, such as the server of Next.
  const inPackage =
    caller.file !== undefined && isInstalled(caller.file) ? packageOf(caller.file) : undefined;
  if (inPackage !== undefined)
    return printed?.isLast
      ? titleWithPlace(`${exit} by ${inPackage} after ${printed.headline}`, 'at', printedPlace(facts))
      : titleWithPlace(`${exit} called by ${inPackage}`, 'at', place ?? '');
  return titled(`${exit} called by ${frameText(caller, cwdOf(account))}`);
}

/** The line of the program that told the server to listen. */
function listenPlace({ listenFrames, account }: VerdictFacts): string | undefined {
  const culprit = culpritFrame(listenFrames);
  return culprit?.inApp ? placeOf(culprit, cwdOf(account)) : undefined;
}

/** `listen EADDRINUSE 127.0.0.1:80` for `listen EADDRINUSE: address already in use 127.0.0.1:80`: the address must fit in. */
const withoutWords = (message: string): string => message.replace(/^(listen E\w+): [a-z ]+ (?=\S+$)/, '$1 ');

function listenEvidence(facts: VerdictFacts): Evidence[] {
  const { failedListen } = facts.trigger ?? {};
  if (!failedListen) return [];
  const place = listenPlace(facts);
  const where = place === undefined ? '' : ` It was told to at ${place}.`;
  const fact = `A server that was told to listen could not: ${failedListen.message.replace(/\.$/, '')}.${where}`;
  return [{ fact, part: 'trigger.json' }];
}

function listenSteps(facts: VerdictFacts): string[] {
  const { message } = facts.trigger?.failedListen ?? {};
  const place = listenPlace(facts);
  return [
    ...(message?.includes('EADDRINUSE') ? [portIsHeld] : []),
    ...(place === undefined || isInstalled(place)
      ? []
      : [`Open ${place}, where the server was told to listen.`]),
  ];
}

/** A runner that reads the exit code alone takes this for success. */
function cutTestEvidence({ account, trigger }: VerdictFacts, code: number | undefined): Evidence[] {
  const running = trigger?.duringTest ? (account.process?.test?.running ?? []) : [];
  const [first] = running;
  if (code !== 0 || !first) return [];
  const others = running.length > 1 ? ` and ${formatCount(running.length - 1, 'other test')}` : '';
  const fact = `“${clip(testTitle(first), 200)}”${others} had not ended, although the exit code says success. No test after it ran in this process.`;
  return [{ fact, part: partNames.tests }];
}

/** A package that replaces process.exit, as jest-runner and ava do, or what it calls, as signal-exit does. */
const isExitWrapper = ({ function: name, file }: Frame): boolean =>
  file !== undefined &&
  isInstalled(file) &&
  (/^process\.(?:exit|reallyExit|emit)\b/.test(name ?? '') || packageOf(file) === 'signal-exit');

export const exit: Cause = {
  kind: 'exit',
  layer: 'mechanism',
  consider(facts) {
    const { account, trigger } = facts;
    if (trigger?.kind !== 'exit') return undefined;
    const code = trigger.exitCode ?? account.process?.exit?.code;
    const called = trigger.exitStack !== undefined;
    const frames = deathFrames(account);
    // A frame of Node's own code is of no use to the reader.
    const callers = frames.filter((frame) => !isOfRuntime(frame));
    const caller = callers.find((frame) => !isExitWrapper(frame)) ?? callers[0];
    const own = caller && (culpritFrame(frames) ?? caller);
    const where = caller && frameText(caller, cwdOf(account));
    const below = own === caller ? '' : `, below ${own && frameText(own, cwdOf(account))}`;
    const place = own && placeOf(own, cwdOf(account));
    const uptime = account.process?.uptimeMs;
    const said = lastWords(account.happenings);
    const printed = printedText(facts);
    return {
      kind: 'exit',
      title: titleOf(
        facts,
        called ? `process.exit(${code ?? '?'})` : `Exit code ${code ?? '?'}`,
        { caller, place },
        said?.line,
      ),
      summary: `The program exited with code ${code ?? '(not recorded)'}${uptime === undefined ? '' : ` after ${formatDuration(uptime)}`}. ${
        called
          ? 'process.exit ends the process at once, without waiting for pending work.'
          : 'No call of process.exit was seen: process.exitCode was set, and the program ran to its end.'
      }${printed ? ` Before that it printed ${printed}${facts.printed?.isLast ? ', which is likely the reason' : ''}.` : said ? ` ${streamText(said.stream)} it said: ${clip(said.line, maxQuotedChars)}` : ''}`,
      confidence: 'certain',
      evidence: [
        { fact: `The process ended with exit code ${code ?? '(not recorded)'}.`, part: 'trigger.json' },
        ...cutTestEvidence(facts, code),
        ...listenEvidence(facts),
        ...(where ? [{ fact: `process.exit was called in ${where}${below}.`, part: 'trigger.json' }] : []),
        ...(printed
          ? [
              {
                fact: `The last error that it printed before that${facts.printed?.isLast ? ', likely the reason' : ''}: ${printed}.`,
                part: 'process-events.json',
              },
            ]
          : []),
        ...(said
          ? [
              {
                fact: `Its last relevant line ${streamText(said.stream, 'on')}: ${clip(said.line, maxQuotedChars)}`,
                part: 'process-events.json',
              },
            ]
          : []),
        ...inFlightEvidence(facts),
      ],
      refutedBy: 'A different exit code, or a signal, in the log of whoever started the process.',
      nextSteps: place
        ? [
            ...listenSteps(facts),
            ...printedSteps(facts),
            `Open ${place} and check the condition that leads to the exit${said || code === 0 ? '' : '; its own message is on stderr'}.`,
          ]
        : said
          ? [...listenSteps(facts), 'Start from that message; the lines before it are below.']
          : [
              ...listenSteps(facts),
              'Read the last lines of stderr: a program that exits on purpose usually says why.',
            ],
    };
  },
};
