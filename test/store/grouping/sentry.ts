/**
 * The group that Sentry's default rules would give a death, reimplemented from its documentation
 * (https://docs.sentry.io/concepts/data-management/event-grouping/): if there is a stack trace, by the error's type and the
 * frames, those of the application if any: function, file name without parts added by a build, and line of source with
 * normalized whitespace. Otherwise by type and message. Sentry's grouping by text embeddings is not included.
 */
import type { Account, ErrorFacts } from '../../../src/model/account.ts';
import type { Frame } from '../../../src/model/thread.ts';

/** A longer line of source is ignored, because it is probably minified. */
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
