/** The variables of a frame: its own first, those of enclosing scopes folded. */
import type { ComponentChildren } from 'preact';
import { formatCount } from '../../../model/quantities.ts';
import type { LocalVariable } from '../../../model/thread.ts';
import { CutList, LongText } from './small.tsx';

const mostShown = 40;
const own = new Set(['local', 'argument', 'arguments', 'this', 'block', 'catch', 'eval']);

export function Locals({ locals }: { locals: readonly LocalVariable[] }) {
  const mine = locals.filter(({ scope }) => own.has(scope));
  const outer = locals.filter(({ scope }) => !own.has(scope));
  // If none is known to be the frame's own, all of them are shown.
  if (!mine.length) return <div class="locals">{listOf(outer)}</div>;
  return (
    <div class="locals">
      {listOf(mine)}
      {outer.length ? (
        <details>
          <summary>{formatCount(outer.length, 'variable')} from outside</summary>
          {listOf(outer)}
        </details>
      ) : null}
    </div>
  );
}

function listOf(locals: readonly LocalVariable[]): ComponentChildren {
  return (
    <dl aria-label="Variables">
      <CutList
        items={locals}
        most={mostShown}
        what="variables"
        draw={({ name, value, scope }, n) => (
          <div key={`${name} ${n}`} title={scope}>
            <dt>{name}</dt>
            <dd>
              <LongText text={value} most={160} />
            </dd>
          </div>
        )}
      />
    </dl>
  );
}
