/**
 * The error with its stack, the culprit open; below it its causes and the errors that it contains. Without an error, the code
 * that the verdict names: where the program hangs or waits.
 */
import type { Account, ErrorFacts } from '../../../model/account.ts';
import { culpritFrame } from '../../../model/frame-text.ts';
import { findPlace } from '../../../model/place.ts';
import type { Frame } from '../../../model/thread.ts';
import { Frames } from '../parts/frames.tsx';
import { Chip, Facts, LongText } from '../parts/small.tsx';
import { Value } from '../parts/value.tsx';

interface Chained {
  error: ErrorFacts;
  /** How it is related to the one above. */
  relation?: string;
  prefix: string;
}

const mostErrors = 20;

/** Undefined if the error shows it. */
export function placeWithoutError(account: Account): Frame | undefined {
  const place = account.error ? undefined : findPlace(account);
  return place?.source?.length ? place : undefined;
}

/** More than the name of a signal. */
export const hasFault = ({ signal }: Account): boolean => Boolean(signal?.code ?? signal?.description);

export function Stack({ account }: { account: Account }) {
  const { error, signal, process } = account;
  const chain = error ? chainOf(error) : [];
  const place = placeWithoutError(account);
  return (
    <>
      {place ? <Frames frames={[place]} prefix="place-frame" cwd={process?.cwd} opened={place} /> : null}
      {hasFault(account) && signal ? (
        <Facts
          facts={[
            ['Signal', [signal.name, signal.code && `(${signal.code})`].filter(Boolean).join(' ')],
            ['What', signal.description],
            ['Address', signal.faultAddress && <code>{signal.faultAddress}</code>],
            ['Access', signal.access],
            [
              'Instruction',
              signal.instruction && <code>{signal.instruction.replace(/../g, '$& ').trim()}</code>,
              'wide',
            ],
            [
              'Known from',
              signal.evidence === 'signal-frame'
                ? 'the signal frame on the stack (the kernel’s note was overwritten)'
                : undefined,
              'wide',
            ],
          ]}
        />
      ) : null}
      {chain.slice(0, mostErrors).map((link) => (
        <OneError key={link.prefix} link={link} cwd={process?.cwd} />
      ))}
      {chain.length > mostErrors ? (
        <p class="faint">{chain.length - mostErrors} more errors, see --json</p>
      ) : null}
    </>
  );
}

/** The error, its causes, and the errors of an aggregate, as a flat list. */
function chainOf(first: ErrorFacts): Chained[] {
  const chain: Chained[] = [];
  const open: Chained[] = [{ error: first, prefix: 'frame' }];
  for (let next = open.shift(); next && chain.length <= 1000; next = open.shift()) {
    chain.push(next);
    const { cause, errors } = next.error;
    const number = chain.length;
    const below: Chained[] = (errors ?? []).map((error, n) => ({
      error,
      relation: `error ${n + 1} of ${errors?.length}`,
      prefix: `error-${number}-${n + 1}-frame`,
    }));
    if (cause) below.unshift({ error: cause, relation: 'caused by', prefix: `cause-${number}-frame` });
    open.unshift(...below);
  }
  return chain;
}

function OneError({ link: { error, relation, prefix }, cwd }: { link: Chained; cwd: string | undefined }) {
  const { name, message, code, properties, frames, stackText, handled } = error;
  return (
    <article class="error">
      {relation === undefined ? null : <p class="relation">{relation}</p>}
      <h3 class="error-text">
        <span class="error-name">{name ?? 'Error'}</span>
        {code === undefined ? null : <Chip>{code}</Chip>}
        {handled ? <Chip tone="good">handled</Chip> : null}
        <LongText text={message ?? ''} most={600} class="error-message" />
      </h3>
      {properties && Object.keys(properties).length ? <Value value={properties} open /> : null}
      {frames?.length ? (
        <Frames
          frames={frames}
          prefix={prefix}
          cwd={cwd}
          opened={relation ? undefined : culpritFrame(frames)}
        />
      ) : stackText ? (
        <LongText text={stackText} class="stack-text" most={3000} />
      ) : null}
    </article>
  );
}
