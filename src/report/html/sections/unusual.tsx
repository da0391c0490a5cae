/** What is unusual about the process: limits nearly reached, things that accumulate, harmful settings. */
import type { Account } from '../../../model/account.ts';
import { CutList, PartTag } from '../parts/small.tsx';

export function Unusual({ account: { environment } }: { account: Account }) {
  return (
    <ul class="unusual">
      <CutList
        items={environment?.unusual ?? []}
        most={20}
        what="facts"
        draw={({ level, fact, part }, n) => (
          <li key={n} class={`level-${level}`}>
            <span class="level">{level}</span>
            <span dir="auto">
              {fact} <PartTag part={part} />
            </span>
          </li>
        )}
      />
    </ul>
  );
}
