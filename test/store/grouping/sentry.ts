/**
 * The group that Sentry's default rules would give a death, rebuilt from its documents
 * (https://docs.sentry.io/concepts/data-management/event-grouping/): by the stack trace where there is one, of the frames of the
 * application if any, each by its function, its file's name without what a build put into it, and its line of source without
 * blanks; with the type of the error. Otherwise by type and message. What Sentry learned by embedding texts is not in it.
 */
import type { Account, ErrorFacts } from '../../../src/model/account.ts';
import type { Frame } from '../../../src/model/thread.ts';

/** A longer line of source is not taken for the code that somebody wrote. */
const longestLine = 120;

export function sentryGroup({ error, verdict }: Account): string {
  if (!error) return verdict?.kind ?? '';
  const chain: ErrorFacts[] = [];
  for (let one: ErrorFacts | undefined = error; one; one = one.cause) chain.push(one);
  return chain.map(partsOf).join('\n');
}

function partsOf({ name = '', message = '', frames = [] }: ErrorFacts): string {
  const own = frames.filter(({ inApp }) => inApp);
  const counted = own.length > 0 ? own : frames;
  if (counted.length === 0) return `${name}: ${withoutNumbers(message)}`;
  return [name, ...counted.map(frameOf)].join('\n');
}

function frameOf({ function: called = '', file = '', line, source }: Frame): string {
  const text =
    source
      ?.find((one) => one.line === line)
      ?.text.replace(/\s+/g, ' ')
      .trim() ?? '';
  const name = (file.split('/').at(-1) ?? '').replace(/[-.][0-9a-f]{8,}(?=\.)/i, '').toLowerCase();
  return [name, called.replace(/^async /, ''), text.length > longestLine ? '' : text].join(' ');
}

const withoutNumbers = (message: string): string => message.replace(/0x[0-9a-f]+|\d+/gi, '<n>');
