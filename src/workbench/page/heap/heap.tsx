/** The views of a heap, and the navigation between them. */
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Answers } from '../../heap/questions.ts';
import { Classes } from './classes.tsx';
import { Console } from './console.tsx';
import { Fill } from './fill.tsx';
import { ObjectPage } from './object.tsx';
import { Dominated, Objects } from './objects.tsx';
import { Pins } from './pins.tsx';
import { hrefTo, place } from './place.ts';
import { Strings } from './strings.tsx';
import { Summary } from './summary.tsx';
import { Treemap } from './treemap.tsx';

interface HeapProps {
  summary: Answers['summary'];
}

interface HeapView {
  view: string;
  name: string;
  Body: ComponentType<HeapProps>;
}

/** The digit keys follow this order. */
export const heapViews: readonly HeapView[] = [
  { view: 'summary', name: 'Summary', Body: Summary },
  { view: 'classes', name: 'Classes', Body: Classes },
  { view: 'objects', name: 'Objects', Body: Objects },
  { view: 'dominators', name: 'Dominators', Body: Dominators },
  { view: 'treemap', name: 'Treemap', Body: ({ summary }) => <Treemap root={summary.root} /> },
  { view: 'strings', name: 'Strings', Body: Strings },
  { view: 'fill', name: 'Collections', Body: Fill },
  { view: 'query', name: 'Query', Body: Console },
];

export function Heap({ summary }: HeapProps) {
  const { view = 'summary' } = place.value;
  const Body = heapViews.find((known) => known.view === view)?.Body ?? heapViews[0]!.Body;
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => showCurrent(tabs.current), [view]);
  return (
    <>
      <nav class="tabs" aria-label="Views of the heap" ref={tabs}>
        <ol>
          {heapViews.map(({ view: own, name }) => (
            <li key={own}>
              <a
                href={hrefTo({ view: own })}
                aria-current={own === view ? 'page' : undefined}
                data-name={name}
              >
                {name}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <Pins />
      {view === 'object' ? <ObjectPage root={summary.root} /> : <Body summary={summary} />}
    </>
  );
}

/** On a phone only some tabs are in sight. The page itself does not scroll. */
function showCurrent(tabs: HTMLElement | null): void {
  const current = tabs?.querySelector<HTMLElement>('[aria-current]');
  if (!tabs || !current) return;
  const [all, one] = [tabs.getBoundingClientRect(), current.getBoundingClientRect()];
  tabs.scrollLeft += one.left - all.left - (all.width - one.width) / 2;
}

function Dominators({ summary: { root } }: HeapProps) {
  return (
    <>
      <h1>Dominator tree</h1>
      <p class="lead">
        What nothing but the roots keeps alive, largest first. Enter one to see what it alone keeps alive, and
        so on down.
      </p>
      <Dominated id={root} most={22} />
    </>
  );
}
