/**
 * Checks the sentences of an account against what the victim and the server recorded themselves: each that claims a state, a
 * time, a status or a signal must be true. Sentences that make no such claim are counted as unchecked.
 */
import type { Account } from '../../src/model/account.ts';
import type { Noted, Witnessed } from './victim.ts';

interface Check {
  says: RegExp;
  /** Undefined if the sentence is true, otherwise what is wrong with it. */
  judge(match: RegExpExecArray, log: readonly Noted[]): string | undefined;
}

/** The time between recording an action and doing it, and until the parent sees the end on a busy machine. */
const slackMs = 250;

const checks: readonly Check[] = [
  {
    says: /tool (\w+) \(\w+\), running for (?:at least )?([^.,]+(?:\.\d+ \w+)?)/,
    judge([, name, age = ''], log) {
      const begun = of(log, 'tool.begin', name).at(-1);
      if (!begun) return `tool ${name} never began`;
      if (log.some(({ what, name: own }) => /^tool\.(end|threw)$/.test(what) && own === name))
        return `tool ${name} had ended`;
      return isAge(age, begun, log);
    },
  },
  {
    says: /tool (\w+) \(\w+\), asked for .* not seen to run/,
    judge: ([, name], log) =>
      of(log, 'tool.begin', name).length
        ? `tool ${name} did run`
        : log.some(({ tools }) => Array.isArray(tools) && tools.includes(name))
          ? undefined
          : `nobody asked for ${name}`,
  },
  {
    // A tool of another process does not note what it does.
    says: /Tool (\w+) \(\w+\) failed(?!: the server ended)/,
    judge: ([, name], log) => (of(log, 'tool.threw', name).length ? undefined : `tool ${name} did not throw`),
  },
  {
    says: /odel call \w+ to .*? was answered (\d{3})(?: with Retry-After (\S+?))?[,.: ]/,
    judge: ([, status, after], log) =>
      log.some(
        (one) =>
          one.what === 'answered' &&
          one['status'] === Number(status) &&
          (!after || one['retryAfter'] === after),
      )
        ? undefined
        : `no reply had the status ${status} ${after ?? ''}`,
  },
  {
    says: /, (\d+) times in a row/,
    judge: ([, times], log) =>
      log.filter(({ what }) => what === 'answered').length === Number(times)
        ? undefined
        : `not ${times} times`,
  },
  {
    says: /ended with finish reason (\w+)/,
    judge: ([, reason], log) =>
      log.some(({ finish }) => finish === reason) ? undefined : `nobody ended for ${reason}`,
  },
  {
    says: /no byte of a reply yet/,
    judge: (_, log) =>
      log.some(({ what }) => what === 'bytes' || what === 'answered') ? 'bytes had come' : undefined,
  },
  {
    says: /and (\d+) bytes so far, the last ([\d.]+ \w+) ago/,
    judge([, bytes, age = ''], log) {
      const sent = log.filter(({ what }) => what === 'bytes');
      const count = sent.reduce((sum, one) => sum + Number(one['count']), 0);
      if (count !== Number(bytes)) return `${count} bytes had been sent`;
      return isAge(age, sent.at(-1) as Noted, log);
    },
  },
  {
    says: /(?:received|Stopped by|Killed by|end by|ended by) (SIG[A-Z]+)/,
    judge: ([, name], log) =>
      log.some(
        (one) =>
          (one.what === 'signal' && one['name'] === name) || (one.what === 'end' && one['signal'] === name),
      ) || !log.some(({ what }) => what === 'signal')
        ? undefined
        : `nobody sent ${name}`,
  },
  {
    says: /(?:The process ended with exit code|The program exited with code) (\d+)/,
    judge: ([, code], log) =>
      log.some((one) => one.what === 'end' && one['code'] === Number(code))
        ? undefined
        : `it did not end with ${code}`,
  },
  {
    says: /ended the process with exit code (\d+)/,
    judge: ([, code], log) =>
      log.some((one) => one.what === 'end' && one['code'] === Number(code))
        ? undefined
        : `it did not end with ${code}`,
  },
  {
    says: /A handler received an [a-z ]+: Error: (.*?), (?:(\d+) times, )?[\d.]+ \w+ before the end/,
    judge([, message, times], log) {
      const handled = log.filter((one) => one.what === 'handled' && one['message'] === message).length;
      if (handled === 0) return `${message} was not handled`;
      return times !== undefined && Number(times) !== handled ? `handled ${handled} times` : undefined;
    },
  },
  {
    says: /Request GET \S+ was answered (\d+)/,
    judge: ([, status], log) =>
      log.some((one) => one.what === 'http.answered' && one['status'] === Number(status))
        ? undefined
        : `no ${status}`,
  },
  {
    says: /(?:was answered|failed).*, for (GET \/\S+?)[,;]/,
    judge: ([, name], log) =>
      of(log, 'refused', name).length ? undefined : `nothing was refused for ${name}`,
  },
  {
    says: /(?:was answered|failed).*, for (?:another request|(\d+) other requests)/,
    judge([, count = '1'], log) {
      const died = log.find(({ what }) => what === 'throws')?.['by'];
      const others = new Set(
        log.flatMap((one) => (one.what === 'refused' && one['name'] !== died ? one['name'] : [])),
      );
      return others.size >= Number(count) ? undefined : `only ${others.size} other requests were refused`;
    },
  },
  {
    says: /[Tt]he error was (?:thrown by|caused by one that) tool (\w+)/,
    judge: ([, name], log) => (of(log, 'tool.threw', name).length ? undefined : `tool ${name} did not throw`),
  },
  {
    says: /The error came from (work that )?tool (\w+)/,
    judge([, left, name], log) {
      if (!of(log, 'tool.begin', name).length) return `tool ${name} never began`;
      const hasEnded = of(log, 'tool.end', name).length + of(log, 'tool.threw', name).length > 0;
      return hasEnded === (left !== undefined)
        ? undefined
        : `tool ${name} had ${hasEnded ? '' : 'not '}ended`;
    },
  },
  {
    // Nothing proves that a call is being waited for: it may have been given up.
    says: /waiting for (?:\d+ )?(tool|step|model call|thing)/,
    judge: ([, what]) => `nobody saw anything wait for a ${what}`,
  },
  {
    says: /tool (\w+) \(.*; the model was given an answer in its place/,
    judge: ([, name], log) => (of(log, 'gave.up', name).length ? undefined : `${name} was not given up`),
  },
  {
    says: /tool (\w+) \(.*; (step|run|tool) (\w+) around it had ended/,
    judge: ([, name, , around], log) =>
      of(log, 'gave.up', name).some((one) => one['around'] === around)
        ? undefined
        : `${around} had not ended, or was not around ${name}`,
  },
  {
    says: /Node itself set 13|Node ended the process with exit code 13/,
    judge: (_, log) =>
      log.some(({ what }) => what === 'exit.code') ? 'the program set its exit code itself' : undefined,
  },
  {
    says: /^(GET \S+) (?:\([^)]*\) )?(?:threw|rejected|blocks the event loop)/,
    judge: ([, name], log) =>
      log.findLast(({ what }) => what === 'throws')?.['by'] === name ? undefined : `${name} did not do it`,
  },
  {
    says: /^(GET \S+) .*; (no other request was|1 other was|(\d+) others were) in flight/,
    judge([, name, text, many], log) {
      const ended = (one: unknown) => of(log, 'request.end', one).length;
      const open = log.filter((one) => one.what === 'request.begin' && !ended(one['name']));
      const others = open.filter((one) => one['name'] !== name).length;
      const told = text?.startsWith('no') ? 0 : Number(many ?? 1);
      return others === told ? undefined : `${others} others were in flight`;
    },
  },
  {
    says: /^Likely thrown in (?:async )?(?:\w+\.)*(\w+) \(/,
    judge: ([, name], log) =>
      log.findLast(({ what }) => what === 'throws')?.['in'] === name ? undefined : `${name} threw nothing`,
  },
  {
    says: /^The last error that it printed before that.*?: .*?: (.*?), thrown in (?:async )?(\w+) \(/,
    judge([, message, name], log) {
      const last = log.findLast(({ what }) => what === 'printed');
      if (last?.['message'] !== message) return `the last that was printed is ${last?.['message']}`;
      return last?.['in'] === name ? undefined : `${last?.['in']} threw it`;
    },
  },
  {
    says: /^The program logged an? (?:fatal )?error: ([^(,]*?)(?: \(|,|\.$)/,
    judge: ([, words], log) =>
      log.some((one) => one.what === 'logged' && one['words'] === words)
        ? undefined
        : `${words} was not logged`,
  },
  {
    says: /The code that (?:died|ended the process) worked for tool (\w+)/,
    judge: ([, name], log) => (of(log, 'tool.begin', name).length ? undefined : `tool ${name} never began`),
  },
];

const of = (log: readonly Noted[], what: string, name: unknown) =>
  log.filter((one) => one.what === what && one['name'] === name);

const units: Record<string, number> = { ms: 1, s: 1000, min: 60_000 };

/** The age must be between that at the last entry of the program or server and that at the end that the parent saw. */
function isAge(text: string, from: Noted, log: readonly Noted[]): string | undefined {
  const [, figure, unit = ''] = /^([\d.]+) (ms|s|min)/.exec(text) ?? [];
  const age = Number(figure) * (units[unit] ?? Number.NaN);
  const end = log.findLast(({ what }) => what === 'end')?.at ?? 0;
  const lastWord = log.findLast(({ what }) => what !== 'end' && what !== 'signal')?.at ?? from.at;
  const [least, most] = [lastWord - from.at, end - from.at];
  const rounding = (units[unit] ?? 1) / 10;
  return age >= least - slackMs - rounding && age <= most + slackMs + rounding
    ? undefined
    : `${text} is not between ${least} and ${most} ms`;
}

export function judgeSentences({ account, log }: Witnessed): {
  checked: number;
  unchecked: number;
  wrong: string[];
} {
  const wrong: string[] = [];
  let [checked, unchecked] = [0, 0];
  for (const sentence of sentencesOf(account)) {
    const found = checks.flatMap(({ says, judge }) => {
      const match = says.exec(sentence);
      return match ? [judge(match, log)] : [];
    });
    if (found.length) checked++;
    else unchecked++;
    for (const why of found) if (why !== undefined) wrong.push(`${sentence} (${why})`);
  }
  return { checked, unchecked, wrong };
}

function sentencesOf({ verdict, agent }: Account): string[] {
  const facts = [...(verdict?.evidence ?? []), ...(verdict?.beforeEnd ?? [])].map(({ fact }) => fact);
  const work = (agent?.runs ?? []).flatMap((run) => [...run.pending, ...(run.requested ?? [])]);
  return [verdict?.title ?? '', ...(verdict?.summary ?? '').split(/(?<=\.) (?=[A-Z])/), ...facts, ...work];
}
