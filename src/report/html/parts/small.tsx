/** The smallest components: a chip, the tag of a bundle part, a list of facts, a long text. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { formatNumber } from '../../../model/quantities.ts';
import { isPrinting } from '../state.ts';
import { Prose } from './prose.tsx';

export type Tone = 'bad' | 'warn' | 'good' | 'plain' | 'model' | 'tool' | 'step';

export function Chip({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`chip chip-${tone}`}>{children}</span>;
}

/** Which part of the bundle a fact comes from. */
export function PartTag({ part }: { part: string }) {
  return <code class="part-tag">{part}</code>;
}

/** A wide one has a row of its own. */
export type Fact = [name: string, value: ComponentChildren, width?: 'wide'];

/** Facts without a value are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== '' && value !== null)
        .map(([name, value, width]) => (
          <div key={name} class={width}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** More of a text is never rendered, because it would block the browser. */
const mostDrawn = 200_000;

interface LongTextProps {
  text: string;
  most?: number;
  class?: string;
  /** Renders code and emphasis in the text. */
  isProse?: boolean;
}

/** A text from the program; a long one is cut, and shown in full on request. */
export function LongText({ text, most = 1200, class: name, isProse }: LongTextProps) {
  const isWhole = useSignal(false);
  const limit = isWhole.value ? mostDrawn : isPrinting.value ? most * 4 : most;
  const isCut = text.length > limit;
  const shown = isCut ? text.slice(0, limit) : text;
  return (
    <div class={`long-text ${name ?? ''}`} dir="auto">
      {isProse ? <Prose text={shown} /> : shown}
      {isCut ? (
        <>
          …{' '}
          {isWhole.value ? (
            <span class="faint">{formatNumber(text.length - limit)} more characters, see --json</span>
          ) : (
            <button
              type="button"
              class="more"
              onClick={() => {
                isWhole.value = true;
              }}
            >
              Show all {formatNumber(text.length)} characters
            </button>
          )}
        </>
      ) : null}
    </div>
  );
}

/** A list that renders its first `most` elements, and more on request. */
export function CutList<T>({
  items,
  most,
  draw,
  what,
}: {
  items: readonly T[];
  most: number;
  draw: (item: T, index: number) => ComponentChildren;
  what: string;
}) {
  const shown = useSignal(most);
  const hidden = items.length - shown.value;
  return (
    <>
      {items.slice(0, shown.value).map(draw)}
      {hidden > 0 ? (
        <button
          type="button"
          class="more more-rows"
          onClick={() => {
            shown.value += most * 4;
          }}
        >
          {formatNumber(hidden)} more {what}
        </button>
      ) : null}
    </>
  );
}

/** An ISO time in readable form; anything else unchanged. */
export function When({ at }: { at: string | undefined }) {
  if (!at) return null;
  const text = at.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC');
  return <time dateTime={at}>{text}</time>;
}
