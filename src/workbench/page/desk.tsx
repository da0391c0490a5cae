/** Every view in its frame. An account uses the bar and sections of the static page. */
import { App } from '../../report/html/app.tsx';
import type { BarLink } from '../../report/html/parts/top-bar.tsx';
import type { ItemRow, ViewState } from '../protocol.ts';
import { addresses } from '../protocol.ts';
import { Bar } from './bar.tsx';
import { IssuePage } from './fleet/issue.tsx';
import { Issues } from './fleet/issues.tsx';
import { Heap } from './heap/heap.tsx';
import { Memory } from './memory/memory.tsx';
import { addressOf } from './state.ts';
import { Diff } from './views/diff.tsx';
import { Failed } from './views/failed.tsx';
import { Growth } from './views/growth.tsx';
import { List } from './views/list.tsx';
import { Loading } from './views/loading.tsx';

export function Desk({ state }: { state: ViewState }) {
  if (state.view === 'account') {
    const { item, hasHeap, hasMemory } = state;
    const links = [
      ...(state.hasList ? linksUp(item) : []),
      ...(hasHeap ? [{ name: 'Heap', href: addressOf(addresses.heap(item.id)) }] : []),
      ...(hasMemory ? [{ name: 'Memory', href: addressOf(addresses.memory(item.id)) }] : []),
    ];
    return <App links={links} />;
  }
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Bar
        links={linksOf(state)}
        name={state.view === 'heap' || state.view === 'memory' ? nameOf(state.item) : undefined}
      />
      <main id="main" class="desk" tabIndex={-1}>
        <View state={state} />
      </main>
    </>
  );
}

const nameOf = ({ kind, name, program }: ItemRow): string => (kind === 'bundle' && program) || name;

function linksOf(state: ViewState): BarLink[] {
  if (state.view === 'issue') return [{ name: 'All issues', href: addressOf('') }];
  if (state.view === 'diff') return linksUp(state.a);
  if (state.view === 'growth') return state.items[0] ? linksUp(state.items[0]) : [];
  if (state.view !== 'heap' && state.view !== 'memory') return [];
  const { item, hasList } = state;
  return [
    ...(hasList ? linksUp(item) : []),
    ...(item.kind === 'heap' ? [] : [{ name: 'Account', href: addressOf(addresses.item(item.id)) }]),
    ...(state.view === 'memory' && state.hasHeap
      ? [{ name: 'Heap', href: addressOf(addresses.heap(item.id)) }]
      : []),
    ...(state.view === 'heap' && item.kind === 'core'
      ? [{ name: 'Memory', href: addressOf(addresses.memory(item.id)) }]
      : []),
  ];
}

/** Links to where the bundle is listed. */
function linksUp({ issue }: ItemRow): BarLink[] {
  if (issue === undefined) return [{ name: 'All bundles', href: addressOf('') }];
  return [
    { name: 'All issues', href: addressOf('') },
    { name: 'Issue', href: addressOf(addresses.issue(issue)) },
  ];
}

function View({ state }: { state: Exclude<ViewState, { view: 'account' }> }) {
  switch (state.view) {
    case 'list':
      return <List folder={state.folder} items={state.items} />;
    case 'issues':
      return <Issues store={state.store} issues={state.issues} />;
    case 'issue':
      return <IssuePage story={state.story} />;
    case 'heap':
      return <Heap summary={state.summary} />;
    case 'memory':
      return <Memory summary={state.summary} name={nameOf(state.item)} />;
    case 'diff':
      return <Diff state={state} />;
    case 'growth':
      return <Growth state={state} />;
    case 'loading':
      return <Loading job={state.job} what={state.what} />;
    case 'failed':
      return <Failed what={state.what} reason={state.reason} />;
  }
}
