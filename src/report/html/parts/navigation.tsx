/** The sections as a list next to the page, with the visible one marked. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Account } from '../../../model/account.ts';
import { formatNumber } from '../../../model/quantities.ts';
import type { SectionEntry } from '../sections.tsx';

export function Navigation({ sections, account }: { sections: readonly SectionEntry[]; account: Account }) {
  const current = useSignal('verdict');
  useEffect(() => {
    const inSight = new Set<string>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries)
          if (isIntersecting) inSight.add(target.id);
          else inSight.delete(target.id);
        current.value = sections.find(({ id }) => inSight.has(id))?.id ?? current.value;
      },
      { rootMargin: '-80px 0px -60% 0px' },
    );
    for (const { id } of sections) {
      const element = document.getElementById(id);
      if (element) observer.observe(element);
    }
    return () => observer.disconnect();
  }, [sections]);
  return (
    <nav class="nav" aria-label="Sections">
      <ol>
        {sections.map(({ id, navTitle, count }) => {
          const number = count?.(account);
          return (
            <li key={id}>
              <a href={`#${id}`} aria-current={current.value === id ? 'true' : undefined}>
                {navTitle}
                {number ? <span class="count">{formatNumber(number)}</span> : null}
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
