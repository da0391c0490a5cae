/** The variables of a frame: its own first, those of enclosing scopes folded. */
import type { ComponentChildren } from 'preact';
import { byScope, functionHead, isFunctionText } from '../../../model/frame-text.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { LocalVariable } from '../../../model/thread.ts';
import { CutList, LongText } from './small.tsx';

const mostShown = 40;

export function Locals({ locals }: { locals: readonly LocalVariable[] }) {
  const { own, outer } = byScope(locals);
  return (
    <div class="locals">
      {listOf(own)}
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
              <LongText text={isFunctionText(value) ? functionHead(value) : value} most={160} />
            </dd>
          </div>
        )}
      />
    </dl>
  );
}
