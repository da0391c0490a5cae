/** What was looked for and is missing; gaps with the same reason are one entry. */
import type { Account } from '../../../model/account.ts';
import type { Gap } from '../../../model/verdict.ts';
import { CutList, PartTag } from '../parts/small.tsx';

export function Gaps({ account: { gaps } }: { account: Account }) {
  return (
    <ul class="gaps">
      <CutList
        items={byReason(gaps)}
        most={30}
        what="gaps"
        draw={([reason, parts]) => (
          <li key={reason}>
            <span dir="auto">{reason}</span>
            <span class="gap-parts">
              {parts.slice(0, 8).map((part) => (
                <PartTag key={part} part={part} />
              ))}
              {parts.length > 8 ? <span class="faint">and {parts.length - 8} more</span> : null}
            </span>
          </li>
        )}
      />
    </ul>
  );
}

function byReason(gaps: readonly Gap[]): [reason: string, parts: string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const { part, reason, lookedFor } of gaps) {
    const text = lookedFor ? `${reason} (looked for: ${lookedFor})` : reason;
    groups.set(text, (groups.get(text) ?? new Set()).add(part));
  }
  return [...groups].map(([reason, parts]) => [reason, [...parts]]);
}
